"""The pipeline on Spark: the only layer that imports PySpark."""

__all__ = ()
