"""Files whose edges are read range by range, by whom they belong to: row groups of Parquet, rows of native files.

The first reader takes the footer or the header alone, which state the edges and the vertices. Each range is then a
function that may be sent to another process, and reads its own bytes, from an address or a disk that all see. Bytes of
native files are held to their checksums, so a range ends where a page does.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from graphdask.errors import FormatError, GraphdaskError, InputError, MissingDependency, shown
from graphdask.io.tuning import FILES

from ._pages import PAGE, pages_of
from ._range_columns import check_rows, native_columns, parquet_columns
from .addresses import given_address, without_secrets
from .asked import VERTEX, Asked, joined_columns, picked, refuse_columns, with_ids
from .columns import Request
from .folder import MANIFEST, VERTICES, checked_record
from .formats import FORMATS as KNOWN
from .formats import detect_format

FORMATS = ("parquet", "native")
PAGE_ROWS = PAGE // 4
"""Rows of which every column fills whole pages."""


@dataclass(frozen=True)
class Place:
    """A file of a file system of fsspec."""

    filesystem: Any
    path: str
    label: str
    """As errors name it."""

    def read(self, begin: int, end: int) -> bytes:
        """Some of its bytes."""
        with self.readable():
            data: bytes = self.filesystem.cat_file(self.path, begin, end)
        if len(data) != end - begin:
            raise FormatError(f"{len(data):,} of {end - begin:,} bytes from {begin:,} on; it is truncated", self.label)
        return data

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Name the file in what its file system raises."""
        try:
            yield
        except GraphdaskError:
            raise
        except FileNotFoundError as error:
            raise InputError(f"{self.label}: no such file") from error
        except Exception as error:  # of whatever protocol
            reason = without_secrets(str(error).strip().split("\n")[0])[:300] or type(error).__name__
            raise InputError(f"{self.label} cannot be read by ranges: {reason}; read it with lazy=False") from error


@dataclass
class Ranges:
    """What files state of a graph, and what reads its edges."""

    num_edges: int = 0
    vertices: tuple[int, int] | None = None
    """First id and number, if these are stated."""
    directed: bool | None = None
    weight_dtype: np.dtype | None = None
    chunks: list[Any] = field(default_factory=list)
    """Functions that give sources, destinations and weights, in the ids of the file."""
    edge_columns: Any = None
    """pyarrow.Table: a row for each edge, in the order of the chunks; None where none were asked for."""
    vertex_columns: Any = None
    """pyarrow.Table: a row for each vertex, with the ids in a column `vertex`; None where none were asked for."""


def ranges_of(path: Any, format: str | None, request: Request, storage_options: Any) -> Ranges:
    """Read what a file, or a folder that `Graph.write` made, states, and cut its edges into ranges.

    Columns that `request` asks for are read whole.

    Raises
    ------
    InputError
        For a file of another format, or one that is not there.
    FormatError
        If the file does not hold what its format promises.
    """
    place = _place(path, storage_options)
    with place.readable():
        is_folder = place.filesystem.isdir(place.path)
    if is_folder:
        return _of_folder(place, format, request)
    return _of_file(place, format or detect_format(PurePosixPath(place.path).name), request)


def _place(path: Any, storage_options: Any) -> Place:
    address = given_address(path)
    if storage_options is not None and (address is None or not isinstance(storage_options, Mapping)):
        raise InputError(f"storage_options={shown(storage_options)}: a mapping, for addresses such as s3://bucket/name")
    try:
        import fsspec

        options = dict(getattr(path, "storage_options", None) or {}) | dict(storage_options or {})
        given = os.path.abspath(os.path.expanduser(os.fspath(path))) if address is None else address
        filesystem, place = fsspec.core.url_to_fs(given, **options)
    except ImportError as error:
        raise MissingDependency(f"{without_secrets(str(path))} cannot be opened: {error} (with pip)") from error
    except Exception as error:  # of whatever protocol
        raise InputError(f"{without_secrets(shown(path))} cannot be opened: {error}") from error
    return Place(filesystem, place, without_secrets(str(given)))


