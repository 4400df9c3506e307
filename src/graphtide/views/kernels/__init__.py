"""Kernels over the edge boolean matrix and over orders of views."""

__all__ = ()
