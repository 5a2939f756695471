"""NetworkX's triangles and what follows from them: clustering coefficients and transitivity, of undirected graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.clustering import local_clustering_coefficient
from graphdask.algorithms.triangles import triangles as run_triangles
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import offered, undirected_only


def _clustering_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["weight"] is not None:
        return "graphdask's clustering coefficients have no weights"
    if arguments["G"].is_directed():
        return "of a directed graph NetworkX counts directed triangles (Fagiolo), graphdask edges among the neighbours"
    return ""


def _no_multigraph(G: NxGraph) -> None:
    if G.is_multigraph():
        raise networkx.NetworkXNotImplemented("not implemented for multigraph type")


def _degrees(G: NxGraph) -> np.ndarray:
    """Numbers of neighbours but the node itself; G has no parallel edges."""
    proper = G.src != G.dst
    ends = np.concatenate([G.src[proper], G.dst[proper]])
    return np.bincount(ends, minlength=len(G))


def _chosen(G: NxGraph, nodes: Any, values: list[Any]) -> Any:
    """The value of a single node, or values by node."""
    if nodes in G:
        return values[G.number(nodes)]
    return {G.nodes[place]: values[place] for place in G.numbers_of(nodes)}


@offered(edges=5_000, converted=1_000)
def triangles(G: NxGraph, nodes: Any = None) -> Any:
    if nodes is None:
        return dict(zip(G.nodes, run_triangles(G.plain()).count.tolist(), strict=True))
    _no_multigraph(G)
    return _chosen(G, nodes, run_triangles(G.plain()).count.tolist())


@offered(edges=5_000, converted=1_000, refuses=_clustering_refuses, note="Of undirected graphs, without weights.")
def clustering(G: NxGraph, nodes: Any = None, weight: Any = None) -> Any:
    _no_multigraph(G)
    return _chosen(G, nodes, local_clustering_coefficient(G.plain()).coefficient.tolist())


@offered(edges=5_000, converted=1_000, refuses=_clustering_refuses, note="Of undirected graphs, without weights.")
def average_clustering(G: NxGraph, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    coefficients = list(clustering(G, nodes).values())
    if not count_zeros:
        coefficients = [value for value in coefficients if abs(value) > 0]
    return sum(coefficients) / len(coefficients)


@offered(edges=5_000, converted=1_000, refuses=undirected_only("transitivity"), note="Of undirected graphs.")
def transitivity(G: NxGraph) -> Any:
    _no_multigraph(G)
    if len(G) == 0:
        return 0
    closed = 2 * int(run_triangles(G.plain()).count.sum())
    degree = _degrees(G)
    return 0 if closed == 0 else closed / int((degree * (degree - 1)).sum())
