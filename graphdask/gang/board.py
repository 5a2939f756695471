"""The client's side of the dashboard's page: asks the scheduler to have it, and tells it of runs that are over.

Neither is waited for, and what fails is left: a page is not worth an error.
"""

from __future__ import annotations

import asyncio
import weakref
from contextlib import suppress
from typing import Any

from graphdask.stats import Stats

_PAGES: weakref.WeakKeyDictionary[Any, asyncio.Future[bool]] = weakref.WeakKeyDictionary()
"""Whether the schedulers of clients have the page."""


def ask_for_page(client: Any) -> None:
    """Have the scheduler's dashboard get the page, if it can."""
    if client not in _PAGES:
        client.loop.add_callback(_attached, client)


def announce(gang: Any, stats: Stats) -> None:
    """Tell the page of a run that is over."""
    if getattr(gang, "kind", "") != "dask" or not gang.config.dashboard:
        return
    from graphdask.dashboard.board import told

    names = {rank: host.name for host in gang.hosts for rank in host.ranks}
    message = told(stats, [names.get(rank, "?") for rank in range(stats.ranks)]) | gang.signature
    gang.client.loop.add_callback(_tell, gang.client, message)


async def _attached(client: Any) -> bool:
    """Runs in the client's loop, as all that follows."""
    from graphdask.dashboard import attach

    if client not in _PAGES:
        _PAGES[client] = asyncio.ensure_future(_asked(client, attach))
    return await asyncio.shield(_PAGES[client])


async def _asked(client: Any, attach: Any) -> bool:
    with suppress(Exception):  # a scheduler without graphdask, one that runs no functions, one that is gone
        return bool(await client._run_on_scheduler(attach))
    return False


async def _tell(client: Any, message: dict[str, Any]) -> None:
    from graphdask.dashboard.board import RUNS

    with suppress(Exception):
        if await _attached(client):
            await client.scheduler.log_event(topic=RUNS, msg=message)
