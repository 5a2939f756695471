"""NetworkX's PageRank and betweenness centrality, of nodes and of edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.centrality import betweenness
from graphdask.algorithms.components import connected_components
from graphdask.algorithms.edge_betweenness import edge_betweenness
from graphdask.algorithms.ranking import pagerank as run_pagerank
from graphdask.errors import GraphdaskWarning, InputError
from graphdask.graph.construct import from_edges
from graphdask.graph.graph import Graph
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered


def _pagerank_refuses(arguments: Mapping[str, Any]) -> str:
    alpha, most = arguments["alpha"], arguments["max_iter"]
    if not (isinstance(alpha, int | float) and 0 <= alpha < 1):
        return f"alpha={alpha!r} is not in [0, 1)"
    if not (isinstance(most, int) and most >= 1):
        return f"max_iter={most!r} is not a whole number of 1 or more"
    if not (isinstance(arguments["tol"], int | float) and arguments["tol"] >= 0):
        return f"tol={arguments['tol']!r} is not 0 or more"
    return no_function()(arguments)


def _shares(G: NxGraph, given: Any, name: str) -> np.ndarray | None:
    """Weights by node as an array; nodes that are not in the graph count nothing, as in NetworkX."""
    if given is None:
        return None
    values = np.array([given.get(node, 0) for node in G.nodes], np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise NotImplementedError(f"graphdask takes finite values of 0 or more for {name}=")
    return values


def _led_on(G: NxGraph, weight: Any, dangling: np.ndarray) -> Graph:
    """The graph with edges from each node without out-edges to where `dangling` leads, in the same proportions."""
    src, dst = G.src, G.dst
    weights = np.ones(len(src)) if weight is None else G.weights(weight).astype(np.float64)
    if not G.is_directed():
        proper = src != dst
        src, dst = np.concatenate([src, dst[proper]]), np.concatenate([dst, src[proper]])
        weights = np.concatenate([weights, weights[proper]])
    stuck = np.flatnonzero(np.bincount(src, weights, len(G)) == 0)
    ends = np.flatnonzero(dangling)
    if len(stuck) * len(ends) > 4 * (len(G) + len(src)):
        raise NotImplementedError(
            f"dangling= would lead {len(stuck):,} nodes to {len(ends):,} others; graphdask makes edges of them"
        )
    src, dst = np.concatenate([src, np.repeat(stuck, len(ends))]), np.concatenate([dst, np.tile(ends, len(stuck))])
    return from_edges(src, dst, np.concatenate([weights, np.tile(dangling[ends], len(stuck))]), len(G), True)


@offered(edges=20_000, converted=1_000, refuses=_pagerank_refuses, note="Weights are numbers of 0 or more.")
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
    led = _shares(G, None if dangling == personalization else dangling, "dangling")
    if led is not None and led.sum() == 0:
        raise NotImplementedError("graphdask takes values that do not sum to 0 for dangling=")
    if tol == 0:  # no change is below it
        raise networkx.PowerIterationFailedConvergence(max_iter)
    below = math.nextafter(len(G) * tol, 0.0)  # NetworkX stops below it, graphdask at it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphdaskWarning)
            graph = G.weighted(weight) if led is None else _led_on(G, weight, led)
            found = run_pagerank(graph, alpha, max(below, 5e-324), max_iter, personalization=walks, start=start)
    except InputError as error:  # weights that are negative or not finite
        raise NotImplementedError(str(error)) from None
    if not found.converged:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(G.nodes, found.rank.tolist(), strict=True))


def _betweenness_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["endpoints"] and arguments["G"].is_directed():
        return "of a directed graph graphdask does not count how many nodes reach each; endpoints= is true"
    return no_function()(arguments)


def _as_ends(graph: Graph, sampled: np.ndarray) -> np.ndarray:
    """How many paths between a sampled node and another begin or end at each node of an undirected graph."""
    label = connected_components(graph).label
    size, starts = (np.bincount(labels, minlength=len(label)) for labels in (label, label[sampled]))
    ends = starts[label].astype(np.float64)
    ends[sampled] += size[label[sampled]] - 2  # as the start of paths to all others; it ends none of its own
    return ends


def _by_lengths(G: NxGraph, weight: Any) -> Graph:
    """The graph with an attribute as weights, which NetworkX wants above 0; without, for None."""
    if weight is not None and not (G.weights(weight) > 0).all():
        raise NotImplementedError(f"graphdask takes numbers above 0 as {weight!r}: others make shortest paths endless")
    return G.weighted(weight)


def _betweenness(graph: Graph, sources: np.ndarray | None, normalized: bool = False) -> np.ndarray:
    try:
        return betweenness(graph, sources, normalized=normalized).score
    except InputError as error:  # weights that are infinite, or lost in rounding
        raise NotImplementedError(str(error)) from None


@offered(
    edges=500,
    converted=100,
    refuses=_betweenness_refuses,
    note="Weights are above 0; endpoints of undirected graphs; k and seed draw as NetworkX does.",
)
def betweenness_centrality(
    G: NxGraph, k: Any = None, normalized: bool = True, weight: Any = None, endpoints: bool = False, seed: Any = None
) -> dict[Any, float]:
    n, graph = len(G), _by_lengths(G, weight)
    every = k is None or k == n
    if every and not endpoints:
        score = _betweenness(graph, None, bool(normalized)) if n else np.zeros(0)
        return dict(zip(G.nodes, score.tolist(), strict=True))
    numbers = range(n) if every else [G.number(node) for node in seed.sample(G.nodes, k)]
    sampled = np.array(numbers, np.int64)
    score = _betweenness(graph, None if every else sampled) if len(sampled) else np.zeros(n)
    both = 1.0 if G.is_directed() else 2.0
    score = score * both  # paths from the sample to anywhere, each once
    if endpoints:
        score = score + _as_ends(graph, sampled)
        if n > 1:
            score = score * (1 / (len(sampled) * (n - 1)) if normalized else n / (len(sampled) * both))
    elif n > 2:
        targets = n - 2 if normalized else both
        whole = 1.0 if normalized else n - 1.0
        scale = np.full(n, whole / (k * targets))  # for k=0 the ZeroDivisionError that NetworkX raises
        scale[sampled] = whole / ((k - 1) * targets) if k > 1 else math.nan  # a node is no end of its own paths
        score = score * scale
    return dict(zip(G.nodes, score.tolist(), strict=True))


@offered(
    edges=500,
    converted=100,
    refuses=no_function(),
    note="Weights are above 0; k and seed draw as NetworkX does.",
)
def edge_betweenness_centrality(
    G: NxGraph, k: Any = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> dict[Any, float]:
    n, graph = len(G), _by_lengths(G, weight)
    sampled = None if k is None else np.array([G.number(node) for node in seed.sample(G.nodes, k)], np.int64)
    count = n if sampled is None else len(sampled)
    scale = 0.0
    if n > 1:
        scale = 1 / (count * (n - 1)) if normalized else n / (count if G.is_directed() else count * 2)
    score = np.zeros(len(G.src))
    if count and len(G.src):
        try:
            score = edge_betweenness(graph, sampled).score
        except InputError as error:  # weights that are infinite, or lost in rounding
            raise NotImplementedError(str(error)) from None
    score = score * (scale if G.is_directed() else scale * 2)  # paths from the sample to anywhere, each once
    ends = ([G.nodes[number] for number in end.tolist()] for end in (G.src, G.dst))
    keys = () if G.keys is None else (G.keys,)
    return dict(zip(zip(*ends, *keys, strict=True), score.tolist(), strict=True))
