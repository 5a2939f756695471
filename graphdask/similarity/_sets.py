"""Neighbourhoods as sets: each neighbour of an own vertex once, ascending by number, and what pairs of them share.

Rows of a partition ascend by the numbers of the neighbours, so parallel edges stand together and the first one is kept.
The neighbourhood of a vertex is that of its out-edges; `back` has the vertices in whose neighbourhoods a vertex is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.build import row_of_each
from graphdask.partition.neighbours import firsts
from graphdask.partition.part import Csr, Part
from graphdask.sample._remote_lookup import RemoteLookup, ragged
from graphdask.sample.traversal import ids_of_slots
from graphdask.subgraphs._rows import places_in
from graphdask.subgraphs.selected import set_keys

BATCH = 1 << 21
"""Entries of rows that are compared together, more only by a row."""


@dataclass
class Rows:
    """Sets of vertices, one for each own vertex."""

    indptr: Array
    slots: Array
    ends: Array
    """Numbers of the vertices, index dtype, ascending in a row."""

    @classmethod
    def of(cls, part: Part, env: Environment, csr: Csr) -> Rows:
        """Return the rows of a Csr without what stands twice."""
        xp = env.xp
        kept = firsts(xp, csr.indices)
        kept[csr.indptr[:-1][csr.indptr[1:] > csr.indptr[:-1]]] = True
        csr = csr.only(xp, kept)
        return cls(csr.indptr, csr.indices, ids_of_slots(part, env, csr.indices))

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

    def sent(self, env: Environment, lookup: RemoteLookup) -> tuple[Array, Array]:
        """The rows that other ranks look up, as these receive them: entries, and where those of each row begin."""
        begins, bounds = self.places(env.xp, lookup.rows)
        return lookup.answer_each(self.ends[ragged(env, begins, bounds)], bounds)


@dataclass
class Sets:
    """The neighbourhoods of the own vertices."""

    out: Rows
    back: Rows
    """The same rows, if the graph is undirected."""

    @classmethod
    def of(cls, part: Part, env: Environment, both: bool) -> Sets:
        """Return the neighbourhoods; `back` only if `both`."""
        out = Rows.of(part, env, part.out)
        if not both or part.inward is part.out:
            return cls(out, out)
        assert part.inward is not None
        return cls(out, Rows.of(part, env, part.inward))

    @staticmethod
    def memory(part: Part, both: bool) -> int:
        """Bytes, and those of keys."""
        entries = part.out.num_edges * (2 if both and part.inward is not part.out else 1)
        return entries * (2 * part.vertex_map.dtype.itemsize + 20) + 32 * part.num_owned


def sizes_of(part: Part, env: Environment, sets: Sets, vertices: Array) -> Array:
    """The sizes of the neighbourhoods of any vertices. Every rank calls it."""
    lookup = RemoteLookup(part, env, vertices)
    return lookup.answer(sets.out.sizes[lookup.rows])


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
            at = part.vertex_map.to_position(env.backend, here) - here.dtype.type(part.first_position)
            own = xp.flatnonzero((at >= 0) & (at < part.num_owned)) if len(at) else xp.zeros(0, np.int64)
            rows, others = at[own], there[own]
            mine, sizes = sets.out.sizes[rows], sizes_of(part, env, sets, others)
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
        """Some pairs after the other, whose loads come to about BATCH. Every rank takes as many batches."""
        ends = env.xp.cumsum(loads)
        total = int(ends[-1]) if len(ends) else 0
        cuts = env.backend.to_host(env.xp.searchsorted(ends, env.xp.arange(0, total, BATCH))).tolist()
        number = -env.least(-max(len(cuts), 1))
        for first, last in pairwise([*(cuts or [0]), *[len(ends)] * (number + 1 - max(len(cuts), 1))]):
            yield slice(first, last)


def shared(part: Part, env: Environment, sets: Sets, placed: Placed) -> tuple[Array, Array]:
    """How many neighbours pairs share without the two vertices themselves, and with them; each other end's row is
    searched for in that of the own one. Every rank calls it."""
    xp = env.xp
    keys, n = sets.out.keys(part, env), max(part.num_vertices, 1)
    counts: list[list[Array]] = [[placed.number[:0]], [placed.number[:0]]]
    for some in placed.batches(env, placed.sizes):
        rows, others = placed.rows[some], placed.others[some]
        wanted, of_each = xp.unique(others, return_inverse=True)
        entries, bounds = sets.out.sent(env, RemoteLookup(part, env, wanted))
        begins, lengths = bounds[:-1][of_each], placed.sizes[some]
        at = ragged(env, begins, xp.concatenate([bounds[:1], xp.cumsum(lengths)]))
        pair, third = xp.repeat(xp.arange(len(rows)), lengths), entries[at]
        _, there = places_in(xp, keys, rows.astype(np.int64)[pair] * n + third)
        _count(xp, counts, pair[there], third[there], part.ids[rows], others)
    return xp.concatenate(counts[0]), xp.concatenate(counts[1])


def shared_otherwise(part: Part, env: Environment, sets: Sets, placed: Placed) -> tuple[Array, Array]:
    """The same numbers; own rows are searched for in those of the other ends. Every rank calls it."""
    xp, n = env.xp, max(part.num_vertices, 1)
    counts: list[list[Array]] = [[placed.number[:0]], [placed.number[:0]]]
    mine = sets.out.sizes[placed.rows]
    for some in placed.batches(env, mine + xp.where(firsts(xp, placed.others), placed.sizes, 0)):
        rows, others = placed.rows[some], placed.others[some]
        wanted, of_each = xp.unique(others, return_inverse=True)
        entries, bounds = sets.out.sent(env, RemoteLookup(part, env, wanted))
        keys = xp.repeat(xp.arange(len(wanted)), bounds[1:] - bounds[:-1]) * n + entries
        begins, ends = sets.out.places(xp, rows)
        third, pair = sets.out.ends[ragged(env, begins, ends)], xp.repeat(xp.arange(len(rows)), mine[some])
        _, there = places_in(xp, keys, of_each[pair] * n + third)
        _count(xp, counts, pair[there], third[there], part.ids[rows], others)
    return xp.concatenate(counts[0]), xp.concatenate(counts[1])


def _count(xp: Any, counts: list[list[Array]], pair: Array, third: Array, first: Array, second: Array) -> None:
    """Append for each pair how many third vertices it has that are none of the two, and how many in all."""
    proper = pair[(third != first[pair]) & (third != second[pair])]
    for found, some in zip(counts, (proper, pair), strict=True):
        found.append(xp.bincount(some, minlength=len(first)).astype(np.int64) if len(first) else some[:0])
