"""What functions of subgraphs are given, checked: sets of vertices, and whether rows of edges are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.arrays import is_array
from graphdask.errors import VerificationError
from graphdask.graph.graph import Graph
from graphdask.partition.given import given_array
from graphdask.sample.hops import checked_seeds
from graphdask.sample.sampler import checked_edge_rows


def given_sets(G: Graph, name: str, vertices: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Numbers of the vertices of all sets, and where those of each begin; None if they are one array."""
    single = isinstance(vertices, int | str | np.generic) or (
        is_array(vertices) and not given_array(name, vertices).ndim
    )
    flat, bounds = checked_seeds(G, given_array(name, vertices).reshape(1) if single else vertices, name)
    return flat.astype(np.int64), bounds


def ascending(flat: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of each set, ascending and once, and where those of each begin."""
    instance = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((flat, instance))
    flat, instance = flat[order], instance[order]
    first = (np.diff(flat, prepend=-1) != 0) | (np.diff(instance, prepend=-1) != 0)
    return flat[first], np.searchsorted(instance[first], np.arange(len(bounds)))


def same_members(result: Any, members: np.ndarray, bounds: np.ndarray) -> None:
    """Raise VerificationError if these are not the vertices that a result has."""
    if not (np.array_equal(result.sampler.members, members) and np.array_equal(result.sampler.bounds, bounds)):
        raise VerificationError(f"{result.sampler.name}: its vertices are not those that its definition gives")


def check_edge_rows(G: Graph, edge_rows: Any) -> None:
    """Raise Unsupported if the rows of edges are asked for and a graph on disk has none, before any work."""
    if checked_edge_rows(edge_rows) and hasattr(G.source, "check_edge_rows"):
        G.source.check_edge_rows()
