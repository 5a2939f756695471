"""Betweenness of edges: what the searches of betweenness, by hops or by weight, find of every edge that they go over.

On the way back over the levels of a batch, a vertex u sums what its successors v give: (1 + dependency) / paths. The
value of the edge from u to v is what v gives, times the paths to u; the kernel that sums adds it to the edge too. Each
stored edge has one value, which its owner adds up level by level, so that its bits do not depend on the partitions.
The way back goes on to the sources, because the edges out of them have values. In the end, the two directions of an
undirected edge are added at the owner of its smaller id, and parallel edges share their value.

Source: Brandes, On variants of shortest-path betweenness centrality and their generic computation (2008), Section 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphdask.algorithms._weighted_searches import Lengths
from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.algorithms.edge_ends import EdgeColumns
from graphdask.algorithms.undefined_paths import NamedRows
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.algorithms.weighted_paths import PathCounts, WeightedPathsState, simple_edges
from graphdask.device.backend import Array
from graphdask.engine.buffers import ROW, Allocation
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import Environment, Messages
from graphdask.partition.part import Part
from graphdask.results.edge_values import EdgeValuesResult

VALUES = "the values of all edges are in memory; gd.betweenness(S) scores the vertices"
"""Why a graph on disk is not supported."""


class EdgeBetweenness(Betweenness):
    """The primitive by hops."""

    name = "edge betweenness"
    needs_memory = VALUES
    edge_rows = True
    by_teams = goes_deep = resumes = False
    first_level = 0
    by_weight = False

    def __init__(
        self, sources: Sequence[int], lanes: int, scale: float, of_sources: float, of_edges: float,
        result_type: type[EdgeValuesResult],
    ):  # fmt: skip
        """`of_edges` multiplies the values of edges; for the scales of vertices see Betweenness."""
        super().__init__(sources, lanes, scale, of_sources)
        self.of_edges, self.result_type = of_edges, result_type  # type: ignore[assignment]

    def memory(self, part: Part, allocation: Allocation) -> int:
        return super().memory(part, allocation) + 8 * (part.out.num_edges + part.num_owned) + EdgeColumns.memory(part)

    def init(self, part: Part, env: Environment) -> tuple[BetweennessState, Messages]:
        xp, edges = env.xp, part.out.num_edges
        state, messages = super().init(part, env)
        state.over = {
            "sigma": state.sigma, "here": xp.zeros(part.num_owned, self.mask), "edges": xp.zeros(edges),
            "hubs": xp.empty(edges // ROW + 1, part.vertex_map.dtype),
        }  # fmt: skip
        return state, messages

    def _show_dependencies(self, part: Part, state: BetweennessState, env: Environment, edges: int) -> Messages:
        if state.back == 0:
            return self.next_batch(part, state, env, edges)
        return super()._show_dependencies(part, state, env, edges)

    def result(self, part: Part, state: BetweennessState, env: Environment) -> dict[str, Any]:
        columns = {"vertex_score": super().result(part, state, env)["score"]}
        return columns | EdgeColumns.of(part, env).result(part, env, state.over["edges"], False, self.of_edges)


class EdgePaths(PathCounts):
    """A batch by weight, which adds to the values of edges."""

    first_level = 0

    def _backward(self, part: Part, state: WeightedPathsState, env: Environment) -> Messages:
        if state.back:
            return super()._backward(part, state, env)
        starts = env.backend.from_host(self._own_sources(part)[2])
        state.paths.reshape(-1)[starts] = 1.0  # on the way back they gave nothing
        edges = self._sum_successors(part, state, state.levels[0], env)
        state.dependency.reshape(-1)[starts] = 0.0
        return self._end(state, len(state.levels[0].rows), edges)

    def _sum_successors(self, part: Part, state: WeightedPathsState, level: Level, env: Environment) -> int:
        here = env.xp.zeros(part.num_owned, env.xp.uint64)
        here[level.rows] = level.masks
        return self._gather(state, level, self.rows.out, state.dependency, 1, env, here=here, over=self.rows.over)


@dataclass
class EdgeRows(NamedRows):
    """Rows, and values of the edges of `out`."""

    over: Array | None = None


class WeightedEdgeBetweenness(WeightedBetweenness):
    """The primitive by weight."""

    name = "edge betweenness by weight"
    resumes = False
    needs_memory = VALUES
    edge_rows = True
    by_weight = True

    def __init__(
        self, sources: Sequence[int], lanes: int, scale: float, of_sources: float, of_edges: float,
        result_type: type[EdgeValuesResult], lengths: Lengths,
    ):  # fmt: skip
        super().__init__(sources, lanes, scale, of_sources, lengths)
        self.of_edges, self.result_type = of_edges, result_type  # type: ignore[assignment]

    def memory(self, part: Part, allocation: Allocation) -> int:
        values = 16 * part.out.num_edges + 8 * part.num_owned
        return super().memory(part, allocation) + values + EdgeColumns.memory(part)

    def rows(self, part: Part, env: Environment) -> Any:
        rows = EdgeRows.of(part, env)
        rows.over = env.xp.zeros(rows.out.num_edges)
        return rows

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> PathCounts:
        return EdgePaths(sources, lanes, rows, distance)

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Any]:
        rows = self.rows(part, env)
        found = self.scored(part, env, rows)
        over = env.xp.zeros(part.out.num_edges)
        over[simple_edges(part.out, env)] = rows.over
        found["vertex_score"] = found.pop("score")
        return found | EdgeColumns.of(part, env).result(part, env, over, True, self.of_edges)
