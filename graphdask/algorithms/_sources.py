"""Vertices from which paths are looked for: all, some that are given, or some that are drawn; and the scaling of what
was summed over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import checked_seed, whole_or_none
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
    numbers = [int(G.ids.to_internal(source, "source")) for source in given]
    if len(set(numbers)) < len(numbers):
        twice = next(source for k, source in enumerate(given) if numbers[k] in numbers[:k])
        raise InputError(f"source {twice} is given twice")
    if not numbers:
        raise InputError("sources is empty; give at least one vertex, or None for all")
    return numbers, False


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
