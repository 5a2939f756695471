"""Sums, and alias tables, of biases that functions of the caller give to edges, kept with the graph for the choices
that come.

Sums hold the same units that `kernels.selection.selection_pick` adds up for a choice, so the edges that are chosen by
them are the same, and whether there are any is a matter of time and memory alone. Alias tables are a method of their
own, which does not go without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import InputError
from graphdask.kernels.functions.functions_pack import FunctionItems
from graphdask.partition.part import Csr, Part
from graphdask.sample.biases import EdgeBiases, alias_table
from graphdask.sample.tuning import SAMPLE

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


@dataclass
class Aliases:
    """An alias table of one function's biases; see `graphdask.sample.biases`."""

    totals: Array
    share: Array
    other: Array

    @property
    def nbytes(self) -> int:
        return int(self.totals.nbytes + self.share.nbytes + self.other.nbytes)


def name_of(sampler: Any) -> tuple[str, str, str]:
    """What sums of a sampler's function are called among the tables of a partition."""
    return "sums of a function", sampler.functions["edge_bias"].digest, sampler.direction


def name_of_aliases(sampler: Any) -> tuple[str, str, str]:
    return "alias table of a function", sampler.functions["edge_bias"].digest, sampler.direction


def memory_of_aliases(part: Part, rows: Csr, sampler: Any) -> int:
    """Bytes that an alias table takes with what is needed to make it; 0 where it is there."""
    if name_of_aliases(sampler) in part.tables:
        return 0
    return EdgeBiases.memory(rows, "weight", "alias") + 8 * rows.num_edges + 40 * rows.num_rows


def aliases_of(expander: Any, part: Part, env: Environment) -> Aliases | None:
    """The alias table that there is, or is made; None where there is none on some rank, and nobody has asked for it.

    Raises
    ------
    FunctionError
        If the function fails on some edge of the graph, or returns no bias.
    InputError
        If biases of a vertex that are integers add up to too much.
    """
    name, unasked = name_of_aliases(expander.options), expander.method.unasked
    found = part.tables.get(name)
    if found is None or (not unasked and isinstance(found, str)):
        found = _alias_table(expander, part, env, unasked)
        part.tables.keep(name, found, 0 if isinstance(found, str) else found.nbytes)
    there = int(isinstance(found, Aliases))
    if unasked and not (there if part.size == 1 else env.least(there)):
        return None
    assert isinstance(found, Aliases)
    return found


def _alias_table(expander: Any, part: Part, env: Environment, unasked: bool) -> Aliases | str:
    values, failure = _values(expander, part, env)
    if int(env.backend.to_host(failure)[0]):
        if unasked:
            return "the function fails on some edge"
        expander.failures["edge_bias"][:] = failure
        expander.refuse_failures()
    try:
        return Aliases(*alias_table(env, part, expander.rows, values))
    except InputError:
        if unasked:
            return "a vertex's biases are too large"
        raise


def memory(rows: Csr) -> int:
    """Bytes that sums take, with what is needed to make them."""
    return 8 * rows.num_edges + 80 * rows.num_rows


def _looks(sampler: Any) -> tuple[str, ...]:
    return ("edges visited", *name_of(sampler))


def looked_at(expander: Any, part: Part, edges: int) -> None:
    """Record with the partition that the biases of `edges` edges were evaluated because there were no sums."""
    if not part.tables.complete:
        name = _looks(expander.options)
        part.tables.keep(name, (part.tables.get(name) or 0) + edges, 0)


def pays(part: Part, sampler: Any) -> bool:
    """Whether sums of all edges are worth their time.

    They are if this call draws very often, or if this call and earlier ones evaluated more biases without sums than
    the graph has edges, because sums would have taken no longer.
    """
    rows = part.inward if sampler.inward else part.out
    assert rows is not None
    biases = part.tables.get(_looks(sampler)) or 0
    return bool(
        sampler.draws >= SAMPLE.sums_from_draws * part.num_vertices or biases > SAMPLE.sums_from_biases * rows.num_edges
    )


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
    if needed > (env.backend.free_memory() + part.tables.nbytes) * env.memory_share:
        return None  # without all tables the memory would not suffice either
    while needed > env.backend.free_memory() * env.memory_share:
        if not part.tables.forget():
            return None
    made = _made(expander, part, env)
    part.tables.keep(name, made or "the function fails on some edge", 0 if made is None else made.nbytes)
    return made


def _values(expander: Any, part: Part, env: Environment) -> tuple[Array, Array]:
    """The biases of all edges, and why the function has failed on some of them."""
    xp, rows, dtype = env.xp, expander.rows, part.vertex_map.dtype
    kernels, bias = expander.kernels("edge_bias")
    n = rows.num_rows
    values, failure = xp.empty(rows.num_edges, bias), xp.zeros(1, np.int32)
    numbers, none = xp.arange(n, dtype=dtype), xp.full(n, -1, dtype)
    vertices = part.ids if expander.mapped else numbers
    instances = xp.zeros(n, np.int64)
    host = env.backend.to_host(rows.indptr)
    pack = FunctionItems(**expander.graph, depth=0, failure=failure)
    a = 0
    while a < n:
        b = max(int(np.searchsorted(host, host[a] + LAUNCH, side="right")) - 1, a + 1)
        here = slice(a, b)
        pack.rows, pack.vertices, pack.instances = numbers[here], vertices[here], instances[here]
        pack.previous = pack.near = pack.seeds = none[here]
        pack.at, pack.values = rows.indptr[a : b + 1], values[int(host[a]) : int(host[b])]
        kernels.functions_edge_bias(b - a, pack, per_item=32)
        a = b
        expander.chooser("edge_bias", 0, 0).look_at_the_clock()
    return values, failure


def _made(expander: Any, part: Part, env: Environment) -> Sums | None:
    xp, rows = env.xp, expander.rows
    values, failure = _values(expander, part, env)
    n, floating = rows.num_rows, int(values.dtype == np.float64)
    positives, units = xp.empty(n, np.int64), values.view(np.int64)
    env.kernels("selection").selection_sums(n, rows.indptr, units, floating, positives, failure, per_item=32)
    if int(env.backend.to_host(failure)[0]):
        return None
    return Sums(units, positives)
