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

from graphdask.algorithms._levels import BetweennessState, Level
from graphdask.algorithms._weighted_paths import PathCounts, WeightedPathsState, simple_edges
from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.weighted_betweenness import Lengths, NamedRows, Nothing, WeightedBetweenness
from graphdask.device.backend import Array
from graphdask.engine.buffers import ROW, Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.engine.owners import Owners
from graphdask.partition.build import row_of_each, tally
from graphdask.partition.neighbours import firsts, places_of
from graphdask.partition.part import Csr, Part
from graphdask.results.edge_values import EdgeValuesResult

IN_RESULT = 72
"""Bytes for each stored edge while values become columns."""


VALUES = "the values of all edges are in memory; gd.betweenness(S) scores the vertices"
"""Why a graph on disk is not supported."""


class EdgeBetweenness(Betweenness):
    """The primitive by hops."""

    name = "edge betweenness"
    needs_memory = VALUES
    edge_rows = True
    by_teams = False
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
        return super().memory(part, allocation) + (8 + IN_RESULT) * part.out.num_edges + 8 * part.num_owned

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
            return self._next_batch(part, state, env, edges)
        return super()._show_dependencies(part, state, env, edges)

    def result(self, part: Part, state: BetweennessState, env: Environment) -> dict[str, Any]:
        columns = {"vertex_score": super().result(part, state, env)["score"]}
        return columns | EdgeEnds.of(part, env).columns(part, env, state.over["edges"], False, self.of_edges)


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
        return super().memory(part, allocation) + (16 + IN_RESULT) * part.out.num_edges + 8 * part.num_owned

    def rows(self, part: Part, env: Environment) -> Any:
        rows = EdgeRows.of(part, env)
        rows.over = env.xp.zeros(rows.out.num_edges)
        return rows

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> PathCounts:
        return EdgePaths(sources, lanes, rows, distance)

    def result(self, part: Part, state: Nothing, env: Environment) -> dict[str, Any]:
        rows = self.rows(part, env)
        found = self.scored(part, env, rows)
        over = env.xp.zeros(part.out.num_edges)
        over[simple_edges(part.out, env)] = rows.over
        found["vertex_score"] = found.pop("score")
        return found | EdgeEnds.of(part, env).columns(part, env, over, True, self.of_edges)


@dataclass
class EdgeEnds:
    """Both ends of the stored edges of a partition, as ids, and which of these edges have a place in the result."""

    source: Array
    destination: Array
    kept: Array
    """bool: all of a directed graph; of an undirected one those that lead to a larger id, or to the vertex itself."""

    @classmethod
    def of(cls, part: Part, env: Environment) -> EdgeEnds:
        """Every rank calls it."""
        (ids,) = env.fetch_ghosts(part, [part.ids])
        source, destination = ids[row_of_each(env.backend, part.out, 0)], ids[part.out.indices]
        kept = source <= destination if part.inward is part.out else source == source
        return cls(source, destination, kept)

    def columns(self, part: Part, env: Environment, over: Array, by_weight: bool, scale: float) -> dict[str, Array]:
        """Columns of the result, of values of the stored edges. Every rank calls it."""
        xp, csr = env.xp, part.out
        assert csr.rows is not None
        over = divided(csr, self.source, over, by_weight, env) * scale
        if part.inward is part.out:
            back, owners = places_of(xp, ~self.kept), Owners(part, env)
            _, row, value = owners.send(owners.positions(csr.indices[back]), [csr.rows[back], over[back]])
            there = places_of(xp, self.source < self.destination)
            there = there[xp.argsort(csr.rows[there])]
            over[there] += value[xp.argsort(row)]
        names = {"source": self.source, "destination": self.destination, "row": csr.rows, "score": over}
        return {name: column[self.kept] for name, column in names.items()}


def like_before(csr: Csr, source: Array, by_weight: bool, env: Environment) -> Array:
    """Return a mask of the stored edges that are parallel to the preceding edge, and as long."""
    first = firsts(env.xp, source) | firsts(env.xp, csr.indices)
    if by_weight:
        assert csr.weights is not None
        first |= firsts(env.xp, csr.weights)
    return ~first


def divided(csr: Csr, source: Array, over: Array, by_weight: bool, env: Environment) -> Array:
    """Values of which the first of parallel edges has that of all, shared equally by those that are as short."""
    first = ~like_before(csr, source, by_weight, env)
    if bool(first.all()):
        return over
    group = env.xp.cumsum(first) - 1
    return (over[first] / tally(env.backend, group, int(group[-1]) + 1))[group]
