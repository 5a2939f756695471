"""Closeness and harmonic centrality: the public functions, and how scores follow from sums of distances.

The sums are those of `nearness` by hops and of `weighted_nearness` by weight.

Sources: Eppstein and Wang, Fast approximation of centrality (2001); NetworkX for conventions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms._sources import chosen_sources, of_sources, warn_of_one_source
from graphdask.algorithms._weighted_searches import raise_too_far
from graphdask.algorithms.by_weight import OPTIONS, by_option, checked_weight, run_by
from graphdask.algorithms.nearness import Nearness
from graphdask.algorithms.summaries import values_of
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.algorithms.weighted_nearness import WeightedNearness
from graphdask.device.backend import Array
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import Own
from graphdask.interface.registry import Option, algorithm
from graphdask.results.result import Result

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


class OfCloseness:
    """What both primitives of `closeness_centrality` share: the sources that reach a vertex by the sum of distances."""

    name = "closeness_centrality"
    result_type: Any = ClosenessCentralityResult

    def __init__(self, *given: Any, wf_improved: bool = True):
        super().__init__(*given)
        self.wf_improved = wf_improved

    def scores(self, sums: Any, others: Array, xp: Any) -> Array:
        score = xp.where(sums.total > 0, sums.reached / xp.where(sums.total > 0, sums.total, 1), 0.0)
        return score * (sums.reached / xp.maximum(others, 1)) if self.wf_improved else score


class Closeness(OfCloseness, Nearness):
    """The primitive by hops."""


class ClosenessByWeight(OfCloseness, WeightedNearness):
    """The primitive by weight."""


class OfHarmonic:
    """What both primitives of `harmonic_centrality` share: the sums of 1 / distance, scaled up from drawn sources."""

    name = "harmonic_centrality"
    result_type: Any = HarmonicCentralityResult

    def __init__(self, *given: Any, scaled_to: int | None):
        """`scaled_to` is the number of sources that those of a vertex stand for; None: for themselves."""
        super().__init__(*given)
        self.scaled_to = scaled_to

    def scores(self, sums: Any, others: Array, xp: Any) -> Array:
        return sums.inverse if self.scaled_to is None else sums.inverse * (self.scaled_to / xp.maximum(others, 1))


class Harmonic(OfHarmonic, Nearness):
    """The primitive by hops."""

    with_inverse = True


class HarmonicByWeight(OfHarmonic, WeightedNearness):
    """The primitive by weight."""


def _chosen(G: Graph, sources: Any, seed: int | None) -> tuple[list[int], int, bool]:
    """Numbers of the sources, how many to search at once, and whether they were drawn."""
    chosen, drawn = chosen_sources(G, sources, seed)
    if drawn and len(chosen) == 1 and G.num_vertices > 1:
        warn_of_one_source(G, chosen)
    return chosen, max(1, min(BETWEENNESS.lanes, len(chosen))), drawn


DISTANCES = """
G : Graph
    A path in a directed graph follows its edges. Of parallel edges the lightest counts.
weight : {"weight", None}
    "weight" (default) takes distances by the weights of the graph, which must be neither negative nor infinite, and by
    hops if it has none. None ignores the weights.
"""
DISTANCES_ERRORS = """
InputError
    For a number of sources below 1 or above that of the vertices, a source that is given twice, a weight that is
    negative or infinite (naming the edge), or a distance that is too large (naming the vertex).
