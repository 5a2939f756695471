"""Make a layered edge list within a memory budget.

The edges are first sorted by vertex number, on disk. A search over what that gives finds the layers, and they are
sorted once more, by layer. In an undirected graph the search starts from the root and from the smallest vertex of every
other component. In a directed one it starts from the root; what that does not reach is searched from its vertices
without in-edges, beyond the last layer; what is left, circles and what hangs on them, is one layer more.

Source: WolfPath, Sections 3.1 and 3.2; its trees duplicate vertices of a layer that are joined, which sweeps until
nothing changes make needless.
"""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.backend import get_backend
from graphdask.device.limits import refuse_beyond_disk
from graphdask.display.first_use import FirstUse
from graphdask.display.notebook import is_watched
from graphdask.display.phases import OF_GRAPH, part_of, phase, progress_over
from graphdask.errors import InputError, OverBudget, Unsupported, shown
from graphdask.graph.graph import Graph
from graphdask.io.addresses import local_file
from graphdask.io.estimates import estimated_edges
from graphdask.io.kept import warn_of_types
from graphdask.io.outputs import file_output
from graphdask.partition.blocks import parse_size
from graphdask.partition.given import given_array
from graphdask.partition.ids import VertexIds
from graphdask.partition.part import WeightFacts
from graphdask.results.writing import readable
from graphdask.stream.components import forest
from graphdask.stream.edges import (
    FileEdges,
    GraphEdges,
    arcs_of,
    check_given,
    edges_of,
    facts_of,
    numbered_arcs_of,
    rows_given,
)
from graphdask.stream.external import LEAST, SHARES, NumberedArcs, Order, cut, sorted_at_once, write_section
from graphdask.stream.format import Section, Writer, writing
from graphdask.stream.graph import StreamedGraph, open_
from graphdask.stream.kept_columns import KeptColumns
from graphdask.stream.paths import search
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log

ORDERS = ("layers", "ids")
PHASES = {"layers": ("degrees", "sorting", "layers", "storing"), "ids": ("degrees", "storing")}
"""Of building, for each order, after those of reading."""
CHUNK, FEW = 16 << 20, 2 << 20
"""Bytes of a chunk at most, where nobody says how many; and those below which chunks cost the cores more."""
MANY, SOME = 32, 16
"""Chunks in memory, where nobody says how large they are: so many, or as few as this for chunks of `FEW`."""
PER_VERTEX = 36
"""Bytes for each vertex, at most at a time."""
LOCK = "building"
"""A file that is locked as long as a build goes on."""


@dataclass
class _Plan:
    edges: GraphEdges | FileEdges
    memory: int
    chunk: int
    inward: bool
    facts: WeightFacts | None
    self_loops: int = 0
    numbers: np.dtype | None = None
    """Of the rows of edges, where they are kept."""
    tables: dict[str, Any] = field(default_factory=dict)
    """Columns of edges and of vertices that are kept."""


def _numbered_root(edges: Any, root: Any) -> int:
    given = given_array("root", root)
    if given.ndim:
        raise InputError(f"root={shown(root)} is not one vertex")
    return int(edges.ids.to_internal(given, "root"))


