"""Walks by a spec over the whole graph: many steps of many walkers in one launch, without pools.

A spec walks where every instance begins with one vertex, takes one edge of it and goes on from what that puts into the
pool. Random numbers are those of the same steps taken one by one (graphdask.sample._steps), and so are the edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.part import Part
from graphdask.sample import _expand
from graphdask.sample._expand import Expander
from graphdask.sample._walkers import launches

UNIFORM, SUMMED, TRIED, ALIASED = 0, 1, 2, 3
"""As in kernels/functions.py."""


@dataclass
class WalkState:
    expander: Expander
    how: int
    starts: Array
    here: Array
    before: Array
    dst: Array
    """Vertices that the edges of each walk lead to, index dtype, shape (walks, depth)."""
    put: Array
    """And what they put into the pool; the same array where no function says."""
    lengths: Array
    launches: Iterator[tuple[int, int, int, int]]
    """First walk, last + 1, steps made, steps to have made."""
    left: int


def one_by_one(sampler: Any) -> bool:
    """Whether instances are walks."""
    return bool(
        sampler.replace
        and sampler.revisit
        and sampler.per == "vertex"
        and not {"vertex_bias", "neighbor_size"} & set(sampler.functions)
        and all(size == 1 for size in sampler.fanouts)
        and (sampler.one_each or bool((np.diff(sampler.bounds) == 1).all()))
        and sampler.how.name in ("uniform", "inverse", "rejection", "alias")
    )


def begun(sampler: Any, expander: Expander, env: Environment, starts: Array) -> WalkState | None:
    """The walks before their first steps; None where they are to be made step by step."""
    method, xp, n, depth = expander.method, env.xp, len(starts), len(sampler.fanouts)
    if expander.mapped or not one_by_one(sampler) or (method.name == "inverse" and expander.sums is None):
        return None
    how = {"uniform": UNIFORM, "inverse": SUMMED, "rejection": TRIED, "alias": ALIASED}[method.name]
    dst = xp.empty((n, depth), starts.dtype)
    put = xp.empty((n, depth), starts.dtype) if "update" in sampler.functions else dst
    todo = list(launches(env.backend.name, n, depth)) if depth else []
    return WalkState(
        expander, how, starts, starts.copy(), xp.full(n, -1, starts.dtype), dst, put, xp.zeros(n, np.int32), iter(todo),
        len(todo),
    )  # fmt: skip


def advanced(sampler: Any, state: WalkState, env: Environment) -> tuple[int, int]:
    """Make a launch; returns how many walks are in it, and their edges."""
    xp, expander = env.xp, state.expander
    a, b, begin, end = next(state.launches)
    state.left -= 1
    functions = {name: expander.functions[name] for name in ("edge_bias", "update") if name in expander.functions}
    kernels, bias = expander.kernels(*functions)
    unasked = xp.zeros(1, np.int32)
    tables = xp.empty(0, np.int64), xp.empty(0, np.uint64), xp.empty(0, np.int32)
    if expander.sums is not None:
        tables = expander.sums.values, *tables[1:]
    elif expander.aliases is not None:
        of = expander.aliases
        tables = of.share.view(np.int64), of.totals, of.other
    here = slice(a, b)
    before = int(state.lengths[here].sum()) if begin else 0
    kernels.functions_walk(
        b - a, sampler.first + a, begin, end, len(sampler.fanouts), state.starts[here], *expander.graph,
        int(expander.undirected), state.how, *tables, int(bias is np.float64), expander.bound(bias), _expand.TRIALS,
        expander.seed, int("update" in functions), expander.num_vertices, state.here[here], state.before[here],
        state.dst[here], state.put[here], state.lengths[here], expander.failures.get("edge_bias", unasked),
        expander.failures.get("update", unasked),
    )  # fmt: skip
    expander.refuse_failures()
    return b - a, int(state.lengths[here].sum()) - before


def finished(sampler: Any, part: Part, state: WalkState, env: Environment) -> dict[str, Array]:
    """The edges, one walk after the other."""
    xp, n, dtype = env.xp, len(state.lengths), state.dst.dtype
    offsets = xp.zeros(n + 1, np.int64)
    xp.cumsum(state.lengths, out=offsets[1:])
    total = int(offsets[-1])
    src, dst = xp.empty(total, dtype), xp.empty(total, dtype)
    hop, instance = xp.empty(total, np.int32), xp.empty(total, np.int64)
    env.kernels("neighbors", index_t=dtype).neighbors_walked(
        n, sampler.first, state.dst.shape[1], offsets, state.starts, state.dst, state.put, src, dst, hop, instance,
        per_item=32,
    )  # fmt: skip
    return {"src": src, "dst": dst, "hop": hop, "instance": instance}
