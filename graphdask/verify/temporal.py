"""Temporal neighbourhoods proved in n log n, distributed: as others (graphdask/verify/neighborhoods.py), but of the
edges that an instance sees.

A vertex gives as many edges as asked for of those that are not later than the instance's limit, or all of them; none
is later, and with "last" none is earlier than those that are left out.
"""

from __future__ import annotations

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.part import Part
from graphdask.sample.temporal import TemporalNeighbors
from graphdask.verify.neighborhoods import Grown, Owners, proved
from graphdask.verify.table import verifies


@verifies(TemporalNeighbors)
def verify(context: RankContext, part: Part, primitive: TemporalNeighbors, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    return proved(context, part, primitive, result, _Owners)


class _Owners(Owners):
    """Edges have places in the order of their rows, and in these of time; an instance sees the places from one on,
    up to another one."""

    def __init__(self, context: RankContext, part: Part, sampler: TemporalNeighbors):
        super().__init__(context, part, sampler)
        csr = part.inward if sampler.inward else part.out
        assert csr is not None
        assert csr.weights is not None
        self.sampler, self.indptr = sampler, context.backend.to_host(csr.indptr)
        times, row = context.backend.to_host(csr.weights), self._edges // max(part.num_vertices, 1)
        self.moments = np.unique(times)
        keys = row * (len(self.moments) + 1) + np.searchsorted(self.moments, times)
        order = np.argsort(keys, kind="stable")
        self.keys, places = keys[order], np.empty(len(keys), np.int64)
        places[order] = np.arange(len(keys))
        self.pairs, pair = np.unique(self._edges, return_inverse=True)
        self.stride = len(keys) + 1
        self.places = pair * self.stride + places  # ascending, for parallel edges stand in the order of their weights

    def _seen(self, rows: np.ndarray, instances: np.ndarray, hops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the edges that are there to be drawn begin and end."""
        limits = self.sampler.limits[instances - self.sampler.origin]
        begin, last = self.indptr[rows], np.searchsorted(self.moments, limits, "right")
        end = np.searchsorted(self.keys, rows * (len(self.moments) + 1) + last)
        if self.sampler.latest:
            fanouts = np.array(self.sampler.fanouts, np.int64)[hops]
            begin = np.where(fanouts < 0, begin, np.maximum(begin, end - fanouts))
        return begin, end

    def of_frontiers(self, grown: Grown) -> np.ndarray:
        def answer(rows: np.ndarray, instances: np.ndarray, hops: np.ndarray) -> np.ndarray:
            begin, end = self._seen(rows, instances, hops)
            return end - begin

        return self.ask(grown.vertices, answer, grown.instances, grown.hops)

    def of_edges(self, grown: Grown) -> np.ndarray:
        def answer(rows: np.ndarray, ends: np.ndarray, instances: np.ndarray, hops: np.ndarray) -> np.ndarray:
            begin, end = self._seen(rows, instances, hops)
            edges = rows * self.part.num_vertices + ends
            pair = np.searchsorted(self.pairs, edges)
            known = pair < len(self.pairs)
            known[known] = self.pairs[pair[known]] == edges[known]
            before = (np.searchsorted(self.places, pair * self.stride + bound) for bound in (end, begin))
            return np.where(known, next(before) - next(before), 0)

        return self.ask(grown.src, answer, grown.dst, grown.instance, grown.hop)
