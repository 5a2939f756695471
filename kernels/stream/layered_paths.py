"""Paths over a chunk of a layered edge list on the device: twins of layered_paths.cu.

n        rows of the chunk; or of positions
first    the position of its first row; rows stand in order of positions
begin    positions from here up to `end` are this rank's; those of others are marked, too, where only the vertex before
         is another one
indptr   int64 per row: where its edges begin in `targets`, and where the last row's end
ids      index dtype per row: the vertex number; None (a null pointer) where positions are vertex numbers
targets  index dtype per edge: the position of the vertex at its end
weights  one for each edge (each = -1), or a single one for all (each = 0): edge e weighs weights[e & each]
packed   whether labels are a distance times 2^32 plus the number of the vertex before; else distances
active   uint8 per position: its distance has fallen since its edges were looked at last
labels   dist_t per position: int64 or float64; the largest, or infinity where unreached
distance the same, never packed; in `layered_unpack` int32 per vertex number, or `wide` in its place, -1 where unreached
positions of what others have seen, with `values`, labels; n counts these
queue    index dtype, room for the rows of a chunk
hubs     index dtype, room for its rows of more than 4,096 edges, which a GPU deals out among all blocks
counters 64-bit integers: rows that were worked off, edges looked at; and what the host clears before a chunk: how often
         blocks met, three counts of rows, three of hubs

A launch of `layered_relax_chunk` must be cooperative.
"""

import numpy as np

from graphdask.kernels.stream.layered import layered_flat, layered_parents, layered_relax, layered_relax_wide

MACROS = [
    {"index_t": "int", "weight_t": weight, "dist_t": dist}
    for weight, dist in (("int", "long long"), ("long long", "long long"), ("float", "double"), ("double", "double"))
]
WORKED, LOOKED, COUNTERS = 0, 1, 9
CLEARED = 2
"""From this one on they are 0 before a chunk."""


def _of(first, n, ids):
    return np.arange(first, first + n, dtype=np.int32) if ids is None else ids


def layered_relax_chunk(
    n, first, begin, end, indptr, ids, targets, weights, each, packed, active, labels, queue, hubs, counters
):  # fmt: skip
    counts, marks = np.zeros(3, np.int64), active.view(np.bool_)
    if packed:
        near = np.full(len(labels), 255, np.uint8)
        own = _of(first, n, ids)
        highest = np.full(255, -1, np.int64)
        layered_relax(
            n, first, begin, end, indptr, own, targets, weights, each, marks, near, labels, highest, queue, counts
        )  # fmt: skip
    else:
        layered_relax_wide(n, first, indptr, targets, weights, each, marks, labels, queue, counts)
    counters[:2] += counts[:2].astype(counters.dtype)


def layered_take(n, positions, values, packed, active, labels):
    for v, value in zip(positions[:n], values[:n], strict=True):
        before = labels[v]
        if value < before:
            labels[v] = value
            active[v] |= not packed or value >> 32 < before >> 32


def layered_offer(n, first, indptr, ids, targets, weights, each, distance, parent, flat, hubs, counters):
    counts = np.zeros(3, np.int64)
    layered_parents(
        n, first, indptr, _of(first, n, ids), targets, weights, each, distance, parent, flat.view(np.bool_), counts
    )
    counters[LOOKED] += counters.dtype.type(indptr[n])


def layered_offer_hubs(n, first, indptr, ids, targets, weights, each, distance, parent, flat, hubs, counters):
    pass


def layered_further(n, first, indptr, ids, targets, weights, each, distance, hops, hop, parent, active, hubs, counters):
    counts, marks = np.zeros(3, np.int64), active.view(np.bool_)
    layered_flat(
        n, first, indptr, _of(first, n, ids), targets, weights, each, distance, hops, hop, parent, marks, counts
    )
    counters[LOOKED] += counters.dtype.type(indptr[n])


def layered_further_hubs(
    n, first, indptr, ids, targets, weights, each, distance, hops, hop, parent, active, hubs, counters
):  # fmt: skip
    pass


def layered_unpack(n, labels, ids, distance, wide, parent):
    to, none = _of(0, n, ids), np.iinfo(np.int64).max
    (distance if wide is None else wide)[to] = np.where(labels == none, -1, labels >> 32)
    parent[to] = (labels & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
