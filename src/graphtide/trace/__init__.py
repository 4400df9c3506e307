"""Traces: batches of differences, spines of them, and the memory they lie in."""

__all__ = ()