def _of_folder(place: Place, format: str | None, request: Request) -> Ranges:
    """The parts of a folder, one after the other."""

    def inside(name: str) -> Place:
        return Place(place.filesystem, f"{place.path.rstrip('/')}/{name}", f"{place.label.rstrip('/')}/{name}")

    record_file = inside(MANIFEST)
    with record_file.readable():
        text = place.filesystem.cat_file(record_file.path)
    record = checked_record(text.decode("utf-8", "replace"), record_file.label)
    if format not in (None, record["format"]):
        raise InputError(f"format={shown(format)}, but {place.label} holds a graph written as {record['format']}")
    found, tables = Ranges(directed=record["directed"]), []
    for part in record["parts"]:
        if PurePosixPath(part["file"]).name != part["file"]:
            raise FormatError(f"the part {part['file'][:80]!r} is not the name of a file in this folder", place.label)
        one = _of_file(inside(part["file"]), record["format"], replace(request, vertex_columns=False))
        tables.append(one.edge_columns)
        if one.num_edges != part["edges"]:
            raise FormatError(
                f"{part['file']} states {one.num_edges:,} edges, but {part['edges']:,} were written", place.label
            )
        found.chunks += one.chunks
        found.num_edges += one.num_edges
        found.weight_dtype = one.weight_dtype if found.weight_dtype is None else found.weight_dtype
    stated = record["vertices"]
    found.vertices = (stated["first"], stated["count"]) if "first" in stated else None
    found.edge_columns = joined_columns(tables, [part["file"] for part in record["parts"]], "edge_columns")
    if request.vertex_columns:
        found.vertex_columns = _columns_of_vertices(inside(VERTICES), stated, request.vertex_columns)
    return found


def _columns_of_vertices(place: Place, stated: Mapping[str, Any], asked: Asked) -> Any:
    """Columns that a folder has of its vertices, with their ids."""
    if "columns" not in stated:
        picked("vertex_columns", asked, (), (), place.label)
        return None
    table = parquet_columns(place, "vertex_columns", asked)
    check_rows(place, "vertex_columns", table, stated["count"])
    if table is None or "first" not in stated:
        return table
    return with_ids(table, np.arange(stated["first"], stated["first"] + stated["count"]))


def _of_file(place: Place, format: str, request: Request) -> Ranges:
    if format not in FORMATS:
        raise InputError(
            f"{place.label}: lazy=True reads {' and '.join(FORMATS)} files, not {format}, which does not state how "
            "many edges there are and where ranges of them begin; for text give "
            "graphdask.from_frame(dask.dataframe.read_csv(path), ...), whose partitions are ranges of the file"
        )
    refuse_columns(KNOWN[format], request.edge_columns, request.vertex_columns)
    if format == "parquet":
        return _of_parquet(place, request)
    if request.columns is not None:
        raise InputError(
            f"columns={shown(list(request.columns))}: {place.label} is a native file, which names its ends"
        )
    return _of_native(place, request.weights, request.edge_columns, request.vertex_columns)


@dataclass(frozen=True)
class RowGroup:
    """Reads a row group of a Parquet file."""

    place: Place
    number: int
    names: tuple[str, ...]
    """Of the columns of sources, destinations and perhaps weights."""
    first: int
    """Rows before it."""

    def __call__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        from pyarrow import parquet

        from .parquet import values_of

        with (
            self.place.readable(),
            self.place.filesystem.open(self.place.path, "rb") as stream,
            parquet.ParquetFile(stream, pre_buffer=True, page_checksum_verification=True) as file,
        ):
            table = file.read_row_group(self.number, columns=list(dict.fromkeys(self.names)))
        made = [
            values_of(table.column(name), name, self.place.label, place < 2, self.first)
            for place, name in enumerate(self.names)
        ]
        return made[0], made[1], made[2] if len(made) > 2 else None


def _of_parquet(place: Place, request: Request) -> Ranges:
    from pyarrow import parquet

    from .parquet import choose_of, is_text, stated_of

    with place.readable(), place.filesystem.open(place.path, "rb") as stream:
        footer = parquet.read_metadata(stream)
    schema = footer.schema.to_arrow_schema()
    chosen = choose_of(schema, request, place.label)
    names = [schema.names[chosen.src], schema.names[chosen.dst]]
    for name in names:
        if is_text(schema.field(name).type):
            raise InputError(f"{place.label}: column {name!r} has names; lazy=True is for ids that are whole numbers")
    found = Ranges(footer.num_rows)
    found.directed, ids, _ = stated_of(schema, place.label)
    found.vertices = None if ids is None else (int(ids[0]) if len(ids) else 0, len(ids))
    if chosen.weight is not None:
        names.append(schema.names[chosen.weight])
        none = schema.empty_table().column(names[2])
        from .parquet import values_of

        found.weight_dtype = values_of(none, names[2], place.label, False).dtype
    before = 0
    for number in range(footer.num_row_groups):
        found.chunks.append(RowGroup(place, number, tuple(names), before))
        before += footer.row_group(number).num_rows
    taken = {*names, *([] if chosen.direction is None else [schema.names[chosen.direction]])}
    found.edge_columns = parquet_columns(place, "edge_columns", request.edge_columns, taken)
    check_rows(place, "edge_columns", found.edge_columns, found.num_edges)
    return found


