"""Neighbour sampling by a spec on a GPU, where instances are small: all steps in one go, some instances by a warp.

A spec samples neighbours where all of a pool is taken in every step, and of each vertex a constant number of edges, by
one of the ways that a thread draws by on its own. The edges are those of the same steps taken one by one
(graphdask.sample._steps).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.kernels.functions_fields import TRACED
from graphdask.part import Part
from graphdask.sample import _expand
from graphdask.sample._expand import Expander
from graphdask.sample._fanouts import FEW
from graphdask.sample._spec_walks import HOW, TRIED
from graphdask.sample._together import drawn_together, shape_of

WAYS = ("uniform", "inverse", "rejection", "alias")
"""To draw edges."""
LOOKED_AT = 256
"""Edges of a row, at most, that a thread looks through where trials were not enough; kernels/functions_hops.py."""
GAVE_UP = "by trials, with long rows"
"""Where a partition remembers that trials of a function were not enough."""


@dataclass
class Drawn:
    """All edges, one instance after the other."""

    columns: dict[str, Array]
    nothing: dict[str, Array]
    """Records for nobody."""


def step_by_step(sampler: Any) -> bool:
    """Whether a sampler does more than such kernels know."""
    return bool(
        sampler.per != "vertex"
        or sampler.frontier_size is not None
        or {"vertex_bias", "neighbor_size"} & set(sampler.functions)
        or sampler.how.name not in WAYS
    )


def drawn(sampler: Any, expander: Expander, part: Part, env: Environment) -> Drawn | None:
    """The edges; None where they are to be drawn step by step."""
    method, rows, xp = expander.method, expander.rows, env.xp
    if step_by_step(sampler) or (method.name == "inverse" and expander.sums is None):
        return None
    functions = {name: expander.functions[name] for name in ("edge_bias", "update") if name in expander.functions}
    traces = any(TRACED & set(function.fields) for function in functions.values())
    shape, how = shape_of(sampler, part, env, FEW, traces), HOW[method.name]
    if shape is None:
        return None
    name = (GAVE_UP, *(function.digest for function in functions.values()))
    if how == TRIED and part.tables.get(name) is not None:
        return None
    kernels, bias = expander.kernels(*functions, family="functions_hops", gd_how=how, gd_traces=int(traces))
    sums = positives = rows.indptr[:0]
    totals, other = sums.view(np.uint64), sums.view(np.int32)
    if expander.sums is not None:
        sums, positives = expander.sums.values, expander.sums.positives
    elif expander.aliases is not None:
        of = expander.aliases
        sums, totals, other = of.share.view(np.int64), of.totals, of.other
    graph = (
        *expander.graph, how, sums, positives, totals, other, int(bias is np.float64), expander.bound(bias),
        _expand.TRIALS, int("update" in functions), expander.num_vertices,
    )  # fmt: skip
    flags = xp.zeros(3, np.int32)
    failures = [expander.failures.get(each, flags[k : k + 1]) for k, each in enumerate(("edge_bias", "update"))]
    drawing = int(sampler.replace), int(sampler.revisit), expander.seed
    told = *failures, flags[2:]
    columns = drawn_together(sampler, part, env, shape, kernels.functions_hops_draw, graph, drawing, told)
    if how == TRIED and int(flags[2]):
        part.tables.keep(name, "gave up", 0)
        for failure in expander.failures.values():
            failure[:] = 0
        return None
    expander.refuse_failures()
    none = columns["src"][:0]
    return Drawn(columns, {"number": columns["instance"][:0], "vertex": none, "other": none})
