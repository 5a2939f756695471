"""Samples of a graph in memory: from its partitions, from replicas on every rank, or from replicas that stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.errors import OverBudget, PeerLost, WrongWorker
from graphdask.gang import replicas
from graphdask.gang.building import Built
from graphdask.gang.clients import Workers
from graphdask.gang.in_memory import partitions, with_partitions
from graphdask.gang.offered import offered
from graphdask.gang.recovery import of_size, on_lost_partitions
from graphdask.gang.retries import retried
from graphdask.graph.graph import Graph


def sample(graph: Graph, sampler: Any, placement: Any, client: Any, progress: bool | None) -> Any:
    """Run a sampler over a graph where `placement` says."""
    config = Config.load(progress=progress)
    if not isinstance(placement, str):
        return _streamed(graph, sampler, placement, client, config)
    try:
        if placement != "partitioned":
            try:
                return _replicated(graph, sampler, client, config)
            except OverBudget:
                if placement == "replicated":
                    raise
        return _partitioned(graph, sampler, client, config)
    except OverBudget as error:
        if not sampler.placed:
            raise
        raise OverBudget(
            f'{error}. Or use placement="streamed", which keeps the graph in host memory and parts of it on the device'
        ) from error


def _partitioned(graph: Graph, sampler: Any, client: Any, config: Config) -> Any:
    def compute(built: Built, restarts: int) -> Any:
        again = partial(_partitions, graph, config, (*needs, None, sampler.reads), built.gang.size)
        return replicas.run(graph, built, sampler, "partitioned", restarts, config, again)

    inward = sampler.inward and graph.directed
    needs = sampler.ghosts, inward, inward if sampler.numbered else None
    return with_partitions(graph, client, config, compute, *needs, sampler.name, None, sampler.reads)


@contextmanager
def _partitions(
    graph: Graph, config: Config, needs: tuple[Any, ...], size: int, client: Any, workers: Workers
) -> Iterator[Built]:
    """The partitions of a graph, as many as before; if a worker is lost meanwhile, all are let go of."""
    home = of_size(graph, workers, size)
    with on_lost_partitions(home):
        yield partitions(home, client, workers, config, *needs)


def _replicated(graph: Graph, sampler: Any, client: Any, config: Config) -> Any:
    def compute(client: Any, workers: Workers, restarts: int) -> Any:
        again = partial(replicas.kept_replicas, graph, config, sampler)
        with again(client, workers) as built:
            return replicas.run(graph, built, sampler, "replicated", restarts, config, again)

    with offered(graph):
        return retried(client, config, compute, sampler.name)


def _streamed(graph: Graph, sampler: Any, placement: Any, client: Any, config: Config) -> Any:
    def compute(client: Any, workers: Workers, restarts: int) -> Any:
        try:
            return replicas.streamed(graph, client, config, sampler, workers, placement, restarts)
        except (PeerLost, WrongWorker):
            graph.on_host = graph.replicas = None
            raise

    with offered(graph):
        return retried(client, config, compute, sampler.name)
