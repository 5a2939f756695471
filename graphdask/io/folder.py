"""A graph in a folder: part files that several writers have made, and `_graph.json`, which says what they are.

`_graph.json` is written last, before the folder gets its name: a folder without it is no graph. Names that begin with
an underscore are not taken for data by Arrow, Dask and Spark, so a folder of Parquet parts is a table to them. Ids that
are not consecutive stand in `_vertices.parquet`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError

from . import put
from ._spill import SpilledColumn, release
from ._table import Reading
from .asked import VERTEX, Asked, beside, joined_columns, picked, refuse_columns, with_ids
from .columns import Request
from .edges import EdgeList, consecutive_vertices
from .formats import FORMATS
from .opening import existing_file
from .parts import SUFFIXES, Content

MANIFEST = "_graph.json"
VERTICES = "_vertices.parquet"
VERSION = 1
MOST_BYTES = 1 << 28
"""Of the text that describes the parts."""


def unfinished_name(target: Path, token: str, attempt: int) -> Path:
    """The name beside `target` under which a folder is filled."""
    return put.unfinished_name(target, token, attempt)


def is_graph_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder that this module reads, or would read if it were whole."""
    folder = Path(path).expanduser()
    return folder.is_dir() and ((folder / MANIFEST).exists() or put.UNFINISHED.fullmatch(folder.name) is not None)


def part_name(number: int, content: Content) -> str:
    """Name of a part."""
    return f"part-{number:05d}{content.suffix}"


def write_manifest(folder: Path, content: Content, parts: list[dict[str, Any]]) -> None:
    """Complete a folder of parts, each described by its `file`, `edges` and `bytes`."""
    import pyarrow as pa

    from .parquet import write_columns

    vertices: dict[str, Any] = {"count": content.ids.count}
    more = content.vertex_columns
    if content.vertex_range is not None:
        vertices["first"] = content.vertex_range[0]
    if more is not None:
        vertices["columns"] = more.column_names
    if content.vertex_range is None or more is not None:
        names = content.names if content.names is not None else pa.array(content.ids.values)
        table = pa.table({VERTEX: names})
        write_columns(table if more is None else beside(table, more), folder / VERTICES, more)
    record = {
        "graphdask": VERSION,
        "format": content.format,
        "directed": content.directed,
        "vertices": vertices,
        "ids": "int" if content.ids.are_numbers else "str",
        "edges": sum(part["edges"] for part in parts),
        "weights": None if content.weight_dtype is None else content.weight_dtype.name,
        "parts": parts,
    }
    (folder / MANIFEST).write_text(json.dumps(record, indent=1) + "\n")


def read_folder(path: str | os.PathLike[str], format: str | None, request: Request, reading: Reading) -> EdgeList:
    """Read all parts of a folder, once each is there with the size that was written."""
    from ._dispatch import read_format as _read

    folder = Path(path).expanduser()
    record = manifest(folder)
    name = record["format"]
    if format is not None and format != name:
        raise InputError(f"format={format!r}, but {folder} holds a graph written as {name}")
    if request.weights and record["weights"] is None:
        raise FormatError("weights=True, but the graph has none", folder)
    weights = record["weights"] is not None and request.weights is not False
    refuse_columns(FORMATS[name], request.edge_columns, False)
    inner = Request(
        weights=(weights or None) if name != "parquet" else weights,
        ids=record["ids"] if name in ("edgelist", "csv") or record["ids"] == "str" else None,
        directed=record["directed"] if request.directed is None else request.directed,
        header={"edgelist": False, "csv": True}.get(name),
        edge_columns=request.edge_columns,
    )
    pieces = []
    for part in record["parts"]:
        file = _inside(folder, part["file"])
        if not file.is_file():
            raise FormatError(f"the part {part['file']} is missing", folder)
        if file.stat().st_size != part["bytes"]:
            raise FormatError(
                f"the part has {file.stat().st_size} bytes, but {part['bytes']} were written; it is damaged", file
            )
        piece = _read(file, name, inner, reading)
        if piece.num_edges != part["edges"]:
            raise FormatError(f"the part has {piece.num_edges} edges, but {part['edges']} were written", file)
        piece.vertices = None
        pieces.append(piece)
    report = {
        "format": name,
        "bytes": sum(part["bytes"] for part in record["parts"]),
        "files": len(pieces),
    }
    report |= {"comments": sum(piece.report["comments"] for piece in pieces)} if name in ("edgelist", "csv") else {}
    values = _joined([piece.weights for piece in pieces], np.dtype(record["weights"]), reading) if weights else None
    ends = [_joined([getattr(piece, end) for piece in pieces], None, reading) for end in ("src", "dst")]
    of_edges = joined_columns([piece.edge_columns for piece in pieces], [part["file"] for part in record["parts"]],
                              "edge_columns")  # fmt: skip
    vertices, of_vertices = _vertices(folder, record, request.vertex_columns)
    return EdgeList(ends[0], ends[1], values, None, vertices, inner.directed, report, of_edges, of_vertices)


def manifest(folder: Path) -> dict[str, Any]:
    """What a folder says of the graph in it."""
    if put.UNFINISHED.fullmatch(folder.name):
        raise FormatError("this is what a write that did not end has left; delete it and write the graph again", folder)
    file = existing_file(folder / MANIFEST)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise FormatError(f"{file.stat().st_size:,} bytes are no description of a graph", file)
        text = file.read_text()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"this does not describe a graph ({error})", file) from None
    return checked_record(text, file)


