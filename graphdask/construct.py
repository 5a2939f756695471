"""Constructors: graphs from arrays, files, SciPy, NetworkX and Dask collections.

Ids are checked and numbered here, self-loops and parallel edges treated as asked, and all of it counted in the report.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError, MissingDependency
from graphdask.graph import Graph
from graphdask.ids import VertexIds, check_same_kind, number_vertices
from graphdask.sources import ArraySource, ChunkSource

SELF_LOOPS = ("keep", "drop", "error")
MULTI_EDGES = ("keep", "merge", "error")
WEIGHT_DTYPES = ("float64", "float32", "int64", "int32")


def from_edges(
    src: Any,
    dst: Any,
    weights: Any = None,
    num_vertices: int | None = None,
    directed: bool = True,
    *,
    vertices: Any = None,
    self_loops: str = "keep",
    multi_edges: str = "keep",
) -> Graph:
    """Make a graph from arrays.

    Parameters
    ----------
    src, dst : array-like of int or str, shape (m,)
        Ends of the edges. Whole numbers from 0 to 2**63 - 1, or strings. An undirected edge stands once.
    weights : array-like of float or int, shape (m,), optional
        Without NaN. Kept as float64, float32, int64 or int32.
    num_vertices : int, optional
        The vertices are 0 to num_vertices - 1. Default: exactly the ids that edges name, in ascending order, however
        sparse; isolated vertices then need `vertices`.
    directed : bool
    vertices : array-like, optional
        All vertex ids, isolated ones included.
    self_loops : {"keep", "drop", "error"}
    multi_edges : {"keep", "merge", "error"}
        Parallel edges; of merged ones the smallest weight stays. In an undirected graph (u, v) and (v, u) are
        parallel.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        For ids or weights that are not valid, naming the first one.

    Examples
    --------
    >>> import graphdask as gd
    >>> gd.from_edges([10, 20], [20, 40])
    <Graph: 3 vertices, 2 edges, directed>
    """
    if vertices is not None and num_vertices is not None:
        raise InputError("give num_vertices= or vertices=, not both")
    source, destination = _ids("src", src), _ids("dst", dst)
    if len(source) != len(destination):
        raise InputError(f"src has {len(source)} entries and dst {len(destination)}; they must be pairs")
    return _assemble(
        source,
        destination,
        _weights(None if weights is None else _array("weights", weights).copy(), len(source)),
        None if vertices is None else _ids("vertices", vertices),
        num_vertices,
        directed,
        self_loops,
        multi_edges,
        {},
    )


def _assemble(
    src: np.ndarray,
    dst: np.ndarray,
    weights: np.ndarray | None,
    vertices: np.ndarray | None,
    num_vertices: int | None,
    directed: bool,
    self_loops: str,
    multi_edges: str,
    report: dict[str, Any],
    describe: Callable[[int], str] = "edge number {}".format,
) -> Graph:
    for value, allowed, name in ((self_loops, SELF_LOOPS, "self_loops"), (multi_edges, MULTI_EDGES, "multi_edges")):
        if value not in allowed:
            raise InputError(f"{name}={value!r} is not one of {', '.join(allowed)}")
    ids, src, dst = number_vertices(src, dst, vertices, num_vertices)
    report = report | {"edges_read": len(src), "vertices": ids.count, "renumbered": ids.table is not None}
    loops = src == dst
    report["self_loops"] = int(loops.sum())
    if self_loops == "error" and report["self_loops"]:
        first = int(np.flatnonzero(loops)[0])
        raise InputError(f"{describe(first)} is a self-loop at vertex {ids.to_caller(src[first : first + 1])[0]}")
    if self_loops == "drop" and report["self_loops"]:
        src, dst = src[~loops], dst[~loops]
        weights = None if weights is None else weights[~loops]
        report["self_loops_dropped"] = report["self_loops"]
    repeats = _repeats(src, dst, weights, ids.count, directed)
    report["parallel_edges"] = len(src) - len(repeats.kept)
    if multi_edges == "error" and report["parallel_edges"]:
        first = repeats.first_repeat()
        ends = ids.to_caller(np.array([src[first], dst[first]]))
        raise InputError(f"{describe(first)} from {ends[0]} to {ends[1]} repeats an earlier edge")
    if multi_edges == "merge" and report["parallel_edges"]:
        src, dst = src[repeats.kept], dst[repeats.kept]
        weights = None if weights is None else weights[repeats.kept]
        report["parallel_edges_merged"] = report["parallel_edges"]
    return Graph(ArraySource(ids.count, src, dst, weights), ids, directed, report)


@dataclass
class _Repeats:
    kept: np.ndarray
    """Which edge of each group of parallel ones stays, ascending."""
    order: np.ndarray
    starts: np.ndarray

    def first_repeat(self) -> int:
        """Number of the first edge that has an earlier parallel one."""
        later = np.ones(len(self.order), bool)
        firsts = np.minimum.reduceat(self.order, self.starts)
        later[firsts] = False
        return int(np.flatnonzero(later)[0])


def _repeats(src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, n: int, directed: bool) -> _Repeats:
    """Group parallel edges; of each group the lightest stays, among equals the first."""
    if not len(src):
        empty = np.zeros(0, np.int64)
        return _Repeats(empty, empty, empty)
    low, high = (src, dst) if directed else (np.minimum(src, dst), np.maximum(src, dst))
    if n < 2**31:
        key = (low.astype(np.int64) << 32) | high.astype(np.int64)
        in_order = key.copy()
        in_order.sort()
        if not (in_order[1:] == in_order[:-1]).any():
            every = np.arange(len(src))
            return _Repeats(every, every, every)
        order = np.argsort(key, kind="stable")
        differs = key[order][1:] != key[order][:-1]
    else:
        order = np.lexsort((high, low))
        differs = (low[order][1:] != low[order][:-1]) | (high[order][1:] != high[order][:-1])
    starts = np.flatnonzero(np.concatenate(([True], differs)))
    if weights is None:
        kept = order[starts]
    else:
        group = np.cumsum(np.concatenate(([0], differs.astype(np.int64))))
        lightest = np.lexsort((order, weights[order], group))
        kept = order[lightest[starts]]
    return _Repeats(np.sort(kept), order, starts)


def _array(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} is no array: {error}") from error


def _ids(name: str, values: Any) -> np.ndarray:
    """Check an array of vertex ids; int64, or object of str."""
    array = _array(name, values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension, not shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, np.int64) if array.dtype.kind not in "UOT" else array.astype(object)
    if array.dtype.kind in "iu":
        if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
            place = int(np.argmax(array > np.iinfo(np.int64).max))
            raise InputError(f"{name}[{place}] = {array[place]} is above the largest vertex id, 2**63 - 1")
        if array.dtype.kind == "i" and array.min() < 0:
            place = int(np.argmax(array < 0))
            raise InputError(f"{name}[{place}] = {array[place]} is negative; vertex ids start at 0")
        return array.astype(np.int64, copy=False)
    if array.dtype.kind in "UT" or (array.dtype.kind == "O" and all(isinstance(x, str) for x in array)):
        return array.astype(object)
    if array.dtype.kind == "O":
        return _numbers_among_objects(name, array)
    raise InputError(
        f"{name} has the dtype {array.dtype}; vertex ids are whole numbers or strings (its first is {array[0]!r})"
    )


def _numbers_among_objects(name: str, array: np.ndarray) -> np.ndarray:
    for place, value in enumerate(array):
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            kind = "neither a whole number nor a string"
            if isinstance(value, str) or isinstance(array[0], str):
                kind = "not of the same kind as the others; ids are all whole numbers, or all strings"
            raise InputError(f"{name}[{place}] = {value!r} is {kind}")
        if not 0 <= value <= np.iinfo(np.int64).max:
            bound = "negative; vertex ids start at 0" if value < 0 else "above the largest vertex id, 2**63 - 1"
            raise InputError(f"{name}[{place}] = {value} is {bound}")
    return array.astype(np.int64)


def _weights(values: Any, count: int) -> np.ndarray | None:
    if values is None:
        return None
    array = _array("weights", values)
    if array.shape != (count,):
        raise InputError(f"weights has the shape {array.shape}; one for each of the {count} edges is needed")
    if array.dtype.name not in WEIGHT_DTYPES:
        if array.dtype.kind not in "iufb" or (array.dtype.kind == "u" and array.size and array.max() > 2**63 - 1):
            raise InputError(f"weights has the dtype {array.dtype}; weights are whole numbers or floats")
        array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(f"weights[{int(np.argmax(np.isnan(array)))}] is NaN; every edge needs a weight")
    return np.ascontiguousarray(array)


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weights: bool | None = None,
    num_vertices: int | None = None,
    self_loops: str = "keep",
    multi_edges: str = "keep",
    ids: str | None = None,
    comment: str | None = None,
    delimiter: str | None = None,
    columns: Any = None,
    progress: bool | None = None,
) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path : path-like
        Compressed files (.gz, .xz, .bz2) are read as they are.
    format : str, optional
        Default: from the name; `graphdask.io.FORMATS` lists them.
    directed : bool, optional
        Default: what the file says; where it cannot say, directed.
    weights : bool, optional
        False ignores them, True insists on them. Default: what the format says of itself.
    num_vertices, self_loops, multi_edges
        As in `from_edges`. The ids are those that stand in the file; formats that count from 1 keep doing so.
    ids, comment, delimiter, columns : optional
        How to read a text or a table where it cannot be told from its name and content; `graphdask.io.read_edges`
        describes them. `ids="str"` takes ids as names even where they look like numbers.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    Graph
        `report` counts what reading met and changed.

    Raises
    ------
    FormatError
        Naming file and line.
    InputError
        Where the file does not exist or the arguments do not fit it.
    """
    from graphdask.io import read_edges

    edges = read_edges(
        path,
        format=format,
        weights=weights,
        directed=directed,
        comment=comment,
        delimiter=delimiter,
        columns=columns,
        ids=ids,
        progress=progress,
    )
    if directed is None:
        directed = True if edges.directed is None else edges.directed
    name = os.fspath(path)
    try:
        graph = _assemble(
            edges.src,
            edges.dst,
            _weights(edges.weights, edges.num_edges),
            None if num_vertices is not None else edges.vertices,
            num_vertices,
            directed,
            self_loops,
            multi_edges,
            edges.report,
        )
    except FormatError:
        raise
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error
    return graph


