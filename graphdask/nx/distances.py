"""What NetworkX says of all distances of a graph: eccentricities, means, efficiency, closeness; a search per node.

Closeness by hops of all nodes searches from many nodes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.distances import closeness_centrality as run_closeness
from graphdask.algorithms.distances import harmonic_centrality as run_harmonic
from graphdask.nx.components import is_connected, is_strongly_connected
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered
from graphdask.nx.paths import distances, hops


def _eccentricity_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["sp"] is not None:
        return "sp= holds what graphdask would compute"
    return no_function()(arguments)


def _closeness_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["sp"] is not None:  # since NetworkX 3.7
        return "sp= holds what graphdask would compute"
    return no_function("distance")(arguments)


def _extreme_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["e"] is not None:
        return "e= holds what graphdask would compute"
    if arguments["usebounds"] is True and not arguments["G"].is_directed():
        return "with usebounds=True NetworkX searches from a few nodes, graphdask from all"
    return no_function()(arguments)


def _center_refuses(arguments: Mapping[str, Any]) -> str:
    G = arguments["G"]
    if not G.is_directed() and arguments["weight"] is None and G.number_of_edges() <= len(G) - 1:
        return "NetworkX finds the centre of a tree without a search"
    return _extreme_refuses(arguments)


@offered(
    edges=10_000,
    converted=10_000,
    refuses=_eccentricity_refuses,
    note="A search per node; weights are numbers of 0 or more.",
)
def eccentricity(G: NxGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    if len(G) == 0:
        return networkx.eccentricity.orig_func(networkx.Graph(), v)  # nothing, or an error: versions differ
    found = {}
    for number in G.numbers_of(v):
        node = G.nodes[number]
        far, reached = distances(G, node, weight)
        if not reached.all():
            what = "digraph is not strongly connected" if G.is_directed() else "graph is not connected"
            raise networkx.NetworkXError(f"Found infinite path length because the {what}")
        found[node] = far.max().item()
    return found[v] if v in G else found


@offered(edges=10_000, converted=10_000, refuses=_extreme_refuses, note="A search per node: not with usebounds=True.")
def diameter(G: NxGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max(eccentricity(G, weight=weight).values())


@offered(edges=10_000, converted=10_000, refuses=_extreme_refuses, note="A search per node: not with usebounds=True.")
def radius(G: NxGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min(eccentricity(G, weight=weight).values())


@offered(edges=10_000, converted=10_000, refuses=_extreme_refuses, note="A search per node: not with usebounds=True.")
def periphery(G: NxGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    return _nodes_at(eccentricity(G, weight=weight), max)


@offered(
    edges=10_000,
    converted=10_000,
    refuses=_center_refuses,
    note="A search per node: not of trees, nor with usebounds=True.",
)
def center(G: NxGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    if len(G) == 0:  # raises what this version of NetworkX raises
        empty = networkx.DiGraph() if G.is_directed() else networkx.Graph()
        return networkx.center(empty, weight=weight, backend="networkx")
    return _nodes_at(eccentricity(G, weight=weight), min)


def _nodes_at(eccentricities: dict[Any, Any], choose: Callable[[Any], Any]) -> list[Any]:
    chosen = choose(eccentricities.values())
    return [node for node, value in eccentricities.items() if value == chosen]


def _total(found: Iterator[tuple[np.ndarray, np.ndarray]]) -> Any:
    """The sum of distances, in Python's numbers."""
    return sum(far[reached].sum().item() for far, reached in found)


def _average_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["method"] in ("floyd-warshall", "floyd-warshall-numpy"):
        return "graphdask has no method of Floyd and Warshall"
    return no_function()(arguments)


@offered(
    edges=10_000,
    converted=10_000,
    refuses=_average_refuses,
    note="A search per node; weights are numbers of 0 or more.",
)
def average_shortest_path_length(G: NxGraph, weight: Any = None, method: Any = None) -> Any:
    if method not in (None, "unweighted", "dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise networkx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    if not (is_strongly_connected if G.is_directed() else is_connected)(G):
        raise networkx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    by = None if method == "unweighted" else weight
    return _total(distances(G, node, by) for node in G) / (n * (n - 1))


@offered(
    edges=10_000, converted=10_000, refuses=no_function(), note="A search per node; weights are numbers of 0 or more."
)
def wiener_index(G: NxGraph, weight: Any = None) -> Any:
    if not (is_strongly_connected if G.is_directed() else is_connected)(G):
        return float("inf")
    total = _total(distances(G, node, weight) for node in G)
    return total if G.is_directed() else total / 2


@offered(edges=10_000, converted=10_000, note="A search per node.")
def global_efficiency(G: NxGraph) -> Any:
    n = len(G)
    if n < 2:
        return 0
    near = (depths[depths > 0] for depths in (hops(G, node) for node in G))
    return sum((1 / depths).sum().item() for depths in near) / (n * (n - 1))


@offered(
    edges=10_000,
    converted=10_000,
    refuses=_closeness_refuses,
    note="A search per node; distances are numbers of 0 or more.",
)
def closeness_centrality(
    G: NxGraph, u: Any = None, distance: Any = None, wf_improved: bool = True, *, sp: Any = None
) -> Any:
    n, found = len(G), {}
    if u is None and distance is None and n:
        score = run_closeness(G.plain(), wf_improved=bool(wf_improved)).score
        return dict(zip(G.nodes, score.tolist(), strict=True))
    for node in G if u is None else [u]:
        far, reached = distances(G, node, distance, against=True)
        others, total = int(reached.sum()) - 1, far[reached].sum().item()
        closeness = others / total if total > 0 and n > 1 else 0.0
        found[node] = closeness * (others / (n - 1)) if wf_improved and closeness else closeness
    return found if u is None else found[u]


@offered(
    edges=10_000,
    converted=10_000,
    refuses=no_function("distance"),
    note="A search per node; distances are numbers of 0 or more.",
)
def harmonic_centrality(G: NxGraph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> dict[Any, Any]:
    of, by = (sorted(set(G.numbers_of(nodes))) for nodes in (nbunch, sources))
    turned = len(of) < len(by)
    total = np.zeros(len(G))
    if distance is None and not turned and by:
        total = run_harmonic(G.plain(), by).score
        by = []
    for number in of if turned else by:
        far, reached = distances(G, G.nodes[number], distance, against=turned)
        near = reached & (far != 0)
        if turned:
            near = near[by]
            total[number] = (1 / far[by][near]).sum()
        else:
            total[near] += 1 / far[near]
    return {G.nodes[number]: total[number].item() for number in of}
