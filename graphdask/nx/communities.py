"""NetworkX's modularity, of undirected graphs.

Louvain, Leiden and label propagation are not offered: they find other communities than NetworkX's, as good as those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, ValuesView
from typing import Any

import networkx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition

from graphdask.algorithms.modularity import MOST_RESOLUTION
from graphdask.algorithms.modularity import modularity as run_modularity
from graphdask.errors import InputError
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered


def _refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["G"].is_directed():
        return "of a directed graph NetworkX tells in- and out-degrees apart; graphdask's modularity is of others"
    if not 0 <= arguments["resolution"] <= MOST_RESOLUTION:
        return f"resolution={arguments['resolution']!r} is not from 0 to {MOST_RESOLUTION:g}"
    if not isinstance(arguments["communities"], list | tuple | set | frozenset | ValuesView | Iterator):
        return "communities= is no list, tuple, set or iterator of sets"
    hash(arguments["weight"])  # raises where NetworkX does something else with what is no name
    return no_function()(arguments)


@offered(
    edges=20_000, converted=5_000, refuses=_refuses, note="Of undirected graphs; weights and resolution are 0 or more."
)
def modularity(G: NxGraph, communities: Any, weight: Any = "weight", resolution: float = 1) -> float:
    if not isinstance(communities, list):
        communities = list(communities)
    members = [G.number(node) for community in communities for node in community if node in G]
    sizes = [len(community) for community in communities]
    if not len(G) == len(set(members)) == sum(sizes):
        raise NotAPartition(G, communities)
    total = G.weights(weight).sum()
    if total == 0:
        lone = networkx.empty_graph(1)
        return networkx.community.modularity.orig_func(lone, [{0}])  # 0, or an error: versions differ
    labels = np.empty(len(G), np.int64)
    labels[members] = np.repeat(np.arange(len(sizes)), sizes)
    try:
        return run_modularity(G.weighted(weight), labels, resolution).modularity
    except InputError as error:  # weights that are negative or infinite
        raise NotImplementedError(str(error)) from None
