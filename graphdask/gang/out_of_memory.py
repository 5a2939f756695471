"""Whether a worker was lost for lack of memory: what the error says of it, with the estimate that was wrong.

The system, or Dask's nanny, ends a process that takes too much by SIGKILL, which leaves no word. What is left is how
much memory the worker used when it reported last, and how many processes its host has ended for lack of memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from graphdask.device import host_memory
from graphdask.device.limits import size
from graphdask.errors import PeerLost, SchedulerLost
from graphdask.gang.arguments import Failed
from graphdask.gang.waiting import answer_of
from graphdask.gang.watch import LifeSigns, ask_scheduler

FULL = 0.7
"""Share of its limit from which on a worker that is lost may have run out of memory: it takes much in a second."""
ASK = 2.0
"""Seconds that workers may take to say what their hosts have ended."""


def explain_loss(error: BaseException, client: Any, life: LifeSigns, before: Mapping[str, Any]) -> None:
    """Add to the error of a lost worker that memory ran out, if that is likely.

    Parameters
    ----------
    error : BaseException
        Of a run; others than PeerLost stay as they are.
    client : distributed.Client
    life : LifeSigns
        Of the run.
    before : mapping of str to Ability
        What the workers of the run said before it, by address.
    """
    if not isinstance(error, PeerLost) or isinstance(error, SchedulerLost) or client.status != "running":
        return
    with suppress(Exception):  # a client that is closed meanwhile, say; what is raised is the loss
        known = ask_scheduler(client, life.timeout)
        ended = _ended(client, known, before)
        said = [
            why
            for address, ability in before.items()
            if address not in known and (why := _why(address, life, ability.host in ended))
        ]
        if said:
            text = f"{error}; {'; '.join(said)}; use more workers, or fewer ranks on each"
            error.args = (text, *error.args[1:])


def _why(address: str, life: LifeSigns, ended: bool) -> str:
    """Why a lost worker may have run out of memory; empty if nothing says so."""
    last, estimate = life.last.get(address), life.estimates.get(address)
    full = last is not None and 0 < FULL * last.limit <= last.memory
    if not full and not ended:
        return ""
    said = ["its host has ended a process for lack of memory"] if ended else []
    if last is not None and last.memory:
        limit = f" of {size(last.limit)} that Dask allows it" if last.limit else ""
        said.append(f"it used {size(last.memory)}{limit} when it reported last")
    if estimate is not None:
        said.append(f"{estimate[0]} was estimated to need {size(estimate[1])} there, which was too little")
    return f"{address} probably ran out of memory: {', '.join(said)}"


def _ended(client: Any, known: Iterable[str], before: Mapping[str, Any]) -> set[str]:
    """The hosts that have ended more processes for lack of memory than before, by what workers there say now."""
    counts: dict[str, int] = {}
    for ability in before.values():
        counts[ability.host] = max(counts.get(ability.host, 0), ability.ended)

    async def ask(address: str) -> Any:
        with suppress(TimeoutError):
            return await asyncio.wait_for(answer_of(client, address, _count), ASK)
        return None

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*(ask(address) for address in known))

    found = [each for each in client.sync(ask_all) if each is not None and not isinstance(each, Failed)]
    return {host for host, count in found if host in counts and count > counts[host]}


def _count() -> tuple[str, int]:
    """Called through `Client.run`."""
    from graphdask.comm.shm.board import host_identity

    return host_identity(), host_memory.processes_ended()
