"""NetworkX's distances and reachable sets, by breadth-first search and delta-stepping.

What names a path or a tree is not here: of equally short ones NetworkX takes what it meets first in the order of the
adjacency, graphdask the smallest.
"""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.sssp import sssp
from graphdask.errors import InputError
from graphdask.graph import Graph
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered


def _depths(G: NxGraph, graph: Graph, source: Any) -> np.ndarray:
    return bfs(graph, G.number(source)).depth


def _by_distance(G: NxGraph, distances: np.ndarray, reached: np.ndarray) -> dict[Any, Any]:
    """Distances by node, the nearest first; Python's numbers."""
    places = np.flatnonzero(reached)
    places = places[np.argsort(distances[places], kind="stable")]
    nodes = G.nodes
    return dict(zip([nodes[place] for place in places.tolist()], distances[places].tolist(), strict=True))


def _within(depths: np.ndarray, cutoff: Any) -> np.ndarray:
    """NetworkX goes on while the level is below the cut-off."""
    if cutoff is None:
        return depths >= 0
    return (depths == 0) | ((depths > 0) & (depths - 1 < cutoff))


@offered(edges=100_000, converted=5_000)
def single_source_shortest_path_length(G: NxGraph, source: Any, cutoff: Any = None) -> dict[Any, int]:
    if source not in G:
        raise networkx.NodeNotFound(f"Source {source} is not in G")
    depths = _depths(G, G.plain(), source)
    return _by_distance(G, depths, _within(depths, cutoff))


@offered(edges=100_000, converted=5_000)
def single_target_shortest_path_length(G: NxGraph, target: Any, cutoff: Any = None) -> dict[Any, int]:
    if target not in G:
        raise networkx.NodeNotFound(f"Target {target} is not in G")
    depths = _depths(G, G.reversed(), target)
    return _by_distance(G, depths, _within(depths, cutoff))


def _reached(G: NxGraph, graph: Graph, source: Any) -> set[Any]:
    if source not in G:
        raise networkx.NetworkXError(f"The node {source} is not in the graph.")
    depths = _depths(G, graph, source)
    return {G.nodes[place] for place in np.flatnonzero(depths > 0).tolist()}


@offered(edges=100_000, converted=5_000)
def descendants(G: NxGraph, source: Any) -> set[Any]:
    return _reached(G, G.plain(), source)


@offered(edges=100_000, converted=5_000)
def ancestors(G: NxGraph, source: Any) -> set[Any]:
    return _reached(G, G.reversed(), source)


@offered(edges=100_000, converted=5_000)
def descendants_at_distance(G: NxGraph, source: Any, distance: Any) -> set[Any]:
    if source not in G:
        raise networkx.NetworkXError(f"The node {source} is not in the graph.")
    depths = _depths(G, G.plain(), source)
    return {G.nodes[place] for place in np.flatnonzero((depths >= 0) & (depths == distance)).tolist()}


def _lengths(G: NxGraph, source: Any, weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distances from a source, and whether there is a path."""
    if source not in G:
        raise networkx.NodeNotFound(f"Node {source} not found in graph")
    try:
        found = sssp(G.weighted(weight), G.number(source))
    except InputError as error:  # a weight is negative or infinite, or a distance too large
        raise NotImplementedError(str(error)) from None
    return found.distance, found.reached


@offered(edges=20_000, converted=2_000, refuses=no_function)
def single_source_dijkstra_path_length(
    G: NxGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    distances, reached = _lengths(G, source, weight)
    if cutoff is not None:
        reached = reached & (distances <= cutoff)
        reached[G.number(source)] = True
    return _by_distance(G, distances, reached)


@offered(edges=20_000, converted=2_000, refuses=no_function)
def dijkstra_path_length(G: NxGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    if source not in G:
        raise networkx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    distances, reached = _lengths(G, source, weight)
    if target not in G or not reached[G.number(target)]:
        raise networkx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return distances[G.number(target)].item()