def checked_record(text: str, file: Any) -> dict[str, Any]:
    """What a folder says of the graph in it, of the text of its description."""
    try:
        record: dict[str, Any] = json.loads(text)
        version = record["graphdask"]
        if version == VERSION:
            _check(record)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"this does not describe a graph ({error})", file) from None
    if version != VERSION:
        raise FormatError(f"version {version!r}; this graphdask reads version {VERSION}", file)
    return record


def _check(record: dict[str, Any]) -> None:
    """Raise KeyError or ValueError where the record is not what `write_manifest` writes."""
    wanted = {"format", "directed", "vertices", "ids", "edges", "weights", "parts"}
    if not wanted <= record.keys():
        raise KeyError(", ".join(sorted(wanted - record.keys())))
    vertices, parts = record["vertices"], record["parts"]
    for name, value, fits in (
        ("format", record["format"], record["format"] in list(SUFFIXES)),
        ("directed", record["directed"], isinstance(record["directed"], bool)),
        ("ids", record["ids"], record["ids"] in ("int", "str")),
        ("weights", record["weights"], record["weights"] in (None, "float64", "float32", "int64", "int32")),
        ("vertices", vertices, isinstance(vertices, dict) and all(_is_count(vertices.get(k, 0)) for k in _OF_VERTICES)),
        ("edges", record["edges"], _is_count(record["edges"])),
        ("parts", "no list, or empty", isinstance(parts, list) and len(parts) > 0),
    ):
        if not fits:
            raise ValueError(f"{name} is {str(value)[:80]!r}")
    if "count" not in vertices:
        raise KeyError("count of vertices")
    for part in parts:
        if not isinstance(part, dict) or not isinstance(part.get("file"), str):
            raise ValueError(f"a part is {str(part)[:80]!r}")
        if not all(_is_count(part.get(name)) for name in ("edges", "bytes")):
            raise ValueError(f"edges or bytes of the part {part['file'][:80]!r} are not numbers")
    if sum(part["edges"] for part in parts) != record["edges"]:
        raise ValueError(f"its parts do not have {record['edges']} edges in all")


_OF_VERTICES = ("count", "first")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _inside(folder: Path, name: str) -> Path:
    """The file of this name in a folder; FormatError where the name, or a link, leads out of it."""
    file = folder / name
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name or len(name) > 255:
        raise FormatError(f"the part {name[:80]!r} is not the name of a file in this folder", folder / MANIFEST)
    if file.resolve().parent != folder.resolve():
        raise FormatError(f"{name!r} is a link that leads out of the folder; put the file itself there", folder)
    return file


def _joined(arrays: list[Any], dtype: np.dtype | None, reading: Reading) -> Any:
    """One array; of empty parts of names, whose type is unknown, as well."""
    filled = [array for array in arrays if len(array)] or arrays[:1]
    if reading.spill is not None and len(filled) > 1 and filled[0].dtype.kind in "if":
        column = SpilledColumn(reading.spill)
        for array in filled:
            column.append(array, dtype)
            release(array, reading.spill)
        return column.array()
    joined = np.concatenate(filled) if len(filled) > 1 else filled[0]
    return joined if dtype is None else joined.astype(dtype, copy=False)


def _vertices(folder: Path, record: dict[str, Any], asked: Asked) -> tuple[np.ndarray, Any]:
    """The ids of the vertices, and a table of these and the columns that are asked for."""
    stated = record["vertices"]
    if "columns" not in stated:
        picked("vertex_columns", asked, (), (), folder)
        asked = False
    if "first" in stated:
        ids = consecutive_vertices(stated["first"], stated["count"], folder / MANIFEST)
    else:
        ids = _stored_ids(folder, record)
    return ids, _columns_of(folder, ids, asked) if asked else None


def _columns_of(folder: Path, ids: np.ndarray, asked: Asked) -> Any:
    """Columns of the vertices that have these ids, with the ids."""
    from .parquet import read_columns

    file = _inside(folder, VERTICES)
    table = read_columns(existing_file(file), asked, "vertex_columns")
    if table.num_rows != len(ids):
        raise FormatError(f"{table.num_rows} vertices, but {len(ids)} were written", file)
    return with_ids(table, ids)


def _stored_ids(folder: Path, record: dict[str, Any]) -> np.ndarray:
    from pyarrow import parquet

    from ._parquet_pages import check_pages
    from .parquet import checked_ids, is_text, strings

    stated = record["vertices"]
    try:
        file = _inside(folder, VERTICES)
        with parquet.ParquetFile(file) as opened:
            text = ["vertex"] if is_text(opened.schema_arrow.field("vertex").type) else []
        check_pages([str(file)], ["vertex"], text, False)
        table = parquet.read_table(
            file, columns=["vertex"], read_dictionary=text or None, page_checksum_verification=True
        )
        column = table.column("vertex")
    except FormatError:
        raise
    except (OSError, KeyError, ValueError, NotImplementedError, TypeError) as error:
        raise FormatError(f"the ids of the vertices are missing or damaged ({error})", folder / VERTICES) from None
    if len(column) != stated["count"]:
        raise FormatError(f"{len(column)} vertices, but {stated['count']} were written", folder / VERTICES)
    if column.null_count:
        raise FormatError("an id of a vertex is null", folder / VERTICES)
    if record["ids"] == "int":
        return checked_ids(column.to_numpy(), "vertex", folder / VERTICES)
    if not is_text(column.type):
        raise FormatError(f"ids are names, but the column is of type {column.type}", folder / VERTICES)
    return strings(column)
