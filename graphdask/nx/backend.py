"""What NetworkX loads as the backend `graphdask`: its functions by name, and the conventions of a backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# the modules that offer functions; of these names some are those of functions
import graphdask.nx.blocks
import graphdask.nx.centrality
import graphdask.nx.communities
import graphdask.nx.components
import graphdask.nx.cores
import graphdask.nx.distances
import graphdask.nx.iterations
import graphdask.nx.paths
import graphdask.nx.similarity
import graphdask.nx.spanning
import graphdask.nx.subgraphs
import graphdask.nx.triangles  # noqa: F401
from graphdask.nx.graph import convert_from_nx, convert_to_nx
from graphdask.nx.offered import OFFERS, can_run, should_run
from graphdask.nx.suite import on_start_tests

__all__ = ["can_run", "convert_from_nx", "convert_to_nx", "on_start_tests", "should_run"]
__all__ += list(OFFERS)


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in OFFERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return OFFERS[name].function
