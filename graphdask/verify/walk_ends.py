"""Personalised PageRank by walks, proved in n log n, distributed, as far as end points can be.

1. The rows of a source are at home, in their order, each vertex once; an estimate is a whole number of walks, one at
   least.
2. The walks of a source are all there; of the rows that `top` leaves, as many as it says at most, no more than all.
3. A walk ends at its source, or at a vertex to which an edge leads.

Whether as many walks end at a vertex as should is a matter of chance; the tests of the law are for that.
"""

from __future__ import annotations

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.pagerank import WalkEnds
from graphdask.sample.traversal import ids_of_slots
from graphdask.verify.table import verifies


@verifies(WalkEnds)
def verify(context: RankContext, part: Part, primitive: WalkEnds, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    columns = {name: context.backend.to_host(column) for name, column in result.columns.items()}
    bounds, rank = primitive.homes(context.comm.size), context.comm.rank
    mine = _standing(primitive, int(bounds[rank]), int(bounds[rank + 1]), part.num_vertices, columns)
    if first_of_all(context, mine):
        return mine
    return _reached(context, part, columns["source"].astype(np.int64), columns["vertex"].astype(np.int64))


def _standing(sampler: WalkEnds, first: int, last: int, n: int, columns: dict[str, np.ndarray]) -> Violation | None:
    source, vertex, estimate, instance = (columns[name] for name in ("source", "vertex", "estimate", "instance"))
    counts = np.rint(estimate * sampler.walks)
    wrong = (instance < first) | (instance >= last) | (vertex < 0) | (vertex >= n)
    wrong[~wrong] = source[~wrong] != sampler.sources[instance[~wrong]]
    wrong |= ~((counts >= 1) & (estimate == counts / sampler.walks))
    together = instance[1:] == instance[:-1]
    wrong[1:] |= instance[1:] < instance[:-1]
    ascending = vertex[1:] > vertex[:-1]
    if sampler.top is not None:
        ascending = (counts[1:] < counts[:-1]) | ((counts[1:] == counts[:-1]) & ascending)
    wrong[1:] |= together & ~ascending
    places = np.flatnonzero(wrong)
    if len(places):
        u, v = int(source[places[0]]), int(vertex[places[0]])
        return Violation(u, v, "the row of source {vertex} and {other} is out of order, or no number of walks")
    of_each, order = instance - first, np.lexsort((vertex, instance))
    again = (instance[order][1:] == instance[order][:-1]) & (vertex[order][1:] == vertex[order][:-1])
    total, rows = np.bincount(of_each, counts, last - first), np.bincount(of_each, minlength=last - first)
    unfit = total != sampler.walks if sampler.top is None else (total > sampler.walks) | (rows > sampler.top)
    if sampler.top is not None:
        unfit |= (rows < sampler.top) & (total != sampler.walks)
    if again.any():
        return Violation(int(source[order][1:][again][0]), -1, "a vertex stands twice among those of source {vertex}")
    places = np.flatnonzero(unfit)
    if not len(places):
        return None
    return Violation(int(sampler.sources[first + places[0]]), -1, "source {vertex} has too many walks, or too few")


def _reached(context: RankContext, part: Part, source: np.ndarray, vertex: np.ndarray) -> Violation | None:
    backend, comm, xp = context.backend, context.comm, context.backend.xp
    ends = np.unique(vertex[vertex != source])
    if part.size > 1:
        shared = backend.from_host(ends)
        ends = np.unique(backend.to_host(xp.concatenate(comm.alltoallv([shared] * comm.size))))
    env = context.environment("selective")
    there = np.unique(backend.to_host(ids_of_slots(part, env, part.out.indices))).astype(np.int64)
    known = np.isin(ends, there).astype(np.int64)
    if part.size > 1:
        known = comm.allreduce(known, "max")
    wrong = (vertex != source) & np.isin(vertex, ends[known == 0])
    places = np.flatnonzero(wrong)
    if not len(places):
        return None
    u, v = int(source[places[0]]), int(vertex[places[0]])
    return Violation(u, v, "a walk of source {vertex} ends at {other}, to which no edge leads")
