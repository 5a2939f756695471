"""The columns of an edge list in one place, where they are checked and numbered: on the GPU that has one of them, on a
GPU of this process if they are many, or on the host.

A GPU checks, numbers and sorts edges many times faster than a core. Many edges of the host go there by a copy, and come
back numbered: a graph keeps its edges where the caller gave them. Weights of the host stay there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.arrays import brought, on_gpu
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.graph.tuning import GRAPH
from graphdask.partition.given import given_where_it_is

EACH = 40
"""Bytes of a GPU's memory for each edge while it is numbered and counted, besides the ids that are given."""
GROUPED = 64
"""Bytes more while parallel edges are grouped."""


@dataclass
class Columns:
    """Columns of an edge list, and what checks and numbers them."""

    backend: Backend
    src: Array
    dst: Array
    weights: Array | None
    vertices: Array | None
    borrowed: bool = False
    """Whether the backend is a GPU that none of them was on, so that what becomes of the ends goes back to the host."""


def columns_given(src: Any, dst: Any, weights: Any, vertices: Any, grouped: bool) -> Columns:
    """Take the columns of a caller; all of them to one place, if one is on a GPU.

    Parameters
    ----------
    src, dst, weights, vertices : array-like
        The last two may be None. Weights are copied, so that the caller may change them.
    grouped : bool
        Whether parallel edges are to be grouped.

    Raises
    ------
    InputError, MissingDependency
        For what is no array.
    """
    ends = given_where_it_is("src", src), given_where_it_is("dst", dst)
    others = [
        None if given is None else given_where_it_is(name, given)
        for name, given in (("weights", weights), ("vertices", vertices))
    ]
    there = next((each for each in (*ends, *others) if each is not None and on_gpu(each)), None)
    cpu = get_backend("cpu")
    if there is None:
        backend = _spare_gpu(ends, grouped)
        weights, vertices = (None if each is None else each.copy() for each in others)
        if backend is None:
            return Columns(cpu, *ends, weights, vertices)
        src, dst = (brought(backend, end) for end in ends)
        return Columns(backend, src, dst, weights, vertices, borrowed=True)
    backend = get_backend("cuda", there.device.id)
    if not all(_whole(end) for end in ends) or not _has_memory(backend, len(ends[0]), EACH + 8 + GROUPED * grouped):
        backend = cpu
    with backend.activate():
        src, dst, *rest = (None if each is None else brought(backend, each) for each in (*ends, *others))
        weights, vertices = rest
        if weights is others[0] and weights is not None:
            weights = weights.copy()
        return Columns(backend, src, dst, weights, vertices)


def _whole(end: Array) -> bool:
    return end.ndim == 1 and end.dtype.kind in "iu"


def _has_memory(backend: Backend, edges: int, each: int) -> bool:
    return edges * each <= backend.free_memory() * Config.load().memory_fraction


def _spare_gpu(ends: tuple[np.ndarray, np.ndarray], grouped: bool) -> Backend | None:
    """The GPU of this process if calls compute on it, the edges are many, and it has memory for them."""
    few = len(ends[0].shape) != 1 or ends[0].shape != ends[1].shape or len(ends[0]) < GRAPH.device_edges
    if few or not all(map(_whole, ends)) or Config.load().device == "cpu" or _has_client():
        return None
    backend = get_backend("auto")
    each = sum(end.itemsize for end in ends) + EACH + (GROUPED + 16) * grouped
    return backend if backend.name == "cuda" and _has_memory(backend, len(ends[0]), each) else None


def _has_client() -> bool:
    """Whether a client of Dask is open: the GPU is a worker's then."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        return distributed.Client.current(allow_global=True) is not None
    except ValueError:
        return False
