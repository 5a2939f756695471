"""Shortest paths by steps of several kernels, an advance, a filter and a split: twins of sssp_unfused.cu.

near      own vertices whose edges are written down (sssp_lead)
waiting   the far vertices before a split, `length` of them
counters  as in buckets_pack.py, but that whoever calls clears near, hubs (the first place alone), far and `least` of
          what a kernel fills, and that there is no barrier
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import at_least, distance_of, label_of, plus, unreached
from graphdask.kernels.sssp.sssp import MACROS
from graphdask.kernels.sssp.sssp_unfused_pack import Stepping

__all__ = ["MACROS", "sssp_filter", "sssp_lead", "sssp_split"]


@twin
def sssp_lead(n, near, a: Stepping):
    """Write down all edges of the near vertices."""
    bound, none, most, at = a.limit[0], unreached(a.labels), unreached(a.limit), a.counters.led
    before = at
    for i in range(n):
        u = near[i]
        du, id = distance_of(a.labels[u], bound), a.ids[u]
        for e in range(a.indptr[u], a.indptr[u + 1]):
            d = plus(du, a.weights[e & a.each])
            a.led[at] = a.indices[e]
            a.offered[at] = label_of(d, id, a.labels, bound) if du <= d < most else none
            at += 1
    a.counters.led = at
    a.counters.edges += at - before


@twin
def sssp_filter(n, step, split, mark, a: Stepping):
    """Lower labels to what was offered, and queue the vertices."""
    tail, far_tail, ghosts = a.counters.near[step % 3], a.counters.far[split % 3], a.counters.ghosts[mark % 2]
    none, bound, nearest = unreached(a.labels), a.limit[0], a.least[split % 3]
    for i in range(a.counters.led):
        v, label = a.led[i], a.offered[i]
        before = a.labels[v]
        if label < before:
            a.labels[v] = label
            d = distance_of(label, bound)
            if d >= bound:
                if before == none:
                    a.far[far_tail] = v
                    far_tail += 1
                nearest = min(nearest, d)
            elif v < a.owned:
                if d < distance_of(before, bound) and a.stamp[v] != step:
                    a.stamp[v] = step
                    a.near[tail] = v
                    tail += 1
            elif a.stamp[v] != mark:
                a.stamp[v] = mark
                a.ghost_queue[ghosts] = v
                ghosts += 1
    a.counters.near[step % 3], a.counters.far[split % 3], a.counters.ghosts[mark % 2] = tail, far_tail, ghosts
    a.least[split % 3] = nearest


@twin
def sssp_split(n, step, split, mark, nearest, delta, most, waiting, length, a: Stepping):
    """Move the limit on, above `nearest`, and queue the far vertices that are below it now."""
    tail, far_tail, ghosts = a.counters.near[step % 3], a.counters.far[split % 3], a.counters.ghosts[mark % 2]
    above, ended, closest = (
        max((np.floor(nearest / delta) + 1) * delta, np.nextafter(nearest, np.inf)),
        a.limit[0],
        np.inf,
    )
    a.after[0] = at_least(min(above, most), a.limit)
    bound = a.after[0]
    for i in range(length):
        v = waiting[i]
        d = distance_of(a.labels[v], bound)
        if d < ended:
            continue
        if d >= bound:
            a.far[far_tail] = v
            far_tail += 1
            closest = min(closest, np.float64(d))
        elif v < a.owned:
            a.near[tail] = v
            tail += 1
        else:
            a.stamp[v] = mark
            a.ghost_queue[ghosts] = v
            ghosts += 1
    a.counters.near[step % 3], a.counters.far[split % 3], a.counters.ghosts[mark % 2] = tail, far_tail, ghosts
    a.least[split % 3] = closest
