"""Betweenness by weight: how many shortest paths, as sums of weights, pass through a vertex.

A batch of up to 64 sources: a search by buckets (`sssp`) from each finds the distances, which are exchanged once, and
all of them together then count paths and accumulate dependencies (_weighted_paths.py). A score adds up the dependencies
on the sources in their order, so that its bits depend on nothing but the graph and the sources.

Source: Brandes, A faster algorithm for betweenness centrality (2001), Section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._lengths import bucket_unit, distance_range, fit_weights
from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms._sources import scale_sums
from graphdask.algorithms._sssp_state import SsspState
from graphdask.algorithms._weighted_paths import NEVER, PathCounts, Rows, counting_memory, rows_memory
from graphdask.algorithms.betweenness import BetweennessResult
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive, RankResult
from graphdask.errors import InputError
from graphdask.graph.graph import Graph
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result


@dataclass(frozen=True)
class Lengths:
    """How a search keeps distances and what it makes of weights; see ShortestPaths."""

    unit: float
    distance: np.dtype
    flat: bool
    most: float

    @classmethod
    def of(cls, G: Graph, client: Any, progress: bool | None) -> Lengths:
        """Those of a graph, whose weights must be neither negative nor infinite."""
        facts = fit_weights(G, "; betweenness takes weights of 0 or more", client, progress)
        distance, most = distance_range(G, facts)
        return cls(bucket_unit(G, facts), distance, facts.least == 0, most)


class Distances(ShortestPaths):
    """A search for distances alone."""

    def __init__(self, source: int, lengths: Lengths):
        super().__init__((source,), None, lengths.unit, lengths.distance, lengths.flat, lengths.most)
        self.lengths = lengths

    def result(self, part: Part, state: SsspState, env: Environment) -> dict[str, Any]:
        xp, owned = env.xp, part.num_owned
        state.work = None
        if state.too_far:
            del state.labels
            wide = Lengths(self.unit, np.dtype(np.int64), self.flat, np.inf)
            return dict(env.run(part, Distances(self.sources[0], wide)).columns)
        own = state.labels[:owned]
        if self.distance.kind == "f":
            return {"distance": own}
        none = unreached(self.label)
        wide = own >> 32 if self.with_parents else own.astype(np.int64)
        return {"distance": xp.where(own == none, np.int64(np.iinfo(np.int64).max), wide)}


@dataclass
class Nothing:
    """The state: everything is done by the primitives that `result` runs."""

    none: Array


class WeightedBetweenness(Primitive[Nothing]):
    """The primitive: dependencies on the given sources, summed and scaled."""

    name = "betweenness by weight"
    columns: ClassVar[Mapping[str, Any]] = {}
    result_type = BetweennessResult
    copies = 1
    """Lanes for each source."""

    def __init__(self, sources: Sequence[int], lanes: int, scale: float, of_sources: float, lengths: Lengths):
        """`lanes` is how many sources a batch has; for the scales see Betweenness."""
        self.sources, self.lanes, self.scale, self.of_sources = tuple(sources), lanes, scale, of_sources
        self.lengths = lengths

    @property
    def inward(self) -> bool:
        return True

    @property
    def goal(self) -> tuple[int, str]:
        return len(self.sources), "sources"

    def memory(self, part: Part, allocation: Allocation) -> int:
        search = Distances(0, self.lengths).memory(part, allocation)
        counting = counting_memory(part, self.lanes * self.copies, allocation)
        return rows_memory(part) + 8 * part.num_owned + search + 16 * part.num_slots + counting

    def init(self, part: Part, env: Environment) -> tuple[Nothing, Messages]:
        none = part.ids[:0]
        return Nothing(none), Messages(none, none, {}, False)

    def superstep(self, part: Part, state: Nothing, inbox: Inbox, env: Environment) -> Messages:
        raise AssertionError("the run ends before a superstep")

    def result(self, part: Part, state: Nothing, env: Environment) -> dict[str, Any]:
        return self.scored(part, env, self.rows(part, env))

    def scored(self, part: Part, env: Environment, rows: Any) -> dict[str, Any]:
        """Go through all batches over some rows; the columns of the result."""
        score = env.xp.zeros(part.num_owned)
        if self.flat_both_ways(part):
            first = rows.first_flat(part, env)
            if first is not None:
                return self._answer(score, first)
        for sources, distance, found in self.batches(part, rows, env):
            if found.values["too_far"]:
                return self._answer(score, too_far=rows.too_far(part, env, distance))
            if found.values["stuck"]:
                return self._answer(score, rows.flat_edge(part, env, distance, found.columns["waiting"]))
            kernels = env.kernels("weighted_paths", **rows.types, dist_t=self.table)
            kernels.paths_score(part.num_owned, found.columns["dependency"], distance.shape[1], len(sources), score)
        scale_sums(part, env, score, self.sources, self.scale, self.of_sources)
        return self._answer(score)

    def rows(self, part: Part, env: Environment) -> Any:
        """The edges, as Rows."""
        return NamedRows.of(part, env)

    def flat_both_ways(self, part: Part) -> bool:
        """Whether an edge of weight 0, if there is one, leads back too."""
        return part.inward is part.out

    def _answer(self, score: Array, edge: tuple[int, int] | None = None, too_far: int = NO_VERTEX) -> dict[str, Any]:
        """The scores, or why there are none."""
        u, v = edge or (NO_VERTEX, NO_VERTEX)
        return {"score": score, "too_far": too_far, "flat_from": u, "flat_to": v}

    @property
    def table(self) -> np.dtype:
        """The dtype of tables of distances."""
        return np.dtype(np.float64 if self.lengths.distance.kind == "f" else np.int64)

    def batches(self, part: Part, rows: Any, env: Environment) -> Iterator[tuple[Sequence[int], Array, RankResult]]:
        """Of each batch its sources, their distances over slots, and what PathCounts finds.

        A source that was searched from, but whose paths are not counted yet, is half done.
        """
        copies, lanes = self.copies, self.lanes * self.copies
        for begin in range(0, len(self.sources), self.lanes):
            sources = self.sources[begin : begin + self.lanes]
            distance = self.distances(part, rows, begin, env)
            of_lanes = [source for source in sources for _ in range(copies)]
            found = env.run(part, self.counts(of_lanes, lanes, rows, distance))
            if not (found.values["too_far"] or found.values["stuck"]):
                env.advance(begin + len(sources))
            yield sources, distance, found

    def distances(self, part: Part, rows: Any, begin: int, env: Environment) -> Array:
        """The table over slots of the batch of the source at `begin`; unreached in lanes without a source."""
        xp, copies = env.xp, self.copies
        distance = xp.full((part.num_slots, self.lanes * copies), unreached(self.table), self.table)
        for number, source in enumerate(self.sources[begin : begin + self.lanes]):
            own = env.run(part, Distances(source, self.lengths)).columns["distance"]
            (whole,) = env.fetch_ghosts(part, [own])
            distance[:, copies * number : copies * (number + 1)] = whole[:, None]
            env.advance(begin + (number + 1) / 2)
        return distance

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> PathCounts:
        """What goes through a batch."""
        return PathCounts(sources, lanes, rows, distance)


def raise_undefined(G: Graph, result: Result) -> None:
    """Refuse a graph whose shortest paths are infinitely many, or too long."""
    too_far, u, v = (result._value(name) for name in ("too_far", "flat_from", "flat_to"))
    if too_far != NO_VERTEX:
        raise InputError(
            f"the distance of vertex {G.ids.to_caller(np.array([too_far]))[0]} from a source is too large; scale the "
            f"weights down"
        )
    if u != NO_VERTEX:
        a, b = G.ids.to_caller(np.array([u, v]))
        raise InputError(
            f"edges that add nothing to the length of a path, such as that from {a} to {b} (its weight is 0, or lost "
            f"in rounding), form a cycle, so that the number of shortest paths is not defined; merge the vertices that "
            f"they join, give them larger weights, or use weight=None to count hops"
        )


class NamedRows(Rows):
    """Rows, among which the edges are found that leave scores undefined."""

    def first_flat(self, part: Part, env: Environment) -> tuple[int, int] | None:
        """The first edge of weight 0."""
        assert self.inward.weights is not None
        return _first_edge(part, env, self.inward, self.inward.weights == 0)

    def flat_edge(self, part: Part, env: Environment, distance: Array, waiting: Array) -> tuple[int, int] | None:
        """An edge between equal distances, at the end of which a vertex waits in vain."""
        ends = row_of_each(env.backend, self.inward, 0)
        return _first_edge(part, env, self.inward, waits_in_vain(env, self.inward, ends, distance, waiting))

    def too_far(self, part: Part, env: Environment, distance: Array) -> int:
        """The smallest vertex that was not reached, though an edge leads to it from one that was."""
        ends = row_of_each(env.backend, self.inward, 0)
        beyond = part.ids[lies_beyond(self.inward, ends, distance)]
        return env.least(int(beyond.min()) if len(beyond) else NO_VERTEX)


def _first_edge(part: Part, env: Environment, inward: Csr, wanted: Array) -> tuple[int, int] | None:
    """Of the wanted edges the first, by the ids of its ends; of all ranks. Every rank calls it."""
    if env.least(0 if bool(wanted.any()) else 1):
        return None
    (ids,) = env.fetch_ghosts(part, [part.ids])
    src, dst = ids[inward.indices[wanted]], part.ids[row_of_each(env.backend, inward, 0)[wanted]]
    u = env.least(int(src.min()) if len(src) else NO_VERTEX)
    ends = dst[src == u]
    return u, env.least(int(ends.min()) if len(ends) else NO_VERTEX)


def waits_in_vain(env: Environment, inward: Csr, ends: Array, distance: Array, waiting: Array) -> Array:
    """Which of some edges add nothing to the distance of a vertex that waits; they end at the vertices `ends`."""
    wanted = env.xp.zeros(len(ends), bool)
    starts = inward.indices
    for lane in range(distance.shape[1]):
        d, column = distance[:, lane], waiting[:, lane]
        here = d[ends]
        waits = ((column > 0) & (column < NEVER // 2))[ends] & (here != unreached(distance.dtype))
        wanted |= waits & (d[starts] == here) & (here + inward.weights == here)
    return wanted


def lies_beyond(inward: Csr, ends: Array, distance: Array) -> Array:
    """Of the vertices at which some edges end, those that were not reached from one that was, in some lane."""
    none, wanted = unreached(distance.dtype), ends != ends
    for lane in range(distance.shape[1]):
        d = distance[:, lane]
        wanted |= (d[ends] == none) & (d[inward.indices] != none)
    return ends[wanted]
