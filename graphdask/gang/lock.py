"""The lock that keeps gangs apart: a gang holds all its workers, or waits for all of them.

The scheduler's part of Dask's MultiLock grants a set of names at once, first come first served, so two gangs never wait
for each other. What it lacks is added here: a lock whose client vanished or is stopped is freed, and so is one that was
granted to an interrupted call; and nobody waits for a scheduler that is silent. A call whose work is done does not wait
until its lock is free: whoever is next waits for it, the same client too.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.errors import DeadlineExceeded, SchedulerLost
from graphdask.gang.watch import call_scheduler

ASK = 5.0
"""Seconds after which a waiting call looks for locks whose client is gone."""


SILENT = 10.0
"""Seconds without a sign of life after which a client has lost its locks. Dask's clients send one every 5 s. Of more
than ten clients the scheduler asks for fewer signs, and the limit is twice the time between these."""


@contextmanager
def locked(client: Any, addresses: Sequence[str], timeout: float) -> Iterator[None]:
    """Hold the workers at `addresses`.

    Raises
    ------
    DeadlineExceeded
        Where another call held one of them for `timeout` seconds.
    """
    names = [f"graphdask-{address}" for address in addresses]
    holder = f"{client.id}/graphdask-{uuid.uuid4().hex}"
    silence = Config.load().heartbeat_timeout
    try:
        _acquire(client, names, holder, timeout, silence)
    except (DeadlineExceeded, SchedulerLost):
        raise
    except BaseException:  # the scheduler may grant it to nobody now
        threading.Thread(target=_give_up, args=(client, holder), name="graphdask-unlock", daemon=True).start()
        raise
    try:
        yield
    except SchedulerLost:
        raise
    except BaseException:
        with suppress(OSError, RuntimeError, KeyError):  # the cluster may be gone, and its lock with it
            call_scheduler(client, client.scheduler.multi_lock_release, silence, id=holder)
        raise
    client.loop.add_callback(_let_go, client, holder, silence)


async def _let_go(client: Any, holder: str, silence: float) -> None:
    """Release the lock. Runs in the client's loop; nobody waits for it."""
    with suppress(Exception):  # the client may be closed; then the next one in the queue frees the lock
        await asyncio.wait_for(client.scheduler.multi_lock_release(id=holder), silence)


def _acquire(client: Any, names: list[str], holder: str, timeout: float, silence: float) -> None:
    deadline = time.monotonic() + timeout

    def granted(within: float) -> bool:
        arguments = {"locks": names, "id": holder, "timeout": within, "num_locks": len(names)}
        return bool(call_scheduler(client, client.scheduler.multi_lock_acquire, within + silence, **arguments))

    while not granted(max(0.0, min(ASK, deadline - time.monotonic()))):
        with suppress(Exception):  # a scheduler may refuse to run functions; then only the deadline helps
            client.run_on_scheduler(_free_locks_of_gone_clients)
        if time.monotonic() >= deadline:
            raise DeadlineExceeded(
                f"the workers were busy with another graphdask call for {timeout} s; wait for it, or raise the "
                "setting graphdask.lock-timeout"
            )


def _give_up(client: Any, holder: str) -> None:
    """Release the lock as soon as it has been granted, or is not asked for any more."""
    end = time.monotonic() + 2 * ASK
    with suppress(Exception):  # the client may be closed; then the next one in the queue frees the lock
        while time.monotonic() < end and not client.run_on_scheduler(partial(_release, holder)):
            time.sleep(0.1)


def _release(holder: str, dask_scheduler: Any) -> bool:
    """Release a MultiLock unless its holder still waits for it. Runs on the scheduler."""
    extension = dask_scheduler.extensions["multi_locks"]
    if holder in extension.events:
        return False
    if holder in extension.requests:
        extension.release(id=holder)
    return True


def _free_locks_of_gone_clients(dask_scheduler: Any) -> None:
    """Release MultiLocks whose client has left without doing so, or is silent. Runs on the scheduler."""
    from distributed.scheduler import heartbeat_interval

    extension, clients = dask_scheduler.extensions["multi_locks"], dask_scheduler.clients
    seen_since = time.time() - max(SILENT, 20 * heartbeat_interval(len(clients)))
    for holder in list(extension.requests):
        client, _, unique = str(holder).partition("/")
        alive = client in clients and clients[client].last_seen >= seen_since
        if unique and not alive and holder not in extension.events:
            extension.release(id=holder)