def from_scipy(A: Any, directed: bool = True, *, self_loops: str = "keep", multi_edges: str = "keep") -> Graph:
    """Make a graph from a square SciPy sparse matrix or array: an edge i -> j of weight A[i, j] for each stored entry.

    Parameters
    ----------
    A : scipy.sparse matrix or array, shape (n, n)
        Entries that are stored twice are parallel edges.
    directed : bool
        With False, A must be symmetric; an edge is then made of each pair.
    self_loops, multi_edges
        As in `from_edges`.

    Raises
    ------
    InputError
        Where A is not sparse, not square, or not symmetric although directed=False.
    """
    if not hasattr(A, "tocoo") or len(A.shape) != 2:
        raise InputError(f"from_scipy takes a scipy.sparse matrix, not {type(A).__name__}")
    if A.shape[0] != A.shape[1]:
        raise InputError(f"the matrix has the shape {A.shape}; a graph's is square")
    coo = A.tocoo()
    src, dst, data = coo.row.astype(np.int64), coo.col.astype(np.int64), coo.data
    if not directed:
        upper = src <= dst
        lonely = _first_unpaired(src, dst, data)
        if lonely is not None:
            row, column = int(src[lonely]), int(dst[lonely])
            raise InputError(
                f"directed=False needs a symmetric matrix, but A[{row}, {column}] = {data[lonely]} has no equal "
                f"at A[{column}, {row}]"
            )
        src, dst, data = src[upper], dst[upper], data[upper]
    weights = None if data.dtype == bool else data
    return from_edges(src, dst, weights, A.shape[0], directed, self_loops=self_loops, multi_edges=multi_edges)


