"""Columns that functions of programs and samplers read, brought to the ranks of the edges once for all calls."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from graphdask.engine.loop import RankContext
from graphdask.gang.arguments import PerRank
from graphdask.graph.column_numbers import numbers_of
from graphdask.graph.graph import Graph
from graphdask.partition.column_values import ColumnAt, GivenColumn, RowsAsked, add_columns, share_of
from graphdask.partition.edge_rows import LEAVE_COLUMNS, RowsPlan, numbered_pieces, rows_given
from graphdask.partition.part import Part

LABEL = "columns of the graph"


def rows_plan(graph: Graph, inward: bool) -> RowsPlan:
    """What ranks must know to find the rows of edges."""
    source = graph.source
    weighted = source.weight_dtype is not None
    return RowsPlan(graph.directed, graph.merge, inward, rows_given(source), source.num_edges, weighted)


def arguments(
    graph: Graph, wanted: Collection[ColumnAt], size: int, edge_rows: frozenset[bool]
) -> tuple[PerRank, PerRank]:
    """What each of so many ranks gets: its shares of columns, and how it finds the rows of its edges.

    `edge_rows` says of which edges the ranks have these: False for out-edges, True for in-edges.
    """
    values = {each: numbers_of(graph, "edges" if each.of_edges else "vertices", each.name) for each in wanted}
    shares = [
        [
            GivenColumn(at, share_of(column, rank, size) if at.of_edges else column, len(column))
            for at, column in values.items()
        ]
        for rank in range(size)
    ]
    rows: list[dict[str, RowsAsked]] = [{} for _ in range(size)]
    for place in {each.place for each in wanted if each.of_edges}:
        inward = place == "in"
        if inward not in edge_rows:
            plan = rows_plan(graph, inward)
            for of_rank, piece in zip(rows, numbered_pieces(graph.source, size, LEAVE_COLUMNS), strict=True):
                of_rank[place] = RowsAsked(piece, plan)
    return PerRank(shares), PerRank(rows)


def add(context: RankContext, part: Part, columns: Any, rows: Any) -> Part:
    """Runs on each rank."""
    return add_columns(context.comm, context.backend, part, columns, rows, context.memory_share)
