"""View collections: GVDL, the order of views, and runs over them."""

__all__ = ()
