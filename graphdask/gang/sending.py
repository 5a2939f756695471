"""What the workers of a gang are sent of a call's arguments: of each the share of its ranks, large ones as data.

A message or a task with a large share in it would go through the scheduler, which would keep a copy of a task's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphdask.errors import PeerLost
from graphdask.gang.arguments import PerRank, travelling_bytes
from graphdask.gang.watch import KnownWorker

LARGE = 1 << 20
"""Bytes from which a share of the caller's data travels apart from its task or message."""


@dataclass(frozen=True)
class Host:
    """A worker and its ranks."""

    name: str
    address: str
    ranks: tuple[int, ...]


def seated(workers: Mapping[str, KnownWorker], size: int) -> list[Host]:
    """Distribute `size` ranks, in order, over the first workers; `workers` is by address."""
    hosts = list(workers.items())[:size]
    count = len(hosts)
    return [
        Host(worker.name, address, tuple(range(size * i // count, size * (i + 1) // count)))
        for i, (address, worker) in enumerate(hosts)
    ]


def of_host(argument: Any, host: Host) -> Any:
    """The caller's own argument, for the ranks of one worker."""
    return PerRank({rank: argument[rank] for rank in host.ranks}) if isinstance(argument, PerRank) else argument


def sent_ahead(
    client: Any, hosts: Sequence[Host], arguments: Sequence[Any], apart: int, limit: float
) -> dict[tuple[str, int], Any]:
    """Send shares of `apart` bytes or more to all workers at the same time, within `limit` seconds.

    Returns
    -------
    dict
        Their futures, by address and place.

    Raises
    ------
    PeerLost
        Where a worker has left, or does not take them in time.
    """
    large: dict[tuple[str, int], Any] = {}
    for place, argument in enumerate(arguments):
        if not hasattr(argument, "fetch") and travelling_bytes(argument) >= apart:
            shares = {(host.address, place): of_host(argument, host) for host in hosts}
            large |= {to: share for to, share in shares.items() if travelling_bytes(share) >= apart}
    if not large:
        return {}

    async def send() -> list[Any]:
        options = {"hash": False, "timeout": limit, "asynchronous": True}  # the limit holds for what workers do only
        each = (client.scatter([share], workers=[address], **options) for (address, _), share in large.items())
        return await asyncio.gather(*each)

    try:
        sent = client.sync(send, callback_timeout=limit)
    except TimeoutError as error:
        addresses = sorted({address for address, _ in large})
        raise PeerLost(f"{', '.join(addresses)} did not take their data in {limit} s") from error
    except KeyError as error:  # the scheduler does not know the worker any more
        raise PeerLost(f"the worker {error.args[0]} left before it was sent its data") from error
    return {to: future for to, (future,) in zip(large, sent, strict=True)}
