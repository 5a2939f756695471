"""The format `.gdl`, a layered edge list: rows of edges in chunks, each of which is read and checked by itself.

Layout, all little-endian. A header of 64 bytes: 8 bytes magic (with a high bit, CR LF and ^Z, so that transfers as text
are noticed), uint32 version, uint32 length of the JSON text, uint64 where it begins, uint64 size of the file, uint32
CRC-32 of the text and of the header before it, zeros. Then arrays, each at a multiple of 64 bytes and filled up with
zeros to one; at the end the JSON text. The header is written last, so that what is not whole opens nowhere.

Vertices stand at *positions*: by layer, then by number; or by number alone. A *chunk* holds the rows of consecutive
positions: `rows`, uint32 degrees and where positions are not numbers int32 vertex numbers; `edges`, int32 positions of
the other ends, in each row by ascending vertex number and then by weight, and the weights. Both parts have a CRC-32. A
section is all chunks of one direction; a directed graph has `out` and, if it was built with them, `inward`. Where they
were asked for, each chunk is followed by the rows of its edges in what the file was built from, int32 or int64, which
are read by themselves and have a CRC-32 too.

Columns of edges, in the order of these rows, and of vertices, by number, stand behind the chunks: each is an Arrow IPC
stream with a CRC-32, which nothing reads but what asks for the column. Files with columns have version 2, others 1.

Source: WolfPath, Sections 3.2 and 4.4 (layered edge list, combined edge lists).
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphdask.errors import FormatError
from graphdask.io.opening import existing_file

MAGIC = b"\x93GDL\r\n\x1a\n"
VERSION = 1
WITH_COLUMNS = 2
"""The version of files with columns of edges or vertices."""
ALIGNMENT = 64
_HEADER = struct.Struct("<8sIIQQI")
TABLE = np.dtype([
    ("first", "<i8"), ("rows", "<i8"), ("edges", "<i8"), ("offset", "<i8"), ("layer", "<i8"), ("rows_crc", "<u4"),
    ("edges_crc", "<u4"),
])  # fmt: skip
"""Of a chunk: position of its first row, number of rows and of edges, where it begins, the layer of its first row."""
NUMBERS = np.dtype([("offset", "<i8"), ("crc", "<u4")])
"""Of the rows of a chunk's edges in what the file was built from: where they begin."""
WEIGHTS = ("<f4", "<f8", "<i4", "<i8")


def aligned(size: int) -> int:
    """The next multiple of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class Chunk(NamedTuple):
    """Rows of edges in memory."""

    first: int
    """Position of the first row."""
    degrees: np.ndarray
    """uint32, shape (rows,)."""
    ids: np.ndarray
    """int32 vertex numbers, shape (rows,); empty where positions are numbers."""
    targets: np.ndarray
    """int32 positions, shape (edges,)."""
    weights: np.ndarray
    """Shape (edges,); empty where there are none."""


def mib_up(size: int) -> str:
    """Bytes in MiB, rounded up: whoever allows so much has enough."""
    return f"{math.ceil(size / 2**20 * 10) / 10:,.1f} MiB"


@dataclass
class Section:
    """The chunks of one direction."""

    name: str
    table: np.ndarray
    """TABLE, shape (chunks,)."""
    with_ids: bool
    weights: np.dtype | None
    numbers: np.ndarray | None = None
    """NUMBERS, shape (chunks,), where the rows of edges are kept."""
    number_dtype: np.dtype | None = None
    """Of these rows; None where they are not kept."""

    def __len__(self) -> int:
        return len(self.table)

    @property
    def per_edge(self) -> int:
        """Bytes of an edge."""
        return 4 if self.weights is None else 4 + self.weights.itemsize

    @property
    def num_edges(self) -> int:
        return int(self.table["edges"].sum())

    @property
    def most_rows(self) -> int:
        """Of a chunk."""
        return int(self.table["rows"].max(initial=0))

    @property
    def most_bytes(self) -> int:
        """Of a chunk."""
        return max((sum(self.sizes(number)) for number in range(len(self))), default=0)

    def row_bytes(self, rows: int) -> int:
        """Of the part that describes the rows."""
        return aligned(rows * (8 if self.with_ids else 4))

    def edge_bytes(self, edges: int) -> int:
        """Of the part that holds the edges."""
        weights = 0 if self.weights is None else aligned(edges * self.weights.itemsize)
        return aligned(edges * 4) + weights

    def sizes(self, number: int) -> tuple[int, int]:
        """Bytes of both parts of a chunk."""
        _, rows, edges, *_ = self.table.item(number)
        return self.row_bytes(rows), self.edge_bytes(edges)

    def rows_of(self, number: int, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Degrees and vertex numbers, of the bytes of the first part."""
        rows = self.table["rows"].item(number)
        ids = memory[4 * rows : 8 * rows].view(np.int32) if self.with_ids else np.zeros(0, np.int32)
        return memory[: 4 * rows].view(np.uint32), ids

    def chunk_of(self, number: int, memory: np.ndarray) -> Chunk:
        """The chunk whose bytes stand in `memory`, uint8; nothing is copied."""
        first, rows, edges, *_ = self.table.item(number)
        size = self.row_bytes(rows)
        degrees, ids = self.rows_of(number, memory)
        targets = memory[size : size + 4 * edges].view(np.int32)
        begin = size + aligned(4 * edges)
        weights = np.zeros(0, np.int32)
        if self.weights is not None:
            weights = memory[begin : begin + edges * self.weights.itemsize].view(self.weights)
        return Chunk(first, degrees, ids, targets, weights)


