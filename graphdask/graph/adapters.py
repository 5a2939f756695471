"""Graphs from other libraries' objects: SciPy, NetworkX, Dask DataFrames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError, MissingDependency, shown
from graphdask.graph.checked import checked_ids, checked_weights
from graphdask.graph.construct import from_edges, from_edges_with_columns
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import Own
from graphdask.io.asked import OF_EDGES, OF_VERTICES, VERTEX, asked_columns
from graphdask.partition.conversions import class_of
from graphdask.partition.ids import VertexIds, check_same_kind, number_vertices
from graphdask.partition.sources import ChunkSource


def from_scipy(
    A: Any, directed: bool = True, *, self_loops: Own[str] = "keep", multi_edges: Own[str] = "keep"
) -> Graph:
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
    if not hasattr(type(A), "tocoo") or len(A.shape) != 2:
        raise InputError(f"A is a {class_of(A)}; from_scipy takes a scipy.sparse matrix")
    if A.shape[0] != A.shape[1]:
        raise InputError(f"A has the shape {A.shape}; a graph's is square")
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed={shown(directed)} must be True or False")
    try:
        if hasattr(A, "check_format"):  # or bad indices are followed to wherever they lead
            A.check_format(full_check=True)
        coo = A.tocoo()
    except Exception as error:
        raise InputError(f"the matrix is damaged ({error}); make it again") from error
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


def from_networkx(
    g: Any,
    weight: str | None = None,
    *,
    edge_columns: Any = None,
    vertex_columns: Any = None,
    self_loops: Own[str] = "keep",
    multi_edges: Own[str] = "keep",
) -> Graph:
    """Make a graph from a NetworkX graph; directed or not as that is.

    Parameters
    ----------
    g : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Nodes are whole numbers, or strings.
    weight : str, optional
        The edge attribute that holds weights; every edge must have it.
    edge_columns, vertex_columns : list of str or bool, optional
        Attributes of edges and of nodes to keep as columns, by name; those without an attribute have null. True: all
        with strings as names, but the weights and names of graphdask's own (`src`, `dst`, `weight`, `edge`, `vertex`).
        Default: none.
    self_loops, multi_edges
        As in `from_edges`.

    Raises
    ------
    InputError
        For a node that is neither a whole number nor a string, an edge without a weight, an attribute that no edge or
        node has, and values that Arrow cannot hold.
    """
    if not hasattr(type(g), "is_directed") or not hasattr(type(g), "nodes"):
        raise InputError(f"g is a {class_of(g)}; from_networkx takes a NetworkX graph")
    nodes = list(g.nodes)
    pairs = list(g.edges(data=True))
    for node in nodes:
        if not isinstance(node, str | int | np.integer) or isinstance(node, bool):
            raise InputError(f"node {shown(node)} is neither a whole number nor a string; relabel with networkx first")
    values = None
    if weight is not None:
        try:
            hash(weight)
        except (TypeError, ValueError):
            raise InputError(f"weight={shown(weight)} is no name of an attribute") from None
        for u, v, data in pairs:
            if weight not in data:
                raise InputError(
                    f"the edge from {shown(u)} to {shown(v)} has no attribute {shown(weight)}, which weight= names"
                )
        values = np.array([data[weight] for _, _, data in pairs])
    of_edges = _attributes("edge_columns", edge_columns, [data for _, _, data in pairs], {*OF_EDGES, weight})
    of_nodes = _attributes("vertex_columns", vertex_columns, [g.nodes[node] for node in nodes], set(OF_VERTICES))
    src, dst = (np.array([pair[end] for pair in pairs], object) for end in (0, 1))
    vertices = np.array(nodes, object) if nodes else None
    options = {"directed": g.is_directed(), "self_loops": self_loops, "multi_edges": multi_edges}
    if not of_edges and not of_nodes:
        return from_edges(src, dst, values, vertices=vertices, **options)
    columns = {VERTEX: vertices} | of_nodes if of_nodes else None
    return from_edges_with_columns(
        src, dst, values, vertices, of_edges or None, columns, VERTEX, num_vertices=None, **options
    )


def _attributes(what: str, given: Any, facts: list[dict[Any, Any]], taken: set[Any]) -> dict[str, list[Any]]:
    """The attributes that are asked for, by name, with None for those who have none."""
    asked = asked_columns(what, given)
    there = dict.fromkeys(name for each in facts for name in each) if asked else {}
    if isinstance(asked, bool):
        names = [name for name in there if isinstance(name, str) and name not in taken]
    else:
        names = list(asked)
        for name in names:
            if name not in there:
                raise InputError(f"{what}: none has an attribute {shown(name)}; there are {', '.join(map(str, there))}")
    return {name: [each.get(name) for each in facts] for name in names}


def column_values(column: Any) -> np.ndarray:
    """A column of pandas or cuDF as NumPy values; of a nullable or Arrow column of numbers too, with NaN for what is
    missing."""
    if hasattr(type(column), "to_arrow"):
        import pyarrow

        from graphdask.graph.arrow_tables import plain_values

        return plain_values(f"column {column.name!r}", pyarrow.chunked_array([column.to_arrow()]))
    dtype = getattr(column.dtype, "numpy_dtype", None)
    if dtype is None or dtype.kind not in "iufb":
        return column.to_numpy()
    if column.isna().any():
        return column.to_numpy(np.float64, na_value=np.nan)
    return column.to_numpy(dtype)


@dataclass(frozen=True)
class _FrameChunk:
    """One partition of a Dask DataFrame, as edges in graphdask's vertex numbers."""

    partition: Any
    columns: tuple[str | int, str | int, str | int | None]
    ids: VertexIds

    def __call__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        frame = self.partition.compute(scheduler="synchronous")
        src, dst, weight = self.columns
        return (
            self.ids.to_internal(checked_ids(str(src), column_values(frame[src]))),
            self.ids.to_internal(checked_ids(str(dst), column_values(frame[dst]))),
            None if weight is None else checked_weights(column_values(frame[weight]), len(frame)),
        )


def _frame_ids(frame: Any, src: str, dst: str) -> tuple[np.ndarray, int]:
    ends = checked_ids(str(src), column_values(frame[src])), checked_ids(str(dst), column_values(frame[dst]))
    check_same_kind(*ends)
    return np.unique(np.concatenate(ends)), len(frame)


def from_dask_dataframe(
    ddf: Any,
    src: str | int,
    dst: str | int,
    weight: str | int | None = None,
    *,
    directed: bool = True,
    num_vertices: int | None = None,
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
    if not hasattr(type(ddf), "to_delayed") or not hasattr(type(ddf), "columns"):
        raise InputError(f"ddf is a {class_of(ddf)}; from_dask_dataframe takes a Dask DataFrame")
    for argument, name in (("src", src), ("dst", dst), ("weight", weight)):
        if not isinstance(name, str | int) and not (name is None and argument == "weight"):
            raise InputError(f"{argument}={shown(name)} is no name of a column")
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed={shown(directed)} must be True or False")
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
    weights = None if weight is None else checked_weights(column_values(ddf._meta[weight]), 0)
    weight_dtype = None if weights is None else weights.dtype
    report = {"edges_read": rows, "vertices": ids.count, "renumbered": ids.table is not None}
    return Graph(ChunkSource(ids.count, rows, chunks, weight_dtype, skewed=True), ids, directed, report)