@dataclass(frozen=True)
class NativeRows:
    """Reads some rows of a native file."""

    place: Place
    columns: tuple[tuple[str, str, int, np.ndarray | None], ...]
    """Of sources, destinations and perhaps weights: name, dtype, where the rows begin, and checksums of their pages."""
    count: int

    def __call__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        made = []
        for name, dtype, offset, sums in self.columns:
            data = self.place.read(offset, offset + self.count * np.dtype(dtype).itemsize)
            for page in range(0 if sums is None else pages_of(len(data))):
                if zlib.crc32(data[page * PAGE : (page + 1) * PAGE]) != sums[page]:  # type: ignore[index]
                    raise FormatError(
                        f"{name} is damaged: the checksum of its bytes from {offset + page * PAGE:,} on does not "
                        "match; get the file again",
                        self.place.label,
                    )
            made.append(np.frombuffer(data, dtype))
        return made[0], made[1], made[2] if len(made) > 2 else None


def _of_native(place: Place, weights: bool | None, of_edges: Asked, of_vertices: Asked) -> Ranges:
    from .native import CHECKSUMS, UNCHECKED, checked_entry, parsed_header

    with place.readable():
        size = int(place.filesystem.size(place.path))
        with place.filesystem.open(place.path, "rb") as stream:
            header, version, _ = parsed_header(stream.read, size, place.label)
    arrays = header["arrays"]
    for name in ("src", "dst"):
        if name not in arrays:
            raise InputError(f"{place.label}: {name} are names; lazy=True is for ids that are whole numbers")
    if weights and "weights" not in arrays:
        raise FormatError("weights were asked for, but the file has none", place.label)
    names = ["src", "dst", *(["weights"] if "weights" in arrays and weights is not False else [])]
    rows = {int(checked_entry(place.label, size, name, arrays[name])[2]) for name in names}
    if len(rows) != 1:
        raise FormatError("src, dst and weights are not equally long", place.label)
    sums = None if version == UNCHECKED else _sums(place, arrays, size, CHECKSUMS)
    found = Ranges(rows.pop(), header.get("vertex_range") and tuple(header["vertex_range"]), header["directed"])
    found.weight_dtype = np.dtype(arrays["weights"]["dtype"]) if len(names) > 2 else None
    step = -(-FILES.range_rows // PAGE_ROWS) * PAGE_ROWS
    for begin in range(0, found.num_edges, step):
        count, columns = min(step, found.num_edges - begin), []
        for name in names:
            dtype, offset, _ = checked_entry(place.label, size, name, arrays[name])
            width = np.dtype(dtype).itemsize
            pages = slice(begin * width // PAGE, pages_of((begin + count) * width))
            columns.append((name, dtype, offset + begin * width, None if sums is None else sums[name][pages]))
        found.chunks.append(NativeRows(place, tuple(columns), count))

    def whole(name: str) -> np.ndarray:
        dtype, offset, length = checked_entry(place.label, size, name, arrays[name])
        entry = (name, dtype, offset, None if sums is None else sums[name])
        return NativeRows(place, (entry, entry), length)()[0]

    def table(what: str, asked: Asked) -> Any:
        there = (lambda: whole(what)) if what in arrays else None
        return native_columns(place, what, asked, there, int(arrays.get(what, {"length": 0})["length"]))

    found.edge_columns, made = table("edge_columns", of_edges), table("vertex_columns", of_vertices)
    check_rows(place, "edge_columns", found.edge_columns, found.num_edges)
    if made is not None and VERTEX not in made.column_names:
        ids = whole("vertices") if "vertices" in arrays else np.arange(*_bounds(found.vertices))
        check_rows(place, "vertex_columns", made, len(ids))
        made = with_ids(made, ids)
    found.vertex_columns = made
    return found


def _bounds(stated: tuple[int, int] | None) -> tuple[int, int]:
    first, count = stated or (0, 0)
    return first, first + count


def _sums(place: Place, arrays: Mapping[str, Any], size: int, name: str) -> dict[str, np.ndarray]:
    """The checksums of the pages of each array."""
    from .native import checked_entry

    dtype, offset, length = checked_entry(place.label, size, name, arrays.get(name, {}))
    table = np.frombuffer(place.read(offset, offset + length * np.dtype(dtype).itemsize), dtype)
    if not len(table) or zlib.crc32(table[:-1].tobytes()) != int(table[-1]):
        raise FormatError("the checksums are damaged; get the file again", place.label)
    found, first = {}, 0
    for other, entry in arrays.items():
        if other != name:
            pages = pages_of(int(entry["length"]) * np.dtype(entry["dtype"]).itemsize)
            found[other] = table[first : first + pages]
            first += pages
    return found
