"""What runs each algorithm over a store, by one rank or by several that share it.

`STREAMED` is the one table. Searches, components, PageRank and betweenness are primitives of the engine, whose state
and chunks are on the CPU or on a device. The others go through the main memory of the host
(`graphdask.stream.everywhere`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.clustering import LocalClustering
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.core_number import CoreNumber
from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.algorithms.pagerank import PageRank, SinglePageRank
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.strong import StrongComponents
from graphdask.algorithms.triangles import Triangles
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.kernels.common.compiling import clock
from graphdask.stream import betweenness, distances, pagerank, paths, weighted_betweenness
from graphdask.stream.components import Components
from graphdask.stream.core_numbers import core_number
from graphdask.stream.everywhere import Work
from graphdask.stream.labels import label_propagation
from graphdask.stream.pagerank import StreamedPageRank
from graphdask.stream.shared import StreamedPart, backend_of
from graphdask.stream.store import Store
from graphdask.stream.strong import strong_components
from graphdask.stream.sweeps import Log
from graphdask.stream.triangles import clustering, triangles


@dataclass(frozen=True)
class Supersteps:
    """What makes the primitive of the engine that does the work of another one over a store."""

    on_cpu: Callable[[StreamedPart, Any, ExitStack], Any]
    """Takes the share of the store, the primitive, and a stack that is closed after the run."""
    on_device: str
    """The module and the name of what takes also how it reaches the device, first. It is imported when a device needs
    it, because its kernels import Numba, which takes long."""

    def __call__(self, context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
        return self.run(context, part, primitive)[0]

    def run(self, context: RankContext, part: StreamedPart, primitive: Any) -> tuple[RankResult, Any]:
        """Return the result of a rank, and the primitive that found it."""
        started, backend, more = clock(), backend_of(context, part), {}
        with backend.activate(), ExitStack() as stack:
            if backend.name == "cuda":
                from graphdask.stream.on_device import prepared

                module, name = self.on_device.split(":")
                run = prepared(part, backend, context.memory_share, Log(what=primitive.name))
                streamed = getattr(import_module(f"graphdask.stream.{module}"), name)(run, part, primitive, stack)
                stack.enter_context(run.host.reading())
                before = run.host.nbytes
            else:
                streamed = self.on_cpu(part, primitive, stack)
            env = replace(context.environment("selective"), backend=backend)
            result = run_primitive(context.comm, streamed.view(part, backend), streamed, env)
            if backend.name == "cuda":
                more = {"device": "cuda", "from_disk": run.host.nbytes - before}
        traffic = streamed.log.streamed(clock() - started, result.supersteps) | more
        state = streamed.memory(part, env.allocation)
        values = result.values | {"streamed": traffic}
        memory = state + traffic["window"]
        return replace(result, values=values, memory=memory, allocated_start=state, allocated_end=state), streamed


@dataclass(frozen=True)
class Everywhere:
    """A function that finds columns and values, and says how many bytes its state takes."""

    found: Callable[[Work, Any], tuple[dict[str, Any], int]]

    def __call__(self, context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
        started, log, backend = clock(), Log(context, primitive.name), backend_of(context, part)
        with ExitStack() as stack:
            work = Work(context, part, log, stack)
            found, state = self.found(work, primitive)
        with backend.activate():
            columns = {name: backend.from_host(value) for name, value in found.items() if isinstance(value, np.ndarray)}
        values = {name: value for name, value in found.items() if name not in columns}
        values["streamed"] = traffic = log.streamed(clock() - started) | {"window": work.window_bytes}
        dtypes = {name: array.dtype for name, array in columns.items()}
        memory = state + traffic["window"]
        return RankResult(columns, values, dtypes, log.history, context.comm.name, "CPU", memory, state, state)


@dataclass(frozen=True)
class Streamed:
    """How an algorithm runs over a store."""

    run: Callable[[RankContext, StreamedPart, Any], RankResult]
    refuse: Callable[[Store, Any], None] = pagerank.refuse
    """Raises for what cannot be streamed."""
    source: Callable[[Any], int] | None = None
    """Of a search, which one pass may be exact for."""
    by_weight: bool = False
    """Whether a search goes by the weights of edges, if they have any."""


STREAMED: dict[type, Streamed] = {
    BreadthFirstSearch: Streamed(
        Supersteps(paths.search_of, "device_paths:search_of"), paths.refuse, lambda primitive: primitive.sources[0]
    ),
    ShortestPaths: Streamed(
        Supersteps(distances.paths_of, "device_distances:paths_of"), distances.refuse,
        lambda primitive: primitive.source, by_weight=True,
    ),
    ConnectedComponents: Streamed(Supersteps(Components, "device_components:DeviceComponents"), lambda *_: None),
    **dict.fromkeys(
        (PageRank, SinglePageRank),
        Streamed(Supersteps(StreamedPageRank, "device_pagerank:DevicePageRank"), pagerank.refuse_weights),
    ),
    Betweenness: Streamed(Supersteps(betweenness.scores_of, "device_betweenness:scores_of")),
    WeightedBetweenness: Streamed(Supersteps(weighted_betweenness.scores_of, "device_weighted_betweenness:scores_of")),
    CoreNumber: Streamed(Everywhere(core_number)),
    LabelPropagation: Streamed(Everywhere(label_propagation)),
    LocalClustering: Streamed(Everywhere(clustering)),
    StrongComponents: Streamed(Everywhere(strong_components)),
    Triangles: Streamed(Everywhere(triangles)),
}  # fmt: skip


def execute(context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
    """Run a primitive over a share of a store; among the values is what was read, as `streamed`."""
    return STREAMED[type(primitive)].run(context, part, primitive)


def joined(traffic: Sequence[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What all ranks have read."""
    total = dict(traffic[0])
    for name in ("nbytes", "least", "distinct", "chunks_read", "chunks_resident", "chunks_skipped", "chunks_unused",
                 "reading", "waiting", "window", "in_place", "from_disk"):  # fmt: skip
        if name in total:
            total[name] = sum(one[name] for one in traffic)
    total["overlap"] = max(0.0, 1.0 - total["waiting"] / total["reading"]) if total["reading"] else 0.0
    total["bandwidth"] = total["nbytes"] / seconds if seconds else 0.0
    return total
