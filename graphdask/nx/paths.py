"""NetworkX's distances and reachable sets, by breadth-first search and delta-stepping.

What names a path or a tree is not here: of equally short ones NetworkX takes what it meets first in the order of the
adjacency, graphdask the smallest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.sssp import sssp
from graphdask.errors import InputError, shown
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered


def hops(
    G: NxGraph, source: Any, against: bool = False, target: int | None = None, limit: int | None = None
) -> np.ndarray:
    """Hops from a node, or to it; -1 where there is no path.

    With a target, given by its number, or a limit the search stops there, and what is beyond has -1 too.
    """
    if source not in G:
        raise networkx.NodeNotFound(f"Source {source} is not in G")
    return bfs(G.reversed() if against else G.plain(), G.number(source), targets=target, depth_limit=limit).depth


def lengths(G: NxGraph, source: Any, weight: Any, against: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Distances from a node, or to it, and whether there is a path."""
    if source not in G:
        raise networkx.NodeNotFound(f"Node {source} not found in graph")
    if weight is None:
        return distances(G, source, weight, against)
    try:
        found = sssp(G.weighted(weight, against), G.number(source))
    except InputError as error:  # a weight is negative or infinite, or a distance too large
        raise NotImplementedError(str(error)) from None
    return found.distance, found.reached


