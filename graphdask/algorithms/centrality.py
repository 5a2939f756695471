"""The public function for betweenness centrality: sources, scales, and the primitive that counts paths."""

from __future__ import annotations

from functools import partial
from typing import Any

from graphdask.algorithms._sources import chosen_sources, of_sources, warn_of_one_source
from graphdask.algorithms.betweenness import TABLE_BYTES, Betweenness, BetweennessResult
from graphdask.algorithms.by_weight import OPTIONS, by_option, checked_weight, run_by
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.algorithms.undefined_paths import raise_undefined
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.display import terminal
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import Own
from graphdask.interface.registry import Option, algorithm

NORMALIZED = {"normalized": Option("Divide by the number of pairs of other vertices.")}


def scales(G: Graph, drawn: int | None, normalized: bool) -> tuple[float, float]:
    """By what sums of dependencies are multiplied: of a vertex that is no source, and of a source.

    `drawn` sources stand for all vertices; None where paths from all, or only from given vertices, count.
    """
    others = G.num_vertices - 1
    pairs = 1.0 if G.directed else 0.5
    if normalized and others > 1:
        pairs = 1.0 / (others * (others - 1))
    if drawn is None or others < 1:
        return pairs, pairs
    return pairs * others / drawn, pairs * others / (drawn - 1) if drawn > 1 else 0.0


def _summary(result: Any) -> dict[str, Any]:
    score = result.score
    top = int(score.argmax()) if len(score) else None
    found = {"vertices": len(score), "sources": len(result.primitive.sources)}
    return found if top is None else found | {"highest": result.graph.vertex_ids[top], "score": float(score[top])}


def _words(found: dict[str, Any]) -> str:
    searched = f"paths from {terminal.count(found['sources'], 'vertex')}"
    return f"{searched}; the highest, of {found['highest']}, is {found['score']:,.6g}" if "score" in found else searched


PATHS = """
G : Graph
    A path in a directed graph follows its edges; in an undirected graph each pair of ends counts once.
weight : {"weight", None}
    "weight" (default) takes shortest paths by the weights of the graph, which must be neither negative nor infinite,
    and by hops if it has none. None ignores the weights.
"""
PATHS_ERRORS = """
InputError
    For a number of sources below 1 or above that of the vertices, a source that is given twice, or another argument
    that has no such value. Where a weight is negative or infinite, a distance is too large for its dtype, or edges
    that add nothing to a distance form a cycle (naming the edge or the vertex).
"""
of_paths = partial(of_sources, shared=PATHS, errors=PATHS_ERRORS)
"""Adds to the docstrings of `betweenness` and `edge_betweenness` what they share."""


@algorithm(
    "betweenness", BetweennessResult, "Betweenness: how many shortest paths pass through a vertex.", summary=_summary,
    words=_words, weights=True, start=by_option,
    options=OPTIONS | NORMALIZED, also="betweenness_centrality vertex_betweenness node_betweenness brandes bc",
    example=lambda G: {"sources": min(3, G.num_vertices) or None}, tolerance=1e-12,
)  # fmt: skip
@of_paths
def betweenness(
    G: Graph,
    sources: Any = None,
    *,
    weight: Own[str | None] = "weight",
    normalized: bool = False,
    seed: int | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> BetweennessResult:
    """Betweenness centrality: the sum over pairs of the share of shortest paths that pass through a vertex.

    The length of a path is the sum of its weights, or its number of edges without weights or with ``weight=None``. Of
    parallel edges the lightest counts, once.

    Parameters
    ----------
    sources : int or array-like of vertex ids, optional
        Paths from all vertices (default, exact); from that many vertices, drawn without replacement, with the scores
        scaled up to all; or from the given vertices, not scaled up.

        A vertex has n - 1 possible sources besides itself. Of k sources that are drawn, one of them has seen k - 1, and
        every other vertex k; its sum is multiplied by (n - 1) / (k - 1) or (n - 1) / k, as NetworkX does. So the
        expected score is the exact one, and a normalized score is at most 1. Of one source nothing is known about the
        source itself: its score is 0, and a GraphdaskWarning says so.
    normalized : bool
        Divide by the number of pairs of other vertices, as NetworkX does with ``normalized=True``.

    Returns
    -------
    BetweennessResult
        With `score`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`. The same bits for every number
        of partitions. By weights a GPU gives the bits of a CPU; by hops it differs in the last bits, within 1e-12
        relative.

    Notes
    -----
    Numbers of shortest paths are float64: exact up to 2**53, beyond that rounded; above 1e308 they overflow.

    Two paths by weight are equally long where their sums are equal, as in NetworkX: sums of integers are exact (int64);
    sums of floats are float64, added up edge by edge from the source on, and equal only bit for bit. Multiply weights
    such as 0.1 by a factor that makes them integers, if paths of the same decimal sum must count alike.

    Edges of weight 0, and float weights too small to change a distance, add nothing to a path. In a directed graph they
    count as any other edge. Where they form a cycle, as each of them does in an undirected graph, shortest paths could
    go round it any number of times: that is an InputError (NetworkX returns numbers that depend on the order of the
    vertices). Self-loops are on no shortest path, whatever their weight.

    By weights each source takes a search like that of `sssp`, one after the other; paths are then counted for up to 64
    sources at once.

    References
    ----------
    Brandes: A faster algorithm for betweenness centrality, J. Mathematical Sociology 25 (2001). Pan, Wang, Wu, Yang,
    Owens: Multi-GPU Graph Analytics, IPDPS 2017, Section IV. Then et al.: The more the merrier, VLDB 2014.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.betweenness(G).score.tolist()
    [0.0, 2.0, 2.0, 0.0]
    >>> G = gd.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 1, 5], directed=False)
    >>> gd.betweenness(G).score.tolist(), gd.betweenness(G, weight=None).score.tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    """
    checked_graph(G)
    n = G.num_vertices
    checked_weight(weight, normalized)
    chosen, drawn = chosen_sources(G, sources, seed)
    scale, of_sources = scales(G, len(chosen) if drawn else None, bool(normalized))
    if drawn and len(chosen) == 1 and n > 2:
        warn_of_one_source(G, chosen)
    lanes = partial(lanes_of, len(chosen))
    result: BetweennessResult = run_by(
        G,
        weight,
        "betweenness",
        lambda: Betweenness(chosen, lanes(48 * n), scale, of_sources),
        lambda lengths: WeightedBetweenness(chosen, lanes(56 * n), scale, of_sources, lengths),
        raise_undefined,
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
    return result


def lanes_of(sources: int, each: int) -> int:
    """How many sources to search at once, if one takes so many bytes of tables."""
    lanes = 1
    while lanes < min(BETWEENNESS.lanes, sources) and each * lanes <= TABLE_BYTES:
        lanes *= 2
    return lanes