def _first_unpaired(src: np.ndarray, dst: np.ndarray, data: np.ndarray) -> int | None:
    """Number of an entry that the other triangle does not hold as often, or None."""
    above, below = np.flatnonzero(src < dst), np.flatnonzero(src > dst)
    above = above[np.lexsort((data[above], dst[above], src[above]))]
    below = below[np.lexsort((data[below], src[below], dst[below]))]
    shared = min(len(above), len(below))
    a, b = above[:shared], below[:shared]
    differs = np.flatnonzero((src[a] != dst[b]) | (dst[a] != src[b]) | (data[a] != data[b]))
    place = int(differs[0]) if len(differs) else shared
    if place == max(len(above), len(below)):
        return None
    if place >= len(above) or (
        place < len(below) and (dst[below[place]], src[below[place]]) < (src[above[place]], dst[above[place]])
    ):
        return int(below[place])
    return int(above[place])


def from_networkx(g: Any, weight: str | None = None, *, self_loops: str = "keep", multi_edges: str = "keep") -> Graph:
    """Make a graph from a NetworkX graph; directed or not as that is.

    Parameters
    ----------
    g : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Nodes are whole numbers, or strings.
    weight : str, optional
        The edge attribute that holds weights; every edge must have it.
    self_loops, multi_edges
        As in `from_edges`.
    """
    nodes = list(g.nodes)
    pairs = list(g.edges(data=True))
    for node in nodes:
        if not isinstance(node, str | int | np.integer) or isinstance(node, bool):
            raise InputError(f"node {node!r} is neither a whole number nor a string; relabel with networkx first")
    values = None
    if weight is not None:
        for u, v, data in pairs:
            if weight not in data:
                raise InputError(f"the edge from {u!r} to {v!r} has no attribute {weight!r}")
        values = np.array([data[weight] for _, _, data in pairs])
    return from_edges(
        np.array([u for u, _, _ in pairs], object),
        np.array([v for _, v, _ in pairs], object),
        values,
        directed=g.is_directed(),
        vertices=np.array(nodes, object) if nodes else None,
        self_loops=self_loops,
        multi_edges=multi_edges,
    )


