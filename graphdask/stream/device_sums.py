"""Sums over the rows of chunks that are on a device, in the order of additions that they have in memory.

Of a chunk nothing is known beforehand but how long its rows are, and one launch sums it
(kernels/stream/layered_sums.cu). Of chunks that stay, where the edges of each 32 rows begin is found once, and one
launch sums several (kernels/ layered_kept.cu): a launch of one chunk is over before it has filled a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from graphdask.algorithms.pagerank import PageRank
from graphdask.device.backend import Array
from graphdask.kernels.stream import layered_kept, layered_sums
from graphdask.kernels.stream.layered_kept_pack import KeptSums
from graphdask.kernels.stream.layered_sums_pack import COUNTS, ChunkSums, RowSums
from graphdask.stream.device_runs import Run
from graphdask.stream.device_window import DeviceChunk, DeviceWindow
from graphdask.stream.format import Section
from graphdask.stream.tuning import STREAM

EACH = 8
"""Edges for a thread of a launch."""
PER_EDGE = 40 / 256
"""Bytes of lists of what is longer than a row of 256 edges, and of its partial sums."""
PER_LONGER = 48
"""Bytes of the same lists of several chunks, for each such row that there can be."""
TOGETHER = 8
"""Chunks of a launch: copies that wait for buffers meanwhile do not wait for long."""


def table_bytes(section: Section, chunks: range) -> int:
    """Of the device, for tables of chunks that stay: a column for each chunk, and where the edges of 32 rows begin."""
    rows = section.table["rows"][chunks.start : chunks.stop].astype(np.int64)
    return 8 * int(STREAM.kept_tables * (layered_kept.COLUMN - (-rows // layered_kept.TILE)).sum())


class Sums:
    """Sums of x over the own rows of chunks, for one window, into the places of the rows in `sums`."""

    def __init__(self, run: Run, primitive: PageRank, window: DeviceWindow, x: Array, sums: Array):
        xp, weights, self._run, self._own = run.xp, run.store.weights, run, run.own
        self._weighted = primitive.weighted and weights is not None
        types = {
            "index_t": np.int32, "real_t": np.dtype(primitive.real),
            "weight_t": weights if self._weighted else np.dtype(np.float32),
        }  # fmt: skip
        self._launch = run.backend.kernels("layered_sums", cooperative=True, **types).layered_sum
        self._kernels = run.backend.kernels("layered_kept", cooperative=True, **types)
        self.window, self._x, self._sums = window, x, sums
        self._given: dict[DeviceChunk, tuple[int, ChunkSums]] = {}
        """Of each chunk, and place of it: threads, and what the kernel works on, but for counters."""
        self._those: dict[frozenset[DeviceChunk], tuple[int, KeptSums]] = {}
        """The same of chunks that are summed together."""
        self.words, self._used = xp.empty(0, np.int64), 0
        """Buffer for their tables, and how much of it has some."""
        counters = xp.zeros((2, len(COUNTS)), np.int64)
        one, other = counters
        self._turns = (one, other), (other, one)
        self._turn = 0
        rows, longer = window.most_rows, window.most_edges // layered_sums.LONG
        parts = 2 * window.most_edges // layered_sums.LONG
        words = window.scratch[rows + 2 * parts :].view(np.int32)
        items, listed, partial = (window.scratch[at : at + size] for at, size in
                                  ((0, rows), (rows, parts), (rows + parts, parts)))  # fmt: skip
        goes, long, places = (words[at : at + size] for at, size in
                              ((0, rows), (rows, longer), (rows + longer, longer)))  # fmt: skip
        totals = xp.empty(layered_sums.BLOCKS * run.backend.processors, np.int64)
        self._scratch = {"items": items, "goes": goes, "parts": listed, "partial": partial.view(np.float64),
                      "longer": long, "places": places, "totals": totals}  # fmt: skip

    def __call__(self, chunk: DeviceChunk) -> None:
        given = self._given.get(chunk)
        if given is None:
            given = self._given[chunk] = self._of(chunk)
        self._sum(self._launch, *given)

    def _sum(self, kernel: Callable[..., None], threads: int, pack: RowSums) -> None:
        """Launch a kernel, with the counters that the previous launch has cleared."""
        self._turn = 1 - self._turn
        pack.counters, pack.cleared = self._turns[self._turn]
        kernel(threads, pack, per_processor=layered_sums.BLOCKS)

    def _of(self, chunk: DeviceChunk) -> tuple[int, ChunkSums]:
        own, rows = self._own, chunk.rows
        low, high = max(own.begin - chunk.first, 0), min(own.end - chunk.first, rows)
        to, weights = chunk.first + low - own.begin, chunk.weights if self._weighted else None
        return max(rows, len(chunk.targets) // EACH), ChunkSums(
            rows=rows, low=low, high=high, degrees=chunk.degrees, targets=chunk.targets, weights=weights,
            weighted=int(self._weighted), x=self._x, sums=self._sums[to : to + high - low], **self._scratch,
        )  # fmt: skip

    def runs(self, numbers: list[int]) -> list[list[int]]:
        """Chunks in an order, divided into those that are summed together, or alone. The first is alone."""
        runs: list[list[int]] = []
        most, left, edges = 8 * len(self.window.scratch) // PER_LONGER * layered_sums.LONG, 0, self.window.edges
        most = min(most, 2**31 - 1)
        for number in numbers:
            joins = self.window.keeps(number)
            if joins and len(runs) > 1 and edges[number] <= left and len(runs[-1]) < TOGETHER:
                runs[-1].append(number)
                left -= edges[number]
            else:
                runs.append([number])
                left = most - edges[number] if joins else 0
        return runs

    def together(self, numbers: list[int], later: Iterable[int]) -> None:
        """Sum chunks of a run that stay in one launch, and others, if there are any by now."""
        chunks = self.window.together(numbers, later)
        if chunks:
            key = frozenset(chunks)
            given = self._those.get(key)
            if given is None:
                given = self._those[key] = self._tables(chunks)
            self._sum(self._kernels.kept_sum, *given)
        if len(chunks) < len(numbers):
            summed = {chunk.first for chunk in chunks}
            for number in numbers:
                if self.window.first(number) not in summed:
                    self(self.window.load(number, later))

    def _tables(self, chunks: list[DeviceChunk]) -> tuple[int, KeptSums]:
        xp, own, window, table, tiles = self._run.xp, self._own, self.window, [], 0
        kind = self._run.store.weights if self._weighted else None
        for chunk in chunks:
            low, high = max(own.begin - chunk.first, 0), min(own.end - chunk.first, chunk.rows)
            degrees, targets, heavy = chunk.at
            heavy = 0 if kind is None else heavy // kind.itemsize
            table.append(
                (degrees // 4, targets // 4, heavy, chunk.rows, low, high, chunk.first + low - own.begin, tiles)
            )
            tiles += -(-chunk.rows // layered_kept.TILE)
        table_words = self.table_buffer(layered_kept.COLUMN * len(chunks) + tiles)
        columns, upto = table_words[:-tiles].reshape(layered_kept.COLUMN, len(chunks)), table_words[-tiles:]
        columns.set(np.ascontiguousarray(np.array(table, np.int64).T))
        words, weights = window.memory_as(np.dtype(np.uint32)), None if kind is None else window.memory_as(kind)
        self._kernels.kept_tiles(32 * tiles, tiles, columns, len(chunks), words, upto)
        xp.cumsum(upto, out=upto)
        edges = sum(len(chunk.targets) for chunk in chunks)
        longer, parts = edges // layered_sums.LONG, 2 * edges // layered_sums.LONG
        items, partial, goes, words_of_rows = (
            window.scratch[at : at + size] for at, size in
            ((0, parts), (parts, parts), (2 * parts, longer), (2 * parts + longer, longer))
        )  # fmt: skip
        places = words_of_rows.view(np.int32)
        return max(32 * tiles, edges // EACH), KeptSums(
            tiles=tiles, table=columns, chunks=len(chunks), upto=upto, words=words, weights=weights,
            weighted=int(self._weighted), x=self._x, sums=self._sums, items=items, partial=partial.view(np.float64),
            goes=goes, places=places[:longer], parts=places[longer:],
        )  # fmt: skip

    def table_buffer(self, words: int) -> Array:
        """Buffer for the tables of a launch; if it is full, because other chunks stay than before, all are rebuilt:
        launches that read them come first."""
        if not len(self.words):
            size = table_bytes(self.window.section, self.window.chunks)
            self.words = self._run.xp.empty(size // 8, np.int64)
            self.window.traffic.memory += size
        if self._used + words > len(self.words):
            self._those.clear()
            self._used = 0
        self._used += words
        return self.words[self._used - words : self._used]
