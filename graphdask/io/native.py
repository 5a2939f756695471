"""The native format `.gdg`: one file of aligned arrays that loads by memory map, without reading it.

Layout, all little-endian: 8 bytes magic (with a high bit, CR LF and ^Z, so that transfers as text are
noticed, as in PNG), uint32 version, uint32 length of the JSON text, uint64 size of the file, uint32 CRC-32 of
the JSON text, 4 bytes zero, the JSON text; then each array at a multiple of 64 bytes. The JSON text gives for
each array its name, dtype, length and offset, and `directed` and `report`; and where the vertices are
consecutive ids, `vertex_range`: the first and their number. Strings are UTF-8 in `NAME.bytes`,
cut at `NAME.offsets`. More columns of edges and of vertices are Arrow IPC streams, in `edge_columns` and
`vertex_columns`; the latter have the ids in a column `vertex`, or are in the order of the vertices.

From version 2 on, the CRC-32 of the header covers its first 24 bytes as well. The last array, `checksums`, uint32, has
the CRC-32 of each page of 1 MiB of the arrays before it, in the order of the JSON text (the last page of an array is
what is left of it), and then the CRC-32 of these. A column is checked when it is read. Files of version 1 have no
checksums of data: they are read, and their report says `checksums: False`.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from graphdask.errors import FormatError, InputError

from ._column_bytes import of_vertices, table_of
from ._ipc import as_bytes
from ._pages import CheckedMap, Checksums, PageChecks, pages_of
from ._table import string_array
from .columns import Request
from .edges import EdgeList, stated_vertices
from .opening import existing_file, reading

MAGIC = b"\x93GDG\r\n\x1a\n"
VERSION = 2
UNCHECKED = 1
"""The version without checksums of the data, which is still read."""
ALIGNMENT = 64
CHECKSUMS = "checksums"
_HEADER = struct.Struct("<8sIIQI4x")
_SUMMED = 24
"""Bytes of the header before its checksum."""
_DTYPES = {"<i8", "<i4", "<f8", "<f4", "|u1", "<u4"}
_NAMES = ("src", "dst", "weights", "times", "vertices")


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def write_native(edges: EdgeList, stream: IO[bytes]) -> None:
    """Write the file; the report goes with it, as far as JSON can hold it."""
    arrays: dict[str, np.ndarray] = {}
    for name in _NAMES:
        values = getattr(edges, name)
        if values is None:
            continue
        if values.dtype.kind in "OTU":
            encoded = [value.encode() for value in values.tolist()]
            arrays[f"{name}.offsets"] = np.concatenate([[0], np.cumsum([len(text) for text in encoded])]).astype("<i8")
            arrays[f"{name}.bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
        else:
            arrays[name] = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    for name, values in arrays.items():
        if values.dtype.str not in _DTYPES:
            raise InputError(f"{name} is of type {values.dtype}; .gdg holds int64, int32, float64 and float32")
    for name, table in (("edge_columns", edges.edge_columns), ("vertex_columns", of_vertices(edges))):
        if table is not None:
            arrays[name] = as_bytes(table)
    report = {key: value for key, value in edges.report.items() if isinstance(value, (str, int, float, bool, list))}
    columns = {name: (values.dtype.str, len(values)) for name, values in arrays.items()}
    header, offsets = native_header(columns, edges.directed, report)
    stream.write(header)
    sums = Checksums()
    for name, values in arrays.items():
        stream.write(bytes(offsets[name] - stream.tell()))
        data = values.data.cast("B") if len(values) else b""
        stream.write(data)
        sums.add(data)
        sums.end()
    stream.write(bytes(offsets[CHECKSUMS] - stream.tell()))
    stream.write(sums.table())


def native_header(
    columns: dict[str, tuple[str, int]],
    directed: bool | None,
    report: dict[str, Any],
    vertex_range: tuple[int, int] | None = None,
) -> tuple[bytes, dict[str, int]]:
    """The beginning of a file with arrays of the given dtypes and lengths, and where each of them begins.

    `vertex_range` is (first id, number of vertices) where the vertices are consecutive and need no array.
    """
    pages = sum(pages_of(length * np.dtype(dtype).itemsize) for dtype, length in columns.values())
    columns = columns | {CHECKSUMS: ("<u4", pages + 1)}
    offsets = dict.fromkeys(columns, 0)

    def text() -> bytes:  # offsets have a fixed width in it, so that its length does not depend on them
        entries = {
            name: {"dtype": dtype, "length": length, "offset": f"{offsets[name]:020d}"}
            for name, (dtype, length) in columns.items()
        }
        held: dict[str, Any] = {"arrays": entries, "directed": directed, "report": report}
        return json.dumps(held | ({} if vertex_range is None else {"vertex_range": vertex_range})).encode()

    end = _HEADER.size + len(text())
    for name, (dtype, length) in columns.items():
        offsets[name] = _aligned(end)
        end = offsets[name] + length * np.dtype(dtype).itemsize
    final = text()
    head = _HEADER.pack(MAGIC, VERSION, len(final), end, 0)
    return _HEADER.pack(MAGIC, VERSION, len(final), end, zlib.crc32(head[:_SUMMED], zlib.crc32(final))) + final, offsets


def read_native(path: str | os.PathLike[str], request: Request, spill: bool = False) -> EdgeList:
    """Map the file; the arrays are read-only and stay on disk until they are used. The header is checked
    against the size of the file, each column against its checksums: here, or where `spill` says that the graph may be
    larger than memory when `_spill.part` reads it."""
    file = existing_file(path)
    header, version, size = header_of(file)
    arrays: dict[str, Any] = {name: _map(file, size, name, entry) for name, entry in header["arrays"].items()}
    taken = [name for name in _NAMES if name != "weights" or request.weights is not False]
    asked = {"edge_columns": request.edge_columns, "vertex_columns": request.vertex_columns}
    taken += [name for name, names in asked.items() if names]
    if version == UNCHECKED:
        header["report"]["checksums"] = False
    else:
        arrays = _checked(arrays, header["arrays"], taken, spill, file)
    values: dict[str, Any] = {name: arrays.get(name) for name in _NAMES}
    for name in _NAMES:
        if f"{name}.offsets" in arrays:
            values[name] = _strings(arrays[f"{name}.offsets"], arrays[f"{name}.bytes"], name, file)
    if values["src"] is None or values["dst"] is None or len(values["src"]) != len(values["dst"]):
        raise FormatError("src and dst are missing or not equally long", file)
    for name, wanted in (("weights", request.weights), ("times", request.times)):
        if wanted and values[name] is None:
            raise FormatError(f"{name} were asked for, but the file has none", file)
    if request.weights is False:
        values["weights"] = None
    if values["vertices"] is None and header.get("vertex_range"):
        values["vertices"] = stated_vertices(header["vertex_range"], file)
    directed = header["directed"] if request.directed is None else request.directed
    for name, names in asked.items():
        values[name] = table_of(arrays.get(name), name, names, values, file) if names else None
    return EdgeList(**values, directed=directed, report={**header["report"], "format": "native", "bytes": size})


def header_of(file: Path) -> tuple[dict[str, Any], int, int]:
    """The header of a file, once it is held to its checksum and the size of the file; the version, and that size."""
    with reading(file), file.open("rb") as stream:
        return parsed_header(stream.read, file.stat().st_size, file)


def parsed_header(read: Callable[[int], bytes], size: int, file: Any) -> tuple[dict[str, Any], int, int]:
    """The same of a file of this size, whose first bytes `read` gives."""
    start = read(_HEADER.size)
    if not start.startswith(MAGIC[:4]):
        raise FormatError("this is not a graphdask native file", file)
    if len(start) < _HEADER.size:
        raise FormatError(f"the file is truncated: {size} bytes, less than its header", file)
    magic, version, length, declared, checksum = _HEADER.unpack(start)
    if magic != MAGIC:
        raise FormatError("the file was changed in transfer (as text); get it again in binary mode", file)
    if version not in (UNCHECKED, VERSION):
        raise FormatError(f"format version {version}; this graphdask reads versions 1 and {VERSION}", file)
    text = read(min(length, size))
    if size != declared:
        raise FormatError(
            f"the header declares {declared} bytes, the file has {size}; it is truncated or changed", file
        )
    summed = zlib.crc32(text)
    if (zlib.crc32(start[:_SUMMED], summed) if version != UNCHECKED else summed) != checksum:
        raise FormatError("the header is damaged (its checksum does not match)", file)
    return json.loads(text), version, size


def checked_entry(file: Any, size: int, name: str, entry: dict[str, Any]) -> tuple[str, int, int]:
    """The dtype, the offset and the length of an array, once the file can hold it."""
    if not entry:
        raise FormatError(f"the header names no {name}", file)
    offset, length = int(entry["offset"]), int(entry["length"])
    if (
        entry["dtype"] not in _DTYPES
        or offset % ALIGNMENT
        or length < 0
        or offset < 0
        or offset + length * np.dtype(entry["dtype"]).itemsize > size
    ):
        raise FormatError(f"the header describes {name} as {entry}, which the file cannot hold", file)
    return entry["dtype"], offset, length


def _map(file: Path, size: int, name: str, entry: dict[str, Any]) -> np.ndarray:
    dtype, offset, length = checked_entry(file, size, name, entry)
    return np.memmap(file, dtype, "r", offset, (length,)) if length else np.empty(0, dtype)


def _checked(
    arrays: dict[str, Any], entries: dict[str, Any], wanted: list[str], spill: bool, file: Path
) -> dict[str, Any]:
    """The wanted arrays, held to their checksums; numbers of a graph that may be larger than memory when they are
    read."""
    table = arrays.get(CHECKSUMS)
    if table is None or not len(table) or table.dtype != np.uint32:
        raise FormatError("the header names no checksums", file)
    if zlib.crc32(table[:-1].tobytes()) != int(table[-1]):
        raise FormatError("the checksums are damaged; get the file again", file)
    found: dict[str, Any] = {}
    first = 0
    for name, entry in entries.items():
        array = arrays[name]
        if name == CHECKSUMS:
            continue
        pages = pages_of(array.nbytes)
        if first + pages > len(table) - 1:
            raise FormatError("the header names fewer checksums than there are pages", file)
        if name.partition(".")[0] in wanted:
            checks = PageChecks(file, name, int(entry["offset"]), array.nbytes, np.array(table[first : first + pages]))
            if spill and len(array) and name in ("src", "dst", "weights"):
                array = CheckedMap.of(array, checks)
            else:
                checks.check_all()
            found[name] = array
        first += pages
    return found


def _strings(offsets: np.ndarray, data: np.ndarray, name: str, file: Path) -> np.ndarray:
    cuts, text = offsets.tolist(), data.tobytes()
    if not cuts or cuts[0] != 0 or cuts[-1] != len(text) or bool((np.diff(offsets) < 0).any()):
        raise FormatError(f"the names of {name} are not cut where the file says; get it again", file)
    try:
        return string_array([text[a:b].decode() for a, b in pairwise(cuts)])
    except UnicodeDecodeError:
        raise FormatError(f"the names of {name} are not UTF-8; get the file again", file) from None
