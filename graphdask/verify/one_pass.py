"""Sampled edges proved in n log n, distributed: as many as asked for, all of the graph, none more often than it has."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.one_pass import OnePassEdges
from graphdask.verify.neighborhoods import Owners
from graphdask.verify.table import verifies


@verifies(OnePassEdges)
def verify(context: RankContext, part: Part, primitive: OnePassEdges, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    backend, comm, n = context.backend, context.comm, part.num_vertices
    asked = Owners(context, part, SimpleNamespace(inward=False, bias=None))
    src, dst = (result.columns[name] for name in ("src", "dst"))
    rows = int(comm.allreduce(np.array([len(src)], np.int64), "sum")[0])
    # every rank's edges come to all: parallel ones may be at home on different ranks
    src, dst = (backend.to_host(backend.xp.concatenate(comm.alltoallv([c] * comm.size))) for c in (src, dst))
    mine = None if rows == primitive.k else Violation(-1, -1, f"{rows} edges instead of {primitive.k}")
    out = (src < 0) | (src >= n) | (dst < 0) | (dst >= n)
    if not primitive.directed:
        out |= src > dst
    if mine is None and out.any():
        place = int(np.argmax(out))
        mine = Violation(int(src[place]), int(dst[place]), "an edge has no ends, or not the smaller one first")
    if first_of_all(context, mine):
        return mine
    pairs, times = np.unique(np.stack([src, dst]).astype(np.int64), axis=1, return_counts=True)
    wrong = np.flatnonzero(times > asked.multiplicities(pairs[0], pairs[1]))
    if not len(wrong):
        return None
    u, v = pairs[:, wrong[0]]
    return Violation(int(u), int(v), "the edge from {vertex} to {other} is none of the graph, or too often there")
