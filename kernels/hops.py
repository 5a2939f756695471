"""Neighbour sampling of small instances from seeds to last hop: twins of hops.cu.

first     int64: the number of the first instance; the others follow
seeds     index dtype: vertices that instances begin with, each once in its instance
bounds    int64: where those of each instance begin, and their number; None where every instance has one
indptr, indices, sums, replace, seed   as in neighbors.py and successive.py
fanouts   uint64: neighbours of a vertex at each of `hops` hops, up to 255 and eight bits each, the first the lowest;
          without replacement up to FEW
method    as in successive.py; -1 where neighbours are all alike, drawn as neighbors.py says
width     threads that an instance is given: 4, 8, 16 or 32
room      vertices that an instance expands at most
slots     room in a table of them: twice as many, or 0 for one hop
most      edges that an instance has at most: room for each in what is drawn
upto      int32, shape (instances, hops): how many edges an instance has up to each hop
counts    int64: how many each has
ends      int64: the same with those of the instances before it

A GPU keeps `room` vertices and `slots` numbers of 32 bits for each instance in shared memory.
"""

import numpy as np

from graphdask.kernels.neighbors import neighbors_counts, neighbors_uniform
from graphdask.kernels.successive import successive_draw
from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
THREADS = 128
"""Of a block."""


@twin
def _drawn(hop, vertices, instance, indptr, indices, sums, fanouts, replace, method, seed):
    """Where the edges of each vertex begin, and source and destination of all."""
    n = len(vertices)
    instances, tags, rooms = np.full(n, instance, np.int64), np.zeros(n, np.int64), np.empty(0, np.int64)
    counts, offsets = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    fanout = np.int64((fanouts >> np.uint64(8 * hop)) & np.uint64(255))
    neighbors_counts(n, vertices, vertices, instances, indptr, fanout, replace, np.uint64(0), seed, counts)
    for i in range(n):
        offsets[i + 1] = offsets[i] + counts[i]
    total = offsets[n]
    src, dst, tag = np.empty(total, vertices.dtype), np.empty(total, vertices.dtype), np.empty(total, np.int64)
    if method < 0:
        neighbors_uniform(
            n, vertices, vertices, instances, tags, indptr, indices, offsets, replace, seed, src, dst, tag
        )
    else:
        successive_draw(
            n, vertices, vertices, instances, tags, indptr, indices, offsets, sums, replace, method, seed, rooms, rooms,
            src, dst, tag,
        )  # fmt: skip
    return src, dst


@twin
def _fresh(listed, end, dst):
    """Append what is not there yet."""
    known = set(listed[:end])
    for vertex in dst:
        if vertex not in known:
            known.add(vertex)
            listed[end] = vertex
            end += 1
    return end


@twin
def hops_draw(
    n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, width, room, slots, most, src,
    dst, upto, counts,
):  # fmt: skip
    """The edges of each instance, in the order of hop, the vertex's place in the frontier, as drawn."""
    listed = np.empty(room, seeds.dtype)
    for i in range(n):
        a, b = (i, i + 1) if bounds is None else (bounds[i], bounds[i + 1])
        begin, end, made = 0, b - a, 0
        for k in range(end):
            listed[k] = seeds[a + k]
        for hop in range(hops):
            of_hop, drawn = _drawn(
                hop, listed[begin:end], first + i, indptr, indices, sums, fanouts, replace, method, seed
            )
            out = i * most + made
            from_here, to_here = src[out : out + len(drawn)], dst[out : out + len(drawn)]
            for k in range(len(drawn)):
                from_here[k], to_here[k] = of_hop[k], drawn[k]
            made += len(drawn)
            upto[i * hops + hop] = made
            if hop + 1 < hops:
                begin, end = end, _fresh(listed, end, drawn)
        counts[i] = made


@twin
def hops_draw_biased(
    n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, width, room, slots, most, src,
    dst, upto, counts,
):  # fmt: skip
    """The same where neighbours are not all alike."""
    hops_draw(
        n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, width, room, slots, most,
        src, dst, upto, counts,
    )  # fmt: skip


@twin
def hops_place(n, first, hops, most, src, dst, upto, ends, out_src, out_dst, out_hop, out_instance):
    """Put the edges of all instances together."""
    for i in range(n):
        out = ends[i - 1] if i else 0
        hop = 0
        for e in range(ends[i] - out):
            while upto[i * hops + hop] <= e:
                hop += 1
            out_src[out + e], out_dst[out + e] = src[i * most + e], dst[i * most + e]
            out_hop[out + e], out_instance[out + e] = hop, first + i
