"""Rows of sampled edges, for samples that were drawn without them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.edge_rows import RowsPlan, numbered_pieces
from graphdask.engine import RankContext, RankResult
from graphdask.errors import Unsupported
from graphdask.gang import replicas
from graphdask.gang.arguments import PerRank
from graphdask.gang.building import Built, rows_plan, with_edge_rows
from graphdask.gang.on_disk import itself
from graphdask.part import Part
from graphdask.result import PickColumn
from graphdask.sample._beyond_memory import refuse_beyond_memory
from graphdask.sample._edge_finding import rows_of_taken
from graphdask.stream.graph import StreamedGraph
from graphdask.verify.edge_rows import verify as verify_rows

OF_EDGE = 96
"""Bytes of an edge while it is looked for, at most."""


def found(runtime: Any, samples: Any, show: bool) -> Any:
    """The same samples with the column `edge`: drawn once more, or looked up by their ends where they were drawn."""
    sampler, graph = samples.sampler, samples.graph
    made = object.__new__(type(samples))  # copy.copy would send them
    made.__dict__.update(samples.__dict__, _gathered={})
    if sampler.tells_edges:
        numbered = copy.copy(sampler)
        numbered.numbered = True
        client = getattr(samples.built.gang, "client", None)
        drawn = runtime.sample(graph, numbered, samples.placement, client=client, progress=show)
        made.parts, made.built, made.columns = drawn.parts, drawn.built, drawn.columns
        return made
    if isinstance(graph, StreamedGraph):
        raise Unsupported(
            f"{sampler.name} of {graph.store.path} tells no rows of edges; draw from S.in_memory(), which gives the "
            f"same samples"
        )
    inward = bool(sampler.inward and graph.directed)
    if isinstance(samples.built, Built):
        made.built = _of_partitions(graph, samples.built, inward, show)
        alone = False
    else:
        made.built, alone = replicas.with_edge_rows(graph, samples.built, inward, show), True
    gang = made.built.gang
    firsts = PerRank([int(first) for first in sampler.homes(gang.size)[:-1]])
    made.parts = gang.run(
        _find, made.built.parts, sampler, samples.parts, firsts, summary=RankResult.without_columns,
        label=f"edges of {sampler.name}", show=show, alone=alone,
    )  # fmt: skip
    unknown = min((ends for result in made.parts.summary if (ends := result.values["unknown"])), default=None)
    if unknown is not None:
        u, v = graph.ids.to_caller(np.array(unknown))
        raise Unsupported(
            f"there are parallel edges of different weights from {u} to {v}, and which of them {sampler.name} took is "
            f"not known afterwards; merge them (multi_edges='merge'), or draw without the weights"
        )
    made.columns = (*samples.columns, "edge")
    return made


def proved(samples: Any, show: bool) -> Any:
    """What each rank finds of the rows of samples against what the graph was made of: a violation or None."""
    sampler, graph, gang = samples.sampler, samples.graph, samples.built.gang
    plan = rows_plan(graph, bool(sampler.inward and graph.directed))
    pieces = PerRank(numbered_pieces(graph.source, gang.size))
    return gang.run(
        _prove, samples.built.parts, sampler, samples.parts, pieces, plan, summary=itself,
        label=f"verifying edge rows of {sampler.name}", show=show,
    )  # fmt: skip


def _prove(context: RankContext, part: Part, sampler: Any, result: RankResult, given: Any, plan: RowsPlan) -> Any:
    if context.backend.name == "cpu":
        result = replace(result, columns={name: PickColumn(name)(result) for name in result.columns})
    return verify_rows(context, part, sampler, result, given, plan)


def _of_partitions(graph: Any, built: Built, inward: bool, show: bool) -> Built:
    if inward in built.edge_rows:
        return built
    made = with_edge_rows(graph, built, inward, show)
    if graph.built is built:
        graph.built = made
    return made


def _find(context: RankContext, part: Part, sampler: Any, result: RankResult, first: int) -> RankResult:
    columns, env = result.columns, context.environment("selective")
    if context.backend.name == "cpu":  # as samples that were drawn on a device from this host's memory may be there
        columns = {name: PickColumn(name)(result) for name in columns}
    rows = part.inward if sampler.inward else part.out
    assert rows is not None
    taken = sampler.taken(env.xp, columns, first)
    refuse_beyond_memory(env, sampler.name, "its samples", len(taken.src), OF_EDGE)
    edges, unknown = rows_of_taken(part, env, rows, taken, int(sampler.seed))
    edges = edges.reshape(taken.shape)
    context.backend.synchronize()
    return replace(
        result,
        columns={**result.columns, "edge": edges},
        values={**result.values, "edge.shape": edges.shape[1:], "unknown": unknown},
        dtypes={**result.dtypes, "edge": np.dtype(np.int64)},
    )
