"""Lists of the rows of a Csr as a GPU sums them, and the order in which it keeps what rows gather.

Every step but the sorts is a kernel of graphdask: CuPy would compile three dozen of its own when a process on a new
host calls PageRank first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphdask.device.backend import BLOCK, Array, Backend, get_backend
from graphdask.kernels.common.tuning import ROW_EACH
from graphdask.partition.part import Csr

KINDS = 4
"""Rows of several pieces, of one, of few edges; and pieces of the first."""


class RowTotals(NamedTuple):
    """How the rows of a Csr divide by their lengths."""

    few: int
    """Rows of up to ROW_FEW edges, without those of none."""
    few_edges: int
    long: int
    """Rows of more."""
    pieces: int
    """Pieces of ROW_CHUNK edges of these rows."""
    steps: int
    """Steps of eight lanes of these rows."""

    @classmethod
    def of(cls, csr: Csr) -> RowTotals:
        host = isinstance(csr.indptr, np.ndarray)
        backend = get_backend("cpu") if host else get_backend("cuda", csr.indptr.device.id)
        totals = backend.xp.zeros(5, np.uint64)
        _kernels(backend, csr.indices.dtype).row_lists_totals(csr.num_rows, csr.indptr, totals)
        return cls(*backend.to_host(totals).tolist())


def _kernels(backend: Backend, dtype: Any) -> Any:
    return backend.kernels("row_lists", index_t=dtype)


@dataclass
class RowLists:
    """Rows of more than ROW_FEW edges cut into pieces of ROW_CHUNK edges, the longest first; and the others."""

    chunks: Array
    """int64: first edge times ROW_SPAN plus number of edges, then 0 up to a multiple of 4."""
    targets: Array
    """Index dtype, one for each: where the row's sum goes, or -1 - number of the partial sum."""
    count: int
    """Of the pieces."""
    many: Array
    """Where the sums of rows of several pieces go, then -1 up to a multiple of 4."""
    first_chunk: Array
    """int64, one more than there are such rows: the pieces before each of them."""
    partials: int
    """Pieces of these rows."""
    few: Array
    """Index dtype: the rows of up to ROW_FEW edges, without those of none."""

    @classmethod
    def of(cls, backend: Backend, csr: Csr, goes: Array | None) -> RowLists:
        """Those of a Csr on a GPU; with `goes`, the sum of row i is to stand at goes[i]."""
        xp, dtype, rows = backend.xp, csr.indices.dtype, csr.num_rows
        kernels, tiles = _kernels(backend, dtype), -(-rows // (BLOCK * ROW_EACH))
        sums = xp.empty(KINDS * (tiles + 1), np.int64)
        kernels.row_lists_count(BLOCK * tiles, rows, csr.indptr, sums)
        kernels.row_lists_sum(BLOCK, tiles, sums)
        many, one, few, partials = backend.to_host(sums[KINDS * tiles :]).tolist()
        count, filled = partials + one, partials + one + -(partials + one) % 4
        items, keys, targets = xp.empty(count, np.int64), xp.empty(count, np.uint16), xp.empty(count, dtype)
        of_many, first_chunk = xp.empty(many + -many % 4, dtype), xp.zeros(many + 1, np.int64)
        of_few = xp.empty(few, dtype)
        kernels.row_lists_write(
            BLOCK * tiles, rows, csr.indptr, goes, sums, items, keys, targets, of_many, first_chunk, of_few
        )
        order = xp.argsort(keys, kind="stable")
        chunks, sorted_targets = xp.empty(filled, np.int64), xp.empty(filled, dtype)
        kernels.row_lists_gather(filled, count, order, items, targets, chunks, sorted_targets)
        return cls(chunks, sorted_targets, count, of_many, first_chunk, partials, of_few)

    def few_in_order(self, backend: Backend, csr: Csr, goes: Array | None) -> tuple[Array, Array]:
        """The rows of few edges, the longest first, as `chunks` has pieces; and where their sums go: those of one
        length in the order of that."""
        xp, dtype, rows = backend.xp, csr.indices.dtype, self.few
        kernels, order, count = _kernels(backend, dtype), None, len(rows)
        if goes is not None:
            places = xp.empty(count, dtype)
            kernels.row_lists_named(count, rows, goes, places)
            order = xp.argsort(places)
            del places
        rows, keys = xp.empty(count, dtype), xp.empty(count, np.uint8)
        kernels.row_lists_lengths(count, order, self.few, csr.indptr, rows, keys)
        order = xp.argsort(keys, kind="stable")
        items, targets = xp.empty(count, np.int64), xp.empty(count, dtype)
        kernels.row_lists_few(count, order, rows, csr.indptr, goes, items, targets)
        return items, targets


def firsts(backend: Backend, dtype: Any, items: Array, together: int, lanes: int, base: int = 0) -> Array:
    """Where slices begin of so many items each, the longest first, and so many lanes of an item; and where the last one
    ends."""
    slices = -(-len(items) // together)
    steps, first = (backend.xp.empty(slices + 1, np.int64) for _ in range(2))
    _kernels(backend, dtype).row_lists_steps(slices + 1, items, together, lanes, base, steps)
    backend.xp.cumsum(steps, out=first)
    return first


def degrees(backend: Backend, csr: Csr, dtype: Any) -> Array:
    """The number of edges of each row, in a dtype of ids."""
    out = backend.xp.empty(csr.num_rows, dtype)
    _kernels(backend, dtype).row_lists_degrees(csr.num_rows, csr.indptr, out)
    return out


def most_first(backend: Backend, counts: Array) -> tuple[Array, Array]:
    """Return the place of each entry in an order in which those of the most come first, and the entries in that order;
    of equal ones, and of all from 65,535 on, the first one comes first."""
    xp, dtype = backend.xp, counts.dtype
    kernels, keys = _kernels(backend, dtype), xp.empty(len(counts), np.uint16)
    kernels.row_lists_fewest(len(counts), counts, keys)
    order = xp.argsort(keys, kind="stable")
    place, slots = xp.empty(len(counts), dtype), xp.empty(len(counts), dtype)
    kernels.row_lists_places(len(counts), order, place, slots)
    return place, slots


def inverse_degrees(backend: Backend, csr: Csr, slots: Array, extra: Array | None) -> Array:
    """Return 1 / edges of some rows, float64, with so many edges more; 0 where there are none."""
    inverse = backend.xp.empty(len(slots), np.float64)
    _kernels(backend, csr.indices.dtype).row_lists_inverse(len(slots), csr.indptr, slots, extra, inverse)
    return inverse
