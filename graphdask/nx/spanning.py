"""NetworkX's minimum and maximum spanning edges and trees, by Kruskal's order of the edges.

NetworkX sorts edges by weight, and leaves those of equal weights in the order of the graph, which is that of the rows
by which `gd.minimum_spanning_forest` orders them. So both choose the same edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.spanning_forest import minimum_spanning_forest
from graphdask.graph.construct import from_edges
from graphdask.nx.graph import NxGraph, convert_to_nx
from graphdask.nx.offered import MOST, offered
from graphdask.nx.subgraphs import class_refuses


def _refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["algorithm"] != "kruskal":
        return "the order of the edges is that of algorithm='kruskal'"
    return ""


def _tree_refuses(arguments: Mapping[str, Any]) -> str:
    return _refuses(arguments) or class_refuses(arguments)


def _chosen(G: NxGraph, weight: Any, ignore_nan: bool, sign: int) -> np.ndarray:
    """Numbers of the edges of the forest whose weights times `sign` are least, in the order of these."""
    if G.is_directed():
        raise networkx.NetworkXNotImplemented("not implemented for directed type")
    weights = G.weights(weight)
    if (np.abs(weights[np.isfinite(weights)].astype(np.float64)) > MOST).any():
        raise NotImplementedError(f"graphdask takes {weight!r} between -2**53 and 2**53, where floats are exact")
    missing = np.isnan(weights)
    if missing.any() and not ignore_nan:
        row = int(np.argmax(missing))
        raise ValueError(f"NaN found as an edge weight. Edge {_edge(G, row, True, {weight: weights[row].item()})}")
    rows = np.flatnonzero(~missing)
    graph = from_edges(G.src[rows], G.dst[rows], sign * weights[rows], len(G), False)
    rows = rows[minimum_spanning_forest(graph).row]
    return rows[np.argsort(sign * weights[rows], kind="stable")]


def _edge(G: NxGraph, row: int, keys: bool, data: dict[Any, Any] | None) -> tuple[Any, ...]:
    """An edge as NetworkX lists it: its key if wanted, and its attributes, those of `data` if it has kept none."""
    key = (G.keys[row],) if keys and G.keys is not None else ()
    kept = () if data is None else (data if G.data is None else G.data[row],)
    return (G.nodes[G.src[row]], G.nodes[G.dst[row]], *key, *kept)


def _edges(G: NxGraph, weight: Any, keys: bool, data: bool, ignore_nan: bool, sign: int) -> Iterator[tuple[Any, ...]]:
    for row in _chosen(G, weight, ignore_nan, sign).tolist():
        yield _edge(G, row, keys, {} if data else None)


def _tree(G: NxGraph, weight: Any, ignore_nan: bool, sign: int) -> Any:
    return convert_to_nx(G.induced(np.ones(len(G), bool), _chosen(G, weight, ignore_nan, sign)))


@offered(edges=10_000, converted=5_000, refuses=_refuses, note="By Kruskal's order of the edges.")
def minimum_spanning_edges(
    G: NxGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    return _edges(G, weight, keys, data, ignore_nan, 1)


@offered(edges=10_000, converted=5_000, refuses=_refuses, note="By Kruskal's order of the edges.")
def maximum_spanning_edges(
    G: NxGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    return _edges(G, weight, keys, data, ignore_nan, -1)


@offered(edges=50_000, converted=20_000, refuses=_tree_refuses, note="By Kruskal's order of the edges.")
def minimum_spanning_tree(
    G: NxGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return _tree(G, weight, ignore_nan, 1)


@offered(edges=50_000, converted=20_000, refuses=_tree_refuses, note="By Kruskal's order of the edges.")
def maximum_spanning_tree(
    G: NxGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return _tree(G, weight, ignore_nan, -1)
