"""Sums over the rows of a partition, x[j] or weight * x[j] over the edges of each, with rows of all lengths kept busy.

A CPU goes from row to row, each whole. For a GPU rows of more than a few edges are cut into chunks, the longest first,
so that neighbours take the same time, and edges are laid out as warps read them (graphdask.engine.slices), their
weights as codes of few bytes where these hold them exactly (graphdask.engine.codes). Of a large graph what rows gather
is taken to them by way of bins (graphdask.engine.bins) where x is float32; of float64, whose bins take twice the bytes,
it is not worth it. The order of additions in a row depends on nothing but the row (kernels/pagerank/pagerank.py), so a
sum has the same bits on every device and for every division of the graph.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024): separate kernels
for low and high in-degree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.device.counting import all_set
from graphdask.engine.bins import Bins, Shape
from graphdask.engine.codes import Codes
from graphdask.engine.loop import Environment
from graphdask.engine.row_lists import RowLists, RowTotals, degrees, most_first
from graphdask.engine.slices import Slices
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common.tuning import ROW_CHUNK as CHUNK
from graphdask.kernels.pagerank.pagerank_pack import RankRows
from graphdask.partition.part import Csr, Part

LANES = 8
"""Threads of a chunk."""
PACKET = 4
"""float64 in the 32 bytes of a packet of kernels/pagerank/bins.py."""
STAGING = {"threads": 1024, "per_processor": 1}
"""Blocks that keep the hottest of x in shared memory."""
STAGED = 192 << 10
"""Bytes of them at most. On an H200 the rest of the processor's memory is its L1 cache."""
BINNED_SHARED = 160 << 10
"""Bytes of shared memory of a block, below which bins are too small."""


@dataclass
class Chunks:
    """The rows of more than FEW edges of a Csr, cut into pieces of CHUNK edges; see kernels/pagerank/pagerank.py."""

    chunks: Array
    """int64: first edge times SPAN plus number of edges, the longest first, then 0 up to a multiple of 4."""
    targets: Array
    """Index dtype, one for each: where the row's sum goes, or -1 - number of the partial sum."""
    many: Array
    """Where the sums of rows of several chunks go, then -1 up to a multiple of 4."""
    first_chunk: Array
    """int64, one more than there are such rows: the chunks before each of them."""
    partials: int
    """How many such chunks there are; kernels/pagerank/pagerank.py has their sums in `partial`."""

    @classmethod
    def of(cls, backend: Backend, csr: Csr, goes: Array | None = None) -> Chunks:
        lists = RowLists.of(backend, csr, goes)
        return cls(lists.chunks, lists.targets, lists.many, lists.first_chunk, lists.partials)

    @classmethod
    def partial_of(cls, lists: RowLists) -> Chunks:
        """What is left where pieces are laid out in another way: the rows of several."""
        return cls(lists.chunks[:0].copy(), lists.targets[:0].copy(), lists.many, lists.first_chunk, lists.partials)

    @classmethod
    def none(cls, dtype: Any) -> Chunks:
        """No chunks, as of a CPU, which takes rows whole."""
        nothing, none = np.empty(0, np.int64), np.empty(0, dtype)
        return cls(nothing, none, none, np.zeros(1, np.int64), 0)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.chunks, self.targets, self.many, self.first_chunk))

    @staticmethod
    def memory(csr: Csr) -> tuple[int, int]:
        """Bytes at most: of the lists, and while they are made; none on a CPU."""
        if not sliced(csr):
            return 0, 0
        chunks = RowTotals.of(csr).long + csr.num_edges // CHUNK
        kept = chunks * (8 + csr.indices.dtype.itemsize) + csr.num_edges // (CHUNK // 2) * 8
        return kept, 16 * csr.num_rows + 64 * chunks


