"""Neighbour sampling of small instances from seeds to last hop: twins of hops.cu.

first     int64: the number of the first instance; the others follow
seeds     index dtype: vertices that instances begin with, each once in its instance
bounds    int64: where those of each instance begin, and their number; None where every instance has one
indptr, indices, sums, replace, seed   as in neighbors.py and successive.py
fanouts   uint64: neighbours of a vertex at each of `hops` hops, up to 255 and eight bits each, the first the lowest;
          without replacement up to FEW
method    as in successive.py; -1 where neighbours are all alike, drawn as neighbors.py says
together  instances that follow each other and are drawn together, a power of two up to 32: their edges are side by
          side, those of the first hop before those of the next, from the place on where the first instance's begin
places    vertices that an instance expands at most
slots     places of a hash table of these vertices: twice as many, or 0 for one hop
most      edges that an instance has at most; the buffers of drawn edges have so many places for each instance
upto      int32, shape (instances, hops): how many edges an instance has up to each hop
starts    int32, shape (instances, hops): where those of each hop begin in the buffers
counts    int64: how many each has
ends      int64: the same with those of the instances before it

For each warp a GPU keeps STAGED neighbours of each of 32 vertices in shared memory and, for each instance, `places`
vertices and `slots` numbers of 32 bits.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors import neighbors_counts, neighbors_uniform
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws
from graphdask.kernels.neighbors.successive import successive_draw
from graphdask.kernels.neighbors.successive_pack import SuccessiveDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


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
            n, ItemDraws(
                rows=vertices, vertices=vertices, instances=instances, tags=tags, indptr=indptr, indices=indices,
                offsets=offsets, replace=replace, seed=seed, src=src, dst=dst, tag=tag,
            ),
        )  # fmt: skip
    else:
        successive_draw(
            n, SuccessiveDraws(
                rows=vertices, vertices=vertices, instances=instances, tags=tags, indptr=indptr, indices=indices,
                offsets=offsets, sums=sums, replace=replace, method=method, seed=seed, rooms=rooms, trees=rooms,
                src=src, dst=dst, tag=tag,
            ),
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
    n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, together, places, slots, most,
    src, dst, upto, starts, counts,
):  # fmt: skip
    """The edges of each instance, in the order of hop, the vertex's place in the frontier, as drawn."""
    listed, marks = np.empty((together, places), seeds.dtype), np.empty((2, together), np.int64)
    begins, ends = marks[0], marks[1]
    for group in range(0, n, together):
        those, made = min(together, n - group), 0
        for g in range(those):
            i = group + g
            a, b = (i, i + 1) if bounds is None else (bounds[i], bounds[i + 1])
            begins[g], ends[g], counts[i] = 0, b - a, 0
            for k in range(b - a):
                listed[g, k] = seeds[a + k]
        for hop in range(hops):
            for g in range(those):
                i = group + g
                frontier = listed[g, begins[g] : ends[g]]
                of_hop, drawn = _drawn(hop, frontier, first + i, indptr, indices, sums, fanouts, replace, method, seed)
                out = group * most + made
                from_here, to_here = src[out : out + len(drawn)], dst[out : out + len(drawn)]
                for k in range(len(drawn)):
                    from_here[k], to_here[k] = of_hop[k], drawn[k]
                counts[i] += len(drawn)
                upto[i * hops + hop], starts[i * hops + hop] = counts[i], made
                made += len(drawn)
                if hop + 1 < hops:
                    begins[g], ends[g] = ends[g], _fresh(listed[g], ends[g], drawn)


@twin
def hops_draw_biased(
    n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, together, places, slots, most,
    src, dst, upto, starts, counts,
):  # fmt: skip
    """The same where neighbours are not all alike."""
    hops_draw(
        n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, together, places, slots,
        most, src, dst, upto, starts, counts,
    )  # fmt: skip


@twin
def hops_draw_by_bits(
    n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, together, places, slots, most,
    src, dst, upto, starts, counts,
):  # fmt: skip
    """The same by a method with bits (successive.py)."""
    hops_draw(
        n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, together, places, slots,
        most, src, dst, upto, starts, counts,
    )  # fmt: skip


@twin
def hops_place(n, first, hops, together, most, src, dst, upto, starts, ends, out_src, out_dst, out_hop, out_instance):
    """Put the edges of all instances together."""
    for i in range(n):
        out, e = ends[i - 1] if i else 0, 0
        for hop in range(hops):
            place = i // together * together * most + starts[i * hops + hop]
            for k in range(upto[i * hops + hop] - e):
                out_src[out + e + k], out_dst[out + e + k] = src[place + k], dst[place + k]
                out_hop[out + e + k], out_instance[out + e + k] = hop, first + i
            e = upto[i * hops + hop]
