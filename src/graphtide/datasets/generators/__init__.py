"""Seeded graphs of any size: one seed gives one table, with one release of NumPy on one kind of processor."""

__all__ = ()
