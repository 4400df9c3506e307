"""Dataflows over collections that change: the API, the plan, and the machine that runs it."""

__all__ = ()
