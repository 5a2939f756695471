"""Closeness and harmonic centrality: how near a vertex is to the vertices that reach it, in hops.

Up to 64 sources are searched at once by the forward half of betweenness (betweenness.py), without its numbers of paths.
Each level adds to its vertices how many lanes reached them there, as integers, and their depth; then it is dropped. So
sums of distances are exact, and depend neither on the number of partitions nor on how many sources go together. The
same holds for sums of 1 / distance, which are added as whole multiples of 2**-62.

Sources: Then et al., The more the merrier: efficient multi-source graph traversal (2014); Eppstein and Wang, Fast
approximation of centrality (2001); NetworkX for conventions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms._levels import BetweennessState, Level
from graphdask.algorithms._sources import chosen_sources, own_places
from graphdask.algorithms.betweenness import LANES, Betweenness
from graphdask.algorithms.summaries import values_of
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.errors import GraphdaskWarning, outside
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result

BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
"""How many bits of a byte are set."""
OPTIONS = {
    "sources": Option("Estimate from K vertices; default: all, exact.", kind=int, least=1, metavar="K"),
    "seed": Option("Of the choice of K vertices.  [default: 0]"),
}
SUMS = 80
"""Bytes per vertex of the sums, of a level that is added to them, and of the scores."""
HALF = 31
"""Bits of a half of 1 / distance, whose unit is 2**-62: sums of halves over up to 2**31 sources fit int64."""
SUMMARY, WORDS = values_of("score")


class ClosenessCentralityResult(Result):
    """What `closeness_centrality` returns."""

    columns = ("score",)

    @property
    def score(self) -> np.ndarray:
        """Closeness centrality, float64 of shape (num_vertices,), in the order of `G.vertex_ids`."""
        return self._column("score")


class HarmonicCentralityResult(Result):
    """What `harmonic_centrality` returns."""

    columns = ("score",)

    @property
    def score(self) -> np.ndarray:
        """Harmonic centrality, float64 of shape (num_vertices,), in the order of `G.vertex_ids`."""
        return self._column("score")


class Nearness(Betweenness):
    """The primitive of both. Its result also has `reached` and `total`, over the sources besides the vertex itself."""

    by_teams = False

    def __init__(self, sources: Sequence[int], lanes: int):
        super().__init__(sources, lanes, 1.0)

    @property
    def width(self) -> int:
        return 1

    @property
    def _kept_levels(self) -> int:
        return 2

    def memory(self, part: Part, allocation: Allocation) -> int:
        return super().memory(part, allocation) + SUMS * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[BetweennessState, Messages]:
        state, messages = super().init(part, env)
        self.clear_sums(part, state, env)
        return state, messages

    def clear_sums(self, part: Part, state: BetweennessState, env: Environment) -> None:
        """Begin all sums at 0."""
        state.reached, state.total = (env.xp.zeros(part.num_owned, np.int64) for _ in range(2))

    def _own_sources(self, part: Part, batch: int) -> tuple[int, dict[int, int], list[int]]:
        return *super()._own_sources(part, batch)[:2], []

    def _show_paths(
        self, part: Part, state: BetweennessState, level: Level, shown: int, env: Environment, edges: int
    ) -> Messages:
        depth = len(state.levels)
        if depth:
            bits = env.xp.asarray(BITS)[level.masks.view(np.uint8)].reshape(-1, level.masks.itemsize)
            self._add(state, level.rows, depth, bits.sum(axis=1, dtype=np.int64))
            state.levels[-1] = Level(level.rows[:0], level.masks[:0])
        return super()._show_paths(part, state, level, 1, env, edges)

    def _add(self, state: BetweennessState, rows: Array, depth: int, lanes: Array) -> None:
        """Add to the sums of some own vertices, each of which so many lanes have reached at a depth."""
        assert state.reached is not None
        assert state.total is not None
        state.reached[rows] += lanes
        state.total[rows] += depth * lanes

    def _chunks(self, part: Part) -> int:
        return 0

    def _gather(
        self, part: Part, state: BetweennessState, level: Level, csr: Csr, out: Array, env: Environment
    ) -> None:
        """Sum nothing: no paths are counted."""

    def _turn(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        return self._next_batch(part, state, env, 0)

    def result(self, part: Part, state: BetweennessState, env: Environment) -> dict[str, Array]:
        assert state.reached is not None
        assert state.total is not None
        others = env.xp.full(part.num_owned, len(self.sources), np.int64)
        others[env.backend.from_host(own_places(part, self.sources))] -= 1
        score = self.scores(state, others, part.num_vertices, env.xp)
        return {"score": score, "reached": state.reached, "total": state.total}

    def scores(self, state: BetweennessState, others: Array, num_vertices: int, xp: Any) -> Array:
        """Return the scores of own vertices, each of which has so many other vertices among the sources."""
        raise NotImplementedError


class Closeness(Nearness):
    """The primitive of `closeness_centrality`."""

    name = "closeness_centrality"
    result_type = ClosenessCentralityResult  # type: ignore[assignment]
    wf_improved = True

    def scores(self, state: BetweennessState, others: Array, num_vertices: int, xp: Any) -> Array:
        reached = state.reached
        score = reached / xp.maximum(state.total, 1)
        return score * (reached / xp.maximum(others, 1)) if self.wf_improved else score


class Harmonic(Nearness):
    """The primitive of `harmonic_centrality`."""

    name = "harmonic_centrality"
    result_type = HarmonicCentralityResult  # type: ignore[assignment]
    drawn = False

    def clear_sums(self, part: Part, state: BetweennessState, env: Environment) -> None:
        super().clear_sums(part, state, env)
        state.inverse = env.xp.zeros((2, part.num_owned), np.int64)

    def _add(self, state: BetweennessState, rows: Array, depth: int, lanes: Array) -> None:
        super()._add(state, rows, depth, lanes)
        assert state.inverse is not None
        units = ((1 << 2 * HALF) + depth // 2) // depth
        for half, part in enumerate((units >> HALF, units & (1 << HALF) - 1)):
            state.inverse[half][rows] += part * lanes

    def scores(self, state: BetweennessState, others: Array, num_vertices: int, xp: Any) -> Array:
        assert state.inverse is not None
        high, low = state.inverse
        high, low = high + (low >> HALF), low & (1 << HALF) - 1
        score = high * 2.0**-HALF + low * 2.0 ** (-2 * HALF)
        return score * ((num_vertices - 1) / xp.maximum(others, 1)) if self.drawn else score


def _chosen(G: Graph, sources: Any, seed: int | None) -> tuple[list[int], int, bool]:
    """Numbers of the sources, how many to search at once, and whether they were drawn."""
    chosen, drawn = chosen_sources(G, sources, seed)
    if drawn and len(chosen) == 1 and G.num_vertices > 1:
        warnings.warn(
            f"the score of vertex {G.ids.to_caller(np.array(chosen))[0]}, the only source, cannot be estimated and is "
            f"0; use 2 sources or more",
            GraphdaskWarning,
            stacklevel=outside(),
        )
    return chosen, max(1, min(LANES, len(chosen))), drawn


@algorithm(
    "closeness", ClosenessCentralityResult, "Closeness: the reciprocal of the mean distance to a vertex.",
    summary=SUMMARY, words=WORDS,
    options={
        **OPTIONS,
        "wf_improved": Option("Multiply by the share of the vertices that reach it.", spelling="improved/plain"),
    },
    also="closeness", example=lambda G: {"sources": min(5, G.num_vertices) or None},
)  # fmt: skip
@documented
def closeness_centrality(
    G: Graph,
    sources: Any = None,
    *,
    wf_improved: bool = True,
    seed: int | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> ClosenessCentralityResult:
    """Return the closeness: the reciprocal of the mean distance from the vertices that reach a vertex.

    Distances are in hops, along the edges to the vertex. A vertex that no other vertex reaches scores 0.

    Parameters
    ----------
    G : Graph
        Weights are not used.
    sources : int or array-like of vertex ids, optional
        Distances from all vertices (default, exact); from that many vertices, drawn without replacement, as an estimate
        for all vertices; or from the given vertices alone.
    wf_improved : bool
        Multiply by the share of the other vertices, or of the sources, that reach the vertex, as Wasserman and Faust
        do, so that a vertex of a small component does not score high. Default: True, as in NetworkX.
    seed : int, optional
        Of the draw of `sources=k`, 0 to 2**64 - 1; refused where none are drawn. Default: 0.
    progress : bool, optional
        Show a progress bar: how many sources are done of all, and the time left. Default: in a terminal or a notebook.

    Returns
    -------
    ClosenessCentralityResult
        With `score`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`. The same bits for every number
        of partitions and on every device.

    Raises
    ------
    VertexNotFound
        If a source is not a vertex.
    InputError
        For a number of sources below 1 or above that of the vertices, or a source that is given twice.

    Notes
    -----
    A score from k drawn sources estimates the exact one as Eppstein and Wang do: the mean distance is estimated by the
    mean over the drawn sources. They draw with replacement, and estimate it as n / (k (n - 1)) times the sum of the
    distances. Here a vertex that was drawn has k - 1 other sources, and every other vertex k, and the mean is over
    those. Of one source nothing is known about the source itself: its score is 0, and a GraphdaskWarning says so.

    References
    ----------
    Freeman: Centrality in social networks, Social Networks 1, 1979. Wasserman and Faust: Social network analysis, 1994.
    Eppstein and Wang: Fast approximation of centrality, SODA 2001.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.closeness_centrality(G).score.tolist()
    [0.5, 0.75, 0.75, 0.5]
    """
    checked_graph(G)
    chosen, lanes, _ = _chosen(G, sources, seed)
    primitive = Closeness(chosen, lanes)
    primitive.wf_improved = wf_improved
    result: ClosenessCentralityResult = execute.run(
        G, primitive, exchange=exchange, allocation=allocation, client=client, progress=progress
    )
    return result


@algorithm(
    "harmonic", HarmonicCentralityResult, "Harmonic centrality: the sum of 1 / distance to a vertex.", summary=SUMMARY,
    words=WORDS, options=OPTIONS, also="harmonic harmonic_closeness",
    example=lambda G: {"sources": min(5, G.num_vertices) or None},
)  # fmt: skip
@documented
def harmonic_centrality(
    G: Graph,
    sources: Any = None,
    *,
    seed: int | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> HarmonicCentralityResult:
    """Return the harmonic centrality: the sum of 1 / distance over the other vertices that reach a vertex.

    Distances are in hops, along the edges to the vertex.

    Parameters
    ----------
    G : Graph
        Weights are not used.
    sources : int or array-like of vertex ids, optional
        Distances from all vertices (default, exact); from that many vertices, drawn without replacement, with the sums
        scaled up to all; or from the given vertices, not scaled up.

        A vertex has n - 1 possible sources besides itself. Of k sources that are drawn, one of them has k - 1 others,
        and every other vertex k; its sum is multiplied by (n - 1) / (k - 1) or (n - 1) / k. So the expected score is
        the exact one. Of one source nothing is known about the source itself: its score is 0, and a GraphdaskWarning
        says so.
    seed : int, optional
        Of the draw of `sources=k`, 0 to 2**64 - 1; refused where none are drawn. Default: 0.
    progress : bool, optional
        Show a progress bar: how many sources are done of all, and the time left. Default: in a terminal or a notebook.

    Returns
    -------
    HarmonicCentralityResult
        With `score`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`. The same bits for every number
        of partitions and on every device.

    Raises
    ------
    VertexNotFound
        If a source is not a vertex.
    InputError
        For a number of sources below 1 or above that of the vertices, or a source that is given twice.

    References
    ----------
    Boldi and Vigna: Axioms for centrality, Internet Mathematics 10, 2014.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.harmonic_centrality(G).score.round(4).tolist()
    [1.8333, 2.5, 2.5, 1.8333]
    """
    checked_graph(G)
    chosen, lanes, drawn = _chosen(G, sources, seed)
    primitive = Harmonic(chosen, lanes)
    primitive.drawn = drawn
    result: HarmonicCentralityResult = execute.run(
        G, primitive, exchange=exchange, allocation=allocation, client=client, progress=progress
    )
    return result
