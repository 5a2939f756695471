"""The native format `.gdg`: one file of aligned arrays that loads by memory map, without reading it.

Layout, all little-endian: 8 bytes magic (with a high bit, CR LF and ^Z, so that transfers as text are
noticed, as in PNG), uint32 version, uint32 length of the JSON text, uint64 size of the file, uint32 CRC-32 of
the JSON text, 4 bytes zero, the JSON text; then each array at a multiple of 64 bytes. The JSON text gives for
each array its name, dtype, length and offset, and `directed` and `report`; and where the vertices are
consecutive ids, `vertex_range`: the first and their number. Strings are UTF-8 in `NAME.bytes`,
cut at `NAME.offsets`.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from graphdask.errors import FormatError, InputError

from ._columns import Request
from ._open import existing_file, reading
from ._table import string_array
from .edges import EdgeList, consecutive_vertices

MAGIC = b"\x93GDG\r\n\x1a\n"
VERSION = 1
ALIGNMENT = 64
_HEADER = struct.Struct("<8sIIQI4x")
_DTYPES = {"<i8", "<i4", "<f8", "<f4", "|u1"}
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
    report = {key: value for key, value in edges.report.items() if isinstance(value, (str, int, float, bool, list))}
    columns = {name: (values.dtype.str, len(values)) for name, values in arrays.items()}
    header, offsets = native_header(columns, edges.directed, report)
    stream.write(header)
    for name, values in arrays.items():
        stream.write(bytes(offsets[name] - stream.tell()))
        stream.write(values.data.cast("B") if len(values) else b"")


def native_header(
    columns: dict[str, tuple[str, int]],
    directed: bool | None,
    report: dict[str, Any],
    vertex_range: tuple[int, int] | None = None,
) -> tuple[bytes, dict[str, int]]:
    """The beginning of a file with arrays of the given dtypes and lengths, and where each of them begins.

    `vertex_range` is (first id, number of vertices) where the vertices are consecutive and need no array.
    """
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
    return _HEADER.pack(MAGIC, VERSION, len(final), end, zlib.crc32(final)) + final, offsets


def read_native(path: str | os.PathLike[str], request: Request) -> EdgeList:
    """Map the file; the arrays are read-only and stay on disk until they are used. The header is checked
    against the size of the file."""
    file = existing_file(path)
    size = file.stat().st_size
    with reading(file), file.open("rb") as stream:
        start = stream.read(_HEADER.size)
        if not start.startswith(MAGIC[:4]):
            raise FormatError("this is not a graphdask native file", file)
        if len(start) < _HEADER.size:
            raise FormatError(f"the file is truncated: {size} bytes, less than its header", file)
        magic, version, length, declared, checksum = _HEADER.unpack(start)
        if magic != MAGIC:
            raise FormatError("the file was changed in transfer (as text); get it again in binary mode", file)
        if version != VERSION:
            raise FormatError(f"format version {version}; this graphdask reads version {VERSION}", file)
        text = stream.read(length)
    if size != declared:
        raise FormatError(
            f"the header declares {declared} bytes, the file has {size}; it is truncated or changed", file
        )
    if zlib.crc32(text) != checksum:
        raise FormatError("the header is damaged (its checksum does not match)", file)
    header = json.loads(text)
    arrays = {name: _map(file, size, name, entry) for name, entry in header["arrays"].items()}
    values: dict[str, Any] = {name: arrays.get(name) for name in _NAMES}
    for name in _NAMES:
        if f"{name}.offsets" in arrays:
            values[name] = _strings(arrays[f"{name}.offsets"], arrays[f"{name}.bytes"])
    if values["src"] is None or values["dst"] is None or len(values["src"]) != len(values["dst"]):
        raise FormatError("src and dst are missing or not equally long", file)
    for name, wanted in (("weights", request.weights), ("times", request.times)):
        if wanted and values[name] is None:
            raise FormatError(f"{name} were asked for, but the file has none", file)
    if request.weights is False:
        values["weights"] = None
    if values["vertices"] is None and header.get("vertex_range"):
        values["vertices"] = consecutive_vertices(header["vertex_range"][0], header["vertex_range"][1], file)
    directed = header["directed"] if request.directed is None else request.directed
    return EdgeList(**values, directed=directed, report={**header["report"], "format": "native", "bytes": size})


def _map(file: Path, size: int, name: str, entry: dict[str, Any]) -> np.ndarray:
    offset, length = int(entry["offset"]), int(entry["length"])
    if (
        entry["dtype"] not in _DTYPES
        or offset % ALIGNMENT
        or length < 0
        or offset < 0
        or offset + length * np.dtype(entry["dtype"]).itemsize > size
    ):
        raise FormatError(f"the header describes {name} as {entry}, which the file cannot hold", file)
    if not length:
        return np.empty(0, entry["dtype"])
    return np.memmap(file, entry["dtype"], "r", offset, (length,))


def _strings(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    text, cuts = data.tobytes(), offsets.tolist()
    return string_array([text[a:b].decode() for a, b in pairwise(cuts)])
