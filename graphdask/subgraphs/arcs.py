"""Each pair of neighbours as two arcs, one at the owner of each end, and the triangles of some of them.

Vertices are ordered by degree, equal ones by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from graphdask.algorithms.triangles import other_order
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.neighbours import distinct_blocks
from graphdask.partition.part import Part
from graphdask.sample.remote_lookup import RemoteLookup, ragged
from graphdask.subgraphs.rows import places_in
from graphdask.subgraphs.selected import set_keys

BATCH = 1 << 20
"""Entries of rows that are searched together."""


@dataclass
class LowerRows:
    """The rows of the lower ends of some arcs, each once."""

    first: int
    """The place of the first arc among those given."""
    row: Array
    """The row of each arc."""
    ptr: Array
    """int64: where rows begin."""
    third: Array
    """Index dtype: the numbers of the neighbours in the rows."""
    went: Array
    """int64: the round in which each of these pairs went; 0 if it is left."""
    below: Array
    """uint8: 1 if the neighbour is lower than the end."""

    @property
    def lengths(self) -> Array:
        """Neighbours in the row of each arc."""
        return (self.ptr[1:] - self.ptr[:-1])[self.row]


@dataclass
class Arcs:
    """Each neighbour of the own vertices once, in the order of these and of the numbers of the neighbours."""

    n: int
    keys: Array
    """int64: own vertex * n + number of the neighbour."""
    indptr: Array
    """Where the arcs of each own vertex begin."""
    lower: Array
    """Whether the neighbour is lower in the order."""
    degree: Array
    """int64: stored edges of the neighbour."""
    removed: Array
    """int64: the round in which the pair went; 0 if it is left."""
    slot: Array
    """The slot of the neighbour."""
    numbers: Array
    """Those of the vertices of all slots."""

    @classmethod
    def of(cls, part: Part, env: Environment, again: bool = False) -> Arcs:
        """Return the arcs of a partition; `again`: in another order. Every rank calls it."""
        xp, n = env.xp, max(part.num_vertices, 1)
        degrees = part.out.indptr[1:] - part.out.indptr[:-1]
        degrees, ids = env.fetch_ghosts(part, [degrees, part.ids])
        order = xp.minimum(degrees, np.iinfo(np.int64).max // n - 1)
        order = (other_order(xp, degrees, ids) if again else order) * n + ids
        keys, lower, degree, slot = [xp.zeros(0, np.int64)], [xp.zeros(0, bool)], [degrees[:0]], [ids[:0]]
        for block in distinct_blocks(env.backend, part):
            key = set_keys(part, block.rows.astype(np.int64), ids[block.slots])
            turn = xp.argsort(key)
            keys.append(key[turn])
            lower.append((order[block.slots] < order[block.rows])[turn])
            slot.append(block.slots[turn])
            degree.append(degrees[slot[-1]])
        joined = xp.concatenate(keys)
        indptr = xp.searchsorted(joined, xp.arange(part.num_owned + 1, dtype=np.int64) * n)
        of_arcs = (xp.concatenate(lower), xp.concatenate(degree), xp.zeros(len(joined), np.int64), xp.concatenate(slot))
        return cls(n, joined, indptr, *of_arcs, ids)

    def ends(self, part: Part, places: Array) -> tuple[Array, Array]:
        """Numbers of the own vertex and of the neighbour, index dtype."""
        rows = self.keys[places] // self.n
        return part.ids[rows], (self.keys[places] - rows * self.n).astype(part.ids.dtype)

    def at_owners(
        self, part: Part, env: Environment, vertices: Array, others: Array, values: Array | None = None
    ) -> tuple[Array, Array | None]:
        """The places of arcs from `vertices` to `others`, at the owners of these, with a value that is sent along.

        Every rank calls it.
        """
        lookup = RemoteLookup(part, env, vertices)
        keys = lookup.rows.astype(np.int64) * self.n + lookup.send(others)
        came = None if values is None else lookup.send(values)
        return env.xp.searchsorted(self.keys, keys), came

    @cached_property
    def _neighbours(self) -> Array:
        """The number of the neighbour of each arc."""
        return self.numbers[self.slot]

    def own_rows(self, row: Array) -> LowerRows:
        """Own rows where they stand, on a rank that has the whole graph; int64, one for each of some arcs."""
        return LowerRows(0, row, self.indptr, self._neighbours, self.removed, self.lower.view(np.uint8))

    def lower_rows(
        self, part: Part, env: Environment, arcs: Array, kept: Callable[[Array], Array]
    ) -> Iterator[LowerRows]:
        """Copies of the rows of the lower ends of some arcs, with those of their arcs that are `kept`.

        A batch at a time; the owner of a row calls `kept` with places of its arcs. Every rank calls it, and takes all
        batches.
        """
        xp = env.xp
        ends = xp.cumsum(self.degree[arcs])
        total = int(ends[-1]) if len(arcs) else 0
        cuts = env.backend.to_host(xp.searchsorted(ends, xp.arange(0, total, BATCH))).tolist()
        batches = -env.least(-max(len(cuts), 1))
        for first, last in pairwise([*cuts, *[len(arcs)] * (batches + 1 - len(cuts))]):
            wanted, row = xp.unique(self.ends(part, arcs[first:last])[1], return_inverse=True)
            lookup = RemoteLookup(part, env, wanted)
            begins, bounds = self.indptr[lookup.rows], xp.zeros(len(lookup.rows) + 1, np.int64)
            xp.cumsum(self.indptr[1:][lookup.rows] - begins, out=bounds[1:])
            places = ragged(env, begins, bounds)
            chosen = kept(places)
            bounds = xp.concatenate([bounds[:1], xp.cumsum(chosen)])[bounds]
            places = places[chosen]
            third, _ = lookup.answer_each(self.ends(part, places)[1], bounds)
            codes, bounds = lookup.answer_each(2 * self.removed[places] + self.lower[places], bounds)
            yield LowerRows(first, row, bounds, third, codes >> 1, (codes & 1).astype(np.uint8))

    def triangles(
        self, part: Part, env: Environment, arcs: Array, kept: Callable[[Array], Array]
    ) -> Iterator[tuple[Array, Array, Array, Array]]:
        """The triangles b, a, w of some arcs from b to a lower a, for arcs a to w that are `kept`; a batch at a time.

        The place of b to a, the number of w, the place of b to w, and the round in which a to w went. Every rank calls
        it, and takes all batches.
        """
        xp = env.xp
        for rows in self.lower_rows(part, env, arcs, kept):
            lengths = rows.lengths
            at = ragged(env, rows.ptr[:-1][rows.row], xp.concatenate([rows.ptr[:1], xp.cumsum(lengths)]))
            arc = xp.repeat(arcs[rows.first : rows.first + len(rows.row)], lengths)
            keys = self.keys[arc] // self.n * self.n + rows.third[at]
            places, there = places_in(xp, self.keys, keys)
            yield arc[there], rows.third[at][there], places[there], rows.went[at][there]