@dataclass
class Rows:
    """The rows of a Csr, ready to be summed."""

    kernels: Any
    csr: Csr
    indices: Array
    """Into x."""
    weights: Array
    """Codes of bins; without them floats: float32 where that holds every weight exactly, or where x is float32. Empty
    where there are none."""
    long: Chunks
    goes: Array
    """Where the sum of each row goes; empty where sums stand in the order of rows."""
    hot: int
    """How many of x, from the first, chunks find in shared memory."""
    bins: Bins | None = None
    """By way of which x is gathered; then there are neither indices nor lists of chunks."""
    slices: Slices | None = None
    """The edges as a GPU reads them; likewise, and then weights are there, too."""
    unit: float = 1.0
    """Of the codes of weights."""

    @classmethod
    def of(
        cls,
        env: Environment,
        csr: Csr,
        weighted: bool,
        real: Any,
        place: Array | None = None,
        goes: Array | None = None,
        shape: Shape | None = None,
        codes: Codes | None = None,
    ) -> Rows:
        """Lay out a Csr; with `place`, x stands in another order than slots, those that are read most first, and the
        indices are copied, for a GPU in slices; with `goes`, the sum of row i is to stand at goes[i]; with `shape`, by
        way of bins; with `codes`, the weights of those are held so."""
        xp, dtype = env.xp, csr.indices.dtype
        if place is not None and (shape is not None or sliced(csr)):
            if weighted and codes is None:
                assert csr.weights is not None
                codes = Codes.of(env, csr.weights, real)
            return cls._by_warps(env, csr, codes if weighted else None, real, place, goes, shape)
        weights = _narrowed(csr.weights, real) if weighted else xp.zeros(0, np.float32)
        kernels = env.kernels("pagerank", index_t=dtype, real_t=np.dtype(real), weight_t=weights.dtype)
        if place is not None and goes is not None and laid_out(csr, weighted):
            csr, place, goes = _in_order(kernels, csr, place, goes), None, None
        long, indices = Chunks.of(env.backend, csr, goes) if sliced(csr) else Chunks.none(dtype), csr.indices
        if place is not None:
            indices = xp.empty_like(csr.indices)
            kernels.pagerank_relabel(len(indices), csr.indices, place, indices)
        return cls(kernels, csr, indices, weights, long, xp.empty(0, dtype) if goes is None else goes, 0)

    @classmethod
    def _by_warps(
        cls, env: Environment, csr: Csr, codes: Codes | None, real: Any, place: Array, goes: Array | None,
        shape: Shape | None,
    ) -> Rows:  # fmt: skip
        """In slices, or by way of bins."""
        xp, dtype = env.xp, csr.indices.dtype
        kernels = env.kernels("pagerank", index_t=dtype, real_t=np.dtype(real), weight_t=np.float32)
        lists = RowLists.of(env.backend, csr, goes)
        long = Chunks.partial_of(lists)
        none, unit = csr.indices[:0], codes.unit if codes else 1.0
        if shape is None:
            slices = Slices.of(env, csr, real, codes, place, goes, lists)
            hot = 0
            if min(csr.num_edges, CHUNK * slices.chunks) >= ENGINE.staged_from * env.backend.processors:
                hot = min(min(STAGED, env.backend.shared_memory) // np.dtype(real).itemsize, len(place))
            return cls(kernels, csr, none, xp.zeros(0, np.float32), long, none, hot, None, slices, unit)
        weights = xp.zeros(0, np.float32)
        if codes:
            assert csr.weights is not None
            weights = codes.write(env, csr.weights)
        bins = Bins.of(env, csr, shape, real, weights.dtype, place, goes, lists)
        return cls(kernels, csr, none, weights, long, none if goes is None else goes, 0, bins, None, unit)

    def workspace(self, xp: Any) -> Array:
        """Return a new workspace for `sum`. It is not kept here because several runs may share the rows."""
        return xp.empty(self.size, np.float64)

    @property
    def size(self) -> int:
        """Length of the workspace of `sum`, in float64 entries."""
        return self._before + (0 if self.bins is None else self.bins.packets * PACKET)

    @property
    def _before(self) -> int:
        """Entries of the workspace for sums of chunks, which lie before those for bins."""
        return self.long.partials if self.bins is None else -(-self.long.partials // PACKET) * PACKET

    def sum(self, x: Array, sums: Array, workspace: Array, wanted: Array | None = None) -> None:
        """Write to `sums`, float64 of shape (rows,), what each row gathers from `x`, using a workspace of `size`.

        The sums of rows without edges must be 0, and stay 0. If `wanted`, one uint64, is given and 0, the content of
        `sums` is undefined afterwards.
        """
        long = self.long
        if self.bins is not None:
            self.bins.sum(x, self.weights, self.unit, workspace[self._before :].view(x.dtype), sums, workspace, wanted)
        elif self.slices is not None:
            blocks = {**STAGING, "shared": self.hot * x.dtype.itemsize} if self.hot else {}
            self.slices.sum(x, self.hot, sums, workspace, blocks, wanted)
        else:
            self._sum_as_they_stand(x, sums, workspace, wanted)
        self.kernels.pagerank_sum_partials(LANES * len(long.many), long.many, long.first_chunk, workspace, sums)

    def _sum_as_they_stand(self, x: Array, sums: Array, workspace: Array, wanted: Array | None) -> None:
        """Write the sums of rows of one chunk, and those of the chunks of other rows."""
        kernels, long, weights = self.kernels, self.long, self.weights if len(self.weights) else None
        edges = self.indices, weights, int(weights is not None), x
        kernels.pagerank_sum_chunks(
            LANES * len(long.chunks), RankRows(
                chunks=long.chunks, targets=long.targets, indices=self.indices, weights=self.weights,
                weighted=int(len(self.weights) > 0), x=x, hot=0, ranges=1, width=len(x), sums=sums, partial=workspace,
                goes=wanted,
            ),
        )  # fmt: skip
        kernels.pagerank_sum(self.csr.num_rows, self.csr.indptr, *edges, self.goes, int(len(self.goes) > 0), sums)


def binned(backend: Backend, edges: int, real: Any, length: int) -> Shape | None:
    """How to divide x, of which the first `length` are read, and edges into bins; None where that does not pay."""
    enough = edges >= ENGINE.binned_from * backend.processors and backend.shared_memory >= BINNED_SHARED
    if np.dtype(real) != np.float32 or not enough:
        return None
    shape = Shape.of(backend, real, length)
    return shape if shape.pays else None


def sliced(csr: Csr) -> bool:
    """Whether edges are laid out for a GPU."""
    return not isinstance(csr.indptr, np.ndarray)


def laid_out(csr: Csr, weighted: bool) -> bool:
    """Whether rows are copied in the order in which their sums stand; see kernels/pagerank/pagerank.py."""
    return isinstance(csr.indptr, np.ndarray) and not weighted


def _in_order(kernels: Any, csr: Csr, place: np.ndarray, goes: np.ndarray) -> Csr:
    """The rows so, as indices into x."""
    begin = np.zeros(csr.num_rows + 1, np.int64)
    begin[1:][goes] = csr.indptr[1:] - csr.indptr[:-1]
    np.cumsum(begin, out=begin)
    indices = np.empty_like(csr.indices)
    kernels.pagerank_laid_out(csr.num_rows, csr.indptr, csr.indices, goes, begin, place, indices)
    return Csr(begin, indices)


def _narrowed(weights: Array | None, real: Any) -> Array:
    """The weights as floats of half the bytes where nothing is lost, or as narrow as x is."""
    assert weights is not None
    with np.errstate(over="ignore", under="ignore"):  # what does not fit is seen in the next line
        narrow = weights.astype(np.float32)
    if real == np.float32 or all_set(narrow == weights):
        return narrow
    return weights.astype(np.float64)


def out_degrees(part: Part, env: Environment) -> Array:
    """Per slot, in the index dtype. Every rank calls it."""
    (degree,) = env.fetch_ghosts(part, [degrees(env.backend, part.out, part.vertex_map.dtype)])
    return degree


def places(part: Part, env: Environment) -> tuple[Array, Array]:
    """Where x has the values of slots, those of many out-edges first, and the slots so. Every rank calls it."""
    return most_first(env.backend, out_degrees(part, env))
