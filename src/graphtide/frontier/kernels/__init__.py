"""Kernels of continuous queries."""

__all__ = ()
