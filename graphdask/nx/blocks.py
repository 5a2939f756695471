"""NetworkX's articulation points, bridges and biconnected components."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.articulation import articulation_points as run_articulation_points
from graphdask.algorithms.biconnected import biconnected_components as run_biconnected_components
from graphdask.algorithms.bridges import bridges as run_bridges
from graphdask.algorithms.components import connected_components
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import offered


@offered(edges=20_000, converted=10_000, note="The points come in the order of the nodes.")
def articulation_points(G: NxGraph) -> Iterator[Any]:
    for place in np.flatnonzero(run_articulation_points(G.plain()).articulation).tolist():
        yield G.nodes[place]


def _bridges(G: NxGraph, root: Any) -> np.ndarray:
    """Numbers of the edges that are bridges, in the component of the root unless that is None."""
    if root is not None and root not in G:
        raise networkx.NodeNotFound(f"Root node {root} is not in graph")
    rows = run_bridges(G.plain()).row
    if root is None:
        return rows
    label = connected_components(G.plain()).label
    return rows[label[G.src[rows]] == label[G.number(root)]]


@offered(edges=2_000, converted=1_000)
def bridges(G: NxGraph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    for row in _bridges(G, root).tolist():
        yield G.nodes[G.src[row]], G.nodes[G.dst[row]]


@offered(edges=2_000, converted=1_000)
def has_bridges(G: NxGraph, root: Any = None) -> bool:
    return len(_bridges(G, root)) > 0


def _groups(labels: np.ndarray) -> Iterator[list[int]]:
    """Places of equal labels, by label."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1)).tolist()
    places = order.tolist()
    for start, end in pairwise([*starts, len(places)]):
        yield places[start:end]


@offered(edges=20_000, converted=20_000, note="The components come in no particular order.")
def biconnected_components(G: NxGraph) -> Iterator[set[Any]]:
    labels, numbers = run_biconnected_components(G.plain()).memberships()
    for group in _groups(labels):
        yield {G.nodes[number] for number in numbers[group].tolist()}


def _has_leaf(G: Any) -> str:
    """Why NetworkX decides whether a graph is biconnected: it stops at the second block."""
    if len(G) > 2 and any(degree < 2 for _, degree in G.degree):
        return "a node has fewer than two edges, so that NetworkX stops at the second block"
    return ""


@offered(edges=100_000, converted=20_000, leaves=_has_leaf)
def is_biconnected(G: NxGraph) -> bool:
    others = G.src != G.dst
    degree = np.bincount(G.src[others], minlength=len(G)) + np.bincount(G.dst[others], minlength=len(G))
    if len(G) > 2 and degree.min() < 2:
        return False
    labels, numbers = run_biconnected_components(G.plain()).memberships()
    return len(numbers) == len(G) > 0 and bool((labels == labels[0]).all())


@offered(
    edges=20_000,
    converted=20_000,
    note="The components come in no particular order, and edges in the order of the graph; without self-loops.",
)
def biconnected_component_edges(G: NxGraph) -> Iterator[list[tuple[Any, Any]]]:
    if (G.src == G.dst).any():
        raise NotImplementedError("NetworkX lists self-loops but those where its searches begin; graphdask lists none")
    labels = run_biconnected_components(G.plain()).edge_label
    rows = np.unique(G.src * len(G) + G.dst, return_index=True)[1] if G.is_multigraph() else np.arange(len(labels))
    rows = np.sort(rows)
    for group in _groups(labels[rows]):
        yield [(G.nodes[G.src[row]], G.nodes[G.dst[row]]) for row in rows[group].tolist()]
