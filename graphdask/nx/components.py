"""NetworkX's connected, strong and attracting components."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.components import connected_components as run_connected_components
from graphdask.algorithms.strong import strongly_connected_components as run_strongly_connected_components
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import offered


def _sets(G: NxGraph, labels: np.ndarray) -> Iterator[set[Any]]:
    """Nodes of the same label; the sets come in the order of their first nodes, whose numbers the labels are."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    nodes = [G.nodes[place] for place in order.tolist()]
    for start, end in pairwise([*starts.tolist(), len(nodes)]):
        yield set(nodes[start:end])


def _connected(G: NxGraph) -> bool:
    if len(G) == 0:
        raise networkx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return run_connected_components(G.plain()).num_components == 1


@offered(edges=100_000, converted=5_000)
def connected_components(G: NxGraph) -> Iterator[set[Any]]:
    yield from _sets(G, run_connected_components(G.plain()).label)


@offered(edges=100_000, converted=5_000)
def number_connected_components(G: NxGraph) -> int:
    return int(run_connected_components(G.plain()).num_components)


@offered(edges=100_000, converted=5_000)
def is_connected(G: NxGraph) -> bool:
    return _connected(G)


@offered(edges=100_000, converted=5_000)
def node_connected_component(G: NxGraph, n: Any) -> set[Any]:
    depths = bfs(G.plain(), G.number(n)).depth
    return {G.nodes[place] for place in np.flatnonzero(depths >= 0).tolist()}


@offered(edges=100_000, converted=5_000)
def weakly_connected_components(G: NxGraph) -> Iterator[set[Any]]:
    yield from _sets(G, run_connected_components(G.plain()).label)


@offered(edges=100_000, converted=5_000)
def number_weakly_connected_components(G: NxGraph) -> int:
    return int(run_connected_components(G.plain()).num_components)


@offered(edges=100_000, converted=5_000)
def is_weakly_connected(G: NxGraph) -> bool:
    return _connected(G)


@offered(edges=100_000, converted=5_000, note="The components come in the order of their first nodes.")
def strongly_connected_components(G: NxGraph) -> Iterator[set[Any]]:
    yield from _sets(G, run_strongly_connected_components(G.plain()).label)


@offered(edges=100_000, converted=5_000)
def number_strongly_connected_components(G: NxGraph) -> int:
    return int(run_strongly_connected_components(G.plain()).num_components)


@offered(edges=100_000, converted=5_000)
def is_strongly_connected(G: NxGraph) -> bool:
    if len(G) == 0:
        raise networkx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_strongly_connected_components(G) == 1


def _attracting(G: NxGraph) -> tuple[np.ndarray, np.ndarray]:
    """The strong component of each node, and whether no edge leaves it; by the first nodes of components."""
    labels = run_strongly_connected_components(G.plain()).label
    closed = np.bincount(labels, minlength=len(G)) > 0
    leaving = labels[G.src] != labels[G.dst]
    closed[labels[G.src[leaving]]] = False
    return labels, closed


@offered(edges=50_000, converted=5_000, note="The components come in the order of their first nodes.")
def attracting_components(G: NxGraph) -> Iterator[set[Any]]:
    labels, closed = _attracting(G)
    yield from (nodes for nodes in _sets(G, labels) if closed[labels[G.number(next(iter(nodes)))]])


@offered(edges=50_000, converted=5_000)
def number_attracting_components(G: NxGraph) -> int:
    return int(_attracting(G)[1].sum())


@offered(edges=50_000, converted=5_000)
def is_attracting_component(G: NxGraph) -> bool:
    return len(G) > 0 and number_strongly_connected_components(G) == 1


@offered(edges=200_000, converted=20_000)
def is_directed_acyclic_graph(G: NxGraph) -> bool:
    return G.is_directed() and not (G.src == G.dst).any() and number_strongly_connected_components(G) == len(G)
