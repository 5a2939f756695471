"""NetworkX's core numbers, and the subgraphs that they give; these come back as NetworkX's own graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.core_number import core_number as run_core_number
from graphdask.nx.graph import NxGraph, convert_to_nx
from graphdask.nx.offered import offered, undirected_only

_KINDS = (networkx.Graph, NxGraph)


def _core_numbers(G: NxGraph) -> np.ndarray:
    if (G.src == G.dst).any():
        raise networkx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return run_core_number(G.plain()).core


def _subgraph_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["core_number"] is not None:
        return "core_number= holds what graphdask would compute"
    if type(arguments["G"]) not in _KINDS and not arguments["G"].is_directed():
        return "the subgraph is of a class of its own, which graphdask does not make"
    return undirected_only("core number")(arguments)


@offered(edges=5_000, converted=1_000, refuses=undirected_only("core number"), note="Of undirected graphs.")
def core_number(G: NxGraph) -> dict[Any, int]:
    return dict(zip(G.nodes, _core_numbers(G).tolist(), strict=True))


@offered(edges=20_000, converted=5_000, refuses=_subgraph_refuses, note="Of undirected graphs.")
def k_core(G: NxGraph, k: Any = None, core_number: Any = None) -> Any:
    core = _core_numbers(G)
    return convert_to_nx(G.induced(core >= (max(core.tolist()) if k is None else k)))


@offered(edges=20_000, converted=5_000, refuses=_subgraph_refuses, note="Of undirected graphs.")
def k_shell(G: NxGraph, k: Any = None, core_number: Any = None) -> Any:
    core = _core_numbers(G)
    return convert_to_nx(G.induced(core == (max(core.tolist()) if k is None else k)))


@offered(edges=20_000, converted=5_000, refuses=_subgraph_refuses, note="Of undirected graphs.")
def k_crust(G: NxGraph, k: Any = None, core_number: Any = None) -> Any:
    core = _core_numbers(G)
    return convert_to_nx(G.induced(core <= (max(core.tolist()) - 1 if k is None else k)))


def _corona_refuses(arguments: Mapping[str, Any]) -> str:
    return "k=None names no core" if arguments["k"] is None else _subgraph_refuses(arguments)


@offered(edges=20_000, converted=5_000, refuses=_corona_refuses, note="Of undirected graphs.")
def k_corona(G: NxGraph, k: Any, core_number: Any = None) -> Any:
    core = _core_numbers(G)
    high = core >= k
    ends = np.concatenate([G.src[high[G.dst]], G.dst[high[G.src]]])
    return convert_to_nx(G.induced((core == k) & (np.bincount(ends, minlength=len(G)) == k)))
