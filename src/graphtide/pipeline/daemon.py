"""Spark's factory of Python workers, with what every task needs imported before it forks.

A worker then starts in milliseconds. One that Spark has hung up on ends without a word, since nobody waits for
what it still had to say.
"""

from __future__ import annotations

import gc
import os
import socket

import numpy as np
import pyarrow as pa
from pyspark import daemon

__all__ = ["main"]

_IMPORTED = (np, pa)


def main() -> None:
    """Fork workers until Spark goes away."""
    worker = daemon.worker

    def quiet_worker(sock: socket.socket, authenticated: bool) -> int:  # noqa: FBT001 - PySpark's signature
        try:
            return worker(sock, authenticated)
        except BrokenPipeError:
            os._exit(0)

    daemon.worker = quiet_worker
    # What is there now is shared by all workers, and never looked at by their collectors.
    gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    main()
