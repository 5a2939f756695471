"""What twins of searches by levels share: weights of rows, ids of slots, lists of vertices. Twin of levels.cuh."""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, u64
from graphdask.kernels.common.levels_pack import LevelSearch, Slots
from graphdask.kernels.common.tuning import LONG_ROW, LONG_ROW_MARK
from graphdask.kernels.common.twin import inlined, twin

FEW = 256
"""Vertices that are listed at a time."""


@inlined
def row_weight(indptr, v):
    """Return the number of edges of a row, and LONG_ROW_MARK more if it is long."""
    v = u64(v)
    edges = indptr[v + u64(1)] - indptr[v]
    return edges + LONG_ROW_MARK if edges > LONG_ROW else edges


@inlined
def id_of(slot, a: Slots):
    """Return the id of the vertex that a slot is of; -2 - position if that of a ghost does not follow from it."""
    mine = slot < a.owned
    if mine and not a.plain:
        return a.ids[slot]
    position = a.first + (a.ghosts[slot - a.owned] if a.few and not mine else slot)
    if position >= a.vertices:
        position -= a.vertices
    return position if a.plain else -2 - position


@twin
def all_reached(a: LevelSearch):
    """Return whether all own targets have a depth."""
    left = 0
    for i in range(a.num_targets):
        left += a.depth[a.targets[i]] < 0
    return left == 0


@twin
def list_unset(n, indptr, bits, listed, count):
    """List the vertices 0 .. n-1 that have edges and whose bits are not set, behind so many; return the new number."""
    count, begin = u64(count), indptr[0]
    some = np.empty(FEW, listed.dtype)
    for first in range(u64(0), u64(n), u64(FEW)):
        found = u64(0)
        for v in range(first, min(first + u64(FEW), u64(n))):  # half of them: a branch would be guessed wrong often
            some[found] = v
            end = indptr[v + u64(1)]
            found += u64((end > begin) & (not has_bit(bits, v)))
            begin = end
        for i in range(found):
            listed[count + i] = some[i]
        count += found
    return count
