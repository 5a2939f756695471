"""Shortest paths by steps of several kernels, an advance, a filter and a split: twins of sssp_unfused.cu.

led       slot that each edge of the near vertices leads to
offered   the label that it would get
near      those of the step that is worked on (sssp_lead), or of the next one, whose number `step` is
far       those after the split whose number `split` is; `waiting` are those before it, `length` of them
after     the distances' dtype, shape (1,): the limit after the split, which `limit` is not yet
counters  as in sssp.py, but that whoever calls clears NEAR, HUBS (the first place alone), FAR and `least` of what a
          kernel fills, and that there is no barrier, but
          LED        edges in `led`
stamp     for an own vertex always the step, for a ghost the superstep `mark`
The other arguments are those of sssp_advance, which keeps nothing of an edge.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import at_least, distance_of, label_of, plus, unreached
from graphdask.kernels.sssp.sssp import ARRIVED, EDGES, FAR, GHOSTS, MACROS, NEAR

__all__ = ["LED", "MACROS", "sssp_filter", "sssp_lead", "sssp_split"]

LED = ARRIVED


@twin
def sssp_lead(n, near, indptr, indices, weights, each, ids, labels, limit, led, offered, hubs, counters):
    """Write down all edges of the near vertices."""
    bound, none, most, at = limit[0], unreached(labels), unreached(limit), counters[LED]
    before = at
    for i in range(n):
        u = near[i]
        du, id = distance_of(labels[u], bound), ids[u]
        for e in range(indptr[u], indptr[u + 1]):
            d = plus(du, weights[e & each])
            led[at] = indices[e]
            offered[at] = label_of(d, id, labels, bound) if du <= d < most else none
            at += 1
    counters[LED] = at
    counters[EDGES] += at - before


@twin
def sssp_filter(
    n, step, split, mark, led, offered, labels, stamp, limit, owned, near, ghost_queue, far, counters, least
):  # fmt: skip
    """Lower labels to what was offered, and queue the vertices."""
    tail, far_tail, ghosts = counters[NEAR + step % 3], counters[FAR + split % 3], counters[GHOSTS + mark % 2]
    none, bound, nearest = unreached(labels), limit[0], least[split % 3]
    for i in range(counters[LED]):
        v, label = led[i], offered[i]
        before = labels[v]
        if label < before:
            labels[v] = label
            d = distance_of(label, bound)
            if d >= bound:
                if before == none:
                    far[far_tail] = v
                    far_tail += 1
                nearest = min(nearest, d)
            elif v < owned:
                if d < distance_of(before, bound) and stamp[v] != step:
                    stamp[v] = step
                    near[tail] = v
                    tail += 1
            elif stamp[v] != mark:
                stamp[v] = mark
                ghost_queue[ghosts] = v
                ghosts += 1
    counters[NEAR + step % 3], counters[FAR + split % 3], counters[GHOSTS + mark % 2] = tail, far_tail, ghosts
    least[split % 3] = nearest


@twin
def sssp_split(
    n, step, split, mark, nearest, delta, most, waiting, length, labels, stamp, limit, after, owned, near, ghost_queue,
    far, counters, least,
):  # fmt: skip
    """Move the limit on, above `nearest`, and queue the far vertices that are below it now."""
    tail, far_tail, ghosts = counters[NEAR + step % 3], counters[FAR + split % 3], counters[GHOSTS + mark % 2]
    above, ended, closest = (
        max((np.floor(nearest / delta) + 1) * delta, np.nextafter(nearest, np.inf)),
        limit[0],
        np.inf,
    )
    after[0] = at_least(min(above, most), limit)
    bound = after[0]
    for i in range(length):
        v = waiting[i]
        d = distance_of(labels[v], bound)
        if d < ended:
            continue
        if d >= bound:
            far[far_tail] = v
            far_tail += 1
            closest = min(closest, np.float64(d))
        elif v < owned:
            near[tail] = v
            tail += 1
        else:
            stamp[v] = mark
            ghost_queue[ghosts] = v
            ghosts += 1
    counters[NEAR + step % 3], counters[FAR + split % 3], counters[GHOSTS + mark % 2] = tail, far_tail, ghosts
    least[split % 3] = closest