def distances(G: NxGraph, source: Any, weight: Any, against: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The same, in hops for the weight None."""
    if weight is not None:
        return lengths(G, source, weight, against)
    depths = hops(G, source, against)
    return depths, depths >= 0


def _by_distance(G: NxGraph, far: np.ndarray, reached: np.ndarray) -> dict[Any, Any]:
    """Distances by node, the nearest first; Python's numbers."""
    places = np.flatnonzero(reached)
    places = places[np.argsort(far[places], kind="stable")]
    nodes = G.nodes
    return dict(zip([nodes[place] for place in places.tolist()], far[places].tolist(), strict=True))


def within(depths: np.ndarray, cutoff: Any) -> np.ndarray:
    """NetworkX goes on while the level is below the cut-off."""
    if cutoff is None:
        return depths >= 0
    return (depths == 0) | ((depths > 0) & (depths - 1 < cutoff))


def limit_of(cutoff: Any) -> int | None:
    """The last level that NetworkX reaches with a cut-off, if that is a number that bounds levels."""
    bounds = isinstance(cutoff, int | float | np.integer | np.floating) and 0 <= cutoff < 2**31
    return math.ceil(cutoff) if bounds else None


@offered(edges=100_000, converted=10_000)
def single_source_shortest_path_length(G: NxGraph, source: Any, cutoff: Any = None) -> dict[Any, int]:
    depths = hops(G, source, limit=limit_of(cutoff))
    return _by_distance(G, depths, within(depths, cutoff))


@offered(edges=100_000, converted=10_000)
def single_target_shortest_path_length(G: NxGraph, target: Any, cutoff: Any = None) -> dict[Any, int]:
    if target not in G:
        raise networkx.NodeNotFound(f"Target {target} is not in G")
    depths = hops(G, target, against=True, limit=limit_of(cutoff))
    return _by_distance(G, depths, within(depths, cutoff))


def _no_number(arguments: Mapping[str, Any]) -> str:
    distance = arguments["distance"]
    return "" if isinstance(distance, int | np.integer) else f"distance={shown(distance)} is not a whole number"


def _reached(G: NxGraph, source: Any, against: bool) -> set[Any]:
    if source not in G:
        raise networkx.NetworkXError(f"The node {source} is not in the {'digraph' if G.is_directed() else 'graph'}.")
    depths = hops(G, source, against)
    return {G.nodes[place] for place in np.flatnonzero(depths > 0).tolist()}


@offered(edges=100_000, converted=10_000)
def descendants(G: NxGraph, source: Any) -> set[Any]:
    return _reached(G, source, against=False)


@offered(edges=100_000, converted=10_000, note="A breadth-first search against the direction of the edges.")
def ancestors(G: NxGraph, source: Any) -> set[Any]:
    return _reached(G, source, against=True)


@offered(edges=100_000, converted=10_000, refuses=_no_number)
def descendants_at_distance(G: NxGraph, source: Any, distance: Any) -> set[Any]:
    if source not in G:
        raise networkx.NetworkXError(f"The node {source} is not in the graph.")
    depths = hops(G, source)
    return {G.nodes[place] for place in np.flatnonzero((depths >= 0) & (depths == distance)).tolist()}


@offered(
    edges=None, converted=None, note="One search from the source; NetworkX's from both ends is as fast in most graphs."
)
def has_path(G: NxGraph, source: Any, target: Any) -> bool:
    return _hops_between(G, source, target) >= 0


def _hops_between(G: NxGraph, source: Any, target: Any) -> int:
    """Hops from one node to another, -1 where there is no path."""
    for end, name in ((source, "Source"), (target, "Target")):
        if end not in G:
            raise networkx.NodeNotFound(f"{name} {end} is not in G")
    number = G.number(target)
    return int(hops(G, source, target=number)[number])


@offered(edges=20_000, converted=20_000)
def all_pairs_shortest_path_length(G: NxGraph, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    for node in G:
        yield node, single_source_shortest_path_length(G, node, cutoff)


@offered(
    edges=20_000, converted=2_000, refuses=no_function(), note="By delta-stepping; weights are numbers of 0 or more."
)
def single_source_dijkstra_path_length(
    G: NxGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    far, reached = lengths(G, source, weight)
    if cutoff is not None:
        reached = reached & (far <= cutoff)
        reached[G.number(source)] = True
    return _by_distance(G, far, reached)


@offered(
    edges=2_000, converted=2_000, refuses=no_function(), note="By delta-stepping; weights are numbers of 0 or more."
)
def all_pairs_dijkstra_path_length(
    G: NxGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    for node in G:
        yield node, single_source_dijkstra_path_length(G, node, cutoff, weight)


def _length(G: NxGraph, source: Any, target: Any, weight: Any, no_path: str) -> Any:
    """Distance between two nodes; where there is none, an error of these words."""
    if source == target:
        return 0
    far, reached = lengths(G, source, weight)
    if target not in G or not reached[G.number(target)]:
        raise networkx.NetworkXNoPath(no_path)
    return far[G.number(target)].item()


@offered(
    edges=20_000, converted=2_000, refuses=no_function(), note="By delta-stepping; weights are numbers of 0 or more."
)
def dijkstra_path_length(G: NxGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    if source not in G:
        raise networkx.NodeNotFound(f"Node {source} not found in graph")
    return _length(G, source, target, weight, f"Node {target} not reachable from {source}")


@offered(
    edges=20_000, converted=2_000, refuses=no_function(), note="By delta-stepping; weights are numbers of 0 or more."
)
def single_source_bellman_ford_path_length(G: NxGraph, source: Any, weight: Any = "weight") -> dict[Any, Any]:
    if source not in G:
        raise networkx.NodeNotFound(f"Source {source} not in G")
    return _by_distance(G, *lengths(G, source, weight))


@offered(
    edges=20_000, converted=2_000, refuses=no_function(), note="By delta-stepping; weights are numbers of 0 or more."
)
def bellman_ford_path_length(G: NxGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    if source not in G:
        raise networkx.NodeNotFound(
            f"Node {source} not found in graph" if source == target else f"Source {source} not in G"
        )
    return _length(G, source, target, weight, f"node {target} not reachable from {source}")


def _all_lengths_refused(arguments: Mapping[str, Any]) -> str:
    if arguments["source"] is None and arguments["target"] is None and arguments["method"] == "bellman-ford":
        return "graphdask has no bellman-ford of all pairs"
    return no_function()(arguments)


@offered(edges=None, converted=None, refuses=_all_lengths_refused, note="Weights are numbers of 0 or more.")
def shortest_path_length(
    G: NxGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        return all_pairs_shortest_path_length(G) if weight is None else all_pairs_dijkstra_path_length(G, None, weight)
    if source is None or target is None:
        given = target if source is None else source
        if weight is not None and method == "bellman-ford" and given not in G:
            raise networkx.NodeNotFound(f"Source {given} not in G")
        return _by_distance(G, *distances(G, given, weight, against=source is None))
    if weight is not None:
        return (dijkstra_path_length if method == "dijkstra" else bellman_ford_path_length)(G, source, target, weight)
    found = _hops_between(G, source, target)
    if found < 0:
        raise networkx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found
