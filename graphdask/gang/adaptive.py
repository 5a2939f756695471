"""A cluster that has no workers yet: a task that waits for one makes an adaptive cluster start it."""

from __future__ import annotations

import logging
import time
from typing import Any

from graphdask.config import Config
from graphdask.errors import DeadlineExceeded
from graphdask.gang.leaving import pool_left
from graphdask.gang.watch import ask_scheduler

POLL = 0.1
"""Seconds between two looks whether there is a worker."""

_logger = logging.getLogger("graphdask")


def ask_for_workers(client: Any, config: Config) -> dict[str, Any]:
    """Return the workers that come when the scheduler has work for one; none where none can come.

    Of a cluster object of this process it is known whether it adapts, and one that does is waited for. Of a scheduler
    that runs elsewhere it is not, and it is given a few seconds.

    Raises
    ------
    DeadlineExceeded
        Where an adaptive cluster starts none within the setting `lock_timeout`.
    """
    cluster = getattr(client, "cluster", None)
    adaptive = getattr(cluster, "_adaptive", None)
    if cluster is not None and (adaptive is None or adaptive.maximum < 1):
        return {}
    limit = config.recovery_timeout if cluster is None else config.lock_timeout
    _logger.warning(
        "the Dask cluster at %s has no workers; asking for one, and waiting up to %g s", client.scheduler.address, limit
    )
    wanted = client.submit(_nothing, pure=False)
    deadline = time.monotonic() + limit
    with pool_left():
        while not (found := ask_scheduler(client, config.heartbeat_timeout)):
            if time.monotonic() > deadline:
                wanted.cancel()
                if cluster is None:
                    return {}
                raise DeadlineExceeded(
                    f"the adaptive cluster at {client.scheduler.address} started no worker within {limit:g} s; read "
                    "its logs, keep one with cluster.adapt(minimum=1), or raise the setting graphdask.lock-timeout"
                )
            time.sleep(POLL)
    return found


def _nothing() -> None:
    """The work for which a worker is started."""
