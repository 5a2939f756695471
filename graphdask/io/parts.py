"""Writing a graph in parts: what one writer appends blocks of edges to, and how parts become one file.

Text parts become one file when they are put end to end. Native and NPZ parts are raw columns until the lengths of all
are known. A Parquet file has one writer, and so have native and NPZ files with names for ids.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from graphdask.partition.ids import VertexIds

from ._pages import Checksums, Summed
from ._text_out import csv_header, edgelist_header, vertices_line, with_direction, write_lines
from .asked import beside
from .edges import EdgeList
from .kept import refuse_names
from .text_columns import as_written

SUFFIXES = {"edgelist": ".txt", "csv": ".csv", "parquet": ".parquet", "npz": ".npz", "native": ".gdg"}
"""The formats that are written in parts, and how their parts' names end."""

TEXT = ("edgelist", "csv")
GZIP_LEVEL = 1
"""Seven times as fast as the usual level 6, for files a seventh larger."""


@dataclass(frozen=True)
class Content:
    """What every writer of a graph knows of it."""

    format: str
    compression: str
    """Empty, or the ending .gz, .xz or .bz2 of compressed text."""
    directed: bool
    ids: VertexIds
    number_dtype: np.dtype
    """Of vertex numbers."""
    weight_dtype: np.dtype | None
    edge_columns: Any = None
    """Columns of edges that are kept, as an Arrow table without rows."""
    vertex_columns: Any = None
    """Columns of vertices that are kept, as an Arrow table in the order of `ids`."""

    @property
    def dtype(self) -> np.dtype:
        """Of the ids that are written; object for names."""
        return self.ids.to_caller(np.zeros(0, self.number_dtype)).dtype

    @property
    def suffix(self) -> str:
        return SUFFIXES[self.format] + self.compression

    @property
    def joins(self) -> bool:
        """Whether one file can be put together from parts."""
        return self.format in TEXT or (self.format != "parquet" and self.ids.are_numbers)

    @property
    def vertex_range(self) -> tuple[int, int] | None:
        """First id and number of the vertices where they are consecutive."""
        return None if self.ids.table is not None else (self.ids.start, self.ids.count)

    @property
    def columns(self) -> list[str]:
        return ["src", "dst"] if self.weight_dtype is None else ["src", "dst", "weight"]

    @cached_property
    def names(self) -> Any:
        """The ids as an Arrow array where they are names."""
        import pyarrow as pa

        return None if self.ids.are_numbers else pa.array(self.ids.table.tolist(), pa.string())  # type: ignore[union-attr]

    def check(self) -> None:
        """Raise InputError where the format cannot hold the ids."""
        if not self.ids.are_numbers:
            refuse_names(self.ids.values, self.format)

    def translated(self, numbers: np.ndarray) -> np.ndarray:
        """The caller's ids of vertex numbers."""
        return self.ids.to_caller(numbers).astype(self.dtype, copy=False)

    def table(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> Any:
        """A block, in vertex numbers, as an Arrow table of the caller's ids."""
        import pyarrow as pa

        if self.names is None:
            arrays = [pa.array(self.translated(src)), pa.array(self.translated(dst))]
        else:
            arrays = [self.names.take(pa.array(src)), self.names.take(pa.array(dst))]
        if self.weight_dtype is not None:
            arrays.append(pa.array(weights, pa.from_numpy_dtype(self.weight_dtype)))
        return pa.table(arrays, names=self.columns)

    def with_columns(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, more: Any) -> Any:
        """A block as a table, with its columns of edges."""
        table = self.table(src, dst, weights)
        return table if more is None else beside(table, more)

    def nothing(self) -> Any:
        """The table without rows."""
        none = np.zeros(0, self.number_dtype)
        return self.table(none, none, None if self.weight_dtype is None else np.zeros(0, self.weight_dtype))


class PartFile:
    """A file that takes blocks of edges in vertex numbers; to be closed, or left to be thrown away."""

    def __init__(self, path: Path, content: Content):
        self.path, self.content = path, content

    def write(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, more: Any = None) -> None:
        """Append a block; `more`: a table of its columns of edges."""
        raise NotImplementedError

    def finish(self) -> None:
        """Complete the file."""

    def close(self) -> None:
        """Give the file handle back, whether it is complete or not."""


def open_part(path: Path, content: Content, *, alone: bool = True, first: bool = True) -> PartFile:
    """Start a part: a file of its own (`alone`), or one to be joined to others, of which `first` comes first."""
    if content.format in TEXT:
        return _TextPart(path, content, header=alone or first)
    if content.format == "parquet":
        return _ParquetPart(path, content)
    if content.ids.are_numbers:
        return _RawPart(path, content, alone)
    return _WholePart(path, content)


def join_parts(parts: Sequence[Path], target: Path, content: Content) -> None:
    """Make one file of all parts, in their order; the parts are used up."""
    if len(parts) == 1:
        parts[0].replace(target)
    elif content.format in TEXT:
        parts[0].replace(target)
        with target.open("ab") as out:
            for part in parts[1:]:
                _append(part, out)
                part.unlink()
    else:
        _assemble(parts, target, content)


def part_bytes(part: Path) -> int:
    """Size of a part, or of the columns that it is made of so far; 0 where there is none."""
    files = [part] if part.exists() else [_column(part, name) for name in ("src", "dst", "weight", "edge_columns")]
    return sum(file.stat().st_size for file in files if file.exists())


def _append(path: Path, out: IO[bytes] | Summed) -> None:
    with path.open("rb") as part:
        shutil.copyfileobj(part, out, 1 << 20)


class _TextPart(PartFile):
    """Lines, compressed where the name says so; compressed parts end to end are one compressed file."""

    def __init__(self, path: Path, content: Content, header: bool):
        super().__init__(path, content)
        self._file = path.open("wb")
        self._stream: Any = self._file
        if content.compression == ".gz":
            self._stream = gzip.GzipFile("", "wb", GZIP_LEVEL, self._file, mtime=0)
        elif content.compression == ".xz":
            self._stream = lzma.LZMAFile(self._file, "wb", preset=GZIP_LEVEL)  # noqa: SIM115
        elif content.compression == ".bz2":
            self._stream = bz2.BZ2File(self._file, "wb")
        self._delimiter = "\t" if content.format == "edgelist" else ","
        if header:
            self._stream.write(self._header())

    def _header(self) -> bytes:
        content = self.content
        if content.format == "csv":
            more = [] if content.edge_columns is None else content.edge_columns.column_names
            return csv_header(content.columns + ["directed"] * (not content.directed) + more)
        counts = [vertices_line(content.vertex_range)]
        further = [name.title() for name in content.columns[2:]]
        return edgelist_header(content.directed, counts, not content.ids.are_numbers, further, content.weight_dtype)

    def write(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, more: Any = None) -> None:
        table = self.content.table(src, dst, weights)
        if self.content.format == "csv":
            table = with_direction(table, self.content.directed)
        if more is not None:
            table = beside(table, as_written(more))
        write_lines(table, self._stream, self._delimiter)

    def finish(self) -> None:
        if self._stream is not self._file:
            self._stream.close()
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _ParquetPart(PartFile):
    def __init__(self, path: Path, content: Content):
        super().__init__(path, content)
        from pyarrow import parquet

        from .parquet import column_options, schema_metadata

        more, schema = content.edge_columns, content.nothing().schema
        metadata = schema_metadata(content.directed, content.vertex_range, more)
        schema = schema if more is None else beside(content.nothing(), more).schema
        self._writer = parquet.ParquetWriter(path, schema.with_metadata(metadata), **column_options(schema))
        self._metadata = metadata

    def write(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, more: Any = None) -> None:
        table = self.content.with_columns(src, dst, weights, more)
        self._writer.write_table(table.replace_schema_metadata(self._metadata))

    def finish(self) -> None:
        self._writer.close()

    def close(self) -> None:
        self._writer.close()


class _RawPart(PartFile):
    """A file for each column; `alone`, they become the file at the end."""

    def __init__(self, path: Path, content: Content, alone: bool):
        super().__init__(path, content)
        self._alone = alone
        self._files = [_column(path, name).open("wb") for name in content.columns]
        self._more: Any = None
        if content.edge_columns is not None:
            import pyarrow as pa

            from ._ipc import without_rows

            self._files.append(_column(path, "edge_columns").open("wb"))
            self._more = pa.ipc.new_stream(self._files[-1], content.edge_columns.schema)
            self._more.write_batch(without_rows(content.edge_columns))

    def write(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, more: Any = None) -> None:
        columns = [self.content.translated(src), self.content.translated(dst), weights]
        for file, column in zip(self._files, columns[: len(self.content.columns)], strict=False):
            file.write(np.ascontiguousarray(column).data)
        if self._more is not None:
            self._more.write_table(more)

    def finish(self) -> None:
        if self._more is not None:
            self._more.close()
        self.close()
        if self._alone:
            _assemble([self.path], self.path, self.content)

    def close(self) -> None:
        for file in self._files:
            file.close()


class _WholePart(PartFile):
    """Native and NPZ files whose ids are names: held in memory until the end."""

    def __init__(self, path: Path, content: Content):
        super().__init__(path, content)
        self._blocks: list[tuple[Any, ...]] = []

    def write(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, more: Any = None) -> None:
        self._blocks.append((src, dst, weights, more))

    def finish(self) -> None:
        from .native import write_native
        from .npz import write_npz

        none = np.zeros(0, self.content.number_dtype)
        src, dst = (np.concatenate([none, *(block[k] for block in self._blocks)]) for k in (0, 1))
        weights = None
        if self.content.weight_dtype is not None:
            empty = np.zeros(0, self.content.weight_dtype)
            weights = np.concatenate([empty, *(block[2] for block in self._blocks)])
        ids = self.content.ids
        edges = EdgeList(ids.to_caller(src), ids.to_caller(dst), weights, None, ids.values, self.content.directed)
        if self.content.edge_columns is not None:
            import pyarrow as pa

            edges.edge_columns = pa.concat_tables([self.content.edge_columns, *(block[3] for block in self._blocks)])
        if self.content.vertex_columns is not None:
            from .asked import with_ids

            edges.vertex_columns = with_ids(self.content.vertex_columns, ids.values)
        if self.content.format == "npz":
            write_npz(edges, self.path)
            return
        with self.path.open("wb") as stream:
            write_native(edges, stream)


def _column(part: Path, name: str) -> Path:
    return part.with_name(f"{part.name}.{name}")


def _assemble(parts: Sequence[Path], target: Path, content: Content) -> None:
    """A native or NPZ file of the raw columns of all parts."""
    dtypes = [np.dtype(content.dtype)] * 2 + ([] if content.weight_dtype is None else [content.weight_dtype])
    length = sum(_column(part, "src").stat().st_size for part in parts) // dtypes[0].itemsize
    names = [name.replace("weight", "weights") for name in content.columns]
    arrays = list(zip(content.columns, names, dtypes, strict=True))
    extra = {} if content.ids.table is None else {"vertices": content.ids.values}
    lengths = dict.fromkeys(names, length)
    if content.edge_columns is not None:
        lengths["edge_columns"] = sum(_column(part, "edge_columns").stat().st_size for part in parts)
        arrays.append(("edge_columns", "edge_columns", np.dtype(np.uint8)))
    if content.vertex_columns is not None:
        from ._ipc import as_bytes

        extra["vertex_columns"] = as_bytes(content.vertex_columns)
    if content.format == "native":
        from .native import CHECKSUMS, native_header

        columns = {name: (dtype.str, lengths[name]) for _, name, dtype in arrays}
        columns |= {name: (values.dtype.str, len(values)) for name, values in extra.items()}
        header, offsets = native_header(columns, content.directed, {}, content.vertex_range)
        with target.open("wb") as out:
            out.write(header)
            sums = Checksums()
            for column, name, _ in arrays:
                out.write(bytes(offsets[name] - out.tell()))
                _drain(parts, column, Summed(out, sums))
                sums.end()
            for name, values in extra.items():
                out.write(bytes(offsets[name] - out.tell()))
                data = np.ascontiguousarray(values).data
                out.write(data)
                sums.add(data)
                sums.end()
            out.write(bytes(offsets[CHECKSUMS] - out.tell()))
            out.write(sums.table())
        return
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for column, name, dtype in arrays:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as out:
                described = {"descr": dtype.str, "fortran_order": False, "shape": (lengths[name],)}
                np.lib.format.write_array_header_2_0(out, described)  # type: ignore[arg-type]
                _drain(parts, column, out)
        stated: dict[str, Any] = {"directed": np.bool_(content.directed)} | extra
        if content.vertex_range is not None:
            stated["vertex_range"] = np.array(content.vertex_range, np.int64)
        for name, values in stated.items():
            with archive.open(f"{name}.npy", "w") as out:
                np.lib.format.write_array(out, np.asanyarray(values), allow_pickle=False)


def _drain(parts: Sequence[Path], column: str, out: IO[bytes] | Summed) -> None:
    """Append one column of all parts, and remove what it was in."""
    for part in parts:
        file = _column(part, column)
        _append(file, out)
        file.unlink()
