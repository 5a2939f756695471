"""Calls that are repeated when a worker was lost."""

from __future__ import annotations

from typing import Any

from graphdask.config import Config
from graphdask.display.first_use import FirstUse
from graphdask.display.notebook import is_watched
from graphdask.errors import GraphdaskError, OverBudget, PeerLost, SchedulerLost, WrongWorker
from graphdask.gang.clients import Workers, active_client, await_workers, checked, workers_of
from graphdask.gang.watch import Outdated, ask_scheduler, has_ended, scheduler_needed


def retried(client: Any, config: Config, call: Any, label: str = "") -> Any:
    """Return `call(client, workers, attempt)`; if a worker is lost, call again with the workers that there are.

    The setting `retries` limits how many are lost one after the other while no attempt gets further, by supersteps,
    than those before it. The loss of one that got further counts too, unless a copy or a checkpoint has kept that.

    With a `label`, kernels that are compiled meanwhile are shown as those of one call.
    """
    with FirstUse(label, bool(label) and is_watched(config.progress)):
        return _tried(client, config, call)


def repeated(gang: Any, error: Any, call: Any, label: str) -> Any:
    """As `retried`, for values that a gang has lost: when its workers are back, or will not come back."""
    client, config = gang.client, gang.config
    avoid: frozenset[str] = getattr(error, "silent", frozenset())
    expected = frozenset[str]()
    with scheduler_needed(client):
        if any(worker.returns for worker in ask_scheduler(client).values()):
            expected = frozenset(host.name for host in gang.hosts if host.address not in avoid)
        workers = await_workers(client, config, expected, avoid)
    with FirstUse(label, is_watched(config.progress)):
        return _repeated(client, config, call, workers, avoid)


def _tried(client: Any, config: Config, call: Any) -> Any:
    client = active_client() if checked(client) is None else client
    open_before = not has_ended(client)
    with scheduler_needed(client if open_before else None):
        workers = workers_of(client, config)
    return _repeated(client, config, call, workers)


def _repeated(client: Any, config: Config, call: Any, workers: Workers, avoid: frozenset[str] = frozenset()) -> Any:
    before = workers
    lost: GraphdaskError | None = None
    losses = furthest = restarts = 0
    while True:
        try:
            with scheduler_needed(client):
                return call(client, workers, restarts)
        except Outdated:
            continue  # the workers are known now
        except OverBudget as error:
            if lost is None:
                raise
            raise OverBudget(f"{error}. This was tried because a worker had been lost: {lost}") from error
        except (PeerLost, WrongWorker) as error:
            reached, kept = getattr(error, "reached", 0), getattr(error, "kept", False)
            losses, furthest = (int(not kept), reached) if reached > furthest else (losses + 1, furthest)
            if client is None or losses > config.retries or not config.retries or isinstance(error, SchedulerLost):
                raise
            lost, restarts = error, restarts + 1
            returning = {address: worker.name for address, worker in before.items() if worker.returns}
            avoid |= getattr(error, "silent", frozenset())
            expected = frozenset(name for address, name in returning.items() if address not in avoid)
            with scheduler_needed(client):
                workers = await_workers(client, config, expected, avoid)