def build(
    G: Any,
    path: str | os.PathLike[str],
    *,
    root: Any = None,
    order: str = "layers",
    memory: int | str = "1GiB",
    chunk: int | str | None = None,
    directed: bool | None = None,
    weights: bool | str | None = None,
    ids: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    na_values: Any = None,
    columns: Any = None,
    delimiter: str | None = None,
    comment: str | None = None,
    inward: bool | None = None,
    edge_rows: bool | None = None,
    edge_columns: Any = None,
    vertex_columns: Any = None,
    overwrite: bool = False,
) -> StreamedGraph:
    """Write a graph as a layered edge list, from which `graphdask.stream.open` streams it; return it, opened.

    Parameters
    ----------
    G : Graph or path-like
        A graph, whose edges are made in blocks, or the name of a file, or of a folder that `Graph.write` made. Edge
        lists, CSV, DIMACS, LDBC, Parquet and the native format may be larger than memory: they are read in blocks,
        where ids are numbers. Others are read whole first. A file at an address that fsspec opens is copied to the
        temporary folder (TMPDIR) first, if that has space for it.
    path : path-like
        What is written, `graph.gdl`, on a disk of this host. It is there when it is whole, or not at all.
    root : int or str, optional
        The vertex that layers are counted from, by the caller's id. Default: the one of most out-edges.
    order : {"layers", "ids"}
        Rows by layer, which searches go through in few sweeps; or by vertex, which takes half the time to make.
    memory : int or str
        Bytes that building may take, besides what Python and its libraries do.
    chunk : int or str, optional
        Bytes of a chunk, at most but for a row that is larger. Default: a part in 32 of `memory`, from 2 to 16 MiB; a
        part in 16 where that is less, and no more than can be sorted at a time.
    directed : bool, optional
        Whether the edges of a file have a direction. Default: what it says, else yes.
    weights : bool or "auto", optional
        Of a file: False leaves them, True insists on them. Default: what the format says of itself. "auto" also takes
        the third column of an edge list without column names, as `read_graph` does.
    ids, header, skip_rows, na_values, columns, delimiter, comment : optional
        Of a text: how to read ids, whether there is a header, lines to pass over, words for missing ids, which columns
        are source, target and weight, what is between them, and what begins a comment, as in
        `graphdask.io.read_edges`.
    inward : bool, optional
        Keep the in-edges of a directed graph too, which `pagerank` needs: twice the size. Default: yes. Of an
        undirected one, whose edges stand at both ends, neither True nor False is taken.
    edge_rows : bool, optional
        Store for each edge its row in the input that `G` was made of, in 4 bytes for each stored edge (8 from 2^31 on).
        `edge_rows=True` of samplers and `e_id` of minibatches return these rows, and columns of edges are found by
        them. Nothing else reads them. Default: yes if columns of edges are kept.
    edge_columns, vertex_columns : list of str or bool, optional
        Columns of edges and of vertices to keep, by name; True: all. They stand apart from the edges, and are read when
        they are asked for. Default: all of a graph, none of a file. If columns of a file are asked for, it is read
        whole first.
    overwrite : bool
        Replace a file that is there.

    Returns
    -------
    StreamedGraph
        Opened with the same `memory`.

    Raises
    ------
    InputError
        For arguments that have no such value, or a file that is there.
    VertexNotFound
        Where `root` is not a vertex.
    OverBudget
        Where the arrays per vertex, or the largest row, need more than `memory`.
    Unsupported
        From 2**31 - 1 vertices on; for rows of edges if these are not known, as after batches of Dask data frames.
    WriteError
        Where the disk is full or fails; nothing is left then.

    Notes
    -----
    Edges are on disk a second time while they are sorted: 8 bytes each, and their weights. Those of text and Parquet
    are there a third time: 16 bytes each, and their weights. All of it stands beside `path`.

    References
    ----------
    Zhu, He, Fu, Han, Chen: WolfPath: accelerating iterative traversing-based graph processing algorithms on GPU,
    International Journal of Parallel Programming 47 (2019).

    Examples
    --------
    >>> import graphdask as gd, tempfile
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     S = gd.stream.build(G, f"{folder}/path.gdl", root=0)
    ...     print(S, gd.bfs(S, 3).depth.tolist())
    <StreamedGraph: 4 vertices, 3 edges, undirected, 4 layers in 1 chunks, memory 1 GiB> [3, 2, 1, 0]
    """
    of_text = {
        "ids": ids, "header": header, "skip_rows": skip_rows, "na_values": na_values,
        "columns": columns, "delimiter": delimiter, "comment": comment,
    }  # fmt: skip
    check_given(G)
    if order not in ORDERS:
        raise InputError(f"order={order!r} is not one of {', '.join(ORDERS)}")
    kept = KeptColumns(edge_columns, vertex_columns, edge_rows)
    if order == "ids" and root is not None:
        raise InputError('root= is where layers are counted from; order="ids" has none')
    out = file_output(path, overwrite)
    if out.opened is not None:
        raise InputError(f"{out.path} is a pipe or a device, and a file is needed that can be read again; name one")
    target = out.target
    if not isinstance(G, str | os.PathLike):
        warn_of_types(getattr(G, "vertex_types", ()), getattr(G, "edge_types", ()), target)
    budget = parse_size(memory, "memory")
    size = chunk_for(budget) if chunk is None else parse_size(chunk, "chunk", LEAST)
    before = OF_GRAPH if isinstance(G, str | os.PathLike) else ()
    with (
        FirstUse("building", is_watched(Config.load().progress)),
        progress_over(target, before + PHASES[order]),
        readable(target, "a larger disk"),
        local_file(G) as G,
    ):
        _clear_up(target)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _refuse_beyond_disk(G, target, directed, inward)
            edges = edges_of(G, budget, directed, weights, folder, of_text, kept)
            if inward is not None and not edges.directed:
                raise InputError(f"inward={inward} is for a directed graph; undirected edges stand at both ends")
            if edges.num_vertices >= 2**31 - 1:
                raise Unsupported(
                    f"a layered edge list holds up to 2**31 - 2 vertices, and G has {edges.num_vertices:,}"
                )
            numbered, tables = bool(edge_rows), dict[str, Any]()
            if isinstance(edges, GraphEdges):
                numbered, tables = kept.rows_of(edges.graph), kept.tables_of(edges.graph)
            start = None if root is None else _numbered_root(edges, root)
            needed = PER_VERTEX * edges.num_vertices
            if 2 * needed > budget:
                raise OverBudget(
                    f"building takes {needed / 2**20:,.1f} MiB for {edges.num_vertices:,} vertices and as much for "
                    f"edges, and memory={shown(memory)} is less; allow {2 * needed // 2**20 + 1}MiB"
                )
            left = (budget - needed) // SHARES
            if chunk is None:  # of edges alone, which can be sorted with weights and, for layers, without
                each = (
                    (4 + (0 if of is None else of.itemsize)) * sorted_at_once(left, of, with_rows)
                    for of, with_rows in ((edges.weights, numbered), (None, False))
                )
                size = max(LEAST, min(size, *each))
            plan = _Plan(edges, left, size, edges.directed and inward is not False, facts_of(edges), tables=tables)
            if numbered:
                plan.numbers = np.dtype("<i4" if rows_given(edges) < 2**31 else "<i8")
            made = _written(plan, folder, order, start)
            out.put(made)
            _settle(target.parent)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
    return open_(target, memory)


