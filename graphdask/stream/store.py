"""Store: an open layered edge list, of which chunks are read one at a time and checked when they are first read."""

from __future__ import annotations

import json
import mmap
import os
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError
from graphdask.partition.ids import VertexIds
from graphdask.partition.part import WeightFacts
from graphdask.stream.direct import Direct, around
from graphdask.stream.format import NUMBERS, TABLE, Chunk, Section, aligned, read_header

EXPECTED = 32
"""Parts of rows that are announced to the disk before they are read, one behind the other, with edges between them."""


class Store:
    """A file, opened for reading. Chunks are read, not mapped: what is in memory is what was asked for.

    Raises
    ------
    FormatError
        For what is no such file, of another version, truncated or damaged.
    """

    def __init__(self, path: str | os.PathLike[str], intermediate: bool = False):
        self.path, self.header = read_header(path, intermediate)
        self.size = self.path.stat().st_size
        self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        self.direct = Direct(self._file)
        self._closing = weakref.finalize(self, _close, self._file, self.direct)
        self._lock = Lock()
        self._checked: set[tuple[str, int, str]] = set()
        weights = self.header["weights"]
        self.weights = None if weights is None else np.dtype(weights)
        rows = self.header.get("edge_rows")
        self.edge_rows = None if rows is None else np.dtype(rows["dtype"])
        """Dtype of the rows of edges; None where they are not kept."""
        self.sections = {name: self._section(name) for name in self.header["sections"]}

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.path,)

    def close(self) -> None:
        """Let go of the file; what is not closed is when nobody has it any more."""
        self._closing()

    def check_open(self) -> None:
        """Raise InputError where the file was closed."""
        if not self._closing.alive:
            raise InputError(f"{self.path} was closed; open it again")

    @property
    def num_vertices(self) -> int:
        return int(self.header["num_vertices"])

    @property
    def checksum(self) -> str:
        """A number that only files with the same edges in the same chunks have: the header has checksums of them."""
        described = {name: value for name, value in self.header.items() if name != "written"}
        return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def by_number(self) -> bool:
        """Whether positions are vertex numbers."""
        return self.header["order"] == "ids"

    @property
    def facts(self) -> WeightFacts | None:
        """What algorithms must know of all weights."""
        found = self.header["weight_facts"]
        if found is None:
            return None
        unfit = found["unfit"] and (int(found["unfit"][0]), int(found["unfit"][1]), found["unfit"][2])
        return WeightFacts(found["least"], found["greatest"], found["total"], found["count"], unfit)

    def _section(self, name: str) -> Section:
        entry = self.header["sections"][name]
        memory = np.zeros(aligned(entry["chunks"] * TABLE.itemsize), np.uint8)
        self._read(entry["offset"], memory, f"the table of {name}")
        if zlib.crc32(memory.data) != entry["crc"]:
            raise FormatError(f"the table of the chunks of {name} is damaged (its checksum does not match)", self.path)
        table = memory[: entry["chunks"] * TABLE.itemsize].view(TABLE)
        made = Section(name, table, entry["with_ids"], self.weights)
        if self.edge_rows is not None:
            memory = np.zeros(aligned(entry["chunks"] * NUMBERS.itemsize), np.uint8)
            self._read(entry["numbers"]["offset"], memory, f"the table of the rows of edges of {name}")
            if zlib.crc32(memory.data) != entry["numbers"]["crc"]:
                raise FormatError(
                    f"the table of the rows of edges of {name} is damaged (its checksum does not match)", self.path
                )
            made.numbers = memory[: entry["chunks"] * NUMBERS.itemsize].view(NUMBERS)
            made.number_dtype = self.edge_rows
        return made

    def edge_numbers(self, section: Section, number: int) -> np.ndarray:
        """The row of each edge of a chunk in what the file was built from; checked whenever it is read."""
        assert section.numbers is not None
        assert section.number_dtype is not None
        size = section.table["edges"].item(number) * section.number_dtype.itemsize
        memory, what = np.empty(aligned(size), np.uint8), f"the rows of the edges of chunk {number} of {section.name}"
        self._read(section.numbers["offset"].item(number), memory, what)
        if zlib.crc32(memory.data if memory.size else b"") != int(section.numbers["crc"][number]):
            raise FormatError(f"{what} are damaged (their checksum does not match); build the file again", self.path)
        return memory[:size].view(section.number_dtype)

    def _read(self, offset: int, memory: np.ndarray, what: str) -> None:
        """Fill `memory`, uint8, from a place in the file."""
        self.check_open()
        view = memory.data.cast("B") if memory.size else memoryview(b"")
        done = 0
        while done < len(view):
            got = os.preadv(self._file, [view[done:]], offset + done)
            if not got:
                raise FormatError(f"{what} ends at byte {offset + done}: the file was truncated", self.path)
            done += got

    def mapped(self, entry: dict[str, int], what: str) -> memoryview:
        """Bytes that `Writer.append_written` wrote, mapped from the file; compared with their checksum, which reads
        them."""
        self.check_open()
        before = entry["offset"] % mmap.ALLOCATIONGRANULARITY
        found = mmap.mmap(
            self._file, before + entry["bytes"], prot=mmap.PROT_READ, offset=entry["offset"] - before
        )  # fmt: skip
        view = memoryview(found)[before:]
        if zlib.crc32(view) != entry["crc"]:
            raise FormatError(f"{what} is damaged (its checksum does not match); build the file again", self.path)
        return view

    def _expect(self, offset: int, size: int) -> None:
        """Have the operating system begin to read what is asked for soon; nothing waits for it."""
        self.check_open()
        os.posix_fadvise(self._file, offset, size, os.POSIX_FADV_WILLNEED)

    def _check(self, section: Section, number: int, part: str, memory: np.ndarray) -> None:
        """Compare the checksum of a part of a chunk, the first time that it is read."""
        key = section.name, number, part
        if key in self._checked:
            return
        if zlib.crc32(memory.data.cast("B") if memory.size else b"") != int(section.table[number][f"{part}_crc"]):
            raise FormatError(
                f"the {part} of chunk {number} of {section.name} are damaged (their checksum does not match); build "
                "the file again",
                self.path,
            )
        with self._lock:
            self._checked.add(key)

    def read(self, section: Section, number: int, memory: np.ndarray) -> Chunk:
        """A chunk, in the bytes of `memory`, uint8."""
        memory = memory[: sum(section.sizes(number))]
        self._read(section.table["offset"].item(number), memory, f"chunk {number} of {section.name}")
        return self._checked_chunk(section, number, memory)

    def read_blocks(self, section: Section, number: int, memory: np.ndarray) -> Chunk:
        """A chunk, in `memory` for the blocks `around` it, which begins like these at a multiple of their length; past
        the operating system's cache, where that pays."""
        offset, size = section.table["offset"].item(number), sum(section.sizes(number))
        begin, length = around(offset, size)
        here = memory[offset - begin : offset - begin + size]
        self.check_open()
        if not self.direct.read(begin, memory[:length], offset - begin + size):
            self._read(offset, here, f"chunk {number} of {section.name}")
        return self._checked_chunk(section, number, here)

    def _checked_chunk(self, section: Section, number: int, memory: np.ndarray) -> Chunk:
        rows, _ = section.sizes(number)
        self._check(section, number, "rows", memory[:rows])
        self._check(section, number, "edges", memory[rows:])
        return section.chunk_of(number, memory)

    def rows(
        self, section: Section, chunks: Sequence[int] | None = None
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Position of the first row, degrees and vertex numbers of each chunk, or of some; edges are not read."""
        chunks, offset = range(len(section)) if chunks is None else chunks, section.table["offset"]
        for number in chunks[:EXPECTED]:
            self._expect(offset.item(number), section.sizes(number)[0])
        for at, number in enumerate(chunks):
            for later in chunks[at + EXPECTED : at + EXPECTED + 1]:
                self._expect(offset.item(later), section.sizes(later)[0])
            memory = np.empty(section.sizes(number)[0], np.uint8)
            self._read(offset.item(number), memory, f"chunk {number} of {section.name}")
            self._check(section, number, "rows", memory)
            yield section.table["first"].item(number), *section.rows_of(number, memory)

    def order(self, chunks: Sequence[int] | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Position of the first row, and the vertex numbers of each chunk of out-edges, or of some, int32."""
        section = self.sections["out"]
        if self.by_number:
            for number in range(len(section)) if chunks is None else chunks:
                first, rows, *_ = section.table.item(number)
                yield first, np.arange(first, first + rows, dtype=np.int32)
            return
        for first, _, ids in self.rows(section, chunks):
            yield first, ids

    def numbers(self) -> np.ndarray:
        """The vertex numbers by position, int32; none where they are these."""
        number = np.empty(0 if self.by_number else self.num_vertices, np.int32)
        for first, ids in () if self.by_number else self.order():
            number[first : first + len(ids)] = ids
        return number

    def positions(self, numbers: Any, chunks: Sequence[int] | None = None) -> np.ndarray:
        """Return the positions of some vertices, int64; if `chunks` are given, only these are searched."""
        wanted = np.asarray(numbers, np.int64)
        if self.by_number:
            return wanted
        found = np.full(len(wanted), -1)
        for first, ids in self.order(chunks):
            for place in np.flatnonzero((wanted >= ids.min()) & (wanted <= ids.max())):
                rows = np.flatnonzero(ids == wanted[place])
                if len(rows):
                    found[place] = first + int(rows[0])
            if (found >= 0).all():
                break
        return found

    def vertex_ids(self) -> VertexIds:
        """The caller's ids."""
        entry = self.header["ids"]
        if "start" in entry:
            return VertexIds(self.num_vertices, entry["start"])
        if "table" in entry:
            return VertexIds(self.num_vertices, 0, self._array(entry["table"], "<i8"))
        text, cuts = self._array(entry["bytes"], "|u1").tobytes(), self._array(entry["cuts"], "<i8").tolist()
        table = np.empty(self.num_vertices, object)
        table[:] = [text[a:b].decode() for a, b in pairwise(cuts)]
        return VertexIds(self.num_vertices, 0, table)

    def _array(self, entry: dict[str, int], dtype: str) -> np.ndarray:
        array = np.empty(entry["length"], dtype)
        memory = np.zeros(entry["bytes"], np.uint8)
        self._read(entry["offset"], memory, "the table of vertex ids")
        if zlib.crc32(memory.data) != entry["crc"]:
            raise FormatError("the table of vertex ids is damaged (its checksum does not match)", self.path)
        array[:] = memory[: array.nbytes].view(dtype)
        return array

    @property
    def num_chunks(self) -> int:
        """Chunks of all sections."""
        return sum(len(section) for section in self.sections.values())

    def verify(self, done: Callable[[int], object] = bool) -> None:
        """Read everything and compare every checksum; `done(1)` is called after each chunk.

        Raises
        ------
        FormatError
            Naming what is damaged.
        """
        self._checked.clear()
        self.vertex_ids()
        for kind, table in self.header.get("columns", {}).items():
            for entry in (table["schema"], *table["columns"]):
                self.mapped(entry, f"a column of {kind}")
        for section in self.sections.values():
            memory = np.empty(section.most_bytes, np.uint8)
            for number in range(len(section)):
                self.read(section, number, memory)
                if self.edge_rows is not None:
                    self.edge_numbers(section, number)
                done(1)


def _close(file: int, direct: Direct) -> None:
    direct.close()
    os.close(file)
