"""EdgeList: what every reader returns and every writer takes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError, OverBudget, shown
from graphdask.interface.suggest import public

VERTEX = 24
"""Bytes of a vertex without edges: its id, as it is read and in the graph, and its place among the edges."""


@public
@dataclass
class EdgeList:
    """Edges as they stand in a file, in the file's order and with the file's own vertex ids.

    Nothing is renumbered, merged or dropped here: that is the business of `graphdask.from_edges`.
    """

    src: np.ndarray
    """Sources: int64, or `numpy.dtypes.StringDType`/object of str where ids are not numbers; shape (m,)."""
    dst: np.ndarray
    """Destinations, same dtype and shape as `src`."""
    weights: np.ndarray | None = None
    """float64, float32, int64 or int32, shape (m,); None where the file has none or they were not asked
    for."""
    times: np.ndarray | None = None
    """int64 Unix time of each edge, for temporal files; None elsewhere."""
    vertices: np.ndarray | None = None
    """Ids of all vertices, sorted, when the file declares them (isolated ones included); None where the
    vertices are exactly those that edges name."""
    directed: bool | None = None
    """What the file says of its direction; None where the format cannot say. In an undirected list each edge
    stands once."""
    report: dict[str, Any] = field(default_factory=dict)
    """What reading met, counted: `format`, `bytes`, `lines`, `comments`, `blank_lines`, `declared_vertices`,
    `declared_edges`, ... Only what is there."""
    edge_columns: Any = None
    """pyarrow.Table with more columns of the edges, a row for each; None where none were asked for."""
    vertex_columns: Any = None
    """pyarrow.Table with the column `vertex` of ids and more columns of these vertices; None where none were asked
    for."""

    def __post_init__(self) -> None:
        for name in ("src", "dst", "weights", "times", "vertices"):
            values = getattr(self, name)
            if values is None and name not in ("src", "dst"):
                continue
            if not isinstance(values, np.ndarray) or isinstance(values, np.ma.MaskedArray) or values.ndim != 1:
                raise InputError(f"{name}={shown(values)} is not an array of NumPy of one dimension")
        if not isinstance(self.report, dict):
            raise InputError(f"report={shown(self.report)} is not a dict")
        for name in ("edge_columns", "vertex_columns"):
            if getattr(self, name) is not None:
                _check_table(name, getattr(self, name), self.num_edges)

    @property
    def num_edges(self) -> int:
        return len(self.src)

    @property
    def vertex_range(self) -> tuple[int, int] | None:
        """First id and number of the vertices where they are declared and consecutive integers."""
        ids = self.vertices
        if ids is None or ids.dtype.kind not in "iu" or not len(ids) or int(ids[-1]) - int(ids[0]) + 1 != len(ids):
            return None
        return int(ids[0]), len(ids)


def _check_table(name: str, table: Any, edges: int) -> None:
    """Raise InputError for what is no table of columns."""
    import pyarrow

    if not isinstance(table, pyarrow.Table):
        raise InputError(f"{name}={shown(table)} is not a pyarrow.Table")
    if name == "edge_columns" and table.num_rows != edges:
        raise InputError(f"edge_columns has {table.num_rows:,} rows; one for each of the {edges:,} edges is needed")
    if name == "vertex_columns" and "vertex" not in table.column_names:
        raise InputError("vertex_columns has no column 'vertex' of the vertices' ids")


def stated_vertices(stated: Any, path: str | os.PathLike[str]) -> np.ndarray:
    """The ids of a `vertex_range`, first and number, that a file of ours holds as JSON, once they are two numbers."""
    if not isinstance(stated, list) or len(stated) != 2 or any(type(value) is not int for value in stated):
        raise FormatError(f"vertex_range is {str(stated)[:80]}, not the first id and the number of vertices", path)
    return consecutive_vertices(stated[0], stated[1], path)


def declared_vertices(count: int, path: str | os.PathLike[str]) -> np.ndarray:
    """The ids 1 to `count` that a header declares; see `consecutive_vertices`."""
    return consecutive_vertices(1, count, path)


def consecutive_vertices(first: int, count: int, path: str | os.PathLike[str]) -> np.ndarray:
    """The `count` ids from `first` on that a file declares, or OverBudget: the count may be a lie, so it is asked
    about before it is believed."""
    from graphdask.device.backend import get_backend

    if first < 0 or count < 0:
        raise FormatError(f"the file declares {count:,} vertices from {first:,} on; ids are 0 to 2^63 - 1", path)
    free = get_backend("cpu").free_memory()
    if VERTEX * count > free:
        raise OverBudget(
            f"{os.fspath(path)}: the header declares {count:,} vertices, which without edges need "
            f"{VERTEX * count / 2**30:,.1f} GiB of {free / 2**30:,.1f} GiB; correct the header if that is not so, else "
            "take a host with more memory"
        )
    if first + count > 2**63:
        raise FormatError(f"the file declares {count:,} vertices from {first:,} on; ids are 0 to 2^63 - 1", path)
    return np.arange(first, first + count)
