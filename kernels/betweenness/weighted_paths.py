"""Counting shortest paths by weight from up to 64 sources at once, distances known: twins of weighted_paths.cu.

A source is a lane: bit b of a mask, column b of a table. Tables are row-major, `lanes` columns. An edge from u to v is
tight in a lane where distance[u] + weight == distance[v], the sum rounded as distances are; u is reached then.

`ready` is 0 between launches. `frontier` is a uint64 mask per slot: lanes in which a vertex has just been counted; only
the listed slots are read, or, if rows pull, the others are 0. `paths` is on the way forward the number of shortest
paths, once that is counted, and on the way back, once a vertex has its dependency, (1 + dependency) / paths.
`dependency` is a
float64 table over own vertices: sums over successors, then dependencies; 0 where there is none.

A sum has one order, on CPUs and GPUs and for every number of partitions: neighbours in the order of the row, in chunks
of CHUNK edges, whose sums are added one after the other.

`over` is a float64 per out-edge: the paths that lead over it. `paths_gather` adds those of a level where the field is
not None, in the order of lanes. On GPUs `paths_over` does that.

The CUDA kernels defer rows of many edges to other launches (`*_hubs`). They have no twins.
"""

import numpy as np

from graphdask.kernels.betweenness.weighted_paths_pack import Paths
from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import plus, unreached

OF_WEIGHTS = {"int": "long long", "long long": "long long", "float": "double", "double": "double"}
MACROS = [
    {"index_t": index, "weight_t": weight, "dist_t": distance}
    for index in ("int", "long long")
    for weight, distance in OF_WEIGHTS.items()
]

CHUNK = 256
"""Edges whose values are added before they go into the sum of the row."""


@twin
def _lanes_of(mask, lanes, out):
    """Write which lanes are in a mask, in order; return how many."""
    count = 0
    for b in range(lanes):
        if mask >> np.uint64(b) & np.uint64(1):
            out[count] = b
            count += 1
    return count


@twin
def paths_pending(n, a: Paths):
    """Count the tight edges into each row, which has in-edges."""
    none, beyond, shorter = unreached(a.distance), 0, 0
    for row in range(n):
        v = a.first + row
        for e in range(a.indptr[row], a.indptr[row + 1]):
            u, w = a.indices[e], a.weights[e]
            for b in range(a.lanes):
                du, dv = a.distance[u, b], a.distance[v, b]
                if du == none:
                    continue
                if dv == none:
                    beyond += 1
                    continue
                d = plus(du, w)
                a.pending[v, b] += d == dv
                shorter += du <= d < dv
    a.counters.edges += a.indptr[n] - a.indptr[0]
    a.counters.beyond += beyond
    a.counters.shorter += shorter


@twin
def paths_release(n, slots, frontier, pull, queue, a: Paths):
    """List the own vertices whose predecessors are all counted, once those in `frontier` are.

    Rows are out-edges of the listed slots to own vertices. If `pull` is not 0, they are in-edges of listed own vertices
    that are not counted in all lanes yet.
    """
    lane_of, edges, found, lanes_found = np.empty(64, np.int64), 0, a.counters.ready, 0
    for i in range(n):
        row = slots[i]
        begin, end = a.indptr[row - a.first], a.indptr[row - a.first + 1]
        edges += end - begin
        count = 0 if pull else _lanes_of(frontier[row], a.lanes, lane_of)
        for e in range(begin, end):
            u, v, w = row, a.indices[e], a.weights[e]
            if pull:
                u, v = v, u
                if frontier[u] == 0:
                    continue
                count = _lanes_of(frontier[u], a.lanes, lane_of)
            for c in range(count):
                b = lane_of[c]
                if plus(a.distance[u, b], w) == a.distance[v, b]:
                    a.pending[v, b] -= 1
                    if a.pending[v, b] == 0:
                        if a.ready[v] == 0:
                            queue[found] = v
                            found += 1
                        a.ready[v] |= np.uint64(1) << np.uint64(b)
                        lanes_found += 1
    a.counters.edges += edges
    a.counters.ready = found
    a.counters.lanes += lanes_found


@twin
def paths_gather(n, rows, masks, back, out, hub, a: Paths):
    """Sum `paths` over the tight edges of each row, in the lanes of its mask: predecessors over in-edges, or, where
    `back` is not 0, successors over out-edges."""
    lane_of, of_chunk, sums, edges = np.empty(64, np.int64), np.empty(64), np.empty(64), 0
    of_row = np.empty(64)
    for i in range(n):
        v = rows[i]
        count = _lanes_of(masks[i], a.lanes, lane_of)
        begin, last = a.indptr[v - a.first], a.indptr[v - a.first + 1]
        edges += last - begin
        sums[:count] = 0.0
        if a.over is not None:
            for c in range(count):
                of_row[c] = a.paths[v, lane_of[c]]
        while begin < last:
            end = min(begin + CHUNK, last)
            of_chunk[:count] = 0.0
            for e in range(begin, end):
                u, w, total = a.indices[e], a.weights[e], 0.0
                for c in range(count):
                    b = lane_of[c]
                    if back:
                        tight = plus(a.distance[v, b], w) == a.distance[u, b]
                    else:
                        tight = plus(a.distance[u, b], w) == a.distance[v, b]
                    if tight:
                        of_chunk[c] += a.paths[u, b]
                        if a.over is not None:
                            total += of_row[c] * a.paths[u, b]
                if a.over is not None:
                    a.over[e] += total
            for c in range(count):
                sums[c] += of_chunk[c]
            begin = end
        for c in range(count):
            out[v, lane_of[c]] = sums[c]
    a.counters.edges += edges


@twin
def paths_over(n, rows, a: Paths):
    pass


@twin
def paths_depend(n, rows, masks, lanes, paths, dependency):
    """Make dependencies of the sums over successors, and of numbers of paths what predecessors sum."""
    for i in range(n):
        v, mask = rows[i], masks[i]
        for b in range(lanes):
            if mask >> np.uint64(b) & np.uint64(1):
                found = paths[v, b] * dependency[v, b]
                dependency[v, b] = found
                paths[v, b] = (1.0 + found) / paths[v, b]


@twin
def paths_arrive(n, slots, masks, values, lanes, frontier, paths):
    """Take in what the owners of ghosts say, in the lanes of their masks."""
    for i in range(n):
        slot, mask = slots[i], masks[i]
        frontier[slot] = mask
        for b in range(lanes):
            if mask >> np.uint64(b) & np.uint64(1):
                paths[slot, b] = values[i, b]


@twin
def paths_score(n, dependency, lanes, count, score):
    """Add the dependencies in the first `count` lanes to the scores, one after the other."""
    for v in range(n):
        total = score[v]
        for b in range(count):
            total += dependency[v, b]
        score[v] = total
