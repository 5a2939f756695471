"""Neighbour sampling of small instances from seeds to last hop: twins of hops.cu.

first is the number of the first instance; the others follow. For each warp a GPU keeps STAGED neighbours of each of 32
vertices in shared memory and, for each instance, `places` vertices and `slots` numbers of 32 bits.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.hops_pack import NeighborHops, PlacedHops
from graphdask.kernels.neighbors.neighbors import neighbors_counts, neighbors_uniform
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws
from graphdask.kernels.neighbors.successive import successive_draw
from graphdask.kernels.neighbors.successive_pack import SuccessiveDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def _drawn(hop, vertices, instance, a: NeighborHops):
    """Source and destination of all edges, or in the place of the destination the place of the edge."""
    n = len(vertices)
    instances, tags, scratch_at = np.full(n, instance, np.int64), np.zeros(n, np.int64), np.empty(0, np.int64)
    counts, offsets = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    fanout = np.int64((a.fanouts >> np.uint64(8 * hop)) & np.uint64(255))
    neighbors_counts(n, vertices, vertices, instances, a.indptr, fanout, a.replace, np.uint64(0), a.seed, counts)
    for i in range(n):
        offsets[i + 1] = offsets[i] + counts[i]
    total = offsets[n]
    src, dst, tag = np.empty(total, vertices.dtype), np.empty(total, vertices.dtype), np.empty(total, np.int64)
    targets = np.arange(len(a.indices)).astype(vertices.dtype) if a.placed else a.indices
    if a.method < 0:
        neighbors_uniform(
            n, ItemDraws(
                rows=vertices, vertices=vertices, instances=instances, tags=tags, indptr=a.indptr, indices=targets,
                offsets=offsets, replace=a.replace, seed=a.seed, src=src, dst=dst, tag=tag,
            ),
        )  # fmt: skip
    else:
        successive_draw(
            n, SuccessiveDraws(
                rows=vertices, vertices=vertices, instances=instances, tags=tags, indptr=a.indptr, indices=targets,
                offsets=offsets, sums=a.sums, replace=a.replace, method=a.method, seed=a.seed, scratch_at=scratch_at,
                trees=scratch_at, src=src, dst=dst, tag=tag,
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
def hops_draw(n, first, a: NeighborHops):
    """The edges of each instance, in the order of hop, the vertex's place in the frontier, as drawn."""
    listed, marks = np.empty((a.together, a.places), a.seeds.dtype), np.empty((2, a.together), np.int64)
    begins, ends = marks[0], marks[1]
    for group in range(0, n, a.together):
        those, made = min(a.together, n - group), 0
        for g in range(those):
            i = group + g
            begin, end = (i, i + 1) if a.bounds is None else (a.bounds[i], a.bounds[i + 1])
            begins[g], ends[g], a.counts[i] = 0, end - begin, 0
            for k in range(end - begin):
                listed[g, k] = a.seeds[begin + k]
        for hop in range(a.hops):
            for g in range(those):
                i = group + g
                frontier = listed[g, begins[g] : ends[g]]
                of_hop, drawn = _drawn(hop, frontier, first + i, a)
                out = group * a.most + made
                from_here, to_here = a.src[out : out + len(drawn)], a.dst[out : out + len(drawn)]
                for k in range(len(drawn)):
                    from_here[k], to_here[k] = of_hop[k], drawn[k]
                a.counts[i] += len(drawn)
                a.upto[i * a.hops + hop], a.starts[i * a.hops + hop] = a.counts[i], made
                made += len(drawn)
                if hop + 1 < a.hops:
                    reached = a.indices[drawn] if a.placed else drawn
                    begins[g], ends[g] = ends[g], _fresh(listed[g], ends[g], reached)


@twin
def hops_draw_places(n, first, a: NeighborHops):
    """The places of the edges; the pack has `placed` set."""
    hops_draw(n, first, a)


@twin
def hops_draw_biased(n, first, a: NeighborHops):
    """The same where neighbours are not all alike."""
    hops_draw(n, first, a)


@twin
def hops_draw_by_bits(n, first, a: NeighborHops):
    """The same by a method with bits (successive.py)."""
    hops_draw(n, first, a)


@twin
def hops_place(n, first, a: PlacedHops):
    """Put the edges of all instances together."""
    for i in range(n):
        out, e = a.ends[i - 1] if i else 0, 0
        for hop in range(a.hops):
            place = i // a.together * a.together * a.most + a.starts[i * a.hops + hop]
            for k in range(a.upto[i * a.hops + hop] - e):
                to = a.dst[place + k]
                if a.out_edge is not None:
                    row = to if a.kept is None else a.kept[to]
                    if a.rows is not None:
                        a.out_edge[out + e + k] = a.rows[row]
                    if a.long_rows is not None:
                        a.out_edge[out + e + k] = a.long_rows[row]
                    to = a.indices[to]
                a.out_src[out + e + k], a.out_dst[out + e + k] = a.src[place + k], to
                a.out_hop[out + e + k], a.out_instance[out + e + k] = hop, first + i
            e = a.upto[i * a.hops + hop]
