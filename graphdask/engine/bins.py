"""Bins: sums over the rows of a large Csr that move what rows gather to the rows before they add it up.

x is read by segments and rows are summed by bins. Each segment and each bin fits in the shared memory of a processor,
so that random reads go to shared memory only. The order of additions is the same as without bins
(kernels/pagerank/bins.py).

Source: Beamer, Asanovic, Patterson, Reducing PageRank communication via propagation blocking (IPDPS 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import Environment
from graphdask.engine.row_lists import RowLists
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common.tuning import ROW_CHUNK as CHUNK
from graphdask.kernels.common.tuning import ROW_SPAN as SPAN
from graphdask.kernels.pagerank.bins_pack import BinRows
from graphdask.partition.part import Csr

MOST_SHARED = 224 << 10
"""Bytes of shared memory of a block at most."""
HOT, SEGMENT = 2, 6
"""Of sevenths of it: what is kept of x beside bins, and a segment of x, beside which there is some of the first-level
cache for what is on its way."""
PACKET = 32
"""Bytes of a packet."""
PART = 4
"""Edges of what is filled at a time, in segments: a segment is read once for each."""
PER_RUN = 16
"""Edges of a bin for each segment, below which packets are too empty."""


@dataclass(frozen=True)
class Shape:
    """How x and edges are divided, as far as that depends on their numbers only."""

    hot: int
    """The first of x, which are in shared memory wherever they are read."""
    width: int
    """Of x in a segment, behind those."""
    segments: int
    bin_bytes: int
    """Bytes of a bin in shared memory: what it gathers, and uint16 per edge."""
    packet: int
    length: int
    """Of x, as far as it is read."""
    shared: int
    """Bytes of shared memory of a block."""

    @classmethod
    def of(cls, backend: Backend, real: Any, length: int) -> Shape:
        real, shared = np.dtype(real), min(MOST_SHARED, backend.shared_memory)
        seventh = shared // 7 // 32 * 32
        hot, width = min(HOT * seventh // real.itemsize, length), SEGMENT * seventh // real.itemsize
        segments = -(-(length - hot) // width)
        bin_bytes = (shared - HOT * seventh) // ENGINE.bin_teams // 16 * 16
        return cls(hot, width, segments, bin_bytes, PACKET // real.itemsize, length, shared)

    @property
    def share(self) -> int:
        """The number of edges that fit in a bin whatever they point at, without the last chunk."""
        return (self.bin_bytes - 32 * (self.segments + 1)) // (2 + 32 // self.packet) - CHUNK

    @property
    def pays(self) -> bool:
        """Whether packets are filled well enough that bins pay."""
        return self.segments > 0 and self.share >= PER_RUN * self.segments

    def bins(self, edges: int) -> int:
        """Return the largest number of bins."""
        return -(-edges // self.share)

    def packets(self, edges: int) -> int:
        """Return the largest number of packets."""
        runs = min(self.bins(edges) * self.segments, edges)
        return (edges + runs * (self.packet - 1)) // self.packet

    def memory(self, edges: int, index: int) -> tuple[int, int]:
        """Return the most bytes, without lists of rows and chunks: of what is kept, and while it is made."""
        packets, table = self.packets(edges), 4 * self.bins(edges) * self.segments
        parts = packets * self.packet // (PART * self.width) + self.segments + 1
        kept = packets * (4 + 2 * self.packet) + 2 * edges + 20 * self.bins(edges) + 8 * parts + 64
        return kept, kept + 4 * table + (edges // CHUNK + 1) * (16 + index)


@dataclass
class Bins:
    """The edges of a Csr by segments of x, and by bins of rows; kernels/pagerank/bins.py explains these names."""

    kernels: Any
    shape: Shape
    packets: int
    first_edge: Array
    first_packet: Array
    places: Array
    sources: Array
    targets: Array
    item_segment: Array
    item_packet: Array
    first_chunk: Array
    chunks: Array
    chunk_targets: Array
    first_row: Array
    rows: Array
    goes: Array

    @classmethod
    def of(
        cls, env: Environment, csr: Csr, shape: Shape, real: Any, weight: Any, place: Array, goes: Array | None,
        lists: RowLists,
    ) -> Bins:  # fmt: skip
        """Lay out the edges of a Csr in bins.

        Parameters
        ----------
        place : array
            Where in x each slot is; below shape.length wherever an edge points.
        goes : array or None
            Where the sum of each row is to stand; None: in the order of rows.
        lists : RowLists
            Of these rows.
        """
        xp = env.xp
        kernels = env.kernels("bins", index_t=csr.indices.dtype, real_t=np.dtype(real), weight_t=weight)
        first_edge, share, packets = _cut(env, kernels, csr, place, shape)
        count, segments = len(first_edge) - 1, shape.segments
        in_bins, in_segments = (xp.zeros(count * segments + 1, np.int32) for _ in range(2))
        xp.cumsum(packets, out=in_bins[1:])
        xp.cumsum(packets.reshape(count, segments).T.reshape(-1), out=in_segments[1:])
        del packets
        total = int(in_bins[-1])
        places = xp.empty(csr.num_edges + 8, np.uint16)  # eight at a time are read
        sources, targets = xp.zeros(total * shape.packet, np.uint16), xp.empty(total, np.int32)
        kernels.bins_place(
            ENGINE.bin_launch["threads"] * count, BinRows(
                bins=count, first_edge=first_edge, indices=csr.indices, place=place, hot=shape.hot, width=shape.width,
                segments=segments, packet=shape.packet, in_bins=in_bins, in_segments=in_segments, places=places,
                sources=sources, targets=targets,
            ), **ENGINE.bin_launch, shared=4 * segments,
        )  # fmt: skip
        parts = _parts(env, in_segments[::count], PART * shape.width // shape.packet)
        first_packet = in_bins[::segments].copy()
        del in_bins, in_segments
        pieces, chunk_targets = lists.chunks[: lists.count], lists.targets[: lists.count]
        begin, length = pieces // SPAN, pieces % SPAN
        del pieces
        bin_of = begin // share
        order = xp.argsort(bin_of.astype(np.int32), kind="stable")
        items = _items(begin, length, first_edge, bin_of)[order]
        first_chunk, chunk_targets = _firsts(xp, bin_of[order], count), chunk_targets[order]
        del order, begin, length
        short = lists.few
        begin = csr.indptr[short]
        length = csr.indptr[short + 1] - begin
        bin_of = begin // share
        rows = _items(begin, length, first_edge, bin_of)
        goes = (short if goes is None else goes[short]).astype(csr.indices.dtype)
        return cls(
            kernels, shape, total, first_edge, first_packet, places, sources, targets, *parts, first_chunk, items,
            chunk_targets, _firsts(xp, bin_of, count), rows, goes,
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return sum(getattr(self, field.name).nbytes for field in fields(self)[3:])

    def sum(
        self, x: Array, weights: Array, unit: float, values: Array, sums: Array, partial: Array,
        wanted: Array | None = None,
    ) -> None:  # fmt: skip
        """Write the sums of rows to `sums` and those of chunks to `partial`.

        `values` is a buffer for all packets, of the dtype of x. `weights` are codes of unit `unit`. Nothing is written
        if `wanted`, one uint64, is 0.
        """
        shape, items, count = self.shape, len(self.item_segment), len(self.first_edge) - 1
        self.kernels.bins_fill(
            ENGINE.bin_threads * items, BinRows(
                items=items, item_segment=self.item_segment, item_packet=self.item_packet, hot=shape.hot,
                width=shape.width, length=shape.length, packet=shape.packet, x=x, sources=self.sources,
                targets=self.targets, values=values, wanted=wanted,
            ), threads=ENGINE.bin_threads, per_processor=1 << 16, shared=shape.width * x.dtype.itemsize,
        )  # fmt: skip
        self.kernels.bins_sum(
            ENGINE.bin_threads * count, BinRows(
                bins=count, teams=ENGINE.bin_teams, bin_bytes=shape.bin_bytes, first_edge=self.first_edge,
                first_packet=self.first_packet, packet=shape.packet,
                x=x, hot=shape.hot, values=values, places=self.places, weights=weights,
                weighted=int(len(weights) > 0), unit=unit, first_chunk=self.first_chunk, chunks=self.chunks,
                chunk_targets=self.chunk_targets, first_row=self.first_row, rows=self.rows, goes=self.goes, sums=sums,
                partial=partial, wanted=wanted,
            ), threads=ENGINE.bin_threads, per_processor=1, shared=shape.shared,
        )  # fmt: skip


def _cut(env: Environment, kernels: Any, csr: Csr, place: Array, shape: Shape) -> tuple[Array, int, Array]:
    """Where bins begin, the edges from one to the next but for the last chunk, and the packets of each by segments.

    At first the edges of a bin fit whatever they point at. Then bins become as large as the fullest of them allows, if
    all of the new ones fit.
    """
    xp, share = env.xp, shape.share
    found = None
    while True:
        count = -(-csr.num_edges // share)
        first_edge = _bounds(xp, csr.indptr, share, count)
        packets = xp.empty(count * shape.segments, np.int32)
        kernels.bins_count(
            ENGINE.bin_launch["threads"] * count, count, first_edge, csr.indices, place, shape.hot, shape.width,
            shape.segments, shape.packet, packets, **ENGINE.bin_launch, shared=4 * shape.segments,
        )  # fmt: skip
        filled = packets.reshape(count, shape.segments).sum(axis=1, dtype=np.int64)
        most = int((32 * filled + 2 * (first_edge[1:] - first_edge[:-1])).max()) + 32
        if found is not None:
            return found if most > shape.bin_bytes else (first_edge, share, packets)
        found = first_edge, share, packets
        larger = int(0.97 * share * shape.bin_bytes / most)
        if larger <= share:
            return found
        del packets
        share = larger


def _bounds(xp: Any, indptr: Array, share: int, count: int) -> Array:
    """Every `share` edges, or behind that where the next row begins, or the next chunk of one; and the last edge."""
    at = xp.minimum(xp.arange(count + 1, dtype=np.int64) * share, indptr[-1])
    row = xp.minimum(xp.searchsorted(indptr, at, side="right") - 1, len(indptr) - 2)
    return xp.minimum(indptr[row] + (at - indptr[row] + CHUNK - 1) // CHUNK * CHUNK, indptr[row + 1])


def _items(begin: Array, length: Array, first_edge: Array, bin_of: Array) -> Array:
    """As kernels/pagerank/bins.py has them."""
    return ((begin - first_edge[bin_of]) * CHUNK + length - 1).astype(np.int32)


def _firsts(xp: Any, bin_of: Array, count: int) -> Array:
    """Where those of each bin begin, which come in their order."""
    return xp.searchsorted(bin_of, xp.arange(count + 1)).astype(np.int32)


def _parts(env: Environment, first: Array, most: int) -> tuple[Array, Array]:
    """Packets by segments, cut so that no part has more than `most`: segments, and where they begin."""
    bounds = env.backend.to_host(first).astype(np.int64)
    counts = -(-np.diff(bounds) // most)
    segment = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = np.append(bounds[segment] + number * most, bounds[-1])
    return env.xp.asarray(segment.astype(np.int32)), env.xp.asarray(begin.astype(np.int32))
