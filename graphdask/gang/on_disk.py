"""Run over a graph on disk: one rank in this process, which streams it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from graphdask.config import Config
from graphdask.engine import RankContext, RankResult
from graphdask.errors import OverBudget, Unsupported
from graphdask.gang.local import LocalGang, LocalKept
from graphdask.gang.progress import is_watched
from graphdask.part import WeightFacts
from graphdask.partition import VertexMap
from graphdask.stats import Stats
from graphdask.stream.construct import PER_VERTEX
from graphdask.stream.graph import NAMES, StreamedGraph, check, execute, one_part


@dataclass
class Opened:
    """What stands for the partitions of a graph on disk."""

    gang: LocalGang
    vertex_map: VertexMap
    num_edges: int
    weights: WeightFacts | None
    nbytes: list[int]
    parts: LocalKept
    """The graph, as that of one rank."""


def opened(graph: StreamedGraph, config: Config) -> Opened:
    """The graph, as what asks for its partitions sees it."""
    store = graph.store
    gang, parts = LocalGang(1, "cpu", config), LocalKept([graph], [None])
    return Opened(gang, one_part(store.num_vertices), graph.num_edges, store.facts, [store.size], parts)


def run(graph: StreamedGraph, primitive: Any, config: Config, exchange: Any, allocation: Any, client: Any) -> Any:
    """Run a primitive; its result is as that of any run."""
    check(graph, primitive, exchange, allocation, client)
    built, show = opened(graph, config), is_watched(config.progress)
    started = time.perf_counter()
    done = built.gang.run(_run, graph, primitive, summary=itself, label=primitive.name, show=show)
    seconds = time.perf_counter() - started
    result, traffic = done.values[0]
    kept = LocalKept([result], [RankResult.without_columns(result)])
    stats = Stats.of(primitive.name, kept.summary, "none", "none", seconds)
    stats.streamed = traffic
    return primitive.result_type(graph, primitive, kept, built, stats)


@contextmanager
def offered(graph: Any) -> Iterator[None]:
    """Where a graph needs more memory than there is, say what it would take to stream it."""
    try:
        yield
    except OverBudget as error:
        if "memory-fraction" not in str(error) or graph.num_vertices >= 2**31 - 1:
            raise
        needed = max(2 * PER_VERTEX * graph.num_vertices / 2**30, 0.01)
        raise OverBudget(
            f"{error}. Or stream it from disk: graphdask.stream.build, which is `graphdask stream build`, writes it in "
            f"about {needed:,.2g} GiB, and {NAMES} go through that file in as much"
        ) from error


def refuse(graph: Any, what: str) -> None:
    """Raise Unsupported where a graph is on disk, and what is asked for needs its partitions."""
    if isinstance(graph, StreamedGraph):
        raise Unsupported(f"{what} {graph.store.path} needs it in memory: take S.in_memory()")


def _run(context: RankContext, graph: StreamedGraph, primitive: Any) -> tuple[RankResult, dict[str, Any]]:
    return execute(context, graph, primitive)


def itself(value: Any) -> Any:
    """All of a value, where a summary of it is asked for."""
    return value
