"""What NetworkX says of the backend in its documentation; loaded with NetworkX, so nothing heavy is imported."""

from __future__ import annotations

from typing import Any

NOTES = {
    "ancestors": "A breadth-first search against the direction of the edges.",
    "average_clustering": "Of undirected graphs, without weights.",
    "betweenness_centrality": "Without weights and endpoints; k and seed draw the nodes that NetworkX draws.",
    "clustering": "Of undirected graphs, without weights.",
    "connected_components": "",
    "core_number": "Of undirected graphs.",
    "descendants": "",
    "descendants_at_distance": "",
    "dijkstra_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "Weights are numbers of 0 or more; `dangling` is left out or equal to `personalization`.",
    "single_source_dijkstra_path_length": "By delta-stepping; weights are numbers of 0 or more.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "strongly_connected_components": "The components come in the order of their first nodes.",
    "transitivity": "Of undirected graphs.",
    "triangles": "",
    "weakly_connected_components": "",
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
