"""Single-source shortest paths, near-far: twins of sssp.cu.

near, next   index dtype: own vertices whose edges are to be relaxed, now and in the next round
far          index dtype: slots of a distance that was not below `limit` when they were first reached; each at most once
ghost_queue  index dtype: ghosts of a distance below `limit` that fell, for their owners
weights      one for each edge (each = -1), or a single one for all (each = 0): edge e weighs weights[e & each]
distance     int32, int64 or float64 per slot; the largest integer or infinity where not reached
stamp        int32 per slot: the round in which an own vertex was last queued (on a CPU -1 again once it is worked
             on), the superstep in which a ghost last was
least        float64: the smallest distance that was put, or stayed, in `far`
counters     int64, shape (21,): far length, ghost queue length, edges looked at, vertices whose edges were relaxed;
             from NEAR the length of `near` in each round, from HUBS that of `hubs`

A CUDA launch of `sssp_relax` does round `turn`, and puts rows of many edges aside for `sssp_relax_hubs`. On a CPU one
call does all rounds, until nothing is near.
"""

from graphdask.kernels.paths import MACROS, plus, unreached
from graphdask.kernels.twin import twin

__all__ = ["MACROS"]

FAR, GHOSTS, EDGES, ACTED, NEAR, HUBS = 0, 1, 2, 3, 4, 13
ROUNDS = 8
COUNTERS = HUBS + ROUNDS


@twin
def sssp_begin(n, counters, least, far, near, nearest):
    counters[:n] = 0
    counters[FAR], counters[NEAR], least[0] = far, near, nearest


@twin
def sssp_arrive(n, slots, values, distance, stamp, limit, owned, stamped, near, far, counters, least):
    tail, far_tail = counters[NEAR], counters[FAR]
    none = unreached(distance)
    for i in range(n):
        v, d = slots[i], values[i]
        before = distance[v]
        if d < before:
            distance[v] = d
            if d >= limit:
                if before == none:
                    far[far_tail] = v
                    far_tail += 1
                least[0] = min(least[0], d)
            elif v < owned and stamp[v] != stamped:
                stamp[v] = stamped
                near[tail] = v
                tail += 1
    counters[NEAR], counters[FAR] = tail, far_tail


@twin
def sssp_relax(
    n, turn, near, indptr, indices, weights, each, distance, stamp, limit, owned, stamped, mark, next, ghost_queue,
    far, hubs, counters, least,
):  # fmt: skip
    length, far_tail, ghosts = counters[NEAR + turn], counters[FAR], counters[GHOSTS]
    none, nearest, edges, acted = unreached(distance), least[0], 0, 0
    here, there = near, next
    while length:
        tail = 0
        acted += length
        for i in range(length):
            u = here[i]
            stamp[u] = -1
            du = distance[u]
            first, last = indptr[u], indptr[u + 1]
            edges += last - first
            for e in range(first, last):
                v = indices[e]
                d = plus(du, weights[e & each])
                before = distance[v]
                if d < before and d >= du:
                    distance[v] = d
                    if d >= limit:
                        if before == none:
                            far[far_tail] = v
                            far_tail += 1
                        nearest = min(nearest, d)
                    elif v < owned:
                        if stamp[v] != stamped:
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
    n, turn, near, indptr, indices, weights, each, distance, stamp, limit, owned, stamped, mark, next, ghost_queue,
    far, hubs, counters, least,
):  # fmt: skip
    pass


@twin
def sssp_split(n, far, distance, stamp, before, limit, owned, mark, near, ghost_queue, kept, counters, least):
    tail, ghosts, stay = counters[NEAR], counters[GHOSTS], counters[FAR]
    for i in range(n):
        v = far[i]
        d = distance[v]
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
