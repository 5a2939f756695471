"""Single-source shortest paths, near-far: twins of sssp.cu.

near, next   index dtype: own vertices whose edges are to be relaxed, now and in the next round
far          index dtype: slots of a distance that was not below `limit` when they were first reached; each at most once
ghost_queue  index dtype: ghosts of a distance below `limit` that fell, for their owners
weights      one for each edge (each = -1), or a single one for all (each = 0): edge e weighs weights[e & each]
labels       per slot the distance, int32, int64 or float64, the largest integer or infinity where not reached. Or,
             where `limit` is int32 and `labels` int64, the distance times 2^32 plus the id of the vertex before: of
             those that were met at this distance the smallest. Ids are below 2^31 then, and so is every sum of the
             distance in a label and a weight. An own vertex is queued when its distance falls, a ghost when its label
             does
ids          index dtype per own vertex
stamp        int32 per slot: the round in which an own vertex was last queued (on a CPU -1 again once it is worked
             on), the superstep in which a ghost last was
least        float64: the smallest distance that was put, or stayed, in `far`
counters     int64, shape (21,): far length, ghost queue length, edges looked at, vertices whose edges were relaxed;
             from NEAR the length of `near` in each round, from HUBS that of `hubs`

A CUDA launch of `sssp_relax` does round `turn`, and puts rows of many edges aside for `sssp_relax_hubs`. On a CPU one
call does all rounds, until nothing is near. `sssp_result` splits labels of both.
"""

import numpy as np

from graphdask.kernels.paths import MACROS as OF_DISTANCES
from graphdask.kernels.paths import distance_of, label_of, plus, unreached
from graphdask.kernels.twin import twin

MACROS = [{**types, "label_t": types["dist_t"]} for types in OF_DISTANCES]
MACROS += [{**types, "label_t": "long long"} for types in OF_DISTANCES if types["dist_t"] == "int"]
MACROS += [{"index_t": "long long", "weight_t": "int", "dist_t": "int", "label_t": "long long"}]

FAR, GHOSTS, EDGES, ACTED, NEAR, HUBS = 0, 1, 2, 3, 4, 13
ROUNDS = 8
COUNTERS = HUBS + ROUNDS


@twin
def sssp_begin(n, counters, least, far, near, nearest):
    counters[:n] = 0
    counters[FAR], counters[NEAR], least[0] = far, near, nearest


@twin
def sssp_arrive(n, slots, values, labels, stamp, limit, owned, stamped, near, far, counters, least):
    tail, far_tail = counters[NEAR], counters[FAR]
    none = unreached(labels)
    for i in range(n):
        v, label = slots[i], values[i]
        before = labels[v]
        if label < before:
            labels[v] = label
            d = distance_of(label, limit)
            if d >= limit:
                if before == none:
                    far[far_tail] = v
                    far_tail += 1
                least[0] = min(least[0], d)
            elif v < owned and d < distance_of(before, limit) and stamp[v] != stamped:
                stamp[v] = stamped
                near[tail] = v
                tail += 1
    counters[NEAR], counters[FAR] = tail, far_tail


@twin
def sssp_relax(
    n, turn, near, indptr, indices, weights, each, ids, labels, stamp, limit, owned, stamped, mark, next, ghost_queue,
    far, hubs, counters, least,
):  # fmt: skip
    length, far_tail, ghosts = counters[NEAR + turn], counters[FAR], counters[GHOSTS]
    none, nearest, edges, acted = unreached(labels), least[0], 0, 0
    here, there = near, next
    while length:
        tail = 0
        acted += length
        for i in range(length):
            u = here[i]
            stamp[u] = -1
            du, id = distance_of(labels[u], limit), ids[u]
            first, last = indptr[u], indptr[u + 1]
            edges += last - first
            for e in range(first, last):
                v = indices[e]
                d = plus(du, weights[e & each])
                label = label_of(d, id, labels, limit)
                before = labels[v]
                if label < before and d >= du:
                    labels[v] = label
                    if d >= limit:
                        if before == none:
                            far[far_tail] = v
                            far_tail += 1
                        nearest = min(nearest, d)
                    elif v < owned:
                        if d < distance_of(before, limit) and stamp[v] != stamped:
                            stamp[v] = stamped
                            there[tail] = v
                            tail += 1
                    elif stamp[v] != mark:
                        stamp[v] = mark
                        ghost_queue[ghosts] = v
                        ghosts += 1
        here, there = there, here
        length = tail
    counters[FAR], counters[GHOSTS], least[0] = far_tail, ghosts, nearest
    counters[EDGES] += edges
    counters[ACTED] += acted


@twin
def sssp_relax_hubs(
    n, turn, near, indptr, indices, weights, each, ids, labels, stamp, limit, owned, stamped, mark, next, ghost_queue,
    far, hubs, counters, least,
):  # fmt: skip
    pass


@twin
def sssp_split(n, far, labels, stamp, before, limit, owned, mark, near, ghost_queue, kept, counters, least):
    tail, ghosts, stay = counters[NEAR], counters[GHOSTS], counters[FAR]
    for i in range(n):
        v = far[i]
        d = distance_of(labels[v], limit)
        if d >= limit:
            kept[stay] = v
            stay += 1
            least[0] = min(least[0], d)
        elif d >= before:
            if v < owned:
                near[tail] = v
                tail += 1
            else:
                stamp[v] = mark
                ghost_queue[ghosts] = v
                ghosts += 1
    counters[NEAR], counters[GHOSTS], counters[FAR] = tail, ghosts, stay


@twin
def sssp_result(n, labels, distance, parent):
    none = unreached(labels)
    for v in range(n):
        label = labels[v]
        distance[v] = -1 if label == none else label >> 32
        parent[v] = np.int32(label & 0xFFFFFFFF)
