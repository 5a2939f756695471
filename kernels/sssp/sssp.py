"""Single-source shortest paths, near-far: twins of sssp.cu.

A label is a distance: int32, int64 or float64, the largest integer or infinity where a slot is not reached. Or, if
`limit` is int32 and `labels` int64, it is the distance times 2^32 plus the id of the predecessor: the smallest of those
met at this distance. Ids are below 2^31 then, and so is every sum of the distance in a label and a weight. An own
vertex is queued when its distance falls, a ghost when its label does.

`sssp_advance` relaxes the edges of near vertices until there are none, and then splits the far ones, at most `splits`
times: those below the next limit, which lies above `nearest` in the first step and else above the smallest distance
among them, but not above `most`, become near; none do where that distance is `most` or larger. Once it has relaxed any,
it ends before a step of `enough` near vertices or more: what there is for other ranks to do should not wait for that.
It needs a cooperative launch, always of the same `n`, in every superstep the next `mark`.
`sssp_result` takes labels of both kinds apart.

With `parent`, a CPU that has the whole graph finds predecessors of distances without ids as it relaxes: every edge that
leads to a vertex at its distance is scanned once more after that distance is known, or leads to it first. Edges that
add nothing to a distance are not distinguished; `level` says that there are any.

On a CPU most of the time would be spent waiting for labels, and for rows that no cache has. So a row is scanned twice.
The first scan reads every edge and lists, without a branch, those that lower a label, one in twenty; so nothing is
mispredicted, and many labels are loaded at a time. The second scan relaxes the listed edges. Rows that are due soon are
prefetched.
"""

import numpy as np

from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import MACROS as OF_DISTANCES
from graphdask.kernels.sssp.paths import at_least, distance_of, improves, label_of, plus, unreached
from graphdask.kernels.sssp.sssp_pack import Relaxing

MACROS = [{**types, "label_t": types["dist_t"]} for types in OF_DISTANCES]
MACROS += [{**types, "label_t": "long long"} for types in OF_DISTANCES if types["dist_t"] == "int"]
MACROS += [{"index_t": "long long", "weight_t": "int", "dist_t": "int", "label_t": "long long"}]

FEW = 1024
"""Edges that are scanned before those among them that lower a label are worked on."""
SOON, NEXT, LINE = 16, 6, 16
"""How many vertices ahead their rows' places are fetched, and their edges; edges in a line of a cache."""
u64 = np.uint64


@twin
def sssp_arrive(n, step, split, slots, values, universe, a: Relaxing):
    tail, far_tail, nearest = a.counters.near[step % 3], a.counters.far[split % 3], a.least[split % 3]
    near, far = a.odd_near if step % 2 else a.even_near, a.odd_far if split % 2 else a.even_far
    none, bound = unreached(a.labels), a.limit[0]
    for i in range(n):
        v, label = slots[i], values[i]
        if v < 0 or v >= universe:
            raise ValueError("an index was out of range")
        before = a.labels[v]
        if label < before:
            a.labels[v] = label
            d = distance_of(label, bound)
            if d >= bound:
                if before == none:
                    far[far_tail] = v
                    far_tail += 1
                nearest = min(nearest, d)
            elif v < a.owned and d < distance_of(before, bound) and a.stamp[v] != step:
                a.stamp[v] = step
                near[tail] = v
                tail += 1
    a.counters.near[step % 3], a.counters.far[split % 3], a.least[split % 3] = tail, far_tail, nearest


