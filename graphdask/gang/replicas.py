"""Runs of samplers: over the whole graph on every worker, over its partitions, or streamed from host memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.device.backend import cuda_device_count, get_backend
from graphdask.display.notebook import is_watched
from graphdask.engine.loop import Environment, RankContext, RankResult, Superstep, run_primitive
from graphdask.errors import PeerLost, WrongWorker
from graphdask.gang.arguments import PerRank
from graphdask.gang.board import announce
from graphdask.gang.columns import LABEL, add, arguments, rows_plan
from graphdask.gang.local import LocalGang, devices_used
from graphdask.gang.logs import log_run
from graphdask.gang.recovery import Recovery
from graphdask.graph.graph import Graph
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.build import BuildPlan, add_inward, build_part
from graphdask.partition.column_values import ColumnAt
from graphdask.partition.edge_rows import RowsPlan, add_edge_rows, numbered_pieces
from graphdask.partition.part import Part, WeightFacts
from graphdask.partition.vertex_map import VertexMap, make_vertex_map
from graphdask.results.stats import Stats


def _build(context: RankContext, piece: Any, plan: BuildPlan) -> Part:
    return build_part(context.comm, context.backend, piece, plan, context.memory_share)


def _add_inward(context: RankContext, part: Part) -> Part:
    return add_inward(context.comm, context.backend, part)


def _add_rows(context: RankContext, part: Part, given: Any, plan: RowsPlan) -> Part:
    return add_edge_rows(context.comm, context.backend, part, given, plan, context.memory_share)


def _sample(context: RankContext, part: Part, sampler: Any, rank: int) -> RankResult:
    """Draw all the samples over partitions, or a rank's share of them from all of the graph."""
    result = run_primitive(context.comm, part, sampler, context.environment("selective"))
    result.values["rank"] = rank
    for name, column in result.columns.items():
        result.values[f"{name}.shape"] = column.shape[1:]
    return result


def _stream(
    context: RankContext, part: Part, sampler: Any, rank: int, options: Any, device: str, place: int, share: float
) -> RankResult:
    """Sample a graph in this host's memory on a device; the samples go to the host too."""
    host, backend = context.environment("selective"), get_backend(device, place)
    share = context.memory_share if backend.name == "cpu" else share
    with backend.activate():
        env = Environment(backend, 0, 1, "selective", context.watchdog, share, context.on_superstep, context.comm)
        from graphdask.sample import streamed_run  # its kernels import Numba

        result = streamed_run.run(sampler, part, host, env, options)
        backend.synchronize()
    result.transport = context.comm.name
    result.values["rank"] = rank
    for name, column in result.columns.items():
        result.values[f"{name}.shape"] = column.shape[1:]
    return result


def fill_up(ranks: list[list[Superstep]]) -> None:
    """Give all ranks as many supersteps; on replicas each makes as many as its share of the instances takes."""
    most = max(map(len, ranks))
    for steps in ranks:
        steps.extend(Superstep(number, 0, 0, 0, 0, (), 0.0, 0.0, 0.0, 0.0) for number in range(len(steps), most))


def _weights(part: Part) -> WeightFacts | None:
    return part.weights


@dataclass
class Replicas:
    """The whole graph, once for each worker, or in one process once for each device."""

    holders: Any
    """The gang whose ranks hold a replica each."""
    held: Any
    gang: Any
    """The gang that runs: the holders, or more threads of this process that share what these hold."""
    ghosts: str = "all"
    inward: bool = False
    weights: WeightFacts | None = None
    """Of all edges; None where there are no weights."""
    edge_rows: frozenset[bool] = frozenset()
    """Whether the rows of out-edges are there (False), and of in-edges (True)."""
    columns: frozenset[ColumnAt] = frozenset()
    """The columns of edges and vertices that are there."""

    @property
    def parts(self) -> Any:
        """A replica for each rank of the gang."""
        if self.gang is self.holders:
            return self.held
        return PerRank([self.held[rank % self.holders.size] for rank in range(self.gang.size)])


