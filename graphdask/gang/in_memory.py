"""Calls on a graph in memory: its partitions are built on a gang, once, and primitives run over them there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.display.notebook import is_watched
from graphdask.engine.buffers import MAXIMAL, Allocation
from graphdask.engine.checkpoints import Checkpointing
from graphdask.engine.copies import Copying
from graphdask.engine.keeper import keep
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.errors import Unsupported
from graphdask.gang.board import announce
from graphdask.gang.building import Built, Families, build_all, gang_for, with_columns, with_edge_rows, with_inward
from graphdask.gang.checkpoints import attempt, on_loss, resumable, wanted
from graphdask.gang.clients import Workers
from graphdask.gang.copies import Copies
from graphdask.gang.logs import log_run
from graphdask.gang.offered import offered, refuse
from graphdask.gang.recovery import Recovery, of_size, on_lost_partitions
from graphdask.gang.retries import retried
from graphdask.graph.graph import Graph
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import GHOSTS
from graphdask.results.stats import Stats


def persist(graph: Graph, client: Any, progress: bool | None) -> Built:
    """Build the partitions of a graph if they do not exist."""
    config = Config.load(progress=progress)
    built: Built = with_partitions(graph, client, config, lambda built, restarts: built)
    return built


def run(
    graph: Graph,
    primitive: Any,
    *,
    exchange: str | None,
    allocation: str | float | None,
    checkpoint: Any,
    every: Any,
    client: Any,
    progress: bool | None,
) -> Any:
    """Run a primitive over the partitions of a graph."""
    checkpoints = wanted(graph, primitive, checkpoint, every, resumable(primitive))
    config = Config.load(exchange=exchange, allocation=allocation, progress=progress)
    chosen = primitive.exchange if config.exchange == "auto" else config.exchange
    if allocation is not None and not primitive.queues:
        raise Unsupported(f"{primitive.name} has no queues to allocate; leave allocation= out")
    scheme = Allocation.of(config.allocation) if primitive.queues else MAXIMAL
    if scheme.share < 1 and primitive.needs_all:
        raise Unsupported(
            f"{primitive.name} does not support a fixed allocation, because {primitive.needs_all}; use "
            f"allocation='maximal' or allocation='just-enough'"
        )

    def compute(built: Built, restarts: int) -> Any:
        timer = Timer()
        kept = values(built)
        stats = Stats.of(primitive.name, kept.summary, chosen, built.ghosts, timer.seconds, str(scheme), timer.compiled)
        stats.restarts = restarts
        announce(built.gang, stats)
        log_run(graph, built.gang, stats)
        if built.gang.kind == "dask":
            kept.recovery = Recovery(primitive.name, built, stats, partial(again, size=built.gang.size))
        return primitive.result_type(graph, primitive, kept, built, stats)

    def values(built: Built) -> Any:
        with copies.on_loss(built.gang, checkpoints is not None), on_loss(checkpoints):
            kept = built.gang.run(
                _run,
                built.parts,
                primitive,
                chosen,
                scheme,
                None if checkpoints is None else attempt(checkpoints),
                copies.attempt(built.gang),
                summary=RankResult.without_columns,
                label=primitive.name,
                show=is_watched(config.progress),
                goal=primitive.goal,
            )
        copies.over(kept.summary)
        return kept

    def again(client: Any, workers: Workers, size: int) -> tuple[Built, Any]:
        home = of_size(graph, workers, size)
        with on_lost_partitions(home):
            there = partitions(home, client, workers, config, *needs, *checks)
            return there, values(there)

    copies = Copies(resumable(primitive))
    needs: tuple[str, bool, bool | None]
    needs = primitive.ghosts, primitive.inward and graph.directed, False if primitive.edge_rows else None
    checks = primitive.check_device, primitive.reads, primitive.families
    with copies.call():
        return with_partitions(graph, client, config, compute, *needs, primitive.name, *checks)


def _run(
    context: RankContext, part: Part, primitive: Any, exchange: Any, allocation: Allocation,
    checkpoints: Checkpointing | None, copying: Copying | None,
) -> RankResult:  # fmt: skip
    """On each rank: run the superstep loop of the engine over its part."""
    weight = None if part.out.weights is None else part.out.weights.dtype
    context.backend.ahead(primitive.families(part.vertex_map.dtype, weight, part.size))
    env = context.environment(exchange, allocation)
    keep(env, context.vault, checkpoints, copying)
    return run_primitive(context.comm, part, primitive, env)


def with_partitions(
    graph: Graph, client: Any, config: Config, action: Any, ghosts: str = GHOSTS[1], inward: bool = False,
    edge_rows: bool | None = None, label: str = "", check: Callable[[str], None] | None = None,
    reads: tuple[Any, ...] = (), families: Families | None = None,
) -> Any:  # fmt: skip
    """Return `action(built, restarts)` for the partitions of a graph; if a worker is lost, build them again.

    `edge_rows` is False for the rows of out-edges, True for those of in-edges, None for none.
    `check` refuses a device before they are built. `reads` are the columns of the graph that are brought to them.
    `families` names the kernels that `action` needs.
    """
    refuse(graph, "what was asked for of")

    def call(client: Any, workers: Workers, attempt: int) -> Any:
        with on_lost_partitions(graph):
            needs = ghosts, inward, edge_rows, check, reads, families
            return action(partitions(graph, client, workers, config, *needs), attempt)

    with offered(graph):
        return retried(client, config, call, label)


def partitions(
    graph: Graph, client: Any, workers: Workers, config: Config, ghosts: str, inward: bool, edge_rows: bool | None,
    check: Callable[[str], None] | None, reads: tuple[Any, ...], families: Families | None = None,
) -> Built:  # fmt: skip
    """Return the partitions of a graph with what is asked for, built as far as they are not there."""
    built: Built | None = graph.built
    if built is not None and (
        not built.gang.is_whole(workers)
        or (built.gang.kind == "dask") != (client is not None)
        or (client is not None and built.gang.client is not client)
        or (graph.plan.device == "auto" and built.gang.config.device != config.device)
    ):
        built = None
    if built is not None:
        built.gang.use(config)
    show = is_watched(config.progress)
    gang = gang_for(graph, client, config, workers) if built is None else built.gang
    if check is not None:
        check(gang.device)
    if built is None:
        built = graph.built = build_all(graph, gang, ghosts, show, families)
    if inward and not built.inward:
        built = graph.built = with_inward(built, show)
    if edge_rows is not None and edge_rows not in built.edge_rows:
        built = graph.built = with_edge_rows(graph, built, edge_rows, show)
    if reads:
        built = graph.built = with_columns(graph, built, reads, show)
    return built
