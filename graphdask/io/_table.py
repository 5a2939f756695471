"""Text files to columns: blocks of a `Source` parsed by several threads at once, put together in file order.

Files up to `FILES.python_bytes`, and files with string ids, are parsed by `_lines.py` alone; the others by
`_parse.py`, which hands single lines back to `_lines.py`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.device.host_memory import reserved
from graphdask.display.phases import phase
from graphdask.errors import FormatError, InputError, shown
from graphdask.io.tuning import FILES

from ._gathered import Column
from ._lines import BLANK, COMMENT, DIRECTION, ID, TEXT, VALUE, Columns, LineError, Marker, parse_integers, parse_line
from ._spill import SpilledColumn
from .budgets import WEIGHT, PerEdge, budget
from .opening import BLOCK_BYTES, Source

BLOCKS = 64
"""How many blocks the memory that may be used would hold: a block becomes arrays of up to five times its size, and each
thread has up to three."""
TEXT_SHARE = 8
"""How many times as much numbers are read as names where not all is."""
TEXT_BLOCK = 1 << 20
"""Bytes of text with names that are parsed at a time."""


@dataclass(frozen=True)
class Reading:
    """How to read, whatever the format."""

    threads: int | None = None
    """Parsing threads; None: one for each core this process may use, 16 at most."""
    compiled: bool | None = None
    """Parse with the compiled kernels; None: unless the file is small."""
    spill: Path | None = None
    """A folder for columns of numbers that may be larger than memory: they are mapped from files there."""
    block: int = BLOCK_BYTES
    """Bytes of text that are parsed at a time."""
    narrow: bool = False
    """Give vertex ids of edge lists as int32 where they all fit."""

    @classmethod
    def within(cls, memory: int, spill: Path) -> Reading:
        """How to read a file whose columns go to a folder, in so many bytes of memory.

        A block becomes arrays of up to five times its size, and each thread has up to three of them.
        """
        block = max(FILES.least_block, min(BLOCK_BYTES, memory // 32))
        return cls(threads=1 if memory < 32 * BLOCK_BYTES else None, spill=spill, block=block)

    def workers(self) -> int:
        if self.threads is None:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            return min(cores, 16)
        if isinstance(self.threads, bool) or not isinstance(self.threads, int) or self.threads < 1:
            raise InputError(f"threads={shown(self.threads)}: the number of threads is an integer of 1 or more")
        return self.threads


@dataclass
class Part:
    """What one block holds, or the whole file once parts are joined."""

    columns: list[Any]
    """An array for each wanted column, in column order."""
    lines: int = 0
    comments: int = 0
    blank_lines: int = 0
    error: tuple[int, str] | None = None
    """Line within the block, counted from 1, and reason."""
    scratch: np.ndarray | None = None
    """The memory of the columns, for a later block once they are copied."""
    numbered: bool = False
    """The last column holds line numbers, to be counted on from one block to the next."""

    def report(self) -> dict[str, int]:
        """The counts for `EdgeList.report`."""
        return {"lines": self.lines, "comments": self.comments, "blank_lines": self.blank_lines}


def read_table(source: Source, columns: Columns, reading: Reading, skip: int = 0, first_line: int = 1) -> Part:
    """All rows of a text file.

    Parameters
    ----------
    source : Source
    columns : Columns
    reading : Reading
    skip, first_line : int
        Bytes of header already read (after a byte-order mark), and the line number of what follows.

    Returns
    -------
    Part
        Arrays: int64 for ids; int64 or, if any number of the column is no integer, float64 for numbers;
        strings for text ids. Counts include the lines of the header.

    Raises
    ------
    FormatError
        For the first line that does not fit, with its number.
    """
    text = TEXT in columns.kinds
    pool: list[np.ndarray] = []

    def parse_in_python(block: np.ndarray) -> Part:
        return _rows_in_python(block, columns)

    def parse_compiled(block: np.ndarray) -> Part:
        return _rows_compiled(block, columns, pool)

    if text:  # threads do not help Python, and what it makes of a block is larger
        source.limit = None if source.limit is None else source.limit // TEXT_SHARE
        reading = replace(reading, spill=None, threads=1, block=min(reading.block, TEXT_BLOCK))
    wanted = [kind for kind in columns.kinds if kind]
    joined = _read(source, reading, skip, first_line, parse_in_python, None if text else parse_compiled, wanted, pool)
    joined.columns = [
        string_array(gathered) if kind == TEXT else gathered.array()
        for kind, gathered in zip(wanted, joined.columns, strict=True)
    ]
    return joined


def read_ragged(source: Source, comment: bytes, reading: Reading, skip: int = 0, first_line: int = 1) -> Part:
    """All lines of non-negative integers, after those that are skipped as in `read_table`: `columns` are the integers
    (int64), the integers on each line (int64, 0 for a blank line), and the line numbers (int64). Comment lines leave no
    row."""

    def parse_in_python(block: np.ndarray) -> Part:
        return _ragged_in_python(block, comment)

    def parse_compiled(block: np.ndarray) -> Part:
        return _ragged_compiled(block, comment)

    joined = _read(source, reading, skip, first_line, parse_in_python, parse_compiled, [VALUE] * 3)
    joined.columns = [gathered.array() for gathered in joined.columns]
    return joined


def string_array(strings: list[str]) -> np.ndarray:
    """Strings as `numpy.dtypes.StringDType`, or as object where NumPy is older than 2.0."""
    if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
        return np.array(strings, dtype=np.dtypes.StringDType())
    return np.array(strings, dtype=object)


def line_of_row(source: Source, columns: Columns, row: int, skip: int = 0, first_line: int = 1) -> int:
    """The line number of a row that is known to be readable; slow, for messages."""
    line = first_line
    for block in source.blocks(skip):
        for content in block.tobytes().splitlines():
            if not isinstance(parse_line(content, columns), Marker):
                if row == 0:
                    return line
                row -= 1
            line += 1
    return line


def _read(
    source: Source,
    reading: Reading,
    skip: int,
    first_line: int,
    parse_in_python: Callable[[np.ndarray], Part],
    parse_compiled: Callable[[np.ndarray], Part] | None,
    kinds: list[int],
    pool: list[np.ndarray] | None = None,
) -> Part:
    """Parse all blocks and gather their columns, of these kinds: `Column`, `SpilledColumn` or, of names, lists.

    Memory that the parser takes for a block goes to `pool` once it is used up.
    """
    workers, limit = reading.workers(), budget()
    parse, head, whole = parse_in_python, b"", False
    if parse_compiled is not None and reading.compiled is not False:
        if reading.compiled is None:
            head, whole = source.head(FILES.python_bytes)
        if not whole:
            parse = parse_compiled
    if whole:
        blocks: Iterator[np.ndarray] = iter([np.frombuffer(head, np.uint8)[skip:]])
    else:
        size = max(FILES.least_block, min(reading.block, FILES.text_at_once // workers, limit.usable // BLOCKS))
        blocks = source.blocks(skip, size, mapped=reading.spill is None)
    total = Part([_gathering(kind, reading) for kind in kinds], lines=first_line - 1)
    rows = 0
    with phase("reading") as report:
        for part in _ordered(blocks, parse, 1 if whole else workers):
            if part.error is not None:
                line, reason = part.error
                raise FormatError(reason, source.path, total.lines + line)
            if part.numbered:
                part.columns[-1] += total.lines
            total.lines += part.lines
            total.comments += part.comments
            total.blank_lines += part.blank_lines
            rows += len(part.columns[0])
            share = source.release() / max(source.size, 1)
            if reading.spill is None:
                limit.refuse_rows(rows, _bytes_of_edge(limit.each, kinds, total.columns), share)
            for gathered, piece in zip(total.columns, part.columns, strict=True):
                if isinstance(gathered, Column):
                    gathered.append(piece, share)
                elif isinstance(gathered, list):
                    gathered.extend(piece)
                else:
                    gathered.append(piece)
            if pool is not None and part.scratch is not None:
                pool.append(part.scratch)
            del part
            report(share)
    return total


def _bytes_of_edge(each: PerEdge, kinds: list[int], columns: list[Any]) -> int:
    """What an edge takes, as far as its columns show it by now."""
    weights = WEIGHT * kinds.count(VALUE)
    if TEXT in kinds:
        return each.names + weights
    wide = any(kind == ID and column.is_wide for kind, column in zip(kinds, columns, strict=True))
    return (each.wide if wide else each.narrow) + weights


def _gathering(kind: int, reading: Reading) -> Any:
    """What gathers a column of this kind."""
    if kind == TEXT:
        return []
    return Column(reading.narrow and kind == ID) if reading.spill is None else SpilledColumn(reading.spill)


def _ordered(blocks: Iterator[np.ndarray], parse: Callable[[np.ndarray], Part], workers: int) -> Iterator[Part]:
    """The parsed blocks in order, with at most two blocks waiting for each worker."""
    if workers == 1:
        yield from map(parse, blocks)
        return
    with ThreadPoolExecutor(workers, "graphdask-parse") as pool:
        waiting: deque[Future[Part]] = deque()
        try:
            for block in blocks:
                waiting.append(pool.submit(parse, block))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _rows_in_python(block: np.ndarray, columns: Columns) -> Part:
    kinds = [kind for kind in columns.kinds if kind]
    part = Part([])
    rows = []
    for line in block.tobytes().splitlines():
        try:
            values = parse_line(line, columns)
        except LineError as error:
            part.error = (part.lines + 1, str(error))
            return part
        part.lines += 1
        if isinstance(values, list):
            rows.append(values)
        else:
            part.comments += values is COMMENT
            part.blank_lines += values is BLANK
    wanted: list[Any] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in kinds]
    for kind, values in zip(kinds, wanted, strict=True):
        if kind == TEXT:
            part.columns.append(values)
        else:
            floating = kind == VALUE and any(isinstance(value, float) for value in values)
            part.columns.append(np.array(values, np.float64 if floating else np.int64))
    return part


def _rows_compiled(block: np.ndarray, columns: Columns, pool: list[np.ndarray] | None = None) -> Part:
    from ._parse import BLANKS, COMMENTS, LINES, byte_classes, parse_rows

    wanted = [kind for kind in columns.kinds if kind]
    fewest = 2 * len(wanted) + (len(columns.kinds) - len(wanted)) + 2 * len(columns.tag)
    ints = _scratch(len(wanted), len(block) // max(fewest, 1) + 2, [] if pool is None else pool)
    floats = ints.view(np.float64)
    kinds = np.array([VALUE if kind == DIRECTION else kind for kind in columns.kinds], np.int8)
    floating = np.zeros(len(kinds), np.bool_)
    slots = np.flatnonzero(kinds)
    counts = np.zeros(3, np.int64)
    classes = byte_classes(columns.delimiter, columns.comment)
    tag = columns.tag[0] if columns.tag else 0
    part = Part([])
    pos = row = 0
    while True:
        pos, row = parse_rows(
            block,
            pos,
            len(block),
            classes,
            tag,
            bool(columns.delimiter),
            kinds,
            floating,
            ints,
            floats,
            row,
            counts,
        )
        if pos >= len(block):
            break
        line, pos = _line_at(block, pos)
        try:
            values = parse_line(line, columns)
        except LineError as error:
            part.error = (int(counts[LINES]) + 1, str(error))
            return part
        counts[LINES] += 1
        if not isinstance(values, list):
            counts[COMMENTS] += values is COMMENT
            counts[BLANKS] += values is BLANK
            continue
        for slot, (column, value) in enumerate(zip(slots, values, strict=True)):
            if isinstance(value, float) and not floating[column]:
                floats[slot, :row] = ints[slot, :row].astype(np.float64)
                floating[column] = True
            if floating[column]:
                floats[slot, row] = value
            else:
                ints[slot, row] = value
        row += 1
    part.lines, part.comments, part.blank_lines = map(int, counts)
    part.scratch = ints
    part.columns = [(floats if floating[column] else ints)[slot, :row] for slot, column in enumerate(slots)]
    return part


def _scratch(columns: int, rows: int, pool: list[np.ndarray]) -> np.ndarray:
    """Memory for so many rows, int64; that of an earlier block where one has enough."""
    with suppress(IndexError):  # where it is empty
        given = pool.pop()
        if given.shape[1] >= rows:
            return given
    rows += rows // 8  # later blocks may be a little longer
    return reserved(columns * rows, np.int64, huge=False).reshape(columns, rows)


def _ragged_in_python(block: np.ndarray, comment: bytes) -> Part:
    part = Part([], numbered=True)
    values: list[int] = []
    lengths, numbers = [], []
    for line in block.tobytes().splitlines():
        try:
            integers = parse_integers(line, comment)
        except LineError as error:
            part.error = (part.lines + 1, str(error))
            return part
        part.lines += 1
        if integers is COMMENT:
            part.comments += 1
            continue
        part.blank_lines += integers is BLANK
        found = integers if isinstance(integers, list) else []
        values += found
        lengths.append(len(found))
        numbers.append(part.lines)
    part.columns = [np.array(column, np.int64) for column in (values, lengths, numbers)]
    return part


def _ragged_compiled(block: np.ndarray, comment: bytes) -> Part:
    from ._parse import COMMENTS, LINES, byte_classes, parse_ragged

    values = np.empty(len(block) // 2 + 2, np.int64)
    lengths = np.empty(len(block) + 1, np.int64)
    numbers = np.empty(len(block) + 1, np.int64)
    counts = np.zeros(3, np.int64)
    classes = byte_classes(b"", comment)
    part = Part([], numbered=True)
    pos = used = row = 0
    while True:
        pos, used, row = parse_ragged(block, pos, len(block), classes, values, used, lengths, numbers, row, counts)
        if pos >= len(block):
            break
        line, pos = _line_at(block, pos)
        try:
            integers = parse_integers(line, comment)
        except LineError as error:
            part.error = (int(counts[LINES]) + 1, str(error))
            return part
        counts[LINES] += 1
        if not isinstance(integers, list):
            counts[COMMENTS] += integers is COMMENT
            continue
        values[used : used + len(integers)] = integers
        used += len(integers)
        lengths[row], numbers[row] = len(integers), counts[LINES]
        row += 1
    part.lines, part.comments, part.blank_lines = map(int, counts)
    part.columns = [values[:used], lengths[:row], numbers[:row]]
    return part


def _line_at(block: np.ndarray, pos: int) -> tuple[bytes, int]:
    """The line at `pos` without its end, and where the next one starts."""
    size = 256
    while True:
        content = block[pos : pos + size].tobytes()
        lines = content.splitlines(keepends=True)
        line = lines[0]
        complete = len(lines) > 1 or pos + size >= len(block)
        if complete:
            return line.rstrip(b"\r\n"), pos + len(line)
        size *= 16
