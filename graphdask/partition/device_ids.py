"""Vertices of an edge list on a GPU, numbered there; the same numbers and errors as on the host."""

from __future__ import annotations

import numpy as np

from graphdask.device.arrays import brought, on_host
from graphdask.device.backend import Array, Backend
from graphdask.device.counting import all_set
from graphdask.partition.ids import VertexIds, checked_count, is_narrow_range
from graphdask.partition.vertex_map import index_dtype


def number_on_device(
    backend: Backend, src: Array, dst: Array, vertices: Array | None, num_vertices: int | None
) -> tuple[VertexIds, Array, Array]:
    """Find the vertices of an edge list and number them, as `number_vertices` does for arrays of the host.

    Parameters
    ----------
    backend : Backend
        Its device has the edges.
    src, dst : Array of int, shape (m,)
        Ids that are checked.
    vertices : array of int, optional
        All ids, on the host or on the device.
    num_vertices : int, optional

    Returns
    -------
    ids : VertexIds
    src, dst : Array of the index dtype, shape (m,)
        New arrays.
    """
    xp = backend.xp
    if num_vertices is not None:
        return _by_known(backend, VertexIds(checked_count(num_vertices)), src, dst)
    if vertices is not None:
        return _by_known(backend, VertexIds.of_sorted(on_host(xp.unique(brought(backend, vertices)))), src, dst)
    if not len(src):
        return VertexIds(0), src.astype(np.int32), dst.astype(np.int32)
    low = int(min(int(src.min()), int(dst.min())))
    high = int(max(int(src.max()), int(dst.max())))
    if not is_narrow_range(low, high, len(src)):
        every = xp.unique(xp.concatenate([ends.astype(np.int64, copy=False) for ends in (src, dst)]))
        return _by_known(backend, VertexIds.of_sorted(on_host(every)), src, dst)
    span = high - low + 1
    dtype = index_dtype(span)
    src, dst = ((ends - ends.dtype.type(low)).astype(dtype) for ends in (src, dst))
    present = xp.zeros(span, bool)
    for ends in (src, dst):
        present[ends] = True
    if all_set(present):
        return VertexIds(span, low), src, dst
    number_of = xp.cumsum(present, dtype=dtype)
    number_of -= dtype.type(1)
    table = on_host(xp.flatnonzero(present)).astype(np.int64) + low
    return VertexIds.of_sorted(table), number_of[src], number_of[dst]


def _by_known(backend: Backend, ids: VertexIds, src: Array, dst: Array) -> tuple[VertexIds, Array, Array]:
    """Number edges by ids that are known; VertexNotFound names the first end that is none of them."""
    xp, dtype = backend.xp, index_dtype(ids.count)
    numbers: list[Array] = []
    table = None if ids.table is None else backend.from_host(ids.table)
    for ends, what in ((src, "edge source"), (dst, "edge destination")):
        if table is None:
            last = ids.start + ids.count - 1
            if last > np.iinfo(ends.dtype).max:
                ends = ends.astype(np.int64)
            found = (ends >= ids.start) & (ends <= last)
            number = ends - ends.dtype.type(ids.start)
        else:
            number = xp.minimum(xp.searchsorted(table, ends), len(table) - 1)
            found = table[number] == ends
        if not all_set(found):
            first = int(xp.flatnonzero(~found)[0])
            ids.to_internal(on_host(ends[first : first + 1]), what)
        numbers.append(number.astype(dtype, copy=False))
    return ids, numbers[0], numbers[1]
