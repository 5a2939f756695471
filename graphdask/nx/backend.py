"""What NetworkX loads as the backend `graphdask`: its functions by name, and the conventions of a backend."""

from __future__ import annotations

from graphdask.nx.centrality import betweenness_centrality, pagerank
from graphdask.nx.components import (
    connected_components,
    core_number,
    is_connected,
    is_strongly_connected,
    is_weakly_connected,
    node_connected_component,
    number_connected_components,
    number_strongly_connected_components,
    number_weakly_connected_components,
    strongly_connected_components,
    weakly_connected_components,
)
from graphdask.nx.graph import convert_from_nx, convert_to_nx
from graphdask.nx.offered import can_run, should_run
from graphdask.nx.paths import (
    ancestors,
    descendants,
    descendants_at_distance,
    dijkstra_path_length,
    single_source_dijkstra_path_length,
    single_source_shortest_path_length,
    single_target_shortest_path_length,
)
from graphdask.nx.suite import on_start_tests
from graphdask.nx.triangles import average_clustering, clustering, transitivity, triangles

__all__ = [
    "ancestors",
    "average_clustering",
    "betweenness_centrality",
    "can_run",
    "clustering",
    "connected_components",
    "convert_from_nx",
    "convert_to_nx",
    "core_number",
    "descendants",
    "descendants_at_distance",
    "dijkstra_path_length",
    "is_connected",
    "is_strongly_connected",
    "is_weakly_connected",
    "node_connected_component",
    "number_connected_components",
    "number_strongly_connected_components",
    "number_weakly_connected_components",
    "on_start_tests",
    "pagerank",
    "should_run",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path_length",
    "single_target_shortest_path_length",
    "strongly_connected_components",
    "transitivity",
    "triangles",
    "weakly_connected_components",
]