@twin
def sssp_advance(n, step, split, splits, enough, nearest, delta, most, mark, a: Relaxing):
    begun, last, none, bound = step, split + splits, unreached(a.labels), a.limit[0]
    here, there = (a.odd_near, a.even_near) if step % 2 else (a.even_near, a.odd_near)
    far, kept = (a.odd_far, a.even_far) if split % 2 else (a.even_far, a.odd_far)
    length, far_tail, ghosts, closest = a.counters.near[step % 3], a.counters.far[split % 3], 0, a.least[split % 3]
    slots, offered = np.empty(FEW, a.indices.dtype), np.empty(FEW, a.labels.dtype)
    edges = acted = 0
    while length or (split < last and (nearest if step == begun else closest) < most):
        if acted and length >= enough:
            for i in range(length):
                a.stamp[here[i]] = step
            break
        tail = 0
        acted += length
        for i in range(length):
            if i + SOON < length:
                prefetch(a.indptr, here[i + SOON])
                prefetch(a.labels, here[i + SOON])
            if i + NEXT < length:
                first = a.indptr[here[i + NEXT]]
                prefetch(a.indices, first)
                prefetch(a.indices, first + LINE)
                prefetch(a.weights, first & a.each)
                prefetch(a.weights, (first + LINE) & a.each)
            u = here[i]
            a.stamp[u] = -1
            du, id = distance_of(a.labels[u], bound), a.ids[u]
            first, end = u64(a.indptr[u]), u64(a.indptr[u + 1])
            edges += end - first
            while first < end:
                stop, lower = min(first + u64(FEW), end), u64(0)
                for e in range(first, stop):
                    v = u64(a.indices[e])
                    label = label_of(plus(du, a.weights[e & u64(a.each)]), id, a.labels, bound)
                    slots[lower], offered[lower] = v, label
                    lower += u64(improves(label, a.labels[v], a.parent))
                first = stop
                for k in range(lower):
                    v, label = slots[k], offered[k]
                    d, before = distance_of(label, bound), a.labels[v]
                    if a.parent is not None:  # noqa: SIM102  # which Numba leaves out
                        if label <= before and v != u:
                            a.level[0] |= d == du
                            if label < before or id < a.parent[v]:
                                a.parent[v] = id
                    if label < before and d >= du:
                        a.labels[v] = label
                        if d >= bound:
                            if before == none:
                                far[far_tail] = v
                                far_tail += 1
                            closest = min(closest, d)
                        elif v < a.owned:
                            if d < distance_of(before, bound) and a.stamp[v] != begun:
                                a.stamp[v] = begun
                                there[tail] = v
                                tail += 1
                        elif a.stamp[v] != mark:
                            a.stamp[v] = mark
                            a.ghost_queue[ghosts] = v
                            ghosts += 1
        if length == 0:
            start, ended = nearest if step == begun else closest, bound
            above = max((np.floor(start / delta) + 1) * delta, np.nextafter(start, np.inf))
            a.limit[0] = at_least(min(above, most), a.limit)
            bound, waiting, far_tail, closest = a.limit[0], far_tail, 0, np.inf
            for i in range(u64(waiting)):
                if i + u64(SOON) < u64(waiting):
                    prefetch(a.labels, far[i + u64(SOON)])
                v = far[i]
                d = distance_of(a.labels[u64(v)], bound)
                kept[far_tail] = v
                far_tail += np.int64(d >= bound)
                closest = min(closest, np.float64(d) if d >= bound else np.inf)
                if ended <= d < bound:
                    if v < a.owned:
                        there[tail] = v
                        tail += 1
                    elif a.stamp[v] != mark:
                        a.stamp[v] = mark
                        a.ghost_queue[ghosts] = v
                        ghosts += 1
            far, kept = kept, far
            split += 1
        here, there = there, here
        length = tail
        step += 1
    a.counters.near[0] = a.counters.near[1] = a.counters.near[2] = 0
    a.counters.near[step % 3] = length
    a.counters.step, a.counters.split, a.counters.ghosts[mark % 2] = step, split, ghosts
    a.counters.far[split % 3], a.least[split % 3] = far_tail, closest
    a.counters.edges += edges
    a.counters.acted += acted


@twin
def sssp_result(n, labels, distance, parent):
    none = unreached(labels)
    for v in range(n):
        label = labels[v]
        distance[v] = -1 if label == none else label >> 32
        parent[v] = np.int32(label & 0xFFFFFFFF)
