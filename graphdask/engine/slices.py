"""Slices: the rows of a Csr laid out for a GPU, whose warps read edges line by line in the order in which they lie.

A slice is what a warp reads: four chunks of rows of many edges, or 32 rows of few, those of about one length together,
so that there are hardly any entries without an edge. The order of additions is that of kernels/common/lanes.py.

Source: Kreutzer et al., A unified sparse matrix data format for efficient general sparse matrix-vector multiplication
on modern processors with wide SIMD units (2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.codes import Codes
from graphdask.engine.loop import Environment
from graphdask.engine.row_lists import RowLists, RowTotals, firsts
from graphdask.kernels.common.tuning import ROW_CHUNK as CHUNK
from graphdask.kernels.common.tuning import ROW_FEW as FEW
from graphdask.kernels.pagerank.slices_pack import SliceRows
from graphdask.partition.part import Csr

WARP, LANES = 32, 8
PER_SLICE = WARP // LANES


@dataclass
class Slices:
    """The edges of a Csr; kernels/pagerank/slices.py explains these names."""

    kernels: Any
    indices: Array
    weights: Array
    """Codes; empty where there are none."""
    unit: float
    chunks: int
    first_of_chunks: Array
    targets: Array
    first_of_rows: Array
    goes: Array

    @classmethod
    def of(
        cls, env: Environment, csr: Csr, real: Any, codes: Codes | None, place: Array, goes: Array | None,
        lists: RowLists,
    ) -> Slices:  # fmt: skip
        """Lay out.

        Parameters
        ----------
        codes : Codes or None
            How weights are held; None: there are none.
        place : array
            Where in x each slot is.
        goes : array or None
            Where the sum of each row is to stand; None: in the order of rows.
        lists : RowLists
            Of these rows.
        """
        xp, dtype, backend = env.xp, csr.indices.dtype, env.backend
        pieces, targets = lists.chunks[: lists.count], lists.targets[: lists.count].copy()
        first_of_chunks = firsts(backend, dtype, pieces, PER_SLICE, LANES)
        rows, goes = lists.few_in_order(backend, csr, goes)
        first_of_rows = firsts(backend, dtype, rows, WARP, 1, base=int(first_of_chunks[-1]))
        parts = (pieces, LANES, first_of_chunks), (rows, 1, first_of_rows)
        entries = int(first_of_rows[-1])
        indices = xp.empty(entries, dtype)
        weights = xp.empty(entries if codes else 0, codes.dtype if codes else np.float32)
        kernels = env.kernels("slices", index_t=dtype, real_t=np.dtype(real), weight_t=weights.dtype)
        for items, lanes, first in parts:
            count, listed = WARP * (len(first) - 1), (items, lanes, len(items), first)
            kernels.slices_place(count, *listed, csr.indices, place, indices)
            if codes:
                writing = codes.kernels(env, csr.weights)
                writing.codes_slice(count, *listed, csr.weights, int(codes.single), codes.unit, weights)
        unit = codes.unit if codes else 1.0
        return cls(kernels, indices, weights, unit, len(targets), first_of_chunks, targets, first_of_rows, goes)

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return sum(
            array.nbytes
            for array in (
                self.indices, self.weights, self.first_of_chunks, self.targets, self.first_of_rows, self.goes,
            )
        )  # fmt: skip

    @staticmethod
    def memory(csr: Csr, weight: int) -> tuple[int, int, int]:
        """Bytes at most, with so many of a weight: of what is kept, of the lists that there are beside it while it is
        made, and of what there is before it is."""
        rows, of_rows, _, chunks, steps = RowTotals.of(csr)
        index, of_chunks = csr.indices.dtype.itemsize, steps * LANES
        # the slices of items in descending order are fuller than those of the longest only
        entries = of_rows + of_chunks + WARP * FEW + PER_SLICE * CHUNK
        slices = chunks // PER_SLICE + rows // WARP + 4
        kept = entries * (index + weight) + slices * 8 + (chunks + rows) * index
        return kept, 24 * (chunks + rows), 10 * csr.num_rows + 40 * rows + 24 * chunks

    def sum(
        self, x: Array, hot: int, sums: Array, partial: Array, blocks: dict[str, int], wanted: Array | None = None
    ) -> None:
        """Write to `sums`, or `partial`, what rows and chunks gather from `x`, whose first `hot` are in shared memory
        of `blocks`; nothing where `wanted`, one uint64, is 0."""
        edges = self.indices, self.weights, int(len(self.weights) > 0), self.unit, x
        of_chunks, of_rows = len(self.first_of_chunks) - 1, len(self.first_of_rows) - 1
        self.kernels.slices_sum_chunks(
            WARP * of_chunks, SliceRows(
                first=self.first_of_chunks, count=self.chunks, targets=self.targets, indices=self.indices,
                weights=self.weights, weighted=int(len(self.weights) > 0), unit=self.unit, x=x, hot=hot, sums=sums,
                partial=partial, wanted=wanted,
            ), **blocks,
        )  # fmt: skip
        self.kernels.slices_sum_rows(
            WARP * of_rows, self.first_of_rows, len(self.goes), self.goes, *edges, sums, wanted
        )