@dataclass(frozen=True)
class _FrameChunk:
    """One partition of a Dask DataFrame, as edges in graphdask's vertex numbers."""

    partition: Any
    columns: tuple[str, str, str | None]
    ids: VertexIds

    def __call__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        frame = self.partition.compute(scheduler="synchronous")
        src, dst, weight = self.columns
        return (
            self.ids.to_internal(_ids(src, frame[src].to_numpy())),
            self.ids.to_internal(_ids(dst, frame[dst].to_numpy())),
            None if weight is None else _weights(frame[weight].to_numpy(), len(frame)),
        )


def _frame_ids(frame: Any, src: str, dst: str) -> tuple[np.ndarray, int]:
    ends = _ids(src, frame[src].to_numpy()), _ids(dst, frame[dst].to_numpy())
    check_same_kind(*ends)
    return np.unique(np.concatenate(ends)), len(frame)


def from_dask_dataframe(
    ddf: Any, src: str, dst: str, weight: str | None = None, *, directed: bool = True, num_vertices: int | None = None
) -> Graph:
    """Make a graph from a Dask DataFrame; its rows go to the workers, not through this process.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
        A row for each edge. Its task graph is the lineage: a lost partition is computed again from it.
    src, dst : str
        Columns of the edges' ends, whole numbers or strings.
    weight : str, optional
        Column of the weights.
    directed : bool
    num_vertices : int, optional
        As in `from_edges`; without it the ids are collected first, one pass over the rows.

    Raises
    ------
    InputError
        For a column that is not there, or ids that are not valid.
    """
    try:
        import dask
    except ImportError as error:
        raise MissingDependency('from_dask_dataframe needs pip install "graphdask[dataframe]"') from error
    missing = [name for name in (src, dst, weight) if name is not None and name not in ddf.columns]
    if missing:
        raise InputError(f"the data frame has no column {missing[0]!r}; it has {', '.join(map(str, ddf.columns))}")
    partitions = ddf.to_delayed()
    found = dask.compute(*(dask.delayed(_frame_ids)(partition, src, dst) for partition in partitions))
    ends = np.unique(np.concatenate([ids for ids, _ in found])) if found else np.zeros(0, np.int64)
    ids, _, _ = number_vertices(ends[:0], ends[:0], None if num_vertices is not None else ends, num_vertices)
    if num_vertices is not None:
        ids.to_internal(ends, "vertex")
    chunks = [_FrameChunk(partition, (src, dst, weight), ids) for partition in partitions]
    rows = sum(count for _, count in found)
    weight_dtype = None if weight is None else _weights(np.zeros(0, ddf[weight].dtype), 0).dtype  # type: ignore[union-attr]
    report = {"edges_read": rows, "vertices": ids.count, "renumbered": ids.table is not None}
    return Graph(ChunkSource(ids.count, rows, chunks, weight_dtype, skewed=True), ids, directed, report)
