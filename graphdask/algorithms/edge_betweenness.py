"""The public function for betweenness of edges (`over_edges` has the primitives)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms._sources import chosen_sources
from graphdask.algorithms.by_weight import OPTIONS, by_option, checked_weight, run_by
from graphdask.algorithms.centrality import lanes_of, of_paths, scales
from graphdask.algorithms.over_edges import EdgeBetweenness, WeightedEdgeBetweenness
from graphdask.algorithms.undefined_paths import raise_undefined
from graphdask.display import terminal
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import Own
from graphdask.interface.registry import Option, algorithm
from graphdask.results.edge_values import EdgesResult


class EdgeBetweennessResult(EdgesResult):
    """What `edge_betweenness` returns. Its edges are in the order of their rows."""

    columns = ("vertex_score",)

    @property
    def score(self) -> np.ndarray:
        """Betweenness of each edge, float64 of shape (edges,)."""
        return self._of_edges("score")

    @property
    def vertex_score(self) -> np.ndarray:
        """Betweenness of each vertex, from the same searches; float64, shape (num_vertices,)."""
        return self._column("vertex_score")


def edge_scale(G: Graph, drawn: int | None, normalized: bool) -> float:
    """By what sums over sources are multiplied; `drawn` sources stand for all, None where they do not."""
    n = G.num_vertices
    pairs = 1.0 if G.directed else 0.5
    if normalized and n > 1:
        pairs = 1.0 / (n * (n - 1))
    return pairs if drawn is None else pairs * n / drawn


def _summary(result: Any) -> dict[str, Any]:
    score = result.score
    found = {"edges": len(score), "sources": len(result.primitive.sources)}
    if not len(score):
        return found
    top = int(score.argmax())
    return found | {"from": result.source[top], "to": result.destination[top], "score": float(score[top])}


def _words(found: dict[str, Any]) -> str:
    searched = f"paths from {terminal.count(found['sources'], 'vertex')}"
    if "score" not in found:
        return searched
    return f"{searched}; the highest, of the edge from {found['from']} to {found['to']}, is {found['score']:,.6g}"


@algorithm(
    "edge-betweenness", EdgeBetweennessResult, "Edge betweenness: how many shortest paths lead over an edge.",
    summary=_summary, words=_words, weights=True, start=by_option,
    options=OPTIONS | {"normalized": Option("Divide by the number of pairs of vertices.")},
    also="edge_betweenness_centrality edge_load girvan_newman",
    example=lambda G: {"sources": min(3, G.num_vertices) or None}, tolerance=1e-12,
)  # fmt: skip
@of_paths
def edge_betweenness(
    G: Graph,
    sources: Any = None,
    *,
    weight: Own[str | None] = "weight",
    normalized: bool = False,
    seed: int | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> EdgeBetweennessResult:
    """Edge betweenness: the sum over pairs of the share of shortest paths that lead over an edge.

    Paths and their lengths are those of `betweenness`. Parallel edges are one on a path. They share its value equally;
    by weights only the lightest of them do, and the others have 0.

    Parameters
    ----------
    sources : int or array-like of vertex ids, optional
        Paths from all vertices (default, exact); from that many vertices, drawn without replacement, with the scores
        multiplied by n / k; or from the given vertices, not scaled up.
    normalized : bool
        Divide by the number of pairs of vertices, as NetworkX does with ``normalized=True``.

    Returns
    -------
    EdgeBetweennessResult
        Of each edge `score`, float64; `source` and `destination`, the caller's ids, in an undirected graph the smaller
        one first; and `row`, its row in what the graph was made of; in ascending order of `row`. Self-loops have the
        score 0. Of each vertex `vertex_score`, which is what `betweenness` returns for the same arguments. The same
        bits for every number of partitions. By weights a GPU gives the bits of a CPU; by hops it differs in the last
        bits, within 1e-12 relative.

    Raises
    ------
    Unsupported
        If the rows of the edges are not known, as of a graph made from Dask data frames in batches.

    Notes
    -----
    An edge takes 80 bytes, by weight 88, twice in an undirected graph, besides what `betweenness` takes: 72 of
    them only while the result is made. Its ends stay with the graph for the next call, 8 bytes (16 with ids of 64
    bits), in an undirected graph 8 to 20 more, until their memory is needed.

    References
    ----------
    Brandes: On variants of shortest-path betweenness centrality and their generic computation, Social Networks 30
    (2008). Girvan, Newman: Community structure in social and biological networks, PNAS 99 (2002).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.edge_betweenness(G).score.tolist()
    [3.0, 4.0, 3.0]
    >>> G = gd.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 1, 5], directed=False)
    >>> gd.edge_betweenness(G).score.tolist(), gd.edge_betweenness(G, weight=None).score.tolist()
    ([2.0, 2.0, 0.0], [1.0, 1.0, 1.0])
    """
    checked_graph(G)
    n = G.num_vertices
    checked_weight(weight, normalized)
    chosen, drawn = chosen_sources(G, sources, seed)
    count = len(chosen) if drawn else None
    scaled = *scales(G, count, bool(normalized)), edge_scale(G, count, bool(normalized))
    lanes = partial(lanes_of, len(chosen))
    result: EdgeBetweennessResult = run_by(
        G,
        weight,
        "betweenness",
        lambda: EdgeBetweenness(chosen, lanes(48 * n), *scaled, EdgeBetweennessResult),
        lambda lengths: WeightedEdgeBetweenness(chosen, lanes(56 * n), *scaled, EdgeBetweennessResult, lengths),
        raise_undefined,
        exchange=exchange,
        allocation=allocation,
        client=client,
        progress=progress,
    )
    return result
