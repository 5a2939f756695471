"""Shortest paths, once the distances are known: twins of sssp_tree.cu.

`parent` is the largest integer while there is none. A vertex that was not reached, but has an edge from one that was
(the sum was too large), gets a parent too. In `sssp_check`, `level` counts edges to those only whose parent the vertex
is. Edges that lead to more than `until` may relax, and may lead to what is not reached: the search stopped there.
`sssp_level` works on the rows that have edges to others at their own distance.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import MACROS, plus, unreached
from graphdask.kernels.sssp.sssp_tree_pack import Tree

__all__ = ["GPU_ONLY", "MACROS"]

GPU_ONLY = ("sssp_tags",)
"""Kernels without a twin: sssp_parents has no use for tags on a CPU."""
FEW = 1024
"""Edges that are scanned before those among them that may be tight are worked on."""
u64 = np.uint64


@twin
def sssp_parents(n, a: Tree):
    none, no_id, ghosts = unreached(a.distance), unreached(a.parent), a.counters.ghosts
    places = np.empty(FEW, np.int64)
    for u in range(n):
        du, id = a.distance[u], a.ids[u]
        if du == none:
            continue
        first, end = u64(a.indptr[u]), u64(a.indptr[u + 1])
        while first < end:
            # without a branch, so that many distances are loaded at a time (sssp.py); no tight edge is left out
            stop, some = min(first + u64(FEW), end), u64(0)
            for e in range(first, stop):
                places[some] = e
                some += u64(a.distance[u64(a.indices[e])] >= plus(du, a.weights[e & u64(a.each)]))
            first = stop
            for k in range(some):
                e = u64(places[k])
                v = a.indices[e]
                dv = a.distance[v]
                if dv != plus(du, a.weights[e & u64(a.each)]) and dv != none:
                    continue
                if dv == du:
                    a.level[u] += v != u
                elif id < a.parent[v]:
                    if v >= a.owned and a.parent[v] == no_id:
                        a.ghost_queue[ghosts] = v
                        ghosts += 1
                    a.parent[v] = id
    a.counters.edges += a.indptr[n] - a.indptr[0]
    a.counters.ghosts = ghosts


@twin
def sssp_level(n, rows, a: Tree):
    none = unreached(a.distance)
    for i in range(n):
        u = rows[i]
        du = a.distance[u]
        if du == none:
            continue
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            if (
                v != u
                and a.distance[v] == du
                and plus(du, a.weights[e & a.each]) == du
                and (a.any or a.parent[v] == a.ids[u])
            ):
                a.out[a.place[u]] = v
                a.place[u] += 1


@twin
def sssp_check(n, a: Tree):
    none, until = unreached(a.distance), a.until[0]
    for u in range(n):
        du = a.distance[u]
        if du == none:
            continue
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            dv = a.distance[v]
            d = plus(du, a.weights[e & a.each])
            beyond = d > until or (d < du and until < none)
            if not beyond and (dv == none or (dv > d and d >= du)):
                a.first_bad[0] = min(a.first_bad[0], e)
            elif dv == d and v != u and a.parent[v] == a.ids[u]:
                if du < dv:
                    a.witnessed[v] = 1
                else:
                    a.level[u] += 1
