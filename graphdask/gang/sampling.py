"""Samples of a graph in memory: from its partitions, from replicas on every rank, or from replicas that stream."""

from __future__ import annotations

from typing import Any

from graphdask.config import Config
from graphdask.errors import OverBudget, PeerLost, WrongWorker
from graphdask.gang import on_disk, replicas
from graphdask.gang.building import Built
from graphdask.gang.clients import Workers
from graphdask.gang.in_memory import with_partitions
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
        return replicas.run(graph, built, sampler, "partitioned", restarts, config)

    inward = sampler.inward and graph.directed
    rows = inward if sampler.numbered else None
    return with_partitions(
        graph, client, config, compute, sampler.ghosts, inward, rows, sampler.name, None, sampler.reads
    )


def _replicated(graph: Graph, sampler: Any, client: Any, config: Config) -> Any:
    def compute(client: Any, workers: Workers, restarts: int) -> Any:
        try:
            built = replicas.built(graph, client, config, sampler, workers)
            return replicas.run(graph, built, sampler, "replicated", restarts, config)
        except (PeerLost, WrongWorker):
            graph.replicas = None
            raise

    with on_disk.offered(graph):
        return retried(client, config, compute, sampler.name)


def _streamed(graph: Graph, sampler: Any, placement: Any, client: Any, config: Config) -> Any:
    def compute(client: Any, workers: Workers, restarts: int) -> Any:
        try:
            return replicas.streamed(graph, client, config, sampler, workers, placement, restarts)
        except (PeerLost, WrongWorker):
            graph.on_host = graph.replicas = None
            raise

    with on_disk.offered(graph):
        return retried(client, config, compute, sampler.name)
