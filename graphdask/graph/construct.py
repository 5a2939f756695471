"""Constructors: graphs from arrays and files.

Ids are checked and numbered here, self-loops and parallel edges treated as asked, and all of it counted in the report.
"""

from __future__ import annotations

import os
import warnings
from contextlib import ExitStack
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.arrays import module_of, on_gpu, on_host
from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.device.residency import fetched
from graphdask.display.first_use import FirstUse
from graphdask.display.phases import OF_ARRAYS, OF_GRAPH, phase, progress_over
from graphdask.errors import FormatError, GraphdaskWarning, InputError, outside, shown
from graphdask.graph.checked import check_ids, check_weights, checked_weights
from graphdask.graph.graph import Graph
from graphdask.graph.placing import Columns, columns_given
from graphdask.interface.kinds import flag
from graphdask.io import EdgeList, edges_for_graph
from graphdask.io.addresses import joined, local_files
from graphdask.io.asked import asked_columns
from graphdask.io.estimates import within_memory_of_files
from graphdask.partition.device_ids import number_on_device
from graphdask.partition.ids import number_vertices
from graphdask.partition.parallel_edges import count_parallel, group_parallel
from graphdask.partition.sources import ArraySource

SELF_LOOPS = ("keep", "drop", "error")
MULTI_EDGES = ("keep", "merge", "error")


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
    edge_columns: Any = None,
    vertex_columns: Any = None,
    progress: bool | None = None,
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
    edge_columns : mapping of str to array of shape (m,), or table, optional
        More columns of the edges, of any type that Arrow has. A merged edge keeps the values of the row that stays, the
        first of those of the smallest weight.
    vertex_columns : mapping of str to array, or table, optional
        Columns of the vertices. With a column `id`, its rows are of these vertices, which join those that edges name;
        vertices without a row have nulls. A mapping without it has a value for each vertex, in the order of
        `vertex_ids`.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        For ids, weights or columns that are not valid, naming the first one.

    Examples
    --------
    >>> import graphdask as gd
    >>> gd.from_edges([10, 20], [20, 40])
    <Graph: 3 vertices, 2 edges, directed>
    """
    if edge_columns is not None or vertex_columns is not None:
        return from_edges_with_columns(
            src, dst, weights, vertices, edge_columns, vertex_columns, "id",
            num_vertices=num_vertices, directed=directed, self_loops=self_loops, multi_edges=multi_edges,
            progress=progress,
        )  # fmt: skip
    if vertices is not None and num_vertices is not None:
        raise InputError("give num_vertices= or vertices=, not both")
    checked_treatment(self_loops, multi_edges)
    with progress_over("graph", OF_ARRAYS, progress):
        given = columns_given(src, dst, weights, vertices, multi_edges != "keep")
        with given.backend.activate():
            source, destination = check_ids("src", given.src), check_ids("dst", given.dst)
            if len(source) != len(destination):
                raise InputError(f"src has {len(source)} entries and dst {len(destination)}; they must be pairs")
            return _assemble(
                [source, destination],
                None if given.weights is None else check_weights(given.weights, len(source)),
                None if given.vertices is None else check_ids("vertices", given.vertices),
                num_vertices,
                directed,
                self_loops,
                multi_edges,
                {},
                given=given,
            )


def from_edges_with_columns(
    src: Any, dst: Any, weights: Any, vertices: Any, edge_columns: Any, vertex_columns: Any, vertex_id: Any,
    *, num_vertices: Any, names: tuple[str, str, str] = ("src", "dst", "weights"), **options: Any,
) -> Graph:  # fmt: skip
    """Carry out `from_edges` of arrays and columns."""
    from graphdask.graph.attached import edges_with_columns  # it imports pyarrow

    given = edges_with_columns(
        src, dst, weights, vertices, edge_columns, vertex_columns, vertex_id, num_vertices, names
    )
    graph = from_edges(given.src, given.dst, given.weights, num_vertices, vertices=given.vertices, **options)
    made: Graph = given.attached_to(graph)
    return made


def checked_treatment(self_loops: Any, multi_edges: Any) -> None:
    """Raise InputError if these do not say how to treat self-loops and parallel edges."""
    for value, allowed, name in ((self_loops, SELF_LOOPS, "self_loops"), (multi_edges, MULTI_EDGES, "multi_edges")):
        if not isinstance(value, str) or value not in allowed:
            raise InputError(f"{name}={shown(value)} is not one of {', '.join(allowed)}")


def _assemble(
    ends: list[Array],
    weights: Array | None,
    vertices: Array | None,
    num_vertices: int | None,
    directed: bool,
    self_loops: str,
    multi_edges: str,
    report: dict[str, Any],
    own: bool = False,
    given: Columns | None = None,
) -> Graph:
    """Make a graph of edges whose weights are checked; the list of ends is emptied, so that ids go once they have
    numbers. Where they are on a GPU, so is all that is done here."""
    checked_treatment(self_loops, multi_edges)
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed={shown(directed)} must be True or False")
    src, dst = ends
    ends.clear()
    with phase("ids"):
        if on_gpu(src) and given is not None:
            given.src = given.dst = None
            ids, src, dst = number_on_device(given.backend, src, dst, vertices, num_vertices)
        else:
            ids, src, dst = number_vertices(src, dst, vertices, num_vertices, own)
        xp = module_of(src)
    with phase("building") as built:
        report = report | {"edges_read": len(src), "vertices": ids.count, "renumbered": ids.table is not None}
        rows_given = len(src)
        report["self_loops"] = count_set(src == dst)
        if self_loops == "error" and report["self_loops"]:
            first = int(xp.flatnonzero(src == dst)[0])
            named = ids.to_caller(on_host(src[first : first + 1]))
            raise InputError(f"edge number {first} is a self-loop at vertex {named[0]}")
        kept: Array | None = None
        if self_loops == "drop" and report["self_loops"]:
            kept = xp.asarray(src != dst)
            src, dst = src[kept], dst[kept]
            weights = _chosen(weights, kept)
            report["self_loops_dropped"] = report["self_loops"]
        built(0.1)
        report["parallel_edges"] = count_parallel(
            src, dst, ids.count, bool(directed), lambda share: built(0.1 + 0.7 * share)
        )
        if multi_edges != "keep" and report["parallel_edges"]:
            beside = weights if weights is None or not on_gpu(src) else xp.asarray(weights)
            repeats = group_parallel(src, dst, beside, ids.count, directed)
            del beside
        if multi_edges == "error" and report["parallel_edges"]:
            first = repeats.first_repeat()
            named = ids.to_caller(np.array([int(src[first]), int(dst[first])]))
            raise InputError(f"edge number {first} from {named[0]} to {named[1]} repeats an earlier edge")
        if multi_edges == "merge" and report["parallel_edges"]:
            src, dst = src[repeats.kept], dst[repeats.kept]
            weights = _chosen(weights, repeats.kept)
            report["parallel_edges_merged"] = report["parallel_edges"]
            rows = repeats.kept if kept is None else xp.flatnonzero(kept)[repeats.kept]
            kept = xp.zeros(rows_given, bool)
            kept[rows] = True
        built(0.8)
        packed = None if kept is None else on_host(xp.packbits(kept))
        if given is not None and given.borrowed:
            src, dst = fetched(src), fetched(dst)
        source = ArraySource(ids.count, src, dst, weights, kept=packed, rows_given=rows_given)
        return Graph(source, ids, directed, report)


def _chosen(weights: Array | None, which: Array) -> Array | None:
    """Some of the weights, where they are."""
    if weights is None:
        return None
    return weights[which if on_gpu(weights) else on_host(which)]


def read_graph(
    path: Any,
    *,
    format: str | None = None,
    directed: bool | None = None,
    weights: bool | str | None = None,
    num_vertices: int | None = None,
    self_loops: str = "keep",
    multi_edges: str = "keep",
    ids: str | None = None,
    comment: str | None = None,
    delimiter: str | None = None,
    columns: Any = None,
    edge_columns: Any = None,
    vertex_columns: Any = None,
    header: bool | None = None,
    skip_rows: int = 0,
    na_values: Any = None,
    storage_options: Any = None,
    lazy: bool = False,
    progress: bool | None = None,
) -> Graph:
    """Read a graph from a file, or from several.

    Parameters
    ----------
    path : path-like, str or open file
        A file, compressed ones (.gz, .xz, .bz2) as they are, or a folder that `Graph.write` made. Or an address that
        fsspec opens, such as "s3://bucket/graph.csv", "https://host/graph.txt.gz" or "zip://graph.txt::graphs.zip".
        Or a pattern such as "parts/*.csv", in an address too: files that fit are one graph, in the order of their
        names. Or an open file, binary or text. What is no local file is copied to a temporary folder first.
    format : str, optional
        Default: from the name; `graphdask.io.FORMATS` lists them.
    directed : bool, optional
        Default: what the file says; where it cannot say, directed.
    weights : bool or "auto", optional
        False ignores them, True insists on them. Default: what the format says of itself; an edge list without column
        names has none, and `report["unread_columns"]` counts what was not read. "auto", which is the default of the
        command line, also takes the third column of such a list as weights if it has numbers;
        `graphdask.io.read_edges` describes it.
    num_vertices, self_loops, multi_edges
        As in `from_edges`. The ids are those that stand in the file; formats that count from 1 keep doing so.
    ids, comment, delimiter, columns : optional
        How to read a text or a table if its name and content do not determine it; `graphdask.io.read_edges` describes
        them. `ids="str"` takes ids as names even where they look like numbers.
    edge_columns : list of str or bool, optional
        More columns to keep with the edges, by name. True: all that the file has, but those with names of graphdask's
        own (`src`, `dst`, `weight`, `edge`). Default: none. Parquet, native files, NPZ,
        GraphML, GEXF and text with a header have them.
    vertex_columns : list of str or bool, optional
        Columns to keep with the vertices, by name; True: all. Default: none. Native files, NPZ, GraphML, GEXF
        and folders that `Graph.write` made have them.
    header, skip_rows, na_values : optional
        Whether the first line of a text is a header, lines to pass over before it, and words that stand for a missing
        id; see `graphdask.io.read_edges`. `report` says what was decided of the header.
    storage_options : mapping, optional
        What fsspec is given for an address: credentials, a region, a proxy.
    lazy : bool
        True: read the footer of a Parquet file or the header of a native file alone, or those of a folder that
        `Graph.write` made. Each rank reads its own ranges when partitions are built: row groups of Parquet, rows of
        native files. So no process has all edges, and only these bytes are fetched from an address. The file, which
        all workers must see, states its vertices as a range of ids, or `num_vertices` does; nothing is dropped or
        counted. With `multi_edges="merge"` ranks merge as they build. Columns that are asked for are read whole by this
        process, which keeps them. A text is not read so, because nothing states how many edges it has and where they
        begin. Answers are the same. Default: this process reads all edges.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    Graph
        `report` counts what reading met and changed; of several files together.

    Raises
    ------
    FormatError
        Naming file and line.
    InputError
        If the file does not exist or the arguments do not fit it.
    OverBudget
        If an estimate before reading finds that memory cannot hold the graph. The error says how to stream the graph
        from disk instead.
    MissingDependency
        If fsspec needs another package for an address.
    """
    show = Config.load(progress=progress).progress
    asked = asked_columns("edge_columns", edge_columns), asked_columns("vertex_columns", vertex_columns)
    if flag("lazy", lazy):
        from graphdask.graph.by_ranges import graph_by_ranges

        others = {
            "ids": ids, "comment": comment, "delimiter": delimiter, "header": header, "na_values": na_values,
            "skip_rows": skip_rows,
        }  # fmt: skip
        return graph_by_ranges(
            path, format, directed, weights, num_vertices, storage_options, self_loops, multi_edges, columns, asked,
            others,
        )  # fmt: skip
    with local_files(path, storage_options, format) as files, FirstUse("reading", show), ExitStack() as around:
        around.enter_context(progress_over(files[0].path, OF_GRAPH, show))
        named = [(file.path, file.format or format) for file in files]
        around.enter_context(within_memory_of_files(named, columns=asked))
        lists = [
            edges_for_graph(
                file.path,
                format=file.format or format,
                weights=weights,
                directed=directed,
                comment=comment,
                delimiter=delimiter,
                columns=columns,
                ids=ids,
                header=header,
                skip_rows=skip_rows,
                na_values=na_values,
                edge_columns=asked[0],
                vertex_columns=asked[1],
            )
            for file in files
        ]
        edges = joined(lists, [file.name or os.fspath(file.path) for file in files])
        del lists
        return graph_of_file(files[0].path, edges, directed, num_vertices, self_loops, multi_edges, own=True)


def graph_of_file(
    path: str | os.PathLike[str], edges: EdgeList, directed: bool | None = None, num_vertices: int | None = None,
    self_loops: str = "keep", multi_edges: str = "keep", own: bool = False,
) -> Graph:  # fmt: skip
    """What was read of a file, as `read_graph` gives it. With `own`, the graph may take the memory of the arrays."""
    if directed is None:
        directed = True if edges.directed is None else edges.directed
    name, ends, count = os.fspath(path), [edges.src, edges.dst], edges.num_edges
    more = edges.edge_columns, edges.vertex_columns
    if own:
        edges.src = edges.dst = np.empty(0, np.int64)
    try:
        graph = _assemble(
            ends,
            checked_weights(edges.weights, count),
            None if num_vertices is not None else edges.vertices,
            num_vertices,
            directed,
            self_loops,
            multi_edges,
            edges.report,
            own,
        )
        if any(table is not None for table in more):
            from graphdask.graph.attached import with_columns_read  # it imports pyarrow

            graph = with_columns_read(graph, *more)
    except FormatError:
        raise
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error
    declared = edges.report.get("declared_vertices", graph.num_vertices)
    whole = "read_bytes" not in edges.report
    if num_vertices is None and edges.vertices is None and declared != graph.num_vertices and whole:
        warnings.warn(
            GraphdaskWarning(f"{name}: the file declares {declared:,} vertices, its edges name {graph.num_vertices:,}"),
            stacklevel=outside(),
        )
    return graph