def run(graph: Graph, built: Any, sampler: Any, placement: str, restarts: int, config: Config, again: Any) -> Any:
    """Draw the samples on the workers, and leave them there; if a worker is lost, `again` gives what they lie on."""
    alone = placement == "replicated"

    def values(built: Any) -> Any:
        size = built.gang.size
        return built.gang.run(
            _sample, built.parts, _shares(sampler, size) if alone else sampler, PerRank(range(size)),
            summary=RankResult.without_columns, label=sampler.name, show=is_watched(config.progress), alone=alone,
        )  # fmt: skip

    sampler.check(graph, built.weights)
    timer = Timer()
    kept = values(built)
    fill_up([result.supersteps for result in kept.summary])
    stats = Stats.of(sampler.name, kept.summary, "selective", built.ghosts, timer.seconds, compiled=timer.compiled)
    announce(built.gang, stats)
    stats.restarts = restarts
    log_run(graph, built.gang, stats)
    _lasting(kept, built, stats, again, values)
    return sampler.result_type(graph, sampler, kept, built, stats, placement)


def _lasting(kept: Any, built: Any, stats: Stats, again: Any, values: Any) -> None:
    """Let samples on workers be drawn again, by `values`, from what `again` gives, if a worker takes them with it."""

    def make(client: Any, workers: Any) -> tuple[Any, Any]:
        with again(client, workers) as there:
            return there, values(there)

    if built.gang.kind == "dask":
        kept.recovery = Recovery(stats.algorithm, built, stats, make)


def _shares(sampler: Any, size: int) -> PerRank:
    return PerRank([sampler.share(rank, size) for rank in range(size)])


def streamed(
    graph: Graph, client: Any, config: Config, sampler: Any, workers: Mapping[str, Any], options: Any, restarts: int
) -> Any:
    """Draw the samples from the whole graph in the memory of every host, of which a device has some at a time."""
    device = _device(graph, config)
    if device == "auto" and client is None:
        device = "cuda" if cuda_device_count() else "cpu"
    source = graph
    if device != "cpu":
        source = graph.on_host = graph.on_host or replace(graph, plan=replace(graph.plan, device="cpu"), built=None)
        source.replicas = None if source.replicas is graph.replicas else source.replicas
    there = built(source, client, config, sampler, workers)
    sampler.check(graph, there.weights)
    if client is None and device == "cuda":
        there = replace(there, gang=LocalGang(graph.plan.parts or 1, "cpu", config))

    def values(there: Any) -> Any:
        (places, shares), size = _devices(there.gang, config), there.gang.size
        return there.gang.run(
            _stream, there.parts, _shares(sampler, size), PerRank(range(size)), options, device, PerRank(places),
            PerRank(shares), summary=RankResult.without_columns, label=sampler.name,
            show=is_watched(config.progress), alone=True,
        )  # fmt: skip

    timer = Timer()
    kept = values(there)
    fill_up([result.supersteps for result in kept.summary])
    stats = Stats.of(sampler.name, kept.summary, "selective", there.ghosts, timer.seconds, compiled=timer.compiled)
    announce(there.gang, stats)
    stats.restarts, stats.streamed = restarts, _joined([result.values["streamed"] for result in kept.summary])
    log_run(graph, there.gang, stats)
    _lasting(kept, there, stats, partial(kept_replicas, source, config, sampler), values)
    return sampler.result_type(graph, sampler, kept, there, stats, "streamed")


@contextmanager
def kept_replicas(graph: Graph, config: Config, sampler: Any, client: Any, workers: Any) -> Iterator[Replicas]:
    """The whole graph on every worker; if one is lost meanwhile, all are let go of."""
    try:
        yield built(graph, client, config, sampler, workers)
    except (PeerLost, WrongWorker):
        graph.replicas = None
        raise


