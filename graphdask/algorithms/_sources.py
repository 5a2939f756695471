"""Vertices from which paths are looked for: all, some that are given, or some that are drawn; and the scaling of what
was summed over them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import GraphdaskWarning, InputError, outside, shown
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import checked_seed, whole_or_none
from graphdask.interface.parameters import ERRORS, SHARED, F, described
from graphdask.partition.given import given_array
from graphdask.partition.part import Part


def chosen_sources(G: Graph, sources: Any, seed: Any) -> tuple[list[int], bool]:
    """Numbers of the sources, and whether they were drawn and stand for all vertices."""
    n, key = G.num_vertices, 0 if seed is None else checked_seed(seed)
    if sources is None:
        _refuse_seed(seed, "every vertex is a source")
        return list(range(n)), False
    given = given_array("sources", sources)
    count = None if given.ndim else whole_or_none(sources)
    if given.ndim > 1 or (not given.ndim and count is None):
        raise InputError(f"sources={shown(sources)} is neither a number of vertices nor a list of them")
    if count is not None:
        if not 1 <= count <= n:
            raise InputError(f"sources={shown(count)} is not a number of vertices between 1 and {n:,}")
        drawn = np.random.Generator(np.random.Philox(key=key)).choice(n, count, replace=False)
        return np.sort(drawn).tolist(), True
    _refuse_seed(seed, "these are the sources")
    if not given.size:
        raise InputError("sources is empty; give at least one vertex, or None for all")
    numbers = G.ids.to_internal(given, "source")
    order = np.argsort(numbers, kind="stable")
    again = order[1:][np.diff(numbers[order]) == 0]
    if len(again):
        raise InputError(f"source {given[again.min()]} is given twice")
    return numbers.tolist(), False


def warn_of_one_source(G: Graph, chosen: list[int]) -> None:
    """Warn that nothing is known about the only source that was drawn."""
    warnings.warn(
        f"the score of vertex {G.ids.to_caller(np.array(chosen))[0]}, the only source, cannot be estimated and is 0; "
        f"use 2 sources or more",
        GraphdaskWarning,
        stacklevel=outside(),
    )


def given_vertices(G: Graph, name: str, vertices: Any, what: str) -> np.ndarray:
    """Return the numbers of one vertex, or of a list or array of them, int64; `what` is a vertex in messages."""
    given = given_array(name, vertices)
    if given.ndim > 1:
        raise InputError(f"{name}={shown(vertices)} is neither a vertex nor a list of them")
    if not given.size:
        raise InputError(f"{name} is empty; give at least one vertex")
    return G.ids.to_internal(given.reshape(-1) if given.ndim else vertices, what).reshape(-1)


def given_sources(G: Graph, source: Any) -> tuple[int, ...]:
    """Return the numbers of a source, or of several, which must be distinct."""
    numbers = given_vertices(G, "source", source, "source")
    if len(numbers) == 1:
        return (int(numbers[0]),)
    first, counts = np.unique(numbers, return_counts=True)
    if len(first) < len(numbers):
        twice = G.ids.to_caller(first[counts > 1][:1])[0]
        raise InputError(f"source {twice} is given twice; leave one of them out")
    return tuple(numbers.tolist())


def given_targets(G: Graph, targets: Any) -> tuple[int, ...]:
    """Return the distinct numbers of targets, in ascending order; none for None."""
    if targets is None:
        return ()
    return tuple(np.unique(given_vertices(G, "targets", targets, "target")).tolist())


def scale_sums(
    part: Part, env: Environment, sums: Array, sources: Sequence[int], scale: float, of_sources: float
) -> None:
    """Multiply the sums of own vertices by `scale`, and those of sources by `of_sources`, in place."""
    if of_sources == scale:
        sums *= scale
        return
    places = (part.vertex_map.locate(source) for source in sources)
    own = env.backend.from_host(np.array([local for rank, local in places if rank == part.rank], np.int64))
    unscaled = sums[own]
    sums *= scale
    sums[own] = unscaled * of_sources


def _refuse_seed(seed: Any, why: str) -> None:
    """Raise InputError for a seed where no source is drawn."""
    if seed is not None:
        raise InputError(f"seed={shown(seed)} is of the draw of sources=k, a number of them; {why}, so leave seed= out")


SOURCES = """
seed : int, optional
    Of the draw of `sources=k`, 0 to 2**64 - 1; refused where none are drawn. Default: 0.
progress : bool, optional
    Show a progress bar: how many sources are done of all, and the time left. Default: in a terminal or a notebook.
"""
SOURCES_ERRORS = """
VertexNotFound
    If a source is not a vertex.
"""


def of_sources(function: F, shared: str, errors: str) -> F:
    """Add to the docstring of a function that searches from sources what it shares with others."""
    return described(function, shared + SOURCES + SHARED, SOURCES_ERRORS + errors + ERRORS)
