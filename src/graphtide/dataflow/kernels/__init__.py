"""Kernels of the dataflow machine."""

__all__ = ()