def _devices(gang: Any, config: Config) -> tuple[list[int], list[float]]:
    """Which of its host's devices each rank takes, and what share of its free memory."""
    if gang.kind == "local":
        sharing = -(-gang.size // max(1, cuda_device_count()))
        return list(range(gang.size)), [config.memory_fraction / sharing] * gang.size
    place = {rank: number for host in gang.hosts for number, rank in enumerate(host.ranks)}
    sharing = max(len(host.ranks) for host in gang.hosts)  # a worker has a GPU of its own, if any
    return [place[rank] for rank in range(gang.size)], [config.memory_fraction / sharing] * gang.size


def _joined(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all ranks transferred; the imbalance is the mean."""
    sums = {name: sum(report[name] for report in reports) for name in ("transfers", "nbytes", "in_place")}
    imbalance = sum(report["imbalance"] for report in reports) / len(reports)
    return {**reports[0], **sums, "imbalance": imbalance}


def built(graph: Graph, client: Any, config: Config, sampler: Any, workers: Mapping[str, Any]) -> Replicas:
    """The whole graph on every worker, made where it is not there yet."""
    show = is_watched(config.progress)
    there: Replicas | None = graph.replicas or _only_partition(graph)
    if there is not None and (
        not there.holders.is_whole(workers)
        or (there.holders.kind == "dask") != (client is not None)
        or (client is not None and there.holders.client is not client)
        or (graph.plan.device == "auto" and there.holders.config.device != config.device)
    ):
        there = None
    if there is None:
        holders = _holders(graph, client, config, workers)
        held = _build_all(graph, holders, show)
        there = graph.replicas = Replicas(holders, held, holders, weights=held.summary[0])
    else:
        there.holders.use(config)
    if sampler.inward and graph.directed and not there.inward:
        held = there.holders.run(
            _add_inward, there.held, summary=_weights, label="adding in-edges", show=show, alone=True
        )
        there = graph.replicas = replace(there, held=held, inward=True)
    if sampler.numbered:
        there = with_edge_rows(graph, there, bool(sampler.inward and graph.directed), show)
        graph.replicas = there
    if sampler.reads:
        there = graph.replicas = with_columns(graph, there, sampler.reads, show)
    if client is not None:
        return there
    device = _device(graph, config)
    size = graph.plan.parts or max(there.holders.size, LocalGang.default_size(device, sampler.work))
    return replace(there, gang=LocalGang(size, device, config))


def with_edge_rows(graph: Graph, there: Replicas, inward: bool, show: bool) -> Replicas:
    """The same with the row of each out-edge, or of each in-edge, in what the caller gave."""
    if inward in there.edge_rows:
        return there
    (piece,), plan = numbered_pieces(graph.source, 1), rows_plan(graph, inward)
    held = there.holders.run(
        _add_rows, there.held, piece, plan, summary=_weights, label="rows of the edges", show=show, alone=True
    )
    return _kept(graph, there, replace(there, held=held, edge_rows=there.edge_rows | {inward}))


def with_columns(graph: Graph, there: Replicas, reads: tuple[ColumnAt, ...], show: bool) -> Replicas:
    """The same with the columns of edges and vertices that functions read."""
    wanted = [each for each in reads if each not in there.columns]
    if not wanted:
        return there
    columns, rows = (each[0] for each in arguments(graph, wanted, 1, there.edge_rows))
    held = there.holders.run(add, there.held, columns, rows, summary=_weights, label=LABEL, show=show, alone=True)
    return _kept(graph, there, replace(there, held=held, columns=there.columns.union(wanted)))


def _kept(graph: Graph, there: Replicas, made: Replicas) -> Replicas:
    """Leave replicas that have more where the next call finds them."""
    if there.gang is there.holders:
        made.gang = there.gang
    for known in (graph, graph.on_host):  # where the next call finds them
        if known is not None and known.replicas is not None and known.replicas.held is there.held:
            known.replicas = replace(made, gang=there.holders)
    return made


def _only_partition(graph: Graph) -> Replicas | None:
    """The partition of a graph that has but one, for it is the whole."""
    built = graph.built
    if built is None or built.gang.size != 1 or type(built.vertex_map) is not VertexMap:
        return None
    return Replicas(
        built.gang, built.parts, built.gang, inward=built.inward, weights=built.weights, edge_rows=built.edge_rows,
        columns=built.columns,
    )  # fmt: skip


def _device(graph: Graph, config: Config) -> str:
    return graph.plan.device if graph.plan.device != "auto" else config.device


def _holders(graph: Graph, client: Any, config: Config, workers: Mapping[str, Any]) -> Any:
    device, parts = _device(graph, config), graph.plan.parts
    if client is None:
        return LocalGang(min(parts or 1, devices_used(device, parts or 1)), device, config)
    from graphdask.gang.cluster import DaskGang

    return DaskGang(client, workers, min(parts or len(workers), len(workers)) or None, device, config)


def _build_all(graph: Graph, gang: Any, show: bool) -> Any:
    source = graph.source
    by_range = replace(graph.plan, by="range")
    plan = BuildPlan(
        vertex_map=make_vertex_map(by_range, source.num_vertices, 1, False, _no_adjacency),
        directed=graph.directed,
        ghosts="all",
        merge=graph.merge,
        num_edges=source.num_edges,
        weighted=source.weight_dtype is not None,
    )
    label = "building the graph"
    return gang.run(_build, source.piece(0, 1), plan, summary=_weights, label=label, show=show, alone=True)


def _no_adjacency() -> Any:
    raise AssertionError("a partitioner by range uses no edges")
