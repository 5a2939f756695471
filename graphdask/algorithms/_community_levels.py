"""Weighted graphs of communities, level by level: vertices are numbered 0 to n-1, and each rank owns a range of them.

The vertices of the first level are those of the graph by their ids, those of the next ones communities, in the order of
their smallest vertices. So the numbers, and what is decided by them, do not depend on how the graph is divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from graphdask.algorithms.communities import Arcs
from graphdask.algorithms.tuning import COMMUNITIES
from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.partition.build import balanced_ranges, from_cyclic, to_cyclic_positions, to_owners
from graphdask.partition.neighbours import firsts, places_of, sums_between
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap

NARROW = 1 << 31
"""Vertices up to which two numbers fit a key of 64 bits."""
SLOTS = 1 << 30
"""Slots up to which those of the vertices, and of the communities that are known beside them, fit 32 bits."""
SPARSE = 4
"""Vertices for each arc, above which arcs are sorted rather than added up in a table over vertices."""


@dataclass
class Links:
    """Where the owners of some numbers, ascending and distinct, keep what they know of them."""

    env: Environment
    cuts: list[int]
    """Those from cuts[q] to cuts[q + 1] belong to rank q."""
    asked: list[Array]
    """For each rank, the own places that it knows."""

    @classmethod
    def of(cls, env: Environment, bounds: np.ndarray, numbers: Array) -> Links:
        """Every rank calls it, and the methods too."""
        cuts = env.backend.to_host(env.xp.searchsorted(numbers, env.backend.from_host(bounds))).tolist()
        asked = env.alltoall([numbers[a:b] - int(low) for a, b, low in zip(cuts, cuts[1:], bounds, strict=False)])
        return cls(env, cuts, asked)

    def read(self, table: Array) -> Array:
        """The values of the numbers in tables over the vertices that each rank owns."""
        return self.env.xp.concatenate(self.env.alltoall([table[places] for places in self.asked]))

    def add(self, values: Array, table: Array) -> None:
        """Add values of the numbers to these tables."""
        received = self.env.alltoall([values[a:b] for a, b in zip(self.cuts, self.cuts[1:], strict=False)])
        for places, more in zip(self.asked, received, strict=True):
            table[places] += more


def looked_up(env: Environment, bounds: np.ndarray, numbers: Array, table: Array) -> Array:
    """The values of numbers, which may repeat, in tables over the vertices that each rank owns. Every rank calls it."""
    if env.size == 1:
        return table[numbers]
    distinct, which = env.xp.unique(numbers, return_inverse=True)
    return Links.of(env, bounds, distinct).read(table)[which]


def least_of(env: Environment, bounds: np.ndarray, keys: Array, values: Array) -> Array:
    """For each key, a number, the least of the values of all ranks that stand beside it. Every rank calls it.

    Values ascend, and those of a rank are above those of the ranks before it.
    """
    xp, first = env.xp, int(bounds[env.rank])
    assert env.comm is not None
    at, beside = to_owners(env.comm, env.backend, bounds, keys, values)
    order = xp.argsort(at, kind="stable")
    at = at[order]
    start = firsts(xp, at)
    least = xp.zeros(int(bounds[env.rank + 1]) - first, np.int64)
    least[at[start] - first] = beside[order][start]
    return looked_up(env, bounds, keys, least)


@dataclass
class Level:
    """A graph of communities."""

    bounds: np.ndarray
    """int64 on the host: rank q owns the numbers bounds[q] to bounds[q + 1] - 1."""
    csr: Csr
    """Neighbours of the own vertices as slots: own vertices first, then those of other ranks. int32, or int64 if there
    are more than SLOTS of them."""
    weights: Array
    """int64, of the entries."""
    rows: Array
    """The own vertex of each entry, like the neighbours."""
    numbers: Array
    """int64, of the own vertices."""
    degree: Array
    """int64: sums of the weights of the own vertices."""
    links: Links
    """Of the slots of other ranks' vertices."""
    total: int
    """Sum of the weights of all ranks."""

    @property
    def size(self) -> int:
        """Vertices of all ranks."""
        return int(self.bounds[-1])

    def over_slots(self, values: Array) -> Array:
        """Values of own vertices, and behind them those of the other ranks' vertices. Every rank calls it."""
        return self.links.env.xp.concatenate([values, self.links.read(values)])

    def sums_of(self, env: Environment, label: Array, values: Array) -> Array:
        """For each own vertex the sum of the values of all vertices that have its number as label.

        Every rank calls it, with the labels and int64 values of its own vertices.
        """
        assert env.comm is not None
        if env.size == 1:
            return sum_at(env.xp, len(self.numbers), label, values)
        at, values = to_owners(env.comm, env.backend, self.bounds, label, values)
        return sum_at(env.xp, len(self.numbers), at - int(self.bounds[env.rank]), values)

    @classmethod
    def built(
        cls, env: Environment, bounds: np.ndarray, total: int, arcs: Iterable[tuple[Array, Array, Array]]
    ) -> Level:
        """Make a level of weighted arcs, which stand on any rank; `total` is their sum.

        `arcs` are ends and weights, one block or more of them. Every rank calls it.
        """
        xp, n = env.xp, int(bounds[-1])
        assert env.comm is not None
        src, dst, weights = merged(env, n, arcs)
        if env.size > 1:
            arcs = [to_owners(env.comm, env.backend, bounds, src, dst, weights)]
            src, dst, weights = merged(env, n, arcs)
        low, high = (int(x) for x in bounds[env.rank : env.rank + 2])
        src -= low
        indptr = xp.searchsorted(src, xp.arange(high - low + 1))
        remote = (dst < low) | (dst >= high)
        others = xp.unique(dst[remote])
        dst -= low
        dst[remote] = high - low + xp.searchsorted(others, dst[remote] + low)
        slots = index_of_slots(high - low + len(others))
        csr = Csr(indptr, dst.astype(slots, copy=False))
        links = Links.of(env, bounds, others)
        return cls._of(env, bounds, csr, weights, src.astype(slots, copy=False), links, total)

    @classmethod
    def _of(
        cls, env: Environment, bounds: np.ndarray, csr: Csr, weights: Array, rows: Array, links: Links, total: int
    ) -> Level:
        numbers = env.xp.arange(int(bounds[env.rank]), int(bounds[env.rank + 1]))
        degree = sums_between(env.xp, weights, csr.indptr[:-1])
        return cls(bounds, csr, weights, rows, numbers, degree, links, total)

    @classmethod
    def first(cls, part: Part, env: Environment, arcs: Arcs) -> Level:
        """The level of the vertices of the graph. Every rank calls it."""
        assert env.comm is not None
        n = part.num_vertices
        if env.size == 1 and type(part.vertex_map) is VertexMap:
            bounds, slots = np.array([0, n], np.int64), index_of_slots(n)
            csr = Csr(part.out.indptr, arcs.slots.astype(slots, copy=False))
            links = Links.of(env, bounds, part.ids[:0])
            return cls._of(env, bounds, csr, arcs.weights, arcs.rows.astype(slots, copy=False), links, arcs.total)
        slots = env.xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
        ids = part.vertex_map.to_id(env.backend, from_cyclic(part, to_cyclic_positions(part, slots))).astype(np.int64)
        src, dst = ids[arcs.rows], ids[arcs.slots]
        bounds = balanced_ranges(env.comm, env.backend, src, dst, n)
        return cls.built(env, bounds, arcs.total, [(src, dst, arcs.weights)])

    def contracted(self, env: Environment, label: Array) -> tuple[Level, Array, Array]:
        """Make a level whose vertices are the communities that own vertices have as `label`. Every rank calls it.

        Returns
        -------
        Level
            This one, if there are as many communities as vertices.
        array, int64
            The number of each own vertex's community there.
        array of bool
            Whether an own vertex is the smallest one of its community: these become this rank's vertices there.
        """
        xp = env.xp
        assert env.comm is not None
        smallest = least_of(env, self.bounds, label, self.numbers)
        stands = smallest == self.numbers
        counts = env.comm.allgather(np.array([count_set(stands)], np.int64))[:, 0]
        if counts.sum() == self.size:
            return self, self.numbers, stands
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        number = int(bounds[env.rank]) + xp.cumsum(stands) - 1
        number = looked_up(env, self.bounds, smallest, number)
        level = Level.built(env, bounds, self.total, self._arcs_between(number, self.over_slots(number)))
        return level, number, stands

    def _arcs_between(self, number: Array, over: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Arcs between the communities of these numbers, of the own vertices and of all slots."""
        for first in range(0, max(self.csr.num_edges, 1), COMMUNITIES.block):
            some = slice(first, first + COMMUNITIES.block)
            yield number[self.rows[some]], over[self.csr.indices[some]], self.weights[some]


def index_of_slots(slots: int) -> type:
    """The type of the numbers of so many slots."""
    return np.int32 if slots <= SLOTS else np.int64


def merged(env: Environment, n: int, arcs: Iterable[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """The arcs of all blocks in order of their ends, those of equal ends as one, with the sum of their weights."""
    blocks = [_merged(env, n, list(each)) for each in arcs]
    if len(blocks) == 1:
        return blocks[0]
    columns = [env.xp.concatenate(each) for each in zip(*blocks, strict=True)]
    del blocks
    return _merged(env, n, columns)


def _merged(env: Environment, n: int, arcs: list[Array]) -> tuple[Array, Array, Array]:
    """As `merged`, of one block, which is taken out of the list and overwritten, to keep little in memory."""
    xp, (src, dst, weights) = env.xp, arcs
    arcs.clear()
    count = len(src)
    if not count:
        return src, dst, weights
    if env.backend.name == "cpu" and n <= SPARSE * count:
        begin = np.bincount(src + 1, minlength=n + 1)[:n].cumsum()
        out = [np.empty(count, np.int64) for _ in range(3)]
        kept = env.kernels("merging").merging_arcs(count, src, dst, weights, begin, np.full(n, -1), *out)
        return out[0][:kept], out[1][:kept], out[2][:kept]
    if n > NARROW:
        order = xp.lexsort(xp.stack([dst, src]))
        src, dst = src[order], dst[order]
        places = places_of(xp, firsts(xp, src) | firsts(xp, dst))
        return src[places], dst[places], sums_between(xp, weights[order], places)
    key = src
    key *= n
    key += dst
    del src, dst
    order = xp.argsort(key, kind="stable")
    key, weights = key[order], weights[order]
    del order
    places = places_of(xp, firsts(xp, key))
    key, weights = key[places], sums_between(xp, weights, places)
    return key // n, key % n, weights
