"""Kernels that Spark's tasks run over the edge boolean matrix."""

__all__ = ()
