"""Clients of Dask that leave nothing behind where they fail."""

from __future__ import annotations

from typing import Any


def connected(*arguments: Any, **options: Any) -> Any:
    """A `distributed.Client`, which is closed if it cannot connect.

    Dask leaves one that fails to the garbage collector, and the thread of its event loop to run for good. Whichever
    thread collects it closes it, for which it needs a lock; if that is the thread in which the loop of the next client
    or cluster begins, the lock is held by who waits for it: ten seconds, after which that one fails, without a reason.
    """
    from distributed import Client

    client = Client.__new__(Client)
    try:
        client.__init__(*arguments, **options)  # type: ignore[misc]
    except BaseException:
        runner = getattr(client, "_loop_runner", None)
        if runner is not None:
            client.close()
            runner.stop()
        raise
    return client
