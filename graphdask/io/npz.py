"""NumPy archives: src, dst and optional weights, times, vertices (or, where they are
consecutive ids, vertex_range: the first and their number), directed; and SciPy's sparse matrices. Where ids are names,
the writer adds `ids`, the word str. More columns of edges and of vertices are bytes of Arrow IPC streams, as in native
files: `edge_columns` and `vertex_columns`. Of an archive that somebody else wrote, columns of edges are its other
arrays with a value for each edge.

A sparse matrix is a directed graph on vertices 0..n-1, unless directed=False folds its two triangles.
"""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError, GraphdaskError

from ._column_bytes import of_vertices, table_of
from ._ipc import as_bytes
from ._missing_names import check_names, check_numbers
from ._table import string_array
from .adjlist import one_direction
from .asked import picked
from .budgets import budget
from .columns import Request, count_infinite
from .edges import EdgeList, consecutive_vertices
from .opening import existing_file
from .parquet import checked_ids, checked_numbers

ARRAYS = ("src", "dst", "weights", "times", "vertices")


def read_npz(path: str | os.PathLike[str], request: Request) -> EdgeList:
    """Read arrays that `write_npz` or `scipy.sparse.save_npz` wrote; objects are never unpickled."""
    file = existing_file(path)
    try:
        _refuse_large(file)
        with np.load(file, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FormatError("this is a single array; an NPZ holds src and dst", file)
            if "src" in archive and "dst" in archive:
                return _edges(dict(archive), request, file)
            if "shape" in archive and "format" in archive:
                picked("edge_columns", request.edge_columns, (), (), file)
                picked("vertex_columns", request.vertex_columns, (), (), file)
                return _sparse(request, file)
            raise FormatError(
                f"the archive has {', '.join(archive) or 'nothing'}; it must have src and dst, or be a "
                "SciPy sparse matrix",
                file,
            )
    except (GraphdaskError, MemoryError):
        raise
    except Exception as error:  # NumPy, SciPy and zipfile raise nearly all kinds for a damaged archive
        raise FormatError(f"not a readable NPZ archive ({type(error).__name__}: {error})", file) from error


def _refuse_large(file: Path) -> None:
    """Raise OverBudget where the arrays do not fit memory, FormatError where one says that it is larger than it is."""
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        budget().refuse_bytes(sum(entry.file_size for entry in entries), "its arrays take")
        for entry in entries:
            if not entry.filename.endswith(".npy"):
                continue
            shape, dtype = array_header(archive, entry)
            if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize > entry.file_size:
                raise FormatError(f"{entry.filename} has {entry.file_size:,} bytes, too few for {shape} {dtype}", file)


def array_header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | str) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype of an array of an archive."""
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else _header_2_0
        shape, _, dtype = header(stream)
    return shape, dtype


def _header_2_0(stream: Any) -> Any:
    return np.lib.format.read_array_header_2_0(stream)


def _edges(arrays: dict[str, np.ndarray], request: Request, file: Path) -> EdgeList:
    src, dst = arrays["src"], arrays["dst"]
    if src.ndim != 1 or src.shape != dst.shape:
        raise FormatError(
            f"src has shape {src.shape}, dst {dst.shape}; both must be one-dimensional and equally long", file
        )
    ids = [_ids(arrays[name], name, file) for name in ("src", "dst")]
    own = "ids" in arrays and arrays["ids"].size == 1 and str(arrays["ids"].reshape(-1)[0]) == "str"
    for name, each in zip(("src", "dst"), ids, strict=True):
        if each.dtype.kind in "OT":
            check_names(each, name, file, request, own)
        else:
            check_numbers(request, name, file, each.dtype)
    numbers = []
    for name in ("weights", "times"):
        values = arrays.get(name)
        if name == "weights" and request.weights is False:
            values = None
        if values is not None:
            if values.shape != src.shape:
                raise FormatError(f"{name} has shape {values.shape}, src {src.shape}", file)
            values = checked_numbers(values, name, file)
        elif request.weights if name == "weights" else request.times:
            raise FormatError(f"{name} were asked for, but the archive has none", file)
        numbers.append(values)
    directed = request.directed
    if directed is None and "directed" in arrays:
        if arrays["directed"].dtype != np.bool_ or arrays["directed"].size != 1:
            raise FormatError("directed is not one truth value", file)
        directed = bool(arrays["directed"])
    vertices = _ids(arrays["vertices"], "vertices", file) if "vertices" in arrays else None
    if vertices is None and "vertex_range" in arrays:
        if arrays["vertex_range"].shape != (2,) or arrays["vertex_range"].dtype.kind not in "iu":
            raise FormatError("vertex_range is not the first id and the number of vertices", file)
        first, count = arrays["vertex_range"].tolist()
        vertices = consecutive_vertices(first, count, file)
    columns = _columns(arrays, request, {"src": ids[0], "vertices": vertices}, file)
    return EdgeList(
        ids[0],
        ids[1],
        numbers[0],
        numbers[1],
        vertices,
        directed,
        {"format": "npz", "bytes": file.stat().st_size, **count_infinite(numbers[0])},
        *columns,
    )


def _columns(arrays: dict[str, np.ndarray], request: Request, values: dict[str, Any], file: Path) -> list[Any]:
    """The columns of edges and of vertices that are asked for; None for none."""
    found = []
    for name, asked in (("edge_columns", request.edge_columns), ("vertex_columns", request.vertex_columns)):
        data = arrays.get(name)
        if data is not None and (data.dtype != np.uint8 or data.ndim != 1):
            raise FormatError(f"{name} is {data.dtype} of shape {data.shape}, and no column that graphdask wrote", file)
        if asked and name == "edge_columns" and data is None:
            data = _others(arrays, len(values["src"]))
        found.append(table_of(data, name, asked, values, file) if asked else None)
    return found


def _others(arrays: dict[str, np.ndarray], count: int) -> Any:
    """Arrays with a value for each edge that say nothing else, as columns; None without any."""
    import pyarrow as pa

    own = (*ARRAYS, "vertex_range", "ids", "directed")
    kept = {
        name: pa.array(values.tolist() if values.dtype.kind == "U" else values)
        for name, values in arrays.items()
        if name not in own and values.shape == (count,) and values.dtype.kind in "biufUMm"
    }
    return as_bytes(pa.table(kept)) if kept else None


def _ids(values: np.ndarray, name: str, file: Path) -> np.ndarray:
    if values.ndim != 1:
        raise FormatError(f"{name} has shape {values.shape}; it must be one-dimensional", file)
    if values.dtype.kind == "U":
        return string_array(values.tolist())
    if values.dtype.kind not in "iu":
        raise FormatError(f"{name} is of type {values.dtype}; vertex ids are integers or strings", file)
    return checked_ids(values, name, file)


def _sparse(request: Request, file: Path) -> EdgeList:
    from scipy import sparse

    if request.times:
        raise FormatError("times were asked for, but a sparse matrix has none", file)
    check_numbers(request, "the matrix", file, "numbers of rows")
    matrix = sparse.load_npz(file)
    if hasattr(matrix, "check_format"):  # or bad indices are followed to wherever they lead
        matrix.check_format(full_check=True)
    matrix = matrix.tocoo()
    if matrix.shape[0] != matrix.shape[1]:
        raise FormatError(f"the matrix is {matrix.shape[0]} x {matrix.shape[1]}; a graph needs a square one", file)
    src, dst = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
    weights: Any = None
    if request.weights is not False and (request.weights or matrix.dtype != np.bool_):
        weights = checked_numbers(matrix.data, "the matrix", file)
    if request.directed is False:
        keep, once = one_direction(src, dst, weights)
        if keep is None:
            at = int(once)
            raise FormatError(
                f"directed=False, but entry ({src[at]}, {dst[at]}) has no equal mirror while others "
                "have; read it with directed=True",
                file,
            )
        src, dst, weights = src[keep], dst[keep], None if weights is None else weights[keep]
    return EdgeList(
        src,
        dst,
        weights,
        vertices=consecutive_vertices(0, int(matrix.shape[0]), file),
        directed=request.directed is not False,
        report={"format": "npz", "bytes": file.stat().st_size, **count_infinite(weights)},
    )


def write_npz(edges: EdgeList, path: Path) -> None:
    """Write an uncompressed archive of src, dst and what else there is."""
    arrays: dict[str, Any] = {}
    for name in ARRAYS:
        values = getattr(edges, name)
        if values is not None:
            arrays[name] = values.astype(object).astype(np.str_) if values.dtype.kind in "OT" else values
    if edges.src.dtype.kind in "OT":
        arrays["ids"] = np.str_("str")
    if edges.directed is not None:
        arrays["directed"] = np.bool_(edges.directed)
    for name, table in (("edge_columns", edges.edge_columns), ("vertex_columns", of_vertices(edges))):
        if table is not None:
            arrays[name] = as_bytes(table)
    with path.open("wb") as stream:
        np.savez(stream, **arrays)
