"""The Dask client that a call works with, and the workers of its cluster; none where it works in this process."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.errors import InputError, PeerLost, shown
from graphdask.gang.adaptive import ask_for_workers
from graphdask.gang.waiting import answering
from graphdask.gang.watch import Asked, ask_scheduler, refuse_asynchronous

Workers = Mapping[str, Any]
"""By address, what the scheduler says of each (graphdask.gang.watch.KnownWorker)."""


def checked(client: Any) -> Any:
    """The client given, if there is one; refuse what is none."""
    distributed = sys.modules.get("distributed")  # a client is there only with it
    if client is not None and (distributed is None or not isinstance(client, distributed.Client)):
        raise InputError(f"client={shown(client)} is not a distributed.Client")
    return client


def active_client() -> Any:
    """The client that is open in this process; distributed is not imported where it was not."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.Client.current(allow_global=True)
    except ValueError:
        return None


def workers_of(client: Any, config: Config) -> Workers:
    """The workers of the client's cluster, by address, or those that come when it is asked for one; none for this
    process."""
    if client is None:
        return {}
    refuse_asynchronous(client)
    if client.status != "running":
        raise InputError(f"the Dask client is {client.status}; open a new one, or close it to work in this process")
    return Asked(client, partial(ask_for_workers, client, config))


def await_workers(client: Any, config: Config, expected: frozenset[str], avoid: frozenset[str]) -> Workers:
    """Wait for lost workers that a nanny restarts; return the workers that are there, and answer, then."""
    deadline = time.monotonic() + config.recovery_timeout
    while True:
        known = ask_scheduler(client, config.heartbeat_timeout)
        answers = answering(client, known.keys() - avoid, config.heartbeat_timeout)
        ready = {address: worker for address, worker in known.items() if address in answers}
        if ready and {worker.name for worker in ready.values()} >= expected:
            return ready
        if time.monotonic() > deadline:
            if ready:
                return ready
            raise PeerLost(f"all workers are gone, and none came back in {config.recovery_timeout} s")
        time.sleep(0.1)
