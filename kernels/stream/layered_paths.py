"""Paths over a chunk of a layered edge list on the device: twins of layered_paths.cu.

n        number of rows of the chunk, or of positions
first    the position of its first row; rows are in the order of positions
begin    positions from here up to `end` belong to this rank; those of other ranks are marked also if only their
         predecessor changes
indptr   int64 per row: where its edges begin in `targets`; a last entry says where those of the last row end
ids      index dtype per row: the vertex number; None (a null pointer) if positions are vertex numbers
targets  index dtype per edge: the position of its target
weights  one per edge (each = -1) or a single one for all edges (each = 0): edge e has the weight weights[e & each]
packed   whether labels are a distance times 2^32 plus the number of the predecessor; otherwise they are distances
active   uint8 per position: whether its distance has decreased since its edges were last scanned
labels   dist_t per position: int64 or float64; the largest value, or infinity, if unreached
distance dist_t per position, never packed; in `layered_unpack` int32 per vertex number, or `wide` in its place, -1 if
         unreached
positions of vertices for which other ranks have found labels, which are in `values`; n counts these
queue    index dtype, one entry per row of the chunk
hubs     index dtype, one entry per row of the chunk with more than 4,096 edges, which a GPU shares among all blocks
counters 64-bit integers: number of rows processed, number of edges scanned; and, cleared by the host before a chunk,
         arrivals of blocks at the barrier, three counts of rows, three of hubs

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
"""Counters from this one on are 0 before a chunk."""


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


def layered_further(n, first, indptr, ids, targets, weights, each, distance, hops, hop, parent, active, hubs, counters):
    counts, marks = np.zeros(3, np.int64), active.view(np.bool_)
    layered_flat(
        n, first, indptr, _of(first, n, ids), targets, weights, each, distance, hops, hop, parent, marks, counts
    )
    counters[LOOKED] += counters.dtype.type(indptr[n])


def layered_unpack(n, labels, ids, distance, wide, parent):
    to, none = _of(0, n, ids), np.iinfo(np.int64).max
    (distance if wide is None else wide)[to] = np.where(labels == none, -1, labels >> 32)
    parent[to] = (labels & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
