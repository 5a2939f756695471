"""What the client does for copies in memory: it says which rank keeps whose, and finds a whole one after a loss."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from graphdask.engine.copies import Copying, Described, Found, Place
from graphdask.errors import PeerLost, SchedulerLost, WrongWorker
from graphdask.gang.arguments import Failed
from graphdask.gang.sending import Host
from graphdask.gang.waiting import answer_of
from graphdask.gang.worker import process_of

ASK = 5.0
"""Seconds that a worker may take to say of what it has copies; without its answer, its copies count as lost."""

_logger = logging.getLogger("graphdask")

Held = dict[str, list[tuple[Place, Described]]]
"""What workers have copies of, by address."""


class Copies:
    """The copies of one call, whose attempts go on from those that earlier ones have left on the workers."""

    def __init__(self, resumes: bool):
        self._resumes = resumes
        self._call = secrets.token_hex(8)
        self._attempts = 0
        self._gang: Any = None
        """Of the last attempt; None if no worker has copies."""

    @contextmanager
    def call(self) -> Iterator[None]:
        """Let the workers drop all copies when the block ends with an error."""
        try:
            yield
        except BaseException:
            self.forget()
            raise

    def attempt(self, gang: Any) -> Copying | None:
        """What every rank of the next attempt is sent; None if there are no copies of such a run."""
        seconds = gang.config.copy_interval
        if not self._resumes or gang.kind != "dask" or not 0 < seconds < math.inf:
            return None
        if not self._attempts and len(gang.hosts) == 1:
            return None
        found = latest(_asked(gang, self._call), gang.hosts) if self._attempts else None
        if self._attempts:
            said = "at the beginning" if found is None else f"after superstep {found.superstep}, which is in memory"
            _logger.info("the run begins again %s", said)
        self._gang = gang
        copying = Copying(self._call, self._attempts, seconds, buddies(gang.hosts), found)
        self._attempts += 1
        return copying

    @contextmanager
    def on_loss(self, gang: Any, files: bool) -> Iterator[None]:
        """Let the loss of a worker say how far the run has come: to the last copy that is left, if there is one, or to
        its last checkpoint in `files`, which the error says."""
        try:
            yield
        except (PeerLost, WrongWorker) as error:
            if self._gang is gang and gang.client.status == "running" and not isinstance(error, SchedulerLost):
                silent: frozenset[str] = getattr(error, "silent", frozenset())
                with suppress(Exception):  # a client that is closed meanwhile, say; what is raised is the loss
                    found = latest(_asked(gang, self._call, silent), gang.hosts)
                    if found is not None:
                        error.reached = max(found.superstep, error.reached if files else 0)  # type: ignore[union-attr]
                        error.kept = True  # type: ignore[union-attr]
            raise

    def over(self, summary: Sequence[Any]) -> None:
        """Let the workers drop all copies, if there are any, once an attempt has come to its end."""
        kept = [each.checkpoints for each in summary]
        if self._attempts > 1 or any(each and each.copied and each.copied.nbytes for each in kept):
            self.forget()

    def forget(self) -> None:
        """Let the workers drop all copies, without waiting for it."""
        gang, self._gang = self._gang, None
        if gang is not None and gang.client.status == "running":
            gang.client.loop.add_callback(_forgotten, gang, self._call)


def buddies(hosts: Sequence[Host]) -> tuple[int, ...]:
    """By rank, a rank on the next worker; empty if there is only one."""
    if len(hosts) == 1:
        return ()
    found: dict[int, int] = {}
    for number, host in enumerate(hosts):
        others = hosts[(number + 1) % len(hosts)].ranks
        found |= {rank: others[place % len(others)] for place, rank in enumerate(host.ranks)}
    return tuple(found[rank] for rank in sorted(found))


def latest(held: Held, hosts: Sequence[Host]) -> Found | None:
    """The copy of the latest superstep of which the workers have the values of all ranks."""
    there: dict[tuple[int, int, int], dict[int, int]] = {}
    described: dict[tuple[int, int, int], Described] = {}
    for host in hosts:
        for (attempt, size, superstep, rank), each in held.get(host.address, []):
            key = superstep, attempt, size
            there.setdefault(key, {}).setdefault(rank, host.ranks[0])
            described[key] = each
    for key in sorted(there, reverse=True):
        superstep, attempt, size = key
        if len(there[key]) == size:
            return Found(attempt, size, superstep, tuple(there[key][rank] for rank in range(size)), described[key])
    return None


def _asked(gang: Any, call: str, without: frozenset[str] = frozenset()) -> Held:
    """What the workers of a gang, without some that do not answer, have copies of."""
    addresses = [host.address for host in gang.hosts if host.address not in without]

    async def ask(address: str) -> Any:
        with suppress(TimeoutError):
            return await asyncio.wait_for(answer_of(gang.client, address, _held, call), ASK)
        return []

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*map(ask, addresses))

    answers = zip(addresses, gang.client.sync(ask_all), strict=True)
    return {address: found for address, found in answers if not isinstance(found, Failed)}


async def _forgotten(gang: Any, call: str) -> None:
    """Runs in the client's loop; nobody waits for it."""
    with suppress(Exception):  # a worker that does not hear it drops them later
        await gang.client.run(_forget, call, workers=[host.address for host in gang.hosts], on_error="ignore")


def _held(call: str, dask_worker: Any) -> list[tuple[Place, Described]]:
    """Called through `Client.run`."""
    return process_of(dask_worker).vault.held(call)


def _forget(call: str, dask_worker: Any) -> None:
    """Called through `Client.run`."""
    process_of(dask_worker).vault.forget(call)
