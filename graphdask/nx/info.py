"""What NetworkX says of the backend in its documentation; loaded with NetworkX, so nothing heavy is imported."""

from __future__ import annotations

from typing import Any

NOTES = {
    "all_pairs_dijkstra_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "all_pairs_shortest_path_length": "",
    "ancestors": "A breadth-first search against the direction of the edges.",
    "attracting_components": "The components come in the order of their first nodes.",
    "average_clustering": "Of undirected graphs, without weights.",
    "average_shortest_path_length": "A search per node; weights are numbers of 0 or more.",
    "bellman_ford_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "betweenness_centrality": "Weights are above 0; endpoints of undirected graphs; k and seed draw as NetworkX does.",
    "center": "A search per node: not of trees, nor with usebounds=True.",
    "closeness_centrality": "A search per node; distances are numbers of 0 or more.",
    "clustering": "Of undirected graphs, without weights.",
    "connected_components": "",
    "core_number": "Of undirected graphs.",
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": "A search per node: not with usebounds=True.",
    "dijkstra_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "eccentricity": "A search per node; weights are numbers of 0 or more.",
    "global_efficiency": "A search per node.",
    "harmonic_centrality": "A search per node; distances are numbers of 0 or more.",
    "has_path": "One search from the source; NetworkX's from both ends is as fast in most graphs.",
    "is_attracting_component": "",
    "is_connected": "",
    "is_directed_acyclic_graph": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "k_core": "Of undirected graphs.",
    "k_corona": "Of undirected graphs.",
    "k_crust": "Of undirected graphs.",
    "k_shell": "Of undirected graphs.",
    "node_connected_component": "",
    "number_attracting_components": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "Weights are numbers of 0 or more.",
    "periphery": "A search per node: not with usebounds=True.",
    "radius": "A search per node: not with usebounds=True.",
    "shortest_path_length": "Weights are numbers of 0 or more.",
    "single_source_bellman_ford_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "single_source_dijkstra_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "strongly_connected_components": "The components come in the order of their first nodes.",
    "transitivity": "Of undirected graphs.",
    "triangles": "",
    "weakly_connected_components": "",
    "wiener_index": "A search per node; weights are numbers of 0 or more.",
}
"""For each function, what is to be known besides NetworkX's own documentation."""


def get_info() -> dict[str, Any]:
    """The facts of the entry point `networkx.backend_info`."""
    return {
        "backend_name": "graphdask",
        "project": "graphdask",
        "package": "graphdask",
        "short_summary": "CPU cores, GPUs or the workers of the open Dask client; the same answer on each.",
        "default_config": {},
        "functions": {name: {"additional_docs": note} if note else {} for name, note in NOTES.items()},
    }
