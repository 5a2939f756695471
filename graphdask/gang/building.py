"""The partitions of a graph on a gang: which gang, how they are built, and what the client knows of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.ahead import Family
from graphdask.display.phases import phase
from graphdask.engine.loop import RankContext
from graphdask.gang.adjacency import host_adjacency
from graphdask.gang.arguments import PerRank
from graphdask.gang.clients import Workers
from graphdask.gang.columns import LABEL, add, arguments, rows_plan
from graphdask.gang.local import LocalGang
from graphdask.graph.graph import Graph
from graphdask.kernels.common.compiling import clock
from graphdask.partition.build import BuildPlan, add_inward, build_part
from graphdask.partition.column_values import ColumnAt
from graphdask.partition.edge_rows import RowsPlan, add_edge_rows, numbered_pieces
from graphdask.partition.part import Part, WeightFacts
from graphdask.partition.vertex_map import VertexMap, make_vertex_map

Families = Callable[[np.dtype, np.dtype | None, int], tuple[Family, ...]]
"""`Primitive.families`."""


@dataclass
class Built:
    """The partitions of a graph."""

    gang: Any
    """LocalGang or DaskGang."""
    parts: Any
    """Kept: a Part for each rank."""
    vertex_map: VertexMap
    ghosts: str
    inward: bool
    num_edges: int
    seconds: float
    """Of the build."""
    nbytes: list[int] = field(default_factory=list)
    """Of each partition."""
    weights: WeightFacts | None = None
    """None where there are no weights."""
    edge_rows: frozenset[bool] = frozenset()
    """Whether the rows of out-edges are there (False), and of in-edges (True)."""
    columns: frozenset[ColumnAt] = frozenset()
    """Those that are there."""


@dataclass(frozen=True)
class _Facts:
    """What the client must know of a partition."""

    offsets: np.ndarray
    """Of the vertex map; a table that it may have is known already."""
    counts: dict[str, int]
    nbytes: int
    weights: WeightFacts | None


def _facts(part: Part) -> _Facts:
    return _Facts(part.vertex_map.offsets, part.counts, part.nbytes, part.weights)


def _build(context: RankContext, piece: Any, plan: BuildPlan) -> Part:
    return build_part(context.comm, context.backend, piece, plan, context.memory_share)


def gang_for(graph: Graph, client: Any, config: Config, workers: Workers) -> Any:
    device = graph.plan.device if graph.plan.device != "auto" else config.device
    if client is None:
        return LocalGang(graph.plan.parts or LocalGang.default_size(device, graph.source.num_edges), device, config)
    from graphdask.gang.cluster import DaskGang

    return DaskGang(client, workers, graph.plan.parts, device, config)


def build_all(graph: Graph, gang: Any, ghosts: str, show: bool, families: Families | None = None) -> Built:
    """Build the partitions; `families` names kernels that are needed then."""
    started = clock()
    source, plan, size = graph.source, graph.plan, gang.size
    skewed = size > 1 and source.skewed
    vertex_map = make_vertex_map(plan, source.num_vertices, size, skewed, lambda: host_adjacency(graph))
    ghosts = plan.ghosts or ghosts
    build_plan = BuildPlan(
        vertex_map=vertex_map,
        directed=graph.directed,
        ghosts=ghosts,
        merge=graph.merge,
        num_edges=source.num_edges,
        weighted=source.weight_dtype is not None,
        families=() if families is None else families(vertex_map.dtype, source.weight_dtype, size),
    )
    pieces = PerRank([source.piece(rank, size) for rank in range(size)])
    with phase("partitioning"):
        parts = gang.run(_build, pieces, build_plan, summary=_facts, label="partitioning", show=show)
    facts = parts.summary
    made, arcs, loops = (sum(fact.counts[name] for fact in facts) for name in ("made", "arcs", "self_loops"))
    edges = arcs if graph.directed else (arcs - loops) // 2 + loops
    dropped = source.num_edges - made if source.drops_self_loops else 0
    if source.drops_self_loops:
        graph.report["self_loops_dropped"] = dropped
    if graph.merge:
        graph.report["parallel_edges_merged"] = source.num_edges - dropped - edges
    graph.report.setdefault("self_loops", loops)
    return Built(
        gang=gang,
        parts=parts,
        vertex_map=vertex_map.with_offsets(facts[0].offsets),
        ghosts=ghosts,
        inward=not graph.directed,
        num_edges=edges,
        seconds=clock() - started,
        nbytes=[fact.nbytes for fact in facts],
        weights=None if source.weight_dtype is None else WeightFacts.joined(w for f in facts if (w := f.weights)),
    )


def with_inward(built: Built, show: bool) -> Built:
    """The same partitions with in-edges."""
    parts = built.gang.run(_add_inward, built.parts, summary=_facts, label="adding in-edges", show=show)
    return replace(built, parts=parts, inward=True, nbytes=[fact.nbytes for fact in parts.summary])


def with_edge_rows(graph: Graph, built: Built, inward: bool, show: bool) -> Built:
    """The same partitions with the row of each out-edge, or of each in-edge, in what the caller gave."""
    pieces = PerRank(numbered_pieces(graph.source, built.gang.size))
    plan = rows_plan(graph, inward)
    parts = built.gang.run(_add_rows, built.parts, pieces, plan, summary=_facts, label="rows of the edges", show=show)
    nbytes = [fact.nbytes for fact in parts.summary]
    return replace(built, parts=parts, nbytes=nbytes, edge_rows=built.edge_rows | {inward})


def with_columns(graph: Graph, built: Built, reads: tuple[ColumnAt, ...], show: bool) -> Built:
    """The same partitions with the columns of edges and vertices that functions read."""
    wanted = [each for each in reads if each not in built.columns]
    if not wanted:
        return built
    given = arguments(graph, wanted, built.gang.size, built.edge_rows)
    parts = built.gang.run(add, built.parts, *given, summary=_facts, label=LABEL, show=show)
    nbytes = [fact.nbytes for fact in parts.summary]
    return replace(built, parts=parts, nbytes=nbytes, columns=built.columns.union(wanted))


def _add_rows(context: RankContext, part: Part, given: Any, plan: RowsPlan) -> Part:
    return add_edge_rows(context.comm, context.backend, part, given, plan, context.memory_share)


def _add_inward(context: RankContext, part: Part) -> Part:
    return add_inward(context.comm, context.backend, part)