"""
_of_distances = partial(of_sources, shared=DISTANCES, errors=DISTANCES_ERRORS)


@algorithm(
    "closeness", ClosenessCentralityResult, "Closeness: the reciprocal of the mean distance to a vertex.",
    summary=SUMMARY, words=WORDS,
    options={
        **OPTIONS,
        "wf_improved": Option("Multiply by the share of the vertices that reach it.", spelling="improved/plain"),
    },
    also="closeness", example=lambda G: {"sources": min(5, G.num_vertices) or None}, weights=True,
    start=by_option,
)  # fmt: skip
@_of_distances
def closeness_centrality(
    G: Graph,
    sources: Any = None,
    *,
    weight: Own[str | None] = "weight",
    wf_improved: bool = True,
    seed: int | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> ClosenessCentralityResult:
    """Return the closeness: the reciprocal of the mean distance from the vertices that reach a vertex.

    Distances are sums of weights along the edges to the vertex, or numbers of edges without weights or with
    ``weight=None``. A vertex that no other vertex reaches scores 0; so does one whose distances are all 0.

    Parameters
    ----------
    sources : int or array-like of vertex ids, optional
        Distances from all vertices (default, exact); from that many vertices, drawn without replacement, as an estimate
        for all vertices; or from the given vertices alone.
    wf_improved : bool
        Multiply by the share of the other vertices, or of the sources, that reach the vertex, as Wasserman and Faust
        do, so that a vertex of a small component does not score high. Default: True, as in NetworkX.

    Returns
    -------
    ClosenessCentralityResult
        With `score`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`. The same bits for every number
        of partitions and on every device.

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
    >>> G = gd.from_edges([0, 1], [1, 2], weights=[1, 3], directed=False)
    >>> gd.closeness_centrality(G).score.tolist()
    [0.4, 0.5, 0.2857142857142857]
    """
    checked_graph(G)
    checked_weight(weight)
    given = _chosen(G, sources, seed)[:2]
    result: ClosenessCentralityResult = run_by(
        G,
        weight,
        "closeness_centrality",
        lambda: Closeness(*given, wf_improved=wf_improved),
        lambda lengths: ClosenessByWeight(*given, lengths, wf_improved=wf_improved),
        raise_too_far,
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
    return result


@algorithm(
    "harmonic", HarmonicCentralityResult, "Harmonic centrality: the sum of 1 / distance to a vertex.", summary=SUMMARY,
    words=WORDS, options=OPTIONS, also="harmonic harmonic_closeness",
    example=lambda G: {"sources": min(5, G.num_vertices) or None}, weights=True,
    start=by_option,
)  # fmt: skip
@_of_distances
def harmonic_centrality(
    G: Graph,
    sources: Any = None,
    *,
    weight: Own[str | None] = "weight",
    seed: int | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> HarmonicCentralityResult:
    """Return the harmonic centrality: the sum of 1 / distance over the other vertices that reach a vertex.

    Distances are sums of weights along the edges to the vertex, or numbers of edges without weights or with
    ``weight=None``. A distance of 0 adds nothing.

    Parameters
    ----------
    sources : int or array-like of vertex ids, optional
        Distances from all vertices (default, exact); from that many vertices, drawn without replacement, with the sums
        scaled up to all; or from the given vertices, not scaled up.

        A vertex has n - 1 possible sources besides itself. Of k sources that are drawn, one of them has k - 1 others,
        and every other vertex k; its sum is multiplied by (n - 1) / (k - 1) or (n - 1) / k. So the expected score is
        the exact one. Of one source nothing is known about the source itself: its score is 0, and a GraphdaskWarning
        says so.

    Returns
    -------
    HarmonicCentralityResult
        With `score`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`. The same bits for every number
        of partitions and on every device.

    References
    ----------
    Boldi and Vigna: Axioms for centrality, Internet Mathematics 10, 2014.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.harmonic_centrality(G).score.round(4).tolist()
    [1.8333, 2.5, 2.5, 1.8333]
    >>> G = gd.from_edges([0, 1], [1, 2], weights=[2, 2], directed=False)
    >>> gd.harmonic_centrality(G).score.tolist()
    [0.75, 1.0, 0.75]
    """
    checked_graph(G)
    checked_weight(weight)
    *given, drawn = _chosen(G, sources, seed)
    scaled_to = G.num_vertices - 1 if drawn else None
    result: HarmonicCentralityResult = run_by(
        G,
        weight,
        "harmonic_centrality",
        lambda: Harmonic(*given, scaled_to=scaled_to),
        lambda lengths: HarmonicByWeight(*given, lengths, scaled_to=scaled_to),
        raise_too_far,
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
    return result
