"""NetworkX's PageRank and betweenness centrality."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.betweenness import betweenness
from graphdask.algorithms.ranking import pagerank as run_pagerank
from graphdask.errors import GraphdaskWarning, InputError
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered


def _pagerank_refuses(arguments: Mapping[str, Any]) -> str:
    alpha, most = arguments["alpha"], arguments["max_iter"]
    if not (isinstance(alpha, int | float) and 0 <= alpha < 1):
        return f"alpha={alpha!r} is not in [0, 1)"
    if not (isinstance(most, int) and most >= 1):
        return f"max_iter={most!r} is not a whole number of 1 or more"
    if not (isinstance(arguments["tol"], int | float) and arguments["tol"] > 0):
        return f"tol={arguments['tol']!r} is not above 0"
    if arguments["dangling"] is not None and arguments["dangling"] != arguments["personalization"]:
        return "in graphdask a node without out-edges leads where a walk starts; dangling= says otherwise"
    return no_function(arguments)


def _shares(G: NxGraph, given: Any, name: str) -> np.ndarray | None:
    """Weights by node as an array; nodes that are not in the graph count nothing, as in NetworkX."""
    if given is None:
        return None
    values = np.array([given.get(node, 0) for node in G.nodes], np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise NotImplementedError(f"graphdask takes finite values of 0 or more for {name}=")
    return values


@offered(edges=20_000, converted=1_000, refuses=_pagerank_refuses)
def pagerank(
    G: NxGraph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    if len(G) == 0:
        return {}
    walks, start = _shares(G, personalization, "personalization"), _shares(G, nstart, "nstart")
    if walks is not None and walks.sum() == 0:
        raise ZeroDivisionError
    if start is not None and start.sum() == 0:
        raise NotImplementedError("graphdask takes values that do not sum to 0 for nstart=")
    below = math.nextafter(len(G) * tol, 0.0)  # NetworkX stops below it, graphdask at it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphdaskWarning)
            found = run_pagerank(
                G.weighted(weight), alpha, max(below, 5e-324), max_iter, personalization=walks, start=start
            )
    except InputError as error:  # weights that are negative or not finite
        raise NotImplementedError(str(error)) from None
    if not found.converged:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(G.nodes, found.rank.tolist(), strict=True))


def _betweenness_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["weight"] is not None:
        return "graphdask's betweenness counts paths in hops; weight= is not None"
    return "graphdask's betweenness leaves endpoints out; endpoints= is true" if arguments["endpoints"] else ""


@offered(edges=500, converted=100, refuses=_betweenness_refuses)
def betweenness_centrality(
    G: NxGraph, k: Any = None, normalized: bool = True, weight: Any = None, endpoints: bool = False, seed: Any = None
) -> dict[Any, float]:
    n, graph = len(G), G.plain()
    if k is None or k == n:
        score = betweenness(graph, normalized=bool(normalized)).score if n else np.zeros(0)
        return dict(zip(G.nodes, score.tolist(), strict=True))
    sampled = np.array([G.number(node) for node in seed.sample(G.nodes, k)], np.int64)
    score = betweenness(graph, sampled).score if k else np.zeros(n)
    score = score * (1.0 if G.is_directed() else 2.0)  # paths from the sample to anywhere, each once
    if n > 2:
        targets = n - 2 if normalized else (1.0 if G.is_directed() else 2.0)
        whole = 1.0 if normalized else n - 1.0
        scale = np.full(n, whole / (k * targets))  # for k=0 the ZeroDivisionError that NetworkX raises
        scale[sampled] = whole / ((k - 1) * targets) if k > 1 else math.nan  # a node is no end of its own paths
        score = score * scale
    return dict(zip(G.nodes, score.tolist(), strict=True))
