"""Kernels of the dataflow machine."""

__all__: list[str] = []