class Writer:
    """A file that is there under its own name only when it is whole; make it with `writing`."""

    def __init__(self, path: Path):
        self._file = path.open("xb", buffering=1 << 20)
        self._file.write(bytes(ALIGNMENT))
        self.end = ALIGNMENT

    def append(self, *arrays: np.ndarray) -> tuple[int, int]:
        """Write arrays one after the other, filled up to a multiple of ALIGNMENT; where they begin, and their CRC."""
        begin, crc, size = self.end, 0, 0
        for array in arrays:
            if array.nbytes:
                data = array.data.cast("B")
                crc, size = zlib.crc32(data, crc), size + array.nbytes
                self._file.write(data)
        fill = bytes(aligned(size) - size)
        self._file.write(fill)
        self.end += size + len(fill)
        return begin, zlib.crc32(fill, crc)

    def append_written(self, write: Callable[[Any], object]) -> dict[str, int]:
        """Have `write` write to a stream that stands here, filled up to a multiple of ALIGNMENT; what the header says
        of it."""
        begin, stream = self.end, _Summed(self._file)
        write(stream)
        self._file.write(bytes(aligned(stream.size) - stream.size))
        self.end += aligned(stream.size)
        return {"offset": begin, "bytes": stream.size, "crc": stream.crc}

    def finish(self, described: dict[str, Any]) -> None:
        """Write the JSON text, then the header, and wait until both are on the disk."""
        text = json.dumps(described).encode()
        self._file.write(text)
        self._file.flush()
        os.fsync(self._file.fileno())
        version = WITH_COLUMNS if described.get("columns") else VERSION
        head = _HEADER.pack(MAGIC, version, len(text), self.end, self.end + len(text), 0)[:-4]
        self._file.seek(0)
        self._file.write(head + struct.pack("<I", zlib.crc32(head, zlib.crc32(text))))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file."""
        with suppress(OSError):  # of what could not be written; the error before it says so
            self._file.close()


class _Summed:
    """A stream that counts and sums up what goes through it."""

    closed = False

    def __init__(self, file: Any):
        self._file, self.size, self.crc = file, 0, 0

    def write(self, data: Any) -> int:
        """Write to the file."""
        view = memoryview(data).cast("B")
        self.crc, self.size = zlib.crc32(view, self.crc), self.size + len(view)
        self._file.write(view)
        return len(view)

    def close(self) -> None:
        """Leave the file to its owner."""


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """A Writer."""
    writer = Writer(path)
    try:
        yield writer
    finally:
        writer.close()


def read_header(path: str | os.PathLike[str], intermediate: bool = False) -> tuple[Path, dict[str, Any]]:
    """The file and what its JSON text says, both checked; `intermediate` for what a build makes on its way.

    Raises
    ------
    FormatError
        For what is no such file, of another version, truncated, or damaged.
    """
    file = existing_file(path)
    size = file.stat().st_size
    with file.open("rb") as stream:
        start = stream.read(ALIGNMENT)
        if not start.startswith(MAGIC[:4]):
            raise FormatError(
                "this is not a layered edge list, or one that was not finished; graphdask.stream.build makes one", file
            )
        if len(start) < ALIGNMENT:
            raise FormatError(f"the file is truncated: {size} bytes, less than its header", file)
        magic, version, length, begin, declared, checksum = _HEADER.unpack_from(start)
        if magic != MAGIC:
            raise FormatError("the file was changed in transfer (as text); get it again in binary mode", file)
        if version not in (VERSION, WITH_COLUMNS):
            raise FormatError(
                f"format version {version}; this graphdask reads versions {VERSION} and {WITH_COLUMNS}: build the file "
                "again",
                file,
            )
        if size != declared or begin + length != size:
            raise FormatError(
                f"the header declares {declared} bytes, the file has {size}; it is truncated or damaged", file
            )
        stream.seek(begin)
        text = stream.read(length)
    head = start[: _HEADER.size - 4]
    if zlib.crc32(head, zlib.crc32(text)) != checksum or start[_HEADER.size :].strip(b"\0"):
        raise FormatError("the header is damaged (its checksum does not match)", file)
    described: dict[str, Any] = json.loads(text)
    if bool(described.get("intermediate")) != intermediate:
        raise FormatError("this was left by a build that was not finished; build the file again", file)
    return file, described
