"""Paths over a chunk of a layered edge list: twins of layered_paths.cu, which also serve chunks in memory.

`layered_take` takes labels of n positions, which may be several for one, that other ranks have found. `layered_unpack`
stores the distances, -1 if unreached, and the predecessors of n labels by vertex number: `distance` is int32, or `wide`
int64 in its place. A launch of `layered_relax_chunk` must be cooperative.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import plus, unreached
from graphdask.kernels.stream.active_rows import activate, begin_row, queue_active, u64
from graphdask.kernels.stream.layered_paths_pack import NEAR, ChunkLabels, TightEdges

MACROS = [
    {"index_t": "int", "weight_t": weight, "dist_t": dist}
    for weight, dist in (("int", "long long"), ("long long", "long long"), ("float", "double"), ("double", "double"))
]


@twin
def layered_relax_chunk(n, a: ChunkLabels):
    """Decrease labels along the edges of active rows until no row of the chunk is active."""
    none, mask, head, waiting = unreached(a.labels), u64(a.each), 0, queue_active(n, a)
    while waiting:
        row = np.int64(a.queue[head])
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        u = begin_row(row, a)
        label, id = a.labels[u], u
        if a.ids is not None:
            id = np.int64(a.ids[row])
        for e in range(u64(a.indptr[row]), u64(a.indptr[row + 1])):
            v = u64(a.targets[e])
            if a.packed is None:
                new, old = plus(label, a.weights[e & mask]), a.labels[v]
                if not (new >= label and new < old and new < none):
                    continue
                a.labels[v] = new
                if not a.active[v]:
                    waiting += activate(n, v, head + waiting, a)
            else:
                far = (label >> 32) + np.int64(a.weights[e & mask])
                if a.near is not None and a.near[v] < min(far, NEAR):
                    continue
                new, old = far << 32 | id, a.labels[v]
                if not new < old:
                    continue
                a.labels[v] = new
                if a.near is not None:
                    a.near[v] = far if far < NEAR else 255
                place = np.int64(v)
                if not a.active[v] and ((new >> 32) < (old >> 32) or place < a.begin or place >= a.end):
                    waiting += activate(n, v, head + waiting, a)


@twin
def layered_take(n, positions, values, a: ChunkLabels):
    for i in range(n):
        v, new, old = positions[i], values[i], a.labels[positions[i]]
        if new >= old:
            continue
        a.labels[v] = new
        if a.packed is None:
            a.active[v] = True
        else:
            far = new >> 32
            if far < old >> 32:
                a.active[v] = True
            if a.near is not None:
                a.near[v] = min(far, NEAR)
                if far < NEAR:
                    a.highest[far] = max(a.highest[far], new & 0xFFFFFFFF)


@twin
def layered_offer(n, a: TightEdges):
    """Offer each row as the parent of the vertices that its tight edges lead to."""
    none = unreached(a.distance)
    for row in range(n):
        u = a.first + row
        du, id = a.distance[u], u
        if du == none:
            continue
        if a.ids is not None:
            id = np.int64(a.ids[row])
        a.counters.looked += a.indptr[row + 1] - a.indptr[row]
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.targets[e]
            dv = a.distance[v]
            if dv == plus(du, a.weights[e & a.each]) or dv == none:
                if dv == du:
                    a.flat[u] |= v != u
                elif id < a.parent[v]:
                    a.parent[v] = id


@twin
def layered_further(n, a: TightEdges):
    """Go one hop further along edges that add nothing to the distance."""
    after = a.hop + 1
    for row in range(n):
        u = a.first + row
        if a.hops[u] != a.hop:
            continue
        du, id = a.distance[u], u
        if a.ids is not None:
            id = np.int64(a.ids[row])
        a.counters.looked += a.indptr[row + 1] - a.indptr[row]
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.targets[e]
            if a.distance[v] == du and plus(du, a.weights[e & a.each]) == du and (a.hops[v] < 0 or a.hops[v] == after):
                if a.hops[v] < 0:
                    a.hops[v] = after
                    a.active[v] = True
                if id < a.parent[v]:
                    a.parent[v] = id


@twin
def layered_unpack(n, labels, ids, distance, wide, parent):
    none = unreached(labels)
    for row in range(n):
        v, label = row, labels[row]
        if ids is not None:
            v = ids[row]
        far = label >> 32 if label != none else -1
        if distance is not None:
            distance[v] = far
        if wide is not None:
            wide[v] = far
        parent[v] = np.int32(label & 0xFFFFFFFF)
