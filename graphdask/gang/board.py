"""The client's side of the dashboard page: it asks the scheduler to serve the page, and reports finished runs to it.

The client waits for neither and ignores failures, because the page is optional. Runs are reported together, a moment
later, so that a caller that makes many short calls does not wait for messages.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from contextlib import suppress
from typing import Any

from graphdask.results.stats import Stats

TOGETHER = 0.25
"""Seconds after a run during which further runs are reported together with it."""
MOST = 50
"""Largest number of runs that are reported together; of more, only the last ones are."""

_PAGES: weakref.WeakKeyDictionary[Any, asyncio.Future[bool]] = weakref.WeakKeyDictionary()
"""Whether the scheduler of each client has the page."""
_OVER: weakref.WeakKeyDictionary[Any, deque[tuple[Stats, list[str], dict[str, Any]]]] = weakref.WeakKeyDictionary()
"""Runs that are not reported yet, by client."""


def ask_for_page(client: Any) -> None:
    """Ask the scheduler to add the page to its dashboard, if it can."""
    if client not in _PAGES:
        client.loop.add_callback(_has_page, client)


def announce(gang: Any, stats: Stats) -> None:
    """Report a finished run to the page."""
    if getattr(gang, "kind", "") != "dask" or not gang.config.dashboard:
        return
    client = gang.client
    known = _PAGES.get(client)
    if known is not None and known.done() and not known.result():
        return
    names = {rank: host.name for host in gang.hosts for rank in host.ranks}
    over = _OVER.setdefault(client, deque(maxlen=MOST))
    over.append((stats, [names.get(rank, "?") for rank in range(stats.ranks)], gang.signature))
    if len(over) == 1:
        client.loop.add_callback(client.loop.call_later, TOGETHER, _notify, client)


async def _has_page(client: Any) -> bool:
    """Runs in the client's loop, as all that follows."""
    from graphdask.dashboard import attach

    if client not in _PAGES:
        _PAGES[client] = asyncio.ensure_future(_asked(client, attach))
    return await asyncio.shield(_PAGES[client])


async def _asked(client: Any, attach: Any) -> bool:
    with suppress(Exception):  # a scheduler without graphdask, one that runs no functions, one that is gone
        return bool(await client._run_on_scheduler(attach))
    return False


async def _notify(client: Any) -> None:
    from graphdask.dashboard.board import RUNS, report_of

    over = _OVER.pop(client, deque())
    with suppress(Exception):
        if over and await _has_page(client):
            runs = [report_of(stats, names) | signature for stats, names, signature in over]
            await client.scheduler.log_event(topic=RUNS, msg=runs)
