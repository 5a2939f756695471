"""Edges sorted into the rows of a section within a memory budget: dealt to buckets on disk, then bucket by bucket.

A bucket is a run of whole chunks whose edges can be sorted in memory. Rows are cut into chunks from their degrees
alone, so every bucket's size, and so its place in the file of all buckets, is known before an edge is dealt.

Source: Aggarwal, Vitter, The input/output complexity of sorting and related problems (1988), distribution sort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.errors import OverBudget
from graphdask.stream.format import NUMBERS, TABLE, Section, Writer, aligned, mib_up

Arcs = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Vertex at which a row is, vertex at the other end, both as numbers; and weights."""
NumberedArcs = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]
"""The same, and the row of each edge in what the graph was made of."""
SORTING = 24
"""Bytes for each edge of a bucket while it is sorted, besides its weight."""
WEIGHING = 24
"""The same where edges have weights, besides these and copies of them."""
DEALING = 0.5
"""Share of the time of a section in which its edges are dealt."""
SHARES = 2
"""Of the memory of a build, beside what is per vertex: one for edges that are sorted, one for others."""
LEAST = 1 << 10
"""Bytes of the smallest chunk that may be asked for."""


@dataclass(frozen=True)
class Order:
    """Where vertices stand."""

    position: np.ndarray | None
    """int32 by vertex number; None where positions are numbers."""
    number: np.ndarray | None
    """int32 by position, the reverse."""
    ends: np.ndarray
    """int64: the position after the last of each layer, ascending."""

    def of(self, vertices: np.ndarray) -> np.ndarray:
        """Positions of some vertices."""
        return vertices if self.position is None else self.position[vertices]


