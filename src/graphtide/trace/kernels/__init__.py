"""Kernels over batches and spines."""

__all__: list[str] = []
