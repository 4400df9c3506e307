"""Compiled loops of ego aggregates."""

__all__ = ()