def cut(degree: np.ndarray, order: Order, chunk: int, section: Section) -> None:
    """Cut rows into chunks of at most `chunk` bytes, and of at least half of it where layers are combined.

    A chunk ends with a layer where that leaves it half full; a layer that is larger is split. A row is never split.
    """
    n, weight = len(degree), 0 if section.weights is None else section.weights.itemsize
    each = 8 if section.with_ids else 4
    starts: list[int] = []
    first, block = 0, max(1024, chunk // 4)
    while first < n:
        size, row = 0, first
        while row < n:  # in blocks, so that no array of sums over all rows is needed
            some = degree[row : row + block] if order.number is None else degree[order.number[row : row + block]]
            sums = size + np.cumsum(some, dtype=np.int64) * (4 + weight) + each * np.arange(1, len(some) + 1)
            fit = int(np.searchsorted(sums, chunk, side="right"))
            row += fit
            if fit < len(some):
                break
            size = int(sums[-1])
        last = max(row, first + 1)
        if last < n:
            end = int(order.ends[np.searchsorted(order.ends, last, side="right") - 1]) if len(order.ends) else 0
            if first < end < last:
                taken = _edges(degree, order, first, end) * (4 + weight) + each * (end - first)
                last = end if 2 * taken >= chunk else last
        starts.append(first)
        first = last
    table = np.zeros(len(starts), TABLE)
    table["first"] = starts
    table["rows"] = np.diff([*starts, n])
    for number, (begin, rows) in enumerate(zip(table["first"], table["rows"], strict=True)):
        table["edges"][number] = _edges(degree, order, int(begin), int(begin + rows))
    table["layer"] = np.searchsorted(order.ends, table["first"], side="right")
    section.table = table


def _edges(degree: np.ndarray, order: Order, first: int, last: int) -> int:
    """Of the rows at some positions."""
    some = degree[first:last] if order.number is None else degree[order.number[first:last]]
    return int(some.sum(dtype=np.int64))


def write_section(
    writer: Writer,
    section: Section,
    degree: np.ndarray,
    order: Order,
    arcs: Callable[[], Iterator[NumberedArcs]],
    memory: int,
    folder: Path,
    report: Callable[[float], None],
) -> dict[str, Any]:
    """Write the chunks of a section, whose table says how rows are cut; return what the header says of it.

    Parameters
    ----------
    degree : numpy.ndarray of uint32, shape (num_vertices,)
    arcs : callable
        All edges of the section, in blocks and in any order.
    memory : int
        Bytes that may be used besides `degree`, `order` and a block of edges.
    folder : Path
        Where edges wait to be sorted.
    report : callable
        Takes the share that is done.
    """
    numbered = section.number_dtype is not None
    table, capacity = section.table, sorted_at_once(memory, section.weights, numbered)
    section.numbers = np.zeros(len(table), NUMBERS)
    largest = int(table["edges"].max(initial=0))
    if largest > capacity:
        needed = largest * sorting_bytes(section.weights, numbered)
        raise OverBudget(
            f"a chunk has {largest:,} edges, which take {_shown(needed)} to be sorted, and {_shown(memory)} of memory= "
            f"are left for that; allow {mib_up(SHARES * (needed - memory))} more, or make chunk= smaller, but a row is "
            "never split"
        )
    ends = np.cumsum(table["edges"])
    buckets, begin = [0], 0
    while buckets[-1] < len(table):
        last = int(np.searchsorted(ends, begin + capacity, side="right"))
        buckets.append(max(last, buckets[-1] + 1))
        begin = int(ends[buckets[-1] - 1])
    dealt = _Dealt(folder / section.name, section, order, buckets, ends)
    try:
        dealt.deal(arcs(), report)
        for number, (first, last) in enumerate(pairwise(buckets)):
            keys, weights, numbers = dealt.sorted(number)
            done = 0
            for chunk in range(first, last):
                edges = slice(done, done + int(table["edges"][chunk]))
                _write_chunk(writer, section, chunk, degree, order, keys[edges], None if weights is None
                             else weights[edges])  # fmt: skip
                if numbers is not None:
                    section.numbers[chunk] = writer.append(np.ascontiguousarray(numbers[edges]))
                done = edges.stop
            del keys, weights, numbers
            report(DEALING + (1 - DEALING) * last / len(table))
    finally:
        dealt.close()
    offset, crc = writer.append(table)
    entry: dict[str, Any] = {"offset": offset, "chunks": len(table), "crc": crc, "with_ids": section.with_ids}
    if numbered:
        offset, crc = writer.append(section.numbers)
        entry["numbers"] = {"offset": offset, "crc": crc}
    return entry


def sorting_bytes(weights: np.dtype | None, numbered: bool = False) -> int:
    """Bytes for each edge of a bucket while it is sorted."""
    each = SORTING + (WEIGHING if weights is not None or numbered else 0)
    return each + (0 if weights is None else 2 * weights.itemsize) + (16 if numbered else 0)


def sorted_at_once(memory: int, weights: np.dtype | None, numbered: bool = False) -> int:
    """Edges of a bucket at most."""
    return max(1, memory // sorting_bytes(weights, numbered))


def _shown(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"


def _write_chunk(
    writer: Writer, section: Section, number: int, degree: np.ndarray, order: Order, keys: np.ndarray,
    weights: np.ndarray | None,
) -> None:  # fmt: skip
    row = section.table[number]
    first, last = int(row["first"]), int(row["first"] + row["rows"])
    ids = np.arange(first, last, dtype=np.int32) if order.number is None else order.number[first:last]
    parts = [degree[ids].astype("<u4"), ids.astype("<i4")] if section.with_ids else [degree[ids].astype("<u4")]
    row["offset"], row["rows_crc"] = writer.append(*parts)
    targets = order.of((keys & 0xFFFFFFFF).astype(np.int32)).astype("<i4", copy=False)
    fill = np.zeros(aligned(targets.nbytes) - targets.nbytes, np.uint8)
    extra = [] if weights is None else [fill, np.ascontiguousarray(weights)]
    _, row["edges_crc"] = writer.append(targets, *extra)


class _Dealt:
    """The file of all buckets: first the keys of all edges, position times 2^32 plus the number of the other end."""

    def __init__(self, path: Path, section: Section, order: Order, buckets: list[int], ends: np.ndarray):
        self._section, self._order = section, order
        table = section.table
        self._bounds = np.array([int(ends[last - 1]) if last else 0 for last in buckets], np.int64)
        self._rows = np.array([int(table["first"][first]) for first in buckets[:-1]], np.int64)
        """Position of the first row of each."""
        self._filled = self._bounds[:-1].copy() if len(buckets) > 1 else np.zeros(0, np.int64)
        self._keys = (path.with_suffix(".keys")).open("w+b", buffering=0)
        self._weights = None if section.weights is None else (path.with_suffix(".weights")).open("w+b", buffering=0)
        numbered = section.number_dtype is not None
        self._numbers = (path.with_suffix(".numbers")).open("w+b", buffering=0) if numbered else None

    def close(self) -> None:
        """Forget the edges."""
        for file in (self._keys, self._weights, self._numbers):
            if file is not None:
                file.truncate(0)
                file.close()

    def deal(self, arcs: Iterator[NumberedArcs], report: Callable[[float], None]) -> None:
        """Put every edge into the bucket of its row."""
        for rows, others, weights, numbers in arcs:
            keys = self._order.of(rows).astype(np.int64)
            bucket = np.searchsorted(self._rows, keys, side="right") - 1
            keys <<= 32
            keys |= others
            if len(self._rows) > 1:
                place = np.argsort(bucket.astype(np.uint16) if len(self._rows) < 1 << 16 else bucket, kind="stable")
                keys, bucket = keys[place], bucket[place]
                weights = None if weights is None else weights[place]
                numbers = None if numbers is None else numbers[place]
            cuts = np.searchsorted(bucket, np.arange(len(self._rows) + 1))
            for number in np.flatnonzero(np.diff(cuts)):
                part = slice(int(cuts[number]), int(cuts[number + 1]))
                at = int(self._filled[number])
                _put(self._keys, keys[part], at * 8)
                if self._weights is not None:
                    assert weights is not None
                    assert self._section.weights is not None
                    _put(self._weights, weights[part].astype(self._section.weights, copy=False),
                         at * self._section.weights.itemsize)  # fmt: skip
                if self._numbers is not None:
                    assert numbers is not None
                    assert self._section.number_dtype is not None
                    _put(self._numbers, numbers[part].astype(self._section.number_dtype, copy=False),
                         at * self._section.number_dtype.itemsize)  # fmt: skip
                self._filled[number] += part.stop - part.start
            report(DEALING * int((self._filled - self._bounds[:-1]).sum()) / max(int(self._bounds[-1]), 1))

    def sorted(self, number: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """The keys of a bucket in ascending order, and weights, of equal keys ascending, and rows likewise."""
        first, last = int(self._bounds[number]), int(self._bounds[number + 1])
        self._keys.seek(first * 8)
        keys = np.fromfile(self._keys, np.int64, last - first)
        if self._weights is None and self._numbers is None:
            return self._in_order(keys, number), None, None
        section = self._section
        weights, numbers = (
            None if file is None or dtype is None else _taken(file, dtype, first, last)
            for file, dtype in ((self._weights, section.weights), (self._numbers, section.number_dtype))
        )
        place = np.lexsort([column for column in (numbers, weights, keys) if column is not None])
        weights = None if weights is None else weights[place]
        return keys[place], weights, None if numbers is None else numbers[place]

    def _in_order(self, keys: np.ndarray, number: int) -> np.ndarray:
        """Keys in ascending order: dealt by the lower half, then by the upper one, where they are many enough."""
        n = int(self._section.table["rows"].sum())
        if len(keys) < n:
            keys.sort()
            return keys
        last = int(self._rows[number + 1]) if number + 1 < len(self._rows) else n
        kernels, out = get_backend("cpu").kernels("layered"), np.empty_like(keys)
        for shift, first, count in ((0, 0, n), (32, int(self._rows[number]), last - int(self._rows[number]))):
            degree = np.zeros(count, np.int64)
            halves = keys.view(np.uint32)[1 if shift else 0 :: 2]
            kernels.layered_degrees(len(keys), halves, first, degree)
            cursor = np.cumsum(degree) - degree
            del degree
            kernels.layered_deal(len(keys), keys, shift, first, cursor, out)
            keys, out = out, keys
        return keys


def _taken(file: Any, dtype: np.dtype, first: int, last: int) -> np.ndarray:
    file.seek(first * dtype.itemsize)
    return np.fromfile(file, dtype, last - first)


def _put(file: Any, array: np.ndarray, offset: int) -> None:
    view, file_end = array.data.cast("B"), 0
    file.seek(offset)
    while file_end < len(view):
        file_end += file.write(view[file_end:])
