"""A call in a task of Dask: its thread leaves the worker's pool for as long as the call waits for workers.

The call needs a free thread on every worker, and its own worker may have no other than the one that the task holds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pool_left() -> Iterator[None]:
    """Leave the worker's pool for the block where this thread is a task's, as `distributed.worker_client` does.

    Elsewhere, and in a task that has left already, nothing is done.
    """
    if not _holds_a_thread():
        yield
        return
    from distributed import rejoin, secede

    secede()
    try:
        yield
    finally:
        rejoin()


def _holds_a_thread() -> bool:
    """Whether this thread runs a task and is one of its worker's default pool."""
    if "distributed.worker" not in sys.modules:
        return False
    from distributed import get_worker
    from distributed.threadpoolexecutor import thread_state
    from distributed.worker import thread_state as task_state

    if not (
        hasattr(task_state, "key") and hasattr(task_state, "start_time") and getattr(thread_state, "proceed", False)
    ):
        return False
    try:
        return thread_state.executor is get_worker().executors.get("default")
    except ValueError:  # no worker
        return False
