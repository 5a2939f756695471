"""The rows of dynamic graphs on a gang: built from their lineage, changed by batches, ranked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.backend import get_backend
from graphdask.display.notebook import is_watched
from graphdask.dynamic.batch import apply_batch, whole_batch
from graphdask.dynamic.graph import DynamicGraph
from graphdask.dynamic.rows import DynamicPart, build_dynamic
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.errors import GraphdaskWarning, outside
from graphdask.gang.adjacency import host_adjacency
from graphdask.gang.arguments import PerRank
from graphdask.gang.board import announce
from graphdask.gang.building import gang_for
from graphdask.gang.logs import log_run
from graphdask.gang.retries import retried
from graphdask.graph.graph import Graph
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.build import BuildPlan
from graphdask.partition.changes import Batch
from graphdask.partition.vertex_map import DealtMap, TableMap, VertexMap, make_vertex_map, of_width
from graphdask.results.stats import Stats


@dataclass
class DynamicBuilt:
    """The rows of a dynamic graph."""

    gang: Any
    parts: Any
    """Kept: a DynamicPart for each rank."""
    rows_map: VertexMap
    """Of the vertices and of those that may come."""
    num_vertices: int
    version: int = 0
    """How many batches they have seen; -1 where one has failed."""
    ghosts: str = "all"
    damping: float | None = None
    """Of the ranks that the parts hold; None where they hold none."""
    drift: float = 0.0
    """What an iteration over all vertices may still change these ranks, summed."""
    left: float = 0.0
    """Of this, what is not in vertices that the parts say are to be ranked."""
    shown: VertexMap | None = None
    """Of the vertices in the ascending order of their ids, as results have them; made where it is not there."""

    @property
    def capacity(self) -> int:
        return self.rows_map.num_vertices

    def in_order(self, order: np.ndarray | None) -> VertexMap:
        """The vertex map of results, with the numbers that the vertices have here, if those are in another order."""
        if self.shown is None or self.shown.num_vertices != self.num_vertices:
            every = np.arange(self.capacity, dtype=self.rows_map.dtype)
            number_at = self.rows_map.to_id(get_backend("cpu"), every)
            alive = number_at < self.num_vertices
            offsets = np.concatenate([[0], np.cumsum(alive)])[self.rows_map.offsets]
            id_at = number_at[alive]
            if order is not None:
                place = np.empty(self.num_vertices, id_at.dtype)
                place[order] = np.arange(self.num_vertices)
                id_at = place[id_at]
            position_of = np.empty_like(id_at)
            position_of[id_at] = np.arange(len(id_at))
            self.shown = TableMap(self.num_vertices, offsets.astype(np.int64), position_of=position_of, id_at=id_at)
        return self.shown


@dataclass(frozen=True)
class Ranked:
    """The state of the rows that a result was computed from; later batches do not change it."""

    rows: DynamicBuilt
    version: int
    gang: Any
    parts: Any
    vertex_map: VertexMap
    """Of the vertices that there were, in the ascending order of their ids."""


def _build(context: RankContext, piece: Any, plan: BuildPlan, alive: int) -> DynamicPart:
    return build_dynamic(context.comm, context.backend, piece, plan, alive, context.memory_share)


def _apply(context: RankContext, part: DynamicPart, share: np.ndarray, alive: int) -> DynamicPart:
    edges, weights = whole_batch(context.comm, context.backend, part, share)
    return apply_batch(context.backend, part, edges, weights, alive, context.memory_share)


def _run(context: RankContext, part: DynamicPart, primitive: Any) -> RankResult:
    return run_primitive(context.comm, part, primitive, context.environment("selective"))


def _arcs(part: DynamicPart) -> tuple[np.ndarray, int, int]:
    return part.vertex_map.offsets, part.counts["arcs"], part.counts["self_loops"]


def _reported(part: DynamicPart) -> np.ndarray:
    return np.packbits(part.reported)


def _nothing(part: DynamicPart) -> None:
    return None


def dynamic_rows(graph: DynamicGraph, client: Any, progress: bool | None) -> Any:
    """Build the rows of a dynamic graph if they do not exist."""
    return _with_rows(graph, client, Config.load(progress=progress), lambda rows, restarts: rows)


def update(graph: DynamicGraph, batch: Any, alive: int, taken: Any, client: Any, progress: bool | None) -> Any:
    """Apply a batch, after which there are `alive` vertices; return `taken(there, timer)`.

    `there` says which edges existed before. If this fails, the rows are released.
    """
    config = Config.load(progress=progress)

    def change(rows: Any, restarts: int) -> Any:
        timer = Timer()
        there = _update(rows, batch, alive, config)
        return taken(there, timer)

    return _with_rows(graph, client, config, change, alive, "updating")


def rank(graph: DynamicGraph, primitive: Any, client: Any, progress: bool | None) -> Any:
    """Run a primitive over the rows of a dynamic graph."""
    config = Config.load(progress=progress)

    def compute(rows: Any, restarts: int) -> Any:
        return _rank(rows, graph, primitive, restarts, config)

    return _with_rows(graph, client, config, compute, label=primitive.name)


def _with_rows(
    graph: DynamicGraph, client: Any, config: Config, action: Any, least: int = 0, label: str = ""
) -> Any:  # fmt: skip
    """Call `action(rows, restarts)`. If it fails, the rows may be half-changed and are released."""

    def call(client: Any, workers: Mapping[str, Any], attempt: int) -> Any:
        rows = _built(graph, client, config, workers, least)
        try:
            return action(rows, attempt)
        except BaseException:
            rows.version = -1
            graph.rows = None
            raise

    return retried(client, config, call, label)


def _built(graph: DynamicGraph, client: Any, config: Config, workers: Mapping[str, Any], least: int) -> DynamicBuilt:
    """Return the rows of a graph, for at least so many vertices; build them from the lineage if they do not exist."""
    rows: DynamicBuilt | None = graph.rows
    if rows is not None and (
        not rows.gang.is_whole(workers)
        or (rows.gang.kind == "dask") != (client is not None)
        or (client is not None and rows.gang.client is not client)
        or (graph.plan.device == "auto" and rows.gang.config.device != config.device)
    ):
        rows = graph.rows = None
    if rows is not None:
        rows.gang.use(config)
        return rows if rows.capacity >= least else _enlarged(rows, graph, config, least)
    return _built_anew(graph, config, gang_for(graph.base, client, config, workers), least)


def _enlarged(rows: DynamicBuilt, graph: DynamicGraph, config: Config, least: int) -> DynamicBuilt:
    """Rows with space for more vertices, in their place: the same edges, ranks, and changes not seen by these."""
    histories = rows.parts.fetch(_history)
    ranks = np.zeros(rows.num_vertices)
    for history in histories:
        ranks[history.ids] = history.ranks
    changes = (np.concatenate([getattr(history, name) for history in histories]) for name in ("sources", "targets"))
    graph.rows = None
    larger = _built_anew(graph, config, rows.gang, least)
    if rows.damping is not None:
        ranked = histories[0].ranked
        larger.parts = larger.gang.run(
            _restore, larger.parts, ranks, ranked, *changes, summary=_nothing, label="moving ranks", show=False
        )
    larger.damping, larger.drift, larger.left = rows.damping, rows.drift, rows.drift
    rows.version = -1
    return larger


@dataclass(frozen=True)
class _History:
    """What a part knows besides its edges, in ids, on the host."""

    ids: np.ndarray
    ranks: np.ndarray
    ranked: int
    sources: np.ndarray
    targets: np.ndarray


def _history(part: DynamicPart) -> _History:
    ids = _on_host(part.ids)
    known = ids < (0 if part.pagerank is None else part.ranked)
    ranks = np.zeros(0) if part.pagerank is None else _on_host(part.pagerank)[known]
    sources, targets = (
        np.concatenate([ids[:0], *(ids[_on_host(array)] for array in arrays)])
        for arrays in (part.sources, part.targets)
    )
    return _History(ids[known], ranks, part.ranked, sources, targets)


def _on_host(array: Any) -> np.ndarray:
    return array.get() if hasattr(array, "get") else np.asarray(array)


def _restore(
    context: RankContext, part: DynamicPart, ranks: np.ndarray, ranked: int, sources: np.ndarray, targets: np.ndarray
) -> DynamicPart:
    backend, ids = context.backend, _on_host(part.ids)
    mine = np.zeros(len(ids))
    mine[ids < ranked] = ranks[ids[ids < ranked]]
    part.pagerank, part.ranked = backend.from_host(mine), ranked
    part.sources, part.targets = (
        [backend.from_host(np.flatnonzero(np.isin(ids, named)).astype(ids.dtype))] for named in (sources, targets)
    )
    return part


def _built_anew(graph: DynamicGraph, config: Config, gang: Any, least: int) -> DynamicBuilt:
    source, _ = graph.lineage()
    n = max(least, graph.num_vertices)
    plan = BuildPlan(
        vertex_map=_vertex_map(graph, n + n // 4 + 64, gang.size),
        directed=graph.directed,
        ghosts="all",
        merge=True,
        num_edges=source.num_edges,
        weighted=source.weight_dtype is not None,
    )
    pieces = PerRank([source.piece(rank, gang.size) for rank in range(gang.size)])
    show = is_watched(config.progress)
    parts = gang.run(_build, pieces, plan, graph.num_vertices, summary=_arcs, label="partitioning", show=show)
    arcs, loops = (sum(fact[k] for fact in parts.summary) for k in (1, 2))
    graph.built_with(arcs if graph.directed else (arcs - loops) // 2 + loops)
    rows_map = plan.vertex_map.with_offsets(parts.summary[0][0])
    graph.rows = DynamicBuilt(gang, parts, rows_map, graph.num_vertices)
    return graph.rows


def _vertex_map(graph: DynamicGraph, capacity: int, size: int) -> VertexMap:
    """As the plan has it; where it leaves the choice open at random, so that vertices to come are everyone's.

    On each rank those that come stand behind those that are there.
    """
    plan, base = graph.plan, graph.base
    if size > 1 and (plan.by is None or (isinstance(plan.by, str) and plan.by == "random")):
        return of_width(plan, DealtMap.of(capacity, size, plan.seed))
    if plan.by is None or (isinstance(plan.by, str) and (plan.by == "range" or size == 1)):
        return make_vertex_map(replace(plan, by="range"), capacity, size, base.source.skewed, _no_adjacency)
    owners = plan.by
    if isinstance(owners, str):
        known = make_vertex_map(plan, base.num_vertices, size, base.source.skewed, lambda: host_adjacency(base))
        at = known.to_position(get_backend("cpu"), np.arange(base.num_vertices, dtype=known.dtype))
        owners = np.asarray(np.searchsorted(known.offsets[1:-1], at, side="right"))
    assert isinstance(owners, np.ndarray)
    owners = np.concatenate([owners, np.arange(len(owners), capacity) % size])
    return of_width(plan, TableMap.from_owners(owners, size))


def _no_adjacency() -> Any:
    raise AssertionError("a partitioner that uses no edges")


def _update(rows: DynamicBuilt, batch: Batch, alive: int, config: Config) -> np.ndarray:
    """Apply a batch; say of each of its edges whether it was there before."""
    rows.parts = rows.gang.run(
        _apply, rows.parts, PerRank(batch.shares(rows.gang.size)), alive, summary=_reported, label="updating",
        show=is_watched(config.progress),
    )  # fmt: skip
    rows.num_vertices = alive
    rows.version += 1
    return np.unpackbits(np.bitwise_or.reduce(rows.parts.summary), count=len(batch)).view(bool)


def _rank(rows: DynamicBuilt, graph: DynamicGraph, primitive: Any, restarts: int, config: Config) -> Any:
    """Rank the vertices, and leave the ranks where they are."""
    present: Graph = graph.present
    asked = primitive.method
    primitive = primitive.after(rows.damping, rows.drift, rows.left)
    if rows.damping is None and asked != "static" and graph.ranked == primitive.damping:
        warnings.warn(
            f"the ranks that the workers held are lost with a worker or a failed call, so this call of pagerank with "
            f"method={asked!r} computes all of them from scratch; r.method says so",
            GraphdaskWarning,
            stacklevel=outside(),
        )
    timer = Timer()
    kept = rows.gang.run(
        _run, rows.parts, primitive, summary=RankResult.without_columns, label=primitive.name,
        show=is_watched(config.progress),
    )  # fmt: skip
    if primitive.keeps:
        values = kept.summary[0].values
        graph.ranked = primitive.damping
        rows.damping, rows.drift, rows.left = primitive.damping, values["drift"], values["left"]
    stats = Stats.of(primitive.name, kept.summary, "selective", rows.ghosts, timer.seconds, compiled=timer.compiled)
    announce(rows.gang, stats)
    stats.restarts = restarts
    log_run(graph, rows.gang, stats)
    stats.chosen = primitive.chosen(kept.summary[0].values)
    ranked = Ranked(rows, rows.version, rows.gang, rows.parts, rows.in_order(graph.order))
    return primitive.result_type(present, primitive, kept, ranked, stats)
