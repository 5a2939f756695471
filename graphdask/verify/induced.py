"""Induced subgraphs proved in n log n, distributed: as other neighbourhoods (graphdask/verify/neighborhoods.py), but a
vertex gives all its edges to vertices of its set, and no other."""

from __future__ import annotations

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.part import Part
from graphdask.sample.induced import Induced
from graphdask.verify.neighborhoods import Grown, Owners, keys_of, proved
from graphdask.verify.table import verifies

PIECE = 1 << 22
"""Edges that are checked together, about."""


@verifies(Induced)
def verify(context: RankContext, part: Part, primitive: Induced, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    return proved(context, part, primitive, result, _Owners)


class _Owners(Owners):
    def __init__(self, context: RankContext, part: Part, sampler: Induced):
        super().__init__(context, part, sampler)
        self.n, self.indptr = part.num_vertices, context.backend.to_host(part.out.indptr)
        of_each = np.diff(sampler.bounds)
        instances = np.repeat(np.arange(sampler.origin, sampler.origin + len(of_each)), of_each)
        self.members = np.sort(keys_of(instances, sampler.seeds, 0, self.n))

    def _are_members(self, instances: np.ndarray, vertices: np.ndarray) -> np.ndarray:
        keys = keys_of(instances, vertices, 0, self.n).astype(self.members.dtype)
        places = np.minimum(np.searchsorted(self.members, keys), max(len(self.members) - 1, 0))
        return np.asarray(self.members[places] == keys, bool) if len(self.members) else np.zeros(len(keys), bool)

    def of_frontiers(self, grown: Grown) -> np.ndarray:
        def answer(rows: np.ndarray, instances: np.ndarray) -> np.ndarray:
            counts, begin = np.zeros(len(rows), np.int64), self.indptr[rows]
            degrees = self.indptr[rows + 1] - begin
            ends = np.cumsum(degrees)
            first = 0
            while first < len(rows):
                before = ends[first] - degrees[first]
                last = max(int(np.searchsorted(ends, before + PIECE, "right")), first + 1)
                of_each = np.repeat(np.arange(first, last), degrees[first:last])
                places = np.arange(len(of_each)) - (ends - degrees - before)[of_each] + begin[of_each]
                inside = self._are_members(instances[of_each], self._edges[places] % self.n)
                counts += np.bincount(of_each[inside], minlength=len(rows))
                first = last
            return counts

        return self.ask(grown.vertices, answer, grown.instances)

    def of_edges(self, grown: Grown) -> np.ndarray:
        return np.where(self._are_members(grown.instance, grown.dst), super().of_edges(grown), 0)
