"""Neighbourhoods as sets: each neighbour of an own vertex once, ascending by number, and what pairs of them share.

Rows of a partition ascend by the numbers of the neighbours, so parallel edges stand together and the first one is kept.
The neighbourhood of a vertex is that of its out-edges; `back` has the vertices in whose neighbourhoods a vertex is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.partition.build import row_of_each
from graphdask.partition.neighbours import firsts, sums_between
from graphdask.partition.part import Csr, Part
from graphdask.sample.remote_lookup import RemoteLookup, ragged
from graphdask.sample.traversal import ids_of_slots
from graphdask.similarity._values import exponents, shift_of, whole_values, worths
from graphdask.similarity.tuning import SIMILARITY
from graphdask.subgraphs.rows import places_in
from graphdask.subgraphs.selected import own_rows, set_keys


@dataclass
class Rows:
    """Sets of vertices, one for each own vertex."""

    indptr: Array
    slots: Array
    ends: Array
    """Numbers of the vertices, index dtype, ascending in a row."""
    values: Array | None = None
    """int64 or float64: what each counts for (graphdask.similarity._values); None: 1."""

    @classmethod
    def of(cls, part: Part, env: Environment, csr: Csr, weighted: bool, shift: int | None) -> Rows:
        """Return the rows of a Csr without what stands twice; if `weighted`, with whole values."""
        xp = env.xp
        kept = firsts(xp, csr.indices)
        kept[csr.indptr[:-1][csr.indptr[1:] > csr.indptr[:-1]]] = True
        values = whole_values(xp, csr, kept, shift) if weighted else None
        csr = Csr(csr.indptr, csr.indices).only(xp, kept)
        return cls(csr.indptr, csr.indices, ids_of_slots(part, env, csr.indices), values)

    @property
    def sizes(self) -> Array:
        """int64."""
        return self.indptr[1:] - self.indptr[:-1]

    def of_each(self, env: Environment) -> Array:
        """The own vertex of each entry, index dtype."""
        return row_of_each(env.backend, Csr(self.indptr, self.slots), 0)

    def keys(self, part: Part, env: Environment) -> Array:
        """int64, ascending: a number for each own vertex and entry of its row."""
        return set_keys(part, self.of_each(env).astype(np.int64), self.ends)

    def places(self, xp: Any, rows: Array) -> tuple[Array, Array]:
        """Places of the entries of some rows, one row after the other, and where those of each begin."""
        begins, bounds = self.indptr[:-1][rows], xp.zeros(len(rows) + 1, np.int64)
        xp.cumsum(self.indptr[1:][rows] - begins, out=bounds[1:])
        return begins, bounds

    def sent(self, env: Environment, lookup: RemoteLookup) -> Sent:
        """The rows that other ranks look up, as these receive them."""
        begins, bounds = self.places(env.xp, lookup.rows)
        places = ragged(env, begins, bounds)
        entries, indptr = lookup.answer_each(self.ends[places], bounds)
        return Sent(
            entries, indptr, None if self.values is None else lookup.answer_each(self.values[places], bounds)[0]
        )


@dataclass
class Sent:
    """Rows of other ranks."""

    entries: Array
    """Numbers of vertices."""
    indptr: Array
    """Where each row begins."""
    values: Array | None


@dataclass
class Sets:
    """The neighbourhoods of the own vertices."""

    out: Rows
    back: Rows
    """The same rows, if the graph is undirected."""
    amounts: Array
    """int64, by own vertex: the number of its neighbours; with weights their sum, or for the cosine what the squares
    are worth."""

    @classmethod
    def of(cls, part: Part, env: Environment, both: bool, measure: str | None) -> Sets:
        """Return the neighbourhoods; `back` only if `both`; with values for a measure by weight."""
        xp, weighted = env.xp, measure is not None
        shift = shift_of(part, env) if weighted else None
        out = Rows.of(part, env, part.out, weighted, shift)
        back = out
        if both and part.inward is not part.out:
            assert part.inward is not None
            back = Rows.of(part, env, part.inward, weighted, shift)
        if out.values is None or back.values is None:
            return cls(out, back, out.sizes)
        amounts = sums_between(xp, out.values, out.indptr[:-1])
        if measure == "cosine":
            powers, whole = exponents(xp, amounts), back.values
            out = replace(out, values=xp.ldexp(out.values.astype(np.float64), -powers[out.of_each(env)]))
            amounts = sums_between(xp, worths(xp, out.values, out.values), out.indptr[:-1])
            if both:  # a row of `back` has values for its entries
                (powers,) = env.fetch_ghosts(part, [powers])
                back = replace(back, values=xp.ldexp(whole.astype(np.float64), -powers[back.slots]))
        return cls(out, back, amounts)

    @staticmethod
    def memory(part: Part, both: bool, weighted: bool) -> int:
        """Bytes, and those of keys."""
        entries = part.out.num_edges * (2 if both and part.inward is not part.out else 1)
        values = 40 * part.out.num_edges + 8 * entries if weighted else 0
        return entries * (2 * part.vertex_map.dtype.itemsize + 20) + values + 48 * part.num_owned


def known_of(part: Part, env: Environment, values: Array, vertices: Array) -> Array:
    """What the owners of any vertices know of these, of values by own vertex. Every rank calls it."""
    lookup = RemoteLookup(part, env, vertices)
    return lookup.answer(values[lookup.rows])


@dataclass
class Placed:
    """Pairs of vertices, each at the owner of one of its ends."""

    number: Array
    """int64: which of the given pairs it is."""
    rows: Array
    """The end that this rank owns, as an own vertex."""
    others: Array
    """The number of the other end."""
    sizes: Array
    """The size of its neighbourhood."""

    @classmethod
    def of(cls, part: Part, env: Environment, sets: Sets, first: np.ndarray, second: np.ndarray, least: bool) -> Placed:
        """Place given pairs at the owners of the ends of more neighbours, or, if `least`, of fewer; if both have as
        many, the first counts as that of more. Every rank calls it."""
        xp, found = env.xp, []
        ends = [env.backend.from_host(end.astype(part.vertex_map.dtype)) for end in (first, second)]
        for turned, (here, there) in enumerate((ends, ends[::-1])):
            rows, own = own_rows(part, env, part.vertex_map.to_position(env.backend, here))
            others = there[own]
            mine, sizes = sets.out.sizes[rows], known_of(part, env, sets.out.sizes, others)
            more = mine > sizes if turned else mine >= sizes
            kept = ~more if least else more
            found.append([each[kept] for each in (own, rows, others, sizes)])
        placed = [xp.concatenate(each) for each in zip(*found, strict=True)]
        order = xp.argsort(placed[2], kind="stable")  # a row that several pairs need is fetched once
        return cls(*(each[order] for each in placed))

    def at(self, chosen: Array) -> Placed:
        """Some of the pairs."""
        return Placed(self.number[chosen], self.rows[chosen], self.others[chosen], self.sizes[chosen])

    def batches(self, env: Environment, loads: Array) -> Iterator[slice]:
        """Some pairs after the other, whose loads come to a bounded sum. Every rank takes as many batches."""
        ends = env.xp.cumsum(loads)
        total = int(ends[-1]) if len(ends) else 0
        cuts = env.backend.to_host(env.xp.searchsorted(ends, env.xp.arange(0, total, SIMILARITY.entries))).tolist()
        number = -env.least(-max(len(cuts), 1))
        for first, last in pairwise([*(cuts or [0]), *[len(ends)] * (number + 1 - max(len(cuts), 1))]):
            yield slice(first, last)


@dataclass
class Shared:
    """What pairs share, int64."""

    common: Array
    """How many neighbours, without the two vertices themselves."""
    amount: Array
    """The same, or what these are worth by weight."""
    total: Array
    """As `amount`, with the two vertices themselves."""


def shared(part: Part, env: Environment, sets: Sets, placed: Placed) -> Shared:
    """What pairs share; each other end's row is searched for in that of the own one. Every rank calls it."""
    xp = env.xp
    keys, n = sets.out.keys(part, env), max(part.num_vertices, 1)
    found: list[Shared] = []
    for some in placed.batches(env, placed.sizes):
        rows, others = placed.rows[some], placed.others[some]
        wanted, of_each = xp.unique(others, return_inverse=True)
        came = sets.out.sent(env, RemoteLookup(part, env, wanted))
        begins, lengths = came.indptr[:-1][of_each], placed.sizes[some]
        at = ragged(env, begins, xp.concatenate([came.indptr[:1], xp.cumsum(lengths)]))
        pair, third = xp.repeat(xp.arange(len(rows)), lengths), came.entries[at]
        places, there = places_in(xp, keys, rows.astype(np.int64)[pair] * n + third)
        values = None
        if came.values is not None and sets.out.values is not None:
            values = worths(xp, sets.out.values[places[there]], came.values[at[there]])
        found.append(_counted(xp, pair[there], third[there], part.ids[rows], others, values))
    return _joined(xp, found)


