"""Kernels over batches and spines."""

__all__ = ()
