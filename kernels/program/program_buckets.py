"""Buckets of vertices, where the states that a run ends with do not depend on the order in which vertices send. Twin of
program_buckets.cuh, in which the far vertices are those of a bitmap.

The best of the vertices that changed send first: they are near, in the bucket; the others are far, until no vertex is
near. The next bucket then ends between the best and the worst of the far ones. Its width follows the work: in a wide
bucket vertices send states that become better later, and a narrow one is not worth the scan of the far vertices.

A program of the caller has to keep the least of all messages for this, so that what stands in the place of messages to
a vertex is its state. Nothing here is compiled for each program again.

Source: Dong, Gu, Sun, Zhang: Efficient stepping algorithms and implementations for parallel shortest paths, SPAA 2021,
Section 3.
"""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.twin import inlined
from graphdask.kernels.program.program_pack import BUCKET_EDGES, BUCKET_LIMIT, BUCKET_SIGN, BUCKET_WIDTH, Program

NARROWEST, WIDER = 2.0**-12, 4.0
"""Of the widths of buckets: the least one above 0, and by what one is wider than another one."""
SCANS = 4
"""Edges for each far vertex, along which a bucket sends: after fewer the next one is wider, after WIDER times as many
narrower."""


@inlined
def _priority(v, a: Program):
    """The state of a vertex, of which the least is sent first."""
    return a.bucket[BUCKET_SIGN] * np.float64(a.message0[v])


@inlined
def near_ones(count, a: Program):
    """Make far those of the vertices that changed which are beyond the bucket; list the others, and count these."""
    near, far, limit = u64(0), u64(a.counters.far), a.bucket[BUCKET_LIMIT]
    for i in range(u64(count)):
        v = u64(a.changed[i])
        waits = has_bit(a.waits, v)
        if _priority(v, a) <= limit:
            a.changed[near] = v
            near += u64(1)
            if waits:
                a.waits[v >> u64(5)] ^= np.uint32(1) << np.uint32(v & u64(31))
        elif not waits:
            set_bit(a.waits, v)
            a.far[far] = v
            far += u64(1)
    a.counters.far = far
    return np.int64(near)


@inlined
def next_bucket(a: Program):
    """List the vertices of the next bucket, the best of the far ones; return how many there are."""
    width, edges, far = a.bucket[BUCKET_WIDTH], a.bucket[BUCKET_EDGES], u64(0)
    best, worst = np.inf, -np.inf
    for i in range(u64(a.counters.far)):
        v = u64(a.far[i])
        if has_bit(a.waits, v) and a.indptr[v + u64(1)] > a.indptr[v]:  # others send nothing
            a.far[far] = v
            far += u64(1)
            key = _priority(v, a)
            best, worst = min(best, key), max(worst, key if key < np.inf else best)
    if 0.0 <= edges < SCANS * far:
        width = max(width * WIDER, NARROWEST)
    elif edges > WIDER * SCANS * far:
        width /= WIDER
    limit = best + width * (worst - best)
    limit = limit if limit >= best else best  # infinite states have no distance
    near, rest = u64(0), u64(0)
    for i in range(far):
        v = u64(a.far[i])
        if _priority(v, a) <= limit:
            a.waits[v >> u64(5)] ^= np.uint32(1) << np.uint32(v & u64(31))
            a.changed[near] = v
            near += u64(1)
        else:
            a.far[rest] = v
            rest += u64(1)
    a.counters.far = rest
    a.bucket[BUCKET_LIMIT], a.bucket[BUCKET_WIDTH], a.bucket[BUCKET_EDGES] = limit, width, 0.0
    return np.int64(near)
