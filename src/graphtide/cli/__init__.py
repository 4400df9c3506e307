"""The command line. A command parses, calls the library and prints; it computes nothing itself.

Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted. No traceback is shown unless
GRAPHTIDE_DEBUG=1 asks for it.
"""

from graphtide.cli.app import app, main

__all__ = ["app", "main"]
