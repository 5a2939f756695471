"""Rows of sampled edges: for samples that were drawn without them, and their proof."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from graphdask import execute
from graphdask.config import Config
from graphdask.display.notebook import is_watched
from graphdask.engine.loop import RankContext, RankResult
from graphdask.errors import Unsupported
from graphdask.gang.arguments import PerRank
from graphdask.gang.columns import rows_plan
from graphdask.gang.local import itself
from graphdask.partition.edge_rows import RowsPlan, numbered_pieces
from graphdask.partition.part import Part
from graphdask.results.columns import PickColumn
from graphdask.stream.graph import StreamedGraph
from graphdask.verify.edge_rows import verify


def found(samples: Any) -> Any:
    """Return the same samples with the column `edge`, drawn once more."""
    config = Config.load()
    if not isinstance(samples.graph, StreamedGraph):
        samples.built.gang.use(config)
    if not samples.sampler.gives_edges:
        raise Unsupported(f"samples of {samples.sampler.name} are no edges, so they have no rows")
    numbered = copy.copy(samples.sampler)
    numbered.numbered = True
    client = getattr(samples.built.gang, "client", None)
    drawn = execute.sample(samples.graph, numbered, samples.placement, client, is_watched(config.progress))
    made = object.__new__(type(samples))  # copy.copy would send them
    made.__dict__.update(samples.__dict__, _gathered={}, sampler=numbered)
    made.__dict__.pop("_token", None)  # Dask's name of the others
    made.parts, made.built, made.columns = drawn.parts, drawn.built, drawn.columns
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
    return verify(context, part, sampler, result, given, plan)
