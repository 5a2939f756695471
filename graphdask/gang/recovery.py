"""Values that a worker took with it: they are computed again when somebody asks for them, on as many ranks as before.

The same number of ranks, several of them on a worker if there are fewer workers now, gives the same partitions. So each
rank's values are what they were, bit by bit, and what is known of the places of vertices stays true.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from graphdask.errors import PeerLost, SchedulerLost, WrongWorker
from graphdask.gang.clients import Workers
from graphdask.gang.retries import repeated

_logger = logging.getLogger("graphdask")

Make = Callable[[Any, Workers], tuple[Any, Any]]
"""Of a client and workers: partitions, and the values that a run over them leaves on their gang."""


@dataclass
class Recovery:
    """How the values of a run are computed again."""

    label: str
    built: Any
    """The partitions that the result holds; they become those on which the values were computed again."""
    stats: Any
    make: Make

    def possible(self, gang: Any, error: PeerLost | WrongWorker, losses: int) -> bool:
        """Whether to compute the values again after so many losses one after the other."""
        return (
            not isinstance(error, SchedulerLost) and gang.client.status == "running" and losses <= gang.config.retries
        )

    def __call__(self, gang: Any, error: PeerLost | WrongWorker) -> Any:
        """Compute the values again; returns them, as the gang of `built` keeps them then.

        Raises
        ------
        PeerLost
            If more workers are lost meanwhile than the setting `retries` allows.
        """
        _logger.warning("%s; the values of %s are computed again", error, self.label)
        there, kept = repeated(gang, error, lambda client, workers, _: self.make(client, workers), self.label)
        vars(self.built).update(vars(there))
        self.stats.restarts += 1
        return kept


def of_size(graph: Any, workers: Workers, size: int) -> Any:
    """The graph, or a copy of it without partitions if it would be divided among another number of ranks."""
    built = graph.built
    if built is not None and built.gang.kind == "dask" and built.gang.is_whole(workers):
        there = built.gang.size
    else:
        there = graph.plan.parts or len(workers)
    if there == size:
        return graph
    made = object.__new__(type(graph))  # copy.copy would send what is on workers
    made.__dict__.update(graph.__dict__, plan=replace(graph.plan, parts=size), built=None)
    return made


def whole(result: Any, call: Callable[[], Any]) -> Any:
    """Return `call()`, which runs over the partitions and the values of a result; if some are lost, make them again."""
    parts, built = result.parts, result.built
    if getattr(parts, "recovery", None) is None:
        return call()

    def both() -> Any:
        if parts.gang is not built.gang:
            raise PeerLost("the partitions were built again on other workers than those of the values")
        return call()

    return parts.lasting(both)


@contextmanager
def on_lost_partitions(graph: Any) -> Iterator[None]:
    """Let go of a graph's partitions if a worker has taken some with it."""
    try:
        yield
    except (PeerLost, WrongWorker):
        graph.built = None
        raise
