"""Similarity of given pairs, and of all pairs that share a neighbour or the best of them.

A given pair is compared at the owner of the end that has more neighbours, to which the row of the other end is sent.
Pairs that share a neighbour are listed source by source (graphdask.similarity.two_hops), a batch a superstep; only
those are listed that can be among the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, S
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.errors import OverBudget
from graphdask.partition.part import Part
from graphdask.sample.sampler import Sampler
from graphdask.similarity.listed import Listed
from graphdask.similarity.measures import best_first, score, taken, top
from graphdask.similarity.result import SimilarityResult
from graphdask.similarity.sets import Placed, Sets, Shared, known_of, shared
from graphdask.similarity.tuning import SIMILARITY
from graphdask.similarity.two_hops import TwoHops
from graphdask.subgraphs.selected import own_rows

LOOKED_AT = 1 << 20
"""From so many rows on it is asked what memory is free."""


@dataclass
class PairsState:
    listed: Listed
    """Pairs that share a neighbour."""
    hops: TwoHops
    batches: Iterator[tuple[int, bool]]


class Similarity(Sampler[S]):
    """What both samplers have in common."""

    ghosts = "1-hop"
    placed = False
    needs_memory = (
        "rows of many vertices are compared; gd.ego_graph(S, [vertices]).to_graph() has all neighbours of some vertices"
    )
    undivided = "is of all its pairs together; call it for some of them"
    result_type = SimilarityResult
    record_columns: ClassVar[Mapping[str, Any]] = {}
    weighted: bool
    """Whether scores go by the weights of the edges."""
    sort_by: tuple[str, ...]
    """Columns that order the rows of the result, the last one first."""

    def sets(self, part: Part, env: Environment, both: bool) -> Sets:
        """The neighbourhoods of the own vertices. Every rank calls it."""
        return Sets.of(part, env, both, self.name if self.weighted else None)


class OfPairs(WithoutSupersteps[dict[str, Array]], Similarity[dict[str, Array]]):
    """The sampler of given pairs of vertex numbers."""

    remedy = "give fewer pairs at a time, or use more workers"
    sort_by = ("pair",)

    def __init__(self, measure: str, weighted: bool, first: np.ndarray, second: np.ndarray):
        self.weighted = weighted
        self.name, self.given, self.first, self.last = measure, (first, second), 0, len(first)

    def memory(self, part: Part, allocation: Allocation) -> int:
        return (
            Sets.memory(part, both=False, weighted=self.weighted)
            + 200 * len(self.given[0])
            + 140 * min(SIMILARITY.paths, part.out.num_edges**2)
        )

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        sets = self.sets(part, env, both=False)
        placed = Placed.of(part, env, sets, *self.given, least=False)
        columns = self.columns_of(part, env, sets, placed, shared(part, env, sets, placed))
        return columns, Messages.none(part.size, frontier=len(placed.number), edges=part.out.num_edges)

    def columns_of(self, part: Part, env: Environment, sets: Sets, placed: Placed, of: Shared) -> dict[str, Array]:
        """The columns of the result, of pairs and what they share. Every rank calls it."""
        others = known_of(part, env, sets.amounts, placed.others) if self.weighted else placed.sizes
        scores = score(env.xp, self.name, of.amount, of.total, sets.amounts[placed.rows], others)
        ends = [env.backend.from_host(end.astype(part.vertex_map.dtype))[placed.number] for end in self.given]
        return {"first": ends[0], "second": ends[1], "score": scores, "common": of.common, "pair": placed.number}


class WithinTwoHops(Similarity[PairsState]):
    """The sampler of pairs that share a neighbour.

    Parameters
    ----------
    measure : str
    weighted : bool
        Whether scores go by the weights of the edges.
    sources : int64 array or None
        Vertex numbers: pairs are listed from each of them. None: from all vertices if `each`, else each pair once, with
        the smaller number first.
    topk : int or None
        Keep so many.
    each : bool
        Keep so many of each source.
    """

    remedy = "give some vertices at a time (vertices=), or use more workers"

    def __init__(self, measure: str, weighted: bool, sources: np.ndarray | None, topk: int | None, each: bool):
        self.weighted = weighted
        self.name, self.sources, self.topk, self.each = measure, sources, topk, each
        self.first, self.last = 0, 1
        vertices, best = ("second", "first"), ("second", "first", "score")
        self.sort_by = vertices if topk is None else ("second", "score", "first") if each else best

    @property
    def inward(self) -> bool:
        return True

    def memory(self, part: Part, allocation: Allocation) -> int:
        return self._memory(part, SIMILARITY.paths)

    def memory_on(self, part: Part, env: Environment) -> int:
        return self._memory(part, TwoHops.batch_on(part, env, self.weighted))

    def _memory(self, part: Part, batch: int) -> int:
        """Bytes, with batches of so many paths."""
        best = 0 if self.topk is None or self.each else min(self.topk, part.num_vertices**2)
        of_paths = TwoHops.memory(part, self.weighted, batch)
        return Sets.memory(part, True, self.weighted) + of_paths + 100 * best * part.size

    def hops(self, part: Part, env: Environment, sets: Sets) -> TwoHops:
        """The paths from the sources. Every rank calls it."""
        sources = None
        if self.sources is not None:
            given = env.backend.from_host(self.sources.astype(part.vertex_map.dtype))
            sources, _ = own_rows(part, env, part.vertex_map.to_position(env.backend, given))
            sources.sort()
        return TwoHops.of(part, env, sets, sources, onward=self.sources is None and not self.each)

    def init(self, part: Part, env: Environment) -> tuple[PairsState, Messages]:
        sets = self.sets(part, env, both=True)
        hops = self.hops(part, env, sets)
        if self.topk is None:
            self._refuse_beyond(part, env, hops.fewest())
        listed = Listed(env.xp, part.vertex_map.dtype, lambda rows: self._check_memory(part, env, rows))
        keep = self.topk if self.topk is not None and self.each else 0
        state = PairsState(listed, hops, hops.listing(self.name, listed, keep))
        return state, self._next(part, state, env)

    def superstep(self, part: Part, state: PairsState, inbox: Inbox, env: Environment) -> Messages:
        return self._next(part, state, env)

    def _next(self, part: Part, state: PairsState, env: Environment) -> Messages:
        """List the pairs of a batch."""
        listed, hops, batches = state.listed, state.hops, state.batches
        before = listed.used
        paths, more = next(batches, (0, False))
        found = listed.used - before
        if self.topk is not None and not self.each and found and listed.used >= self.topk:
            best = top(env.xp, listed.since(0), self.topk)
            listed.replace(best)
            hops.least = float(best["score"][-1]), int(best["first"][-1]), int(best["second"][-1])
        return Messages.none(part.size, more, found, paths)

    def result(self, part: Part, state: PairsState, env: Environment) -> dict[str, Array]:
        columns = state.listed.taken()
        if self.topk is None or self.each:
            return columns
        counts = env.backend.to_host(env.gather(env.xp.full(1, len(columns["first"]), np.int64)))
        begin = int(counts[: part.rank].sum())
        scores, first, second = (env.gather(columns[name]) for name in ("score", "first", "second"))
        places = best_first(env.xp, scores, first, second, each=False)[: self.topk] - begin
        return taken(columns, places[(places >= 0) & (places < int(counts[part.rank]))])

    def _bytes(self, part: Part) -> int:
        """Bytes of a row of the result, while the memory of all rows grows."""
        return 2 * Listed.row_bytes(part.vertex_map.dtype)

    def _refuse_beyond(self, part: Part, env: Environment, pairs: int) -> None:
        """Raise OverBudget on every rank if so many pairs cannot fit the memory of all. Every rank calls it."""
        free = env.least(int(env.backend.free_memory() * env.memory_share))
        needed = pairs * self._bytes(part) // part.size
        if needed > free:
            raise OverBudget(
                f"{self.name}: at least {pairs:,} pairs of vertices share a neighbour; they need about "
                f"{needed / 2**30:.3g} GiB on each of {part.size} ranks, of which one may use {free / 2**30:.3g} GiB "
                f"({env.backend.description}); keep the best of them (topk=), {self.remedy}"
            )

    def _check_memory(self, part: Part, env: Environment, pairs: int) -> None:
        """Raise OverBudget if there is no memory for so many pairs of this rank."""
        if pairs < LOOKED_AT:
            return
        needed, free = pairs * self._bytes(part) // 2, int(env.backend.free_memory() * env.memory_share)
        if needed > free:
            raise OverBudget(
                f"{self.name}: rank {part.rank} needs memory for {pairs:,} pairs of vertices that share a neighbour, "
                f"{needed / 2**30:.3g} GiB more, and it may use {free / 2**30:.3g} GiB "
                f"({env.backend.description}); keep the best of them (topk=), {self.remedy}"
            )
