"""Values of any vertices, asked of their owners, and records sent to the owners: vertices are named by their positions.

A rank may name vertices that it has no slots for, such as the root of a tree. It asks for each vertex once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import Environment
from graphdask.partition.build import from_cyclic, to_cyclic_positions, to_owners
from graphdask.partition.neighbours import firsts
from graphdask.partition.part import Part


class Owners:
    """The owners of the vertices, from one rank. Every rank calls each method, from `init` or `result`."""

    def __init__(self, part: Part, env: Environment):
        self.part, self.env = part, env
        self.offsets = part.vertex_map.offsets

    def own(self) -> Array:
        """Positions of the own vertices."""
        dtype = self.part.vertex_map.dtype
        return self.env.xp.arange(self.part.num_owned, dtype=dtype) + dtype.type(self.part.first_position)

    def positions(self, slots: Array) -> Array:
        """Positions of the vertices of slots."""
        return from_cyclic(self.part, to_cyclic_positions(self.part, slots))

    def ask(self, at: Array, columns: Sequence[Array]) -> list[Array]:
        """What the owners of positions have for them in columns of values over own vertices."""
        xp, part = self.env.xp, self.part
        if part.size == 1:
            return [column[at] for column in columns]
        distinct, place = xp.unique(at, return_inverse=True) if len(at) else (at, at)
        cuts = self.env.backend.to_host(xp.searchsorted(distinct, self.env.backend.from_host(self.offsets)))
        asked = self.env.alltoall([distinct[cuts[q] : cuts[q + 1]] for q in range(part.size)])
        asked = [each - each.dtype.type(part.first_position) for each in asked]
        answers = [self.env.alltoall([column[each] for each in asked]) for column in columns]
        return [xp.concatenate(answer)[place] for answer in answers]

    def send(self, at: Array, columns: Sequence[Array]) -> list[Array]:
        """Send records to the owners of positions; return the own vertices that records came for, and the columns."""
        assert self.env.comm is not None
        came, *others = to_owners(self.env.comm, self.env.backend, self.offsets, at, *columns)
        return [came - came.dtype.type(self.part.first_position), *others]

    def total(self, at: Array, values: Array) -> Array:
        """The sums of int64 values of all ranks for each own vertex, named by positions; 0 without any."""
        return self._collected(at, values, sum_at)

    def least(self, at: Array, values: Array) -> Array:
        """The least of values of all ranks, 0 or more, for each own vertex; without any, the largest number."""
        return self._collected(at, values, least_at)

    def _collected(self, at: Array, values: Array, collect: Callable[..., Array]) -> Array:
        """Collect values on each rank, so that one for each vertex is sent, and then at the owners."""
        xp = self.env.xp
        if self.part.size > 1 and len(at):
            distinct, place = xp.unique(at, return_inverse=True)
            at, values = distinct, collect(xp, len(distinct), place, values)
        own, values = self.send(at, [values])
        return collect(xp, self.part.num_owned, own, values)

    def roots(self, parent: Array) -> Array:
        """The roots of the trees of own vertices, whose parents are given as positions; a root is its own parent.

        Pointers are doubled, so a tree of depth d takes log d rounds.
        """
        while True:
            (further,) = self.ask(parent, [parent])
            changed = any_set(further != parent)
            parent = further
            if self.env.least(-int(changed)) == 0:
                return parent


def least_of_each(xp: Any, keys: Array, ranked: Sequence[Array]) -> Array:
    """Places of the first record of each key, in ascending order of keys: the least by `ranked`, the last one first."""
    order = xp.argsort(ranked[0], kind="stable") if ranked else xp.arange(len(keys))
    for column in (*ranked[1:], keys):
        order = order[xp.argsort(column[order], kind="stable")]
    return order[firsts(xp, keys[order])]


def least_at(xp: Any, size: int, places: Array, values: Array) -> Array:
    """The least of the values for each of so many places, values being 0 or more; the largest number where none is."""
    least = xp.full(size, np.iinfo(values.dtype).max, values.dtype)
    of_kernels = least if least.itemsize == 4 else least.view(np.uint64)  # CuPy has no minimum of int64 there
    xp.minimum.at(of_kernels, places, values if least.itemsize == 4 else values.view(np.uint64))
    return least


def sum_at(xp: Any, size: int, places: Array, values: Array) -> Array:
    """The sum of int64 values for each of so many places."""
    total = xp.zeros(size, np.int64)
    xp.add.at(total.view(np.uint64), places, values.view(np.uint64))  # CuPy adds at no int64
    return total
