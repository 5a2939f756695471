"""Run over a graph on disk: by one rank of this process that streams it, by several, or by those of a client."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from graphdask.config import Config
from graphdask.display.notebook import is_watched
from graphdask.engine.checkpoints import Checkpointing
from graphdask.engine.loop import RankContext, RankResult
from graphdask.errors import InputError, Unsupported
from graphdask.gang.checkpoints import attempt, on_loss, resumable, wanted
from graphdask.gang.clients import Workers
from graphdask.gang.copies import Copies
from graphdask.gang.local import LocalGang
from graphdask.gang.logs import log_run
from graphdask.gang.recovery import Recovery, of_size, on_lost_partitions
from graphdask.gang.replicas import fill_up
from graphdask.gang.retries import retried
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.part import WeightFacts
from graphdask.partition.vertex_map import VertexMap
from graphdask.results.stats import Stats
from graphdask.stream import sampling
from graphdask.stream.graph import StreamedGraph
from graphdask.stream.host import Shelf
from graphdask.stream.refused import check
from graphdask.stream.run import execute, form_of, joined
from graphdask.stream.shared_store import StreamedPart, map_of, part_of, same_file
from graphdask.stream.store import Store


@dataclass
class Opened:
    """What stands for the partitions of a graph on disk."""

    gang: Any
    vertex_map: VertexMap
    num_edges: int
    weights: WeightFacts | None
    nbytes: list[int]
    parts: Any
    """Kept: a StreamedPart for each rank."""
    asked: tuple[Any, ...]
    """How: where that changes, it is opened anew."""


def persist(graph: StreamedGraph, client: Any, progress: bool | None) -> Opened:
    """Open a graph on every rank."""
    config = Config.load(progress=progress)
    found: Opened = _retried(graph, client, config, lambda client, workers, _: opened(graph, client, workers, config))
    return found


def run(
    graph: StreamedGraph,
    primitive: Any,
    *,
    exchange: str | None,
    allocation: str | float | None,
    checkpoint: Any,
    every: Any,
    client: Any,
    progress: bool | None,
) -> Any:
    """Run a primitive over a graph on disk; its Result is like that of any run."""
    config = Config.load(exchange=exchange, allocation=allocation, progress=progress)
    check(graph, primitive, exchange, allocation)
    form = form_of(type(primitive))
    resumes = form is not None and form.resumes and resumable(primitive)
    checkpoints = wanted(graph, primitive, checkpoint, every, resumes)
    copies = Copies(resumes)

    def call(*where: Any) -> Any:
        return _run(graph, primitive, config, checkpoints, copies, *where)

    with copies.call():
        return _retried(graph, client, config, call, primitive.name)


def sample(graph: StreamedGraph, sampler: Any, placement: Any, client: Any, progress: bool | None) -> Any:
    """Draw samples of a graph on disk; each rank draws its share and keeps it."""
    config = Config.load(progress=progress)
    sampling.check(graph, sampler, placement)
    return _retried(graph, client, config, lambda *where: _sample(graph, sampler, config, *where), sampler.name)


def _retried(graph: StreamedGraph, client: Any, config: Config, call: Any, label: str = "") -> Any:
    """Return `call(client, workers, attempt)`; if a worker is lost, open the graph again."""

    def attempt(*where: Any) -> Any:
        with on_lost_partitions(graph):
            return call(*where)

    return retried(client, config, attempt, label)


def opened(graph: StreamedGraph, client: Any, workers: Workers, config: Config) -> Opened:
    """The graph, opened by every rank."""
    # a sweep may take long; who is lost is known from the signs of life
    config = replace(config, exchange_timeout=max(config.exchange_timeout, config.deadline))
    parts, built, store = graph.plan.parts, graph.built, graph.store
    store.check_open()
    if client is None and parts in (None, 1):
        return _opened(graph, LocalGang(1, "cpu", config), graph, ())
    device = Config.load(device=graph.device).device
    asked = device, graph.memory, graph.read_ahead, graph.passes, graph.host_memory
    there = built is not None and built.gang.is_whole(workers) and getattr(built.gang, "client", None) is client
    if there and built.asked == asked:
        built.gang.use(config)
        return built
    if client is None:
        graph.built = _opened(graph, LocalGang(parts or 1, device, config), graph, asked)
    else:
        from graphdask.gang.cluster import DaskGang

        graph.built = _opened(graph, DaskGang(client, workers, parts, device, config), store.path, asked)
    return graph.built


def _opened(graph: StreamedGraph, gang: Any, given: Any, asked: tuple[Any, ...]) -> Opened:
    """The graph, as every rank has it from `given`: what is open in this process, or a path."""
    if graph.passes == "one" and gang.size > 1:
        raise Unsupported('passes="one" is for one rank; open the file with passes="exact", or take S.partition(1)')
    store, size = graph.store, gang.size
    shelf = graph.host_memory, gang.config.memory_fraction / gang.neighbours
    kept = gang.run(
        _open, given, store.header, size, graph.memory, graph.read_ahead, graph.passes == "one", shelf, summary=_bytes,
        label="opening", show=False,
    )  # fmt: skip
    return Opened(gang, map_of(store, size), graph.num_edges, store.facts, kept.summary, kept, asked)


def _run(
    graph: StreamedGraph, primitive: Any, config: Config, checkpoints: Checkpointing | None, copies: Copies,
    client: Any, workers: Workers, restarts: int,
) -> Any:  # fmt: skip
    def values(built: Opened) -> Any:
        with copies.on_loss(built.gang, checkpoints is not None), on_loss(checkpoints):
            kept = built.gang.run(
                execute, built.parts, primitive, None if checkpoints is None else attempt(checkpoints),
                copies.attempt(built.gang), summary=RankResult.without_columns, label=primitive.name,
                show=is_watched(config.progress), goal=primitive.goal,
            )  # fmt: skip
        copies.over(kept.summary)
        return kept

    built, timer = opened(graph, client, workers, config), Timer()
    kept = values(built)
    several = built.gang.size > 1
    exchange, ghosts = ("selective", "all") if several else ("none", "none")
    stats = Stats.of(primitive.name, kept.summary, exchange, ghosts, timer.seconds, compiled=timer.compiled)
    stats.streamed, stats.restarts = (
        joined([result.values["streamed"] for result in kept.summary], stats.seconds),
        restarts,
    )
    log_run(graph, built.gang, stats)
    _lasting(graph, kept, built, stats, values, config)
    return primitive.result_type(graph, primitive, kept, built, stats)


def _lasting(graph: StreamedGraph, kept: Any, built: Opened, stats: Stats, values: Any, config: Config) -> None:
    """Let what a run has left on workers be computed again, by `values`, if a worker takes it with it."""
    size = built.gang.size

    def again(client: Any, workers: Workers) -> tuple[Opened, Any]:
        home = of_size(graph, workers, size)
        with on_lost_partitions(home):
            there = opened(home, client, workers, config)
            return there, values(there)

    if built.gang.kind == "dask":
        kept.recovery = Recovery(stats.algorithm, built, stats, again)


def _sample(graph: StreamedGraph, sampler: Any, config: Config, client: Any, workers: Workers, restarts: int) -> Any:
    def values(built: Opened) -> Any:
        return built.gang.run(
            sampling.execute, built.parts, sampler, summary=RankResult.without_columns, label=sampler.name,
            show=is_watched(config.progress),
        )  # fmt: skip

    built = opened(graph, client, workers, config)
    sampler.check(graph, built.weights)
    timer = Timer()
    kept = values(built)
    fill_up([result.supersteps for result in kept.summary])
    stats = Stats.of(sampler.name, kept.summary, "none", "none", timer.seconds, compiled=timer.compiled)
    stats.streamed, stats.restarts = (
        joined([result.values["streamed"] for result in kept.summary], stats.seconds),
        restarts,
    )
    log_run(graph, built.gang, stats)
    _lasting(graph, kept, built, stats, values, config)
    return sampler.result_type(graph, sampler, kept, built, stats, sampling.PLACEMENT)


def _open(
    context: RankContext, given: Any, header: dict[str, Any], size: int, memory: int, read_ahead: int | None,
    once: bool, shelf: tuple[int | None, float],
) -> StreamedPart:  # fmt: skip
    here = isinstance(given, StreamedGraph)
    store = given.store if here else Store(given)
    same_file(store, header)
    if shelf[0] is not None and context.backend.name == "cpu" and not (here and size == 1):
        raise InputError(
            "host_memory= is for a GPU, and here CPUs stream, for which memory= is all; open the file without it"
        )
    part = replace(part_of(store, context.comm.rank, size, memory, read_ahead), once=once)
    if here and size == 1:
        part.device, part.chunks = given.device, given.host_chunks
    else:
        part.device, part.chunks = context.backend.name, Shelf(store, part.own, *shelf)
    return part


def _bytes(part: StreamedPart) -> int:
    section = part.store.sections["out"]
    return sum(sum(section.sizes(number)) for number in part.own.chunks["out"])
