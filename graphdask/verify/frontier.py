"""Frontier sampling proved in linear time, distributed.

1. Played again, each edge leaves a vertex of its pool, whose place its end takes; behind the last there is nothing.
2. Every edge exists. An instance that sampled fewer than asked had no edges left: no vertex of its pool has any.
"""

from __future__ import annotations

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.frontier import FrontierSampling
from graphdask.verify.table import verifies
from graphdask.verify.walks import first_no_edge


@verifies(FrontierSampling)
def verify(context: RankContext, part: Part, primitive: FrontierSampling, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp, dtype = context.backend.xp, part.vertex_map.dtype
    src, dst, lengths = (result.columns[name] for name in ("src", "dst", "lengths"))
    bounds, rank = primitive.homes(context.comm.size), context.comm.rank
    first, last = int(bounds[rank]), int(bounds[rank + 1])
    pool = context.backend.from_host(np.array(primitive.of(primitive.pools, first, last), dtype))
    mine = None
    if src.shape != (last - first, primitive.length) or dst.shape != src.shape or lengths.shape != src.shape[:1]:
        mine = Violation(-1, -1, f"pools {first} to {last - 1} have edges of the shapes {src.shape} and {dst.shape}")
    rows = xp.arange(last - first)
    for step in range(0 if mine else primitive.length):
        going, u, v = lengths > step, src[:, step], dst[:, step]
        there = pool == u[:, None] if pool.shape[1] else xp.zeros((len(rows), 1), bool)
        exists = (v >= 0) & (v < part.num_vertices) & there.any(axis=1)
        wrong = xp.flatnonzero(xp.where(going, ~exists, (u != -1) | (v != -1)))
        if len(wrong):
            row = int(wrong[0])
            message = f"edge {step} of pool {first + row}, from {{vertex}} to {{other}}, does not leave its pool"
            mine = Violation(int(u[row]), int(v[row]), message)
            break
        went = rows[going]
        pool[went, there.argmax(axis=1)[went]] = v[going]
    if first_of_all(context, mine):
        return mine
    some = src >= 0
    ended = lengths < primitive.length
    left = pool[ended].reshape(-1)
    batches = iter([(src[some], dst[some]), (left, xp.full(len(left), -1, dtype))])
    return first_no_edge(context, part, None, 2, batches)
