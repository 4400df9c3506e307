"""Property graphs at rest: schema, manifest, and the folder that holds them."""

__all__ = ()
