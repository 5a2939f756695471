"""NetworkX's ego graphs and trusses; they come back as NetworkX's own graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.nx.graph import NxGraph, convert_to_nx
from graphdask.nx.offered import no_function, offered
from graphdask.nx.paths import hops, lengths, limit_of, within
from graphdask.subgraphs.truss import k_truss as run_k_truss

_KINDS = (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph, NxGraph)


def class_refuses(arguments: Mapping[str, Any]) -> str:
    if type(arguments["G"]) not in _KINDS:
        return "the subgraph is of a class of its own, which graphdask does not make"
    return ""


def _ego_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["undirected"] and arguments["distance"] is not None and arguments["G"].is_directed():
        return "of two edges in opposite directions NetworkX takes the distance of either"
    return class_refuses(arguments) or no_function("distance")(arguments)


@offered(edges=100_000, converted=20_000, refuses=_ego_refuses)
def ego_graph(
    G: NxGraph, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> Any:
    if distance is not None:
        far, reached = lengths(G, n, distance)
        kept = reached if radius is None else reached & (far <= radius)
    elif undirected and n in G:
        kept = within(bfs(G.plain().to_undirected(), G.number(n), depth_limit=limit_of(radius)).depth, radius)
    else:
        kept = within(hops(G, n, limit=limit_of(radius)), radius)
    kept = np.array(kept)
    kept[G.number(n)] = center
    return convert_to_nx(G.induced(kept))


def _truss_refuses(arguments: Mapping[str, Any]) -> str:
    if not isinstance(arguments["k"], int):
        return "k is not a whole number"
    return class_refuses(arguments)


@offered(edges=5_000, converted=1_000, refuses=_truss_refuses)
def k_truss(G: NxGraph, k: Any) -> Any:
    if G.is_directed() or G.is_multigraph():
        kind = "directed" if G.is_directed() else "multigraph"
        raise networkx.NetworkXNotImplemented(f"not implemented for {kind} type")
    if (G.src == G.dst).any():
        raise networkx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    rows = run_k_truss(G.plain(), max(k, 0)).edge
    ends = np.zeros(len(G), bool)
    ends[G.src[rows]] = ends[G.dst[rows]] = True
    return convert_to_nx(G.induced(ends, rows))
