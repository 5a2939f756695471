"""NumPy archives: src, dst and optional weights, times, vertices (or, where they are
consecutive ids, vertex_range: the first and their number), directed; and SciPy's sparse matrices.

A sparse matrix is a directed graph on vertices 0..n-1, unless directed=False folds its two triangles.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError

from ._columns import Request, count_infinite
from ._open import existing_file
from ._table import string_array
from .adjlist import one_direction
from .edges import EdgeList, consecutive_vertices
from .parquet import checked_ids, checked_numbers


def read_npz(path: str | os.PathLike[str], request: Request) -> EdgeList:
    """Read arrays that `write_npz` or `scipy.sparse.save_npz` wrote; objects are never unpickled."""
    import zlib

    file = existing_file(path)
    try:
        with np.load(file, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FormatError("this is a single array; an NPZ holds src and dst", file)
            if "src" in archive and "dst" in archive:
                return _edges(dict(archive), request, file)
            if "shape" in archive and "format" in archive:
                return _sparse(request, file)
            raise FormatError(
                f"the archive has {', '.join(archive) or 'nothing'}; it must have src and dst, or be a "
                "SciPy sparse matrix",
                file,
            )
    except FormatError:
        raise
    except InputError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise FormatError(f"not a readable NPZ archive ({error})", file) from None


def _edges(arrays: dict[str, np.ndarray], request: Request, file: Path) -> EdgeList:
    src, dst = arrays["src"], arrays["dst"]
    if src.ndim != 1 or src.shape != dst.shape:
        raise FormatError(
            f"src has shape {src.shape}, dst {dst.shape}; both must be one-dimensional and equally long", file
        )
    ids = [_ids(arrays[name], name, file) for name in ("src", "dst")]
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
        directed = bool(arrays["directed"])
    vertices = _ids(arrays["vertices"], "vertices", file) if "vertices" in arrays else None
    if vertices is None and "vertex_range" in arrays:
        if arrays["vertex_range"].shape != (2,) or arrays["vertex_range"].dtype.kind not in "iu":
            raise FormatError("vertex_range is not the first id and the number of vertices", file)
        first, count = arrays["vertex_range"].tolist()
        vertices = consecutive_vertices(first, count, file)
    return EdgeList(
        ids[0],
        ids[1],
        numbers[0],
        numbers[1],
        vertices,
        directed,
        {"format": "npz", "bytes": file.stat().st_size, **count_infinite(numbers[0])},
    )


def _ids(values: np.ndarray, name: str, file: Path) -> np.ndarray:
    if values.dtype.kind == "U":
        return string_array(values.tolist())
    if values.dtype.kind not in "iu":
        raise FormatError(f"{name} is of type {values.dtype}; vertex ids are integers or strings", file)
    return checked_ids(values, name, file)


def _sparse(request: Request, file: Path) -> EdgeList:
    from scipy import sparse

    if request.times:
        raise FormatError("times were asked for, but a sparse matrix has none", file)
    matrix = sparse.load_npz(file).tocoo()
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
        vertices=np.arange(matrix.shape[0]),
        directed=request.directed is not False,
        report={"format": "npz", "bytes": file.stat().st_size, **count_infinite(weights)},
    )


def write_npz(edges: EdgeList, path: Path) -> None:
    """Write an uncompressed archive of src, dst and what else there is."""
    arrays: dict[str, Any] = {}
    for name in ("src", "dst", "weights", "times", "vertices"):
        values = getattr(edges, name)
        if values is not None:
            arrays[name] = values.astype(object).astype(np.str_) if values.dtype.kind in "OT" else values
    if edges.directed is not None:
        arrays["directed"] = np.bool_(edges.directed)
    with path.open("wb") as stream:
        np.savez(stream, **arrays)
