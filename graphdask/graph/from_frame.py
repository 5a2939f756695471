"""from_frame: a graph from a table of edges, and one of vertices, whatever library they are of."""

from __future__ import annotations

from typing import Any

from graphdask.errors import InputError, shown
from graphdask.graph.adapters import from_dask_dataframe
from graphdask.graph.arrow_tables import all_others, arrow_table, checked_names, device_columns, plain_values
from graphdask.graph.attached import attached, table_of_edges
from graphdask.graph.construct import checked_treatment, from_edges_with_columns
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import Own
from graphdask.io.asked import OF_EDGES


def from_frame(
    df: Any,
    src: str = "src",
    dst: str = "dst",
    weight: str | None = None,
    *,
    edge_columns: Any = None,
    vertex_columns: Any = None,
    vertex_id: str = "id",
    directed: bool = True,
    num_vertices: int | None = None,
    self_loops: Own[str] = "keep",
    multi_edges: Own[str] = "keep",
    progress: bool | None = None,
) -> Graph:
    """Make a graph from a table with a row for each edge.

    Parameters
    ----------
    df : data frame, table, or mapping of str to array
        Of pandas, polars, cuDF or Dask, an Arrow table or record batch, a relation of DuckDB, or what else has
        `__arrow_c_stream__`.
    src, dst : str
        Columns of the edges' ends: whole numbers or strings, also as categories.
    weight : str, optional
        Column of the weights.
    edge_columns : list of str or bool, optional
        More columns to keep with the edges, of any type that Arrow has. True: all others, but those with names of
        graphdask's own (`src`, `dst`, `weight`, `edge`). Default: none. They stay in this process's memory. A merged
        edge keeps the values of the row that stays, the first of those of the smallest weight.
    vertex_columns : table, or mapping of str to array, optional
        Columns of the vertices. The rows are of the vertices in its column `vertex_id`, which join those that edges
        name; vertices without a row have nulls. A mapping without that column has a value for each vertex, in the order
        of `vertex_ids`.
    vertex_id : str
        The column of the ids in `vertex_columns`.
    directed : bool
    num_vertices : int, optional
        As in `from_edges`.
    self_loops : {"keep", "drop", "error"}
    multi_edges : {"keep", "merge", "error"}
        As in `from_edges`. The rows of a Dask DataFrame stay with the workers if both are "keep", and come to this
        process otherwise.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    Graph
        With `edge_columns`, `vertex_columns`, `to_frame` and `to_arrow`. The row of an edge, as `s.edge` of samples
        says, is its row in `df`.

    Raises
    ------
    InputError
        For a column that is not there, and ids, weights or columns that are not valid, naming the column and the first
        row.
    VertexNotFound
        For a row of `vertex_columns` whose id `num_vertices` leaves out.

    Examples
    --------
    >>> import graphdask as gd, pandas as pd
    >>> calls = pd.DataFrame({"a": ["ann", "bob"], "b": ["bob", "cy"], "time": pd.to_datetime(["2026-01-01", None])})
    >>> G = gd.from_frame(calls, "a", "b", edge_columns=["time"])
    >>> G.to_frame().time.isna().tolist()
    [False, True]
    """
    for argument, name in (("src", src), ("dst", dst), ("weight", weight)):
        if not isinstance(name, str) and not (name is None and argument == "weight"):
            raise InputError(f"{argument}={shown(name)} is no name of a column")
    checked_treatment(self_loops, multi_edges)
    ends = [src, dst] if weight is None else [src, dst, weight]
    more = all_others("df", df, (*ends, *OF_EDGES)) if edge_columns is True else _names(edge_columns)
    lazy = hasattr(type(df), "to_delayed") and hasattr(type(df), "columns")
    if lazy and self_loops == multi_edges == "keep" and vertex_columns is None:
        graph = from_dask_dataframe(df, src, dst, weight, directed=directed, num_vertices=num_vertices)
        count = graph.num_edges
        return attached(graph, table_of_edges("df", df, more, count) if more else None, None, vertex_id, None)
    there = device_columns("df", df, ends)
    table = arrow_table("df", df, [name for name in dict.fromkeys([*ends, *more]) if name in more or name not in there])

    def column(name: str) -> Any:
        return there[name] if name in there else plain_values(f"df: column {name!r}", table[name])

    return from_edges_with_columns(
        column(src), column(dst), None if weight is None else column(weight),
        None, table.select(more) if more else None, vertex_columns, vertex_id,
        num_vertices=num_vertices, directed=directed, self_loops=self_loops, multi_edges=multi_edges, progress=progress,
        names=(f"df: column {src!r}", f"df: column {dst!r}", f"df: column {weight!r}"),
    )  # fmt: skip


def _names(given: Any) -> list[str]:
    return [] if given is None else checked_names("edge_columns", given)