def _refuse_beyond_disk(G: Any, target: Path, directed: bool | None, inward: bool | None) -> None:
    """Raise WriteError if the disk has no space for the edges of a graph or a file; both ends of an undirected edge
    have it, and both of a directed one unless in-edges are left out."""
    present = getattr(G, "present", G)
    if isinstance(present, Graph):
        if present.merge:  # nobody knows how many are left
            return
        source = present.source
        edges = source.num_edges // (2 if source.drops_self_loops else 1)
        weight = 0 if source.weight_dtype is None else source.weight_dtype.itemsize
        ends = 1 if present.directed and inward is False else 2
        needed = edges * ends * (4 + weight)
    elif isinstance(G, str | os.PathLike):
        edges = estimated_edges(G)
        needed = edges * 4 * (1 if directed is not False and inward is False else 2)
    else:
        return
    refuse_beyond_disk(target, f"about {edges:,} edges", needed, "build it on a larger disk, or of fewer edges")


def chunk_for(memory: int) -> int:
    """Bytes of a chunk for a memory budget, where nobody says how many.

    Of small ones more can stay, and more is passed over; each takes some time to ask for, and to divide.
    """
    return max(LEAST, min(CHUNK, memory // MANY), min(FEW, memory // SOME))


def _clear_up(target: Path) -> None:
    """Remove what builds of the same file left that were killed: nobody holds their locks any more."""
    for folder in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with suppress(OSError):  # somebody builds there, or another one clears up
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)


def _settle(folder: Path) -> None:
    """Wait until a new name is on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _written(plan: _Plan, folder: Path, order: str, root: int | None) -> Path:
    """The finished file, in the folder."""
    n = plan.edges.num_vertices
    with phase("degrees"):
        out = _degrees(plan, False)
    numbers = Order(None, None, np.zeros(0, np.int64))
    if order == "ids" or not n:
        with phase("storing") as share:
            return _write(plan, folder / "whole", order, numbers, out, {"layers": None, "root": None}, share)
    root = int(out.argmax()) if root is None else root
    extra = {"layers": None, "root": None, "intermediate": True}
    with phase("sorting") as share:
        first = _write(plan, folder / "sorted", "ids", numbers, out, extra, share, only_out=True)
    store = Store(first, intermediate=True)
    try:
        with phase("layers"):
            depth = _layers(plan, store, root)
    finally:
        store.close()
    first.unlink()
    number = np.argsort(depth, kind="stable").astype(np.int32)
    position = np.empty(n, np.int32)
    position[number] = np.arange(n, dtype=np.int32)
    ends = np.cumsum(np.bincount(depth))
    del depth
    where = Order(position, number, ends)
    with phase("storing") as share:
        return _write(plan, folder / "whole", order, where, out, {"layers": len(ends), "root": root}, share)


def _degrees(plan: _Plan, inward: bool) -> np.ndarray:
    """uint32 per vertex: the edges of its row."""
    degree = np.zeros(plan.edges.num_vertices, np.uint32)
    kernels = get_backend("cpu").kernels("layered")
    loops = 0
    for rows, others, _ in arcs_of(plan.edges, inward):
        kernels.layered_degrees(len(rows), np.asarray(rows, np.int32), 0, degree)
        loops += int((rows == others).sum())
    plan.self_loops = loops
    return degree


def _layers(plan: _Plan, store: Store, root: int) -> np.ndarray:
    """The layer of every vertex, int32."""
    n, memory = store.num_vertices, plan.memory
    if not plan.edges.directed:
        tree = forest(store, memory, Log(what="building"))
        smallest = np.flatnonzero(tree == np.arange(n, dtype=np.int32))
        starts = np.append(smallest[smallest != tree[root]], root)
        del tree
        label = search(store, starts, memory)
        return (label >> 32).astype(np.int32)
    label = search(store, np.array([root]), memory)
    none = np.iinfo(np.int64).max
    left = label == none
    if left.any():
        degree = _degrees(plan, True)
        starts = np.flatnonzero(left & (degree == 0))
        del degree
        if len(starts):
            label = search(store, starts, memory, label, int((label[~left] >> 32).max()) + 1)
    left = label == none
    depth = (label >> 32).astype(np.int32)
    depth[left] = (int(depth[~left].max()) if not left.all() else -1) + 1
    present = np.bincount(depth) > 0
    return (np.cumsum(present, dtype=np.int32) - 1)[depth]


def _write(
    plan: _Plan, path: Path, order: str, where: Order, out: np.ndarray, extra: dict[str, Any],
    share: Callable[[float], None], only_out: bool = False,
) -> Path:  # fmt: skip
    edges, sections = plan.edges, {}
    weights, numbers = (None, None) if only_out else (edges.weights, plan.numbers)  # layers need none
    with writing(path) as writer:
        directions = (False,) if only_out or not plan.inward else (False, True)
        for inward in directions:
            degree = _degrees(plan, True) if inward else out
            name = "inward" if inward else "out"
            section = Section(name, np.zeros(0), order == "layers" and not inward, weights, None, numbers)
            cut(degree, where, plan.chunk, section)
            sections[name] = write_section(
                writer, section, degree, where, _again(plan, inward, numbers is not None), plan.memory, path.parent,
                part_of(share, int(inward), len(directions)),
            )  # fmt: skip
            stored = section.num_edges
            del degree
        count = stored if edges.directed else (stored - plan.self_loops) // 2 + plan.self_loops
        facts, columns = plan.facts, {}
        if plan.tables and not only_out:
            from graphdask.stream.columns import write_table  # it imports pyarrow

            columns = {kind: write_table(writer, table) for kind, table in plan.tables.items()}
        writer.finish({
            "num_vertices": edges.num_vertices, "num_edges": count, "directed": edges.directed, "order": order,
            "self_loops": plan.self_loops, "weights": None if weights is None else weights.str,
            "edge_rows": None if numbers is None else {"dtype": numbers.str, "given": rows_given(edges)},
            "weight_facts": None if facts is None else _plain(facts), "sections": sections,
            **({"columns": columns} if columns else {}),
            "ids": _ids(writer, edges.ids), "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **extra,
        })  # fmt: skip
    return path


def _again(plan: _Plan, inward: bool, numbered: bool) -> Callable[[], Iterator[NumberedArcs]]:
    return lambda: numbered_arcs_of(plan.edges, inward, numbered)


def _plain(facts: WeightFacts) -> dict[str, Any]:
    """For JSON, whose numbers are exact: NaN is none of them, infinity is one to Python."""
    return {name: getattr(facts, name) for name in ("least", "greatest", "total", "count", "unfit")}


def _ids(writer: Writer, ids: VertexIds) -> dict[str, Any]:
    """What the header says of the caller's ids; tables are written."""

    def entry(array: np.ndarray) -> dict[str, int]:
        before = writer.end
        offset, crc = writer.append(array)
        return {"offset": offset, "length": len(array), "bytes": writer.end - before, "crc": crc}

    if ids.table is None:
        return {"start": ids.start}
    if ids.are_numbers:
        return {"table": entry(np.ascontiguousarray(ids.table, "<i8"))}
    texts = [str(name).encode() for name in ids.table]
    cuts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype("<i8")
    return {"bytes": entry(np.frombuffer(b"".join(texts), np.uint8)), "cuts": entry(cuts)}