def shared_otherwise(part: Part, env: Environment, sets: Sets, placed: Placed) -> Shared:
    """Return the same; own rows are searched for in those of the other ends. Every rank calls it."""
    xp, n = env.xp, max(part.num_vertices, 1)
    found: list[Shared] = []
    mine = sets.out.sizes[placed.rows]
    for some in placed.batches(env, mine + xp.where(firsts(xp, placed.others), placed.sizes, 0)):
        rows, others = placed.rows[some], placed.others[some]
        wanted, of_each = xp.unique(others, return_inverse=True)
        came = sets.out.sent(env, RemoteLookup(part, env, wanted))
        keys = xp.repeat(xp.arange(len(wanted)), came.indptr[1:] - came.indptr[:-1]) * n + came.entries
        begins, ends = sets.out.places(xp, rows)
        at = ragged(env, begins, ends)
        third, pair = sets.out.ends[at], xp.repeat(xp.arange(len(rows)), mine[some])
        places, there = places_in(xp, keys, of_each[pair] * n + third)
        values = None
        if came.values is not None and sets.out.values is not None:
            values = worths(xp, sets.out.values[at[there]], came.values[places[there]])
        found.append(_counted(xp, pair[there], third[there], part.ids[rows], others, values))
    return _joined(xp, found)


def _counted(xp: Any, pair: Array, third: Array, first: Array, second: Array, values: Array | None) -> Shared:
    """What each pair shares, of third vertices and what these are worth."""
    proper = (third != first[pair]) & (third != second[pair])
    number = len(first)
    common, both = (
        xp.bincount(some, minlength=number).astype(np.int64) if number else some[:0] for some in (pair[proper], pair)
    )
    if values is None:
        return Shared(common, common, both)
    return Shared(common, *(sum_at(xp, number, pair[some], values[some]) for some in (proper, slice(None))))


def _joined(xp: Any, found: list[Shared]) -> Shared:
    return Shared(*(xp.concatenate([getattr(each, name) for each in found]) for name in ("common", "amount", "total")))
