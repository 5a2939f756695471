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

from graphdask.algorithms._sources import scale_sums
from graphdask.algorithms._weighted_searches import Distances, Lengths
from graphdask.algorithms.betweenness import BetweennessResult
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX
from graphdask.algorithms.undefined_paths import NamedRows
from graphdask.algorithms.weighted_paths import PathCounts, counting_memory, rows_memory
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import Resumable, Saved, named
from graphdask.engine.keeper import Carried
from graphdask.engine.loop import Environment, Messages, RankResult
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.partition.part import Part


@dataclass
class Scored:
    """How far the sources are done."""

    score: Array
    """float64 per own vertex: the sums over these sources."""
    done: int = 0
    """Number of sources."""


class WeightedBetweenness(WithoutSupersteps[Any], Resumable):
    """The primitive: dependencies on the given sources, summed and scaled. Its `result` runs other primitives."""

    name = "betweenness by weight"
    columns: ClassVar[Mapping[str, Any]] = {}
    result_type = BetweennessResult
    in_result = True
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

    def facts(self) -> dict[str, Any]:
        return {"sources": named(self.sources)}

    def saved(self, part: Part, state: Any, inbox: Any, env: Environment) -> Saved | None:
        """Return the sums between two batches."""
        return None if state is None else ({"score": state.score}, {"done": state.done})

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[Any, Messages]:
        _, messages = self.init(part, env)
        return Scored(columns["score"], numbers["done"]), messages

    def save(self, part: Part, state: Any, env: Environment) -> None:
        """Save the state between two batches, if that is due. Every rank calls it."""
        if isinstance(env.keeper, Carried):
            env.keeper.save_outer(self, part, state, env)

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Any]:
        return self.scored(part, env, self.rows(part, env), state)

    def scored(self, part: Part, env: Environment, rows: Any, state: Scored | None = None) -> dict[str, Any]:
        """Go through all batches over some rows that are not done; the columns of the result."""
        state = Scored(env.xp.zeros(part.num_owned)) if state is None else state
        score = state.score
        if self.flat_both_ways(part):
            first = rows.first_flat(part, env)
            if first is not None:
                return self._answer(score, first)
        for sources, distance, found in self.batches(part, rows, env, state.done):
            if found.values["too_far"]:
                return self._answer(score, too_far=rows.too_far(part, env, distance))
            if found.values["stuck"]:
                return self._answer(score, rows.flat_edge(part, env, distance, found.columns["waiting"]))
            kernels = env.kernels("weighted_paths", **rows.types, dist_t=self.table)
            kernels.paths_score(part.num_owned, found.columns["dependency"], distance.shape[1], len(sources), score)
            state.done += len(sources)
            self.save(part, state, env)
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

    def batches(
        self, part: Part, rows: Any, env: Environment, first: int = 0
    ) -> Iterator[tuple[Sequence[int], Array, RankResult]]:
        """Of each batch its sources, their distances over slots, and what PathCounts finds; `first` is the place of
        the source at which the first batch begins.

        A source that was searched from, but whose paths are not counted yet, is half done.
        """
        copies, lanes = self.copies, self.lanes * self.copies
        for begin in range(first, len(self.sources), self.lanes):
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
