"""Sampling and random walks: `gd.sample.random_walk(G, starts, length)` and its kin.

Walks and neighbourhoods are drawn from graphs on disk too, `gd.stream.open(path, memory=...)`, and are those in memory.

Source: Pandey et al., c-saw: A Framework for Graph Sampling and Random Walk on GPUs.
"""

from importlib import import_module as _import_module

from graphdask.interface.suggest import no_attribute as _no_attribute
from graphdask.interface.suggest import suggesting as _suggesting

_HOME: dict[str, str] = {
    "Chunks": "chunks",
    "ClusterLoader": "cluster_loader",
    "Frontiers": "frontier",
    "HGTLoader": "hgt_loader",
    "LinkNeighborLoader": "link_loader",
    "NegativeSampling": "_negatives",
    "NeighborLoader": "neighbor_loader",
    "Neighborhoods": "neighborhoods",
    "SampledEdges": "steps",
    "PersonalizedPageRank": "pagerank",
    "SaintSubgraphs": "saint",
    "Samples": "result",
    "ShaDowLoader": "shadow_loader",
    "Spec": "spec",
    "Streamed": "streamed",
    "TypedLinkNeighborLoader": "typed_link_loader",
    "TypedNeighborLoader": "typed_loader",
    "TypedNeighborhoods": "typed",
    "Walks": "walkers",
    "forest_fire": "hops",
    "frontier_sampling": "frontier",
    "in_chunks": "chunks",
    "layer": "layers",
    "metapath_walk": "metapath",
    "metropolis_hastings": "walks",
    "neighbors": "hops",
    "node2vec": "second_order",
    "personalized_pagerank": "pagerank",
    "random_edges": "one_pass",
    "random_nodes": "one_pass",
    "random_walk": "walks",
    "random_walk_with_jump": "walks",
    "random_walk_with_restart": "walks",
    "run": "framework",
    "saint_edges": "saint",
    "saint_nodes": "saint",
    "saint_walks": "saint",
    "snowball": "hops",
    "temporal_neighbors": "temporal",
}
"""Public names, and the modules that have them; these are loaded on first use."""

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise _no_attribute(__name__, name, __all__)
    value = _suggesting(getattr(_import_module(f"graphdask.sample.{_HOME[name]}"), name), __name__, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
