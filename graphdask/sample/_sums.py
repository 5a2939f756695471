"""Sums of biases that functions of the caller give to edges, kept with the graph for the choices that come.

They hold the same units that `kernels.selection.selection_pick` adds up for a choice, so the edges that are chosen by
them are the same, and whether there are any is a matter of time and memory alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.part import Csr, Part

REUSE = 0.25
"""Choices for each vertex from which on sums of all vertices' biases pay."""
LAUNCH = 1 << 23
"""Edges in one launch, about."""


@dataclass
class Sums:
    """Sums of one function's biases."""

    values: Array
    """int64 per edge: the units of its row up to it and with it."""
    positives: Array
    """int64 per row: how many of its edges have a bias above 0."""

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.positives.nbytes)


def name_of(sampler: Any) -> tuple[str, str, str]:
    """What sums of a sampler's function are called among the tables of a partition."""
    return "sums of a function", sampler.functions["edge_bias"].digest, sampler.direction


def memory(rows: Csr) -> int:
    """Bytes that sums take, with what is needed to make them."""
    return 8 * rows.num_edges + 80 * rows.num_rows


def pays(part: Part, sampler: Any) -> bool:
    """Whether so much is drawn that sums of all edges are worth their time."""
    return bool(sampler.draws >= REUSE * part.num_vertices)


def sums_of(expander: Any, part: Part, env: Environment) -> Sums | None:
    """Those that there are, or are made; None where they do not pay, do not fit, or a function fails on some edge."""
    sampler, rows = expander.options, expander.rows
    name = name_of(sampler)
    found = part.tables.get(name)
    if found is not None:
        return found if isinstance(found, Sums) else None
    if part.tables.complete or not pays(part, sampler):
        return None
    needed = memory(rows) + sampler.memory(part, env.allocation)
    while needed > env.backend.free_memory() * env.memory_share:
        if not part.tables.forget():
            return None
    made = _made(expander, part, env)
    part.tables.keep(name, made or "the function fails on some edge", 0 if made is None else made.nbytes)
    return made


def _made(expander: Any, part: Part, env: Environment) -> Sums | None:
    xp, rows, dtype = env.xp, expander.rows, part.vertex_map.dtype
    kernels, bias = expander.kernels("edge_bias")
    n = rows.num_rows
    values, failure = xp.empty(rows.num_edges, bias), xp.zeros(1, np.int32)
    numbers, none = xp.arange(n, dtype=dtype), xp.full(n, -1, dtype)
    vertices = part.ids if expander.mapped else numbers
    instances = xp.zeros(n, np.int64)
    host = env.backend.to_host(rows.indptr)
    a = 0
    while a < n:
        b = max(int(np.searchsorted(host, host[a] + LAUNCH, side="right")) - 1, a + 1)
        here = slice(a, b)
        kernels.functions_edge_bias(
            b - a, numbers[here], vertices[here], none[here], instances[here], none[here], 0, *expander.graph,
            rows.indptr[a : b + 1], values[int(host[a]) : int(host[b])], failure, per_item=32,
        )  # fmt: skip
        a = b
        expander.chooser("edge_bias", 0, 0).look_at_the_clock()
    positives, units = xp.empty(n, np.int64), values.view(np.int64)
    env.kernels("selection").selection_sums(
        n, rows.indptr, units, int(bias is np.float64), positives, failure, per_item=32
    )
    if int(env.backend.to_host(failure)[0]):
        return None
    return Sums(units, positives)
