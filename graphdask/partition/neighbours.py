"""The edges of the own vertices a block of rows at a time, as arrays; also each pair of neighbours once.

For work that is not worth a kernel of its own: what orders, sorts or counts neighbours once, and what checks results. A
block bounds the memory, and the keys by which pairs are sorted, however large the partition is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Csr, Part
from graphdask.partition.tuning import PARTITION


@dataclass
class Block:
    """Neighbours of the own vertices first to last - 1."""

    first: int
    last: int
    rows: Array
    """Own vertices, index dtype, a slot for each entry."""
    slots: Array
    """Their neighbours."""
    ways: Array
    """uint8. Of all neighbours: 0 for an out-edge, 1 for an in-edge. Of distinct ones: in how many directions the two
    are joined, 1 or 2; in an undirected graph 1."""


def edge_blocks(backend: Backend, part: Part) -> Iterator[Block]:
    """All neighbours, over edges of either direction; those of an undirected graph once for each edge.

    Rows without any are left out, where they would make a block of their own.
    """
    xp = backend.xp
    csrs = part.directions
    ends = csrs[0].indptr if len(csrs) == 1 else csrs[0].indptr + csrs[1].indptr
    cuts = backend.to_host(xp.searchsorted(ends, xp.arange(0, max(int(ends[-1]), 1), PARTITION.block_edges)))
    cuts = np.unique(np.concatenate([cuts, np.arange(0, part.num_owned, PARTITION.block_rows), [0, part.num_owned]]))
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        if first == last or int(ends[first]) == int(ends[last]):
            continue
        rows, slots, ways = [], [], []
        for way, csr in enumerate(csrs):
            indptr = csr.indptr[first : last + 1]
            block = Csr(indptr - indptr[0], csr.indices[int(indptr[0]) : int(indptr[-1])])
            rows.append(row_of_each(backend, block, first))
            slots.append(block.indices)
            ways.append(xp.full(block.num_edges, way, np.uint8))
        yield Block(first, last, *(each[0] if len(each) == 1 else xp.concatenate(each) for each in (rows, slots, ways)))


def distinct_blocks(
    backend: Backend, part: Part, keep: Callable[[Array, Array], Array] | None = None, number: Array | None = None
) -> Iterator[Block]:
    """Each neighbour once, without the vertex itself, ascending by slot; those only for which `keep(rows, slots)`.

    With `number`, a permutation of the slots, they stand as `number[slots]`, and ascend by it.
    """
    xp, several = backend.xp, len(part.directions) > 1
    dtype, slots = part.vertex_map.dtype, part.num_slots
    for block in edge_blocks(backend, part):
        kept = block.rows != block.slots
        if keep is not None:
            kept &= keep(block.rows, block.slots)
        key = (block.rows[kept] - dtype.type(block.first)).astype(np.int64)
        key *= slots
        key += block.slots[kept] if number is None else number[block.slots[kept]]
        if several:
            key <<= 1
            key |= block.ways[kept]
        del kept
        if not len(key):
            continue
        key.sort()
        key = key[firsts(xp, key)]
        ways = xp.ones(len(key), np.uint8)
        if several:
            key >>= 1
            first = firsts(xp, key)
            ways[:-1] += ~first[1:]
            key, ways = key[first], ways[first]
        row = key // slots
        key -= row * slots
        yield Block(block.first, block.last, row.astype(dtype) + dtype.type(block.first), key.astype(dtype), ways)


def places_of(xp: Any, mask: Array) -> Array:
    """Where the mask is true; int64. CuPy's searches refuse an empty array."""
    return xp.flatnonzero(mask) if len(mask) else xp.zeros(0, np.int64)


def firsts(xp: Any, ordered: Array) -> Array:
    """Return a mask of the entries that differ from the previous entry; the first entry counts as different."""
    first = xp.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def sums_between(xp: Any, values: Array, starts: Array) -> Array:
    """Sums of int64 values from each start to the next, and from the last one to the end; starts ascend."""
    before = xp.zeros(len(values) + 1, np.int64)
    xp.cumsum(values, out=before[1:])  # may wrap; differences do not
    ends = xp.concatenate([starts[1:], xp.full(1, len(values), starts.dtype)]) if len(starts) else starts
    return before[ends] - before[starts]
