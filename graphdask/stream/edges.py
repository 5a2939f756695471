"""The edges that a store is built from, in blocks: those of a Graph, or of a file that is larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.device.backend import get_backend
from graphdask.display.phases import phase
from graphdask.errors import InputError, OverBudget, shown
from graphdask.graph.construct import graph_of_file, read_graph
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import is_path
from graphdask.io import EdgeList, slices, spilled_edges
from graphdask.partition.blocks import Share
from graphdask.partition.edge_rows import rows_given as given_of
from graphdask.partition.ids import VertexIds
from graphdask.partition.part import WeightFacts
from graphdask.partition.sources import ArraySource, ChunkSource, GeneratedSource
from graphdask.stream.external import Arcs, NumberedArcs
from graphdask.stream.kept_columns import KeptColumns
from graphdask.stream.tuning import STREAM

PER_EDGE = 160
"""Bytes for each edge of a block, with all that is made of it on the way."""


class GraphEdges:
    """Those of a Graph, made again in every pass; where parallel edges are merged, it is built first.

    If their rows are asked for, and the order in which they are made does not give these, all are made once and kept.
    """

    def __init__(self, graph: Graph, memory: int, rows: bool = False):
        graph = graph.present
        self.graph = graph
        self.ids, self.directed, self.num_vertices = graph.ids, graph.directed, graph.num_vertices
        self.weights = None if graph.source.weight_dtype is None else np.dtype(graph.source.weight_dtype)
        self._block = block_edges(memory)
        in_order = isinstance(graph.source, ArraySource | ChunkSource | GeneratedSource) and not graph.merge
        self.whole = graph._edges_and_rows() if rows and not in_order else None
        """Ends, weights and rows of all edges, if they are kept."""

    def blocks(self) -> Iterator[Arcs]:
        """Each edge once, as vertex numbers."""
        if self.whole is not None:
            for src, dst, weights, _ in self.whole_blocks():
                yield src, dst, weights
        elif self.graph.merge:
            yield from execute.edge_blocks(self.graph, self._block, progress=False)
        else:
            yield from Share(self.graph.source).blocks(get_backend("cpu"), self._block)

    def whole_blocks(self) -> Iterator[NumberedArcs]:
        """The edges that are kept, with their rows."""
        assert self.whole is not None
        src, dst, weights, rows = self.whole
        for first in range(0, len(src), self._block):
            some = slice(first, first + self._block)
            yield src[some], dst[some], None if weights is None else weights[some], rows[some]


class FileEdges:
    """Those of arrays that are mapped from files, and read block by block; no more than that is ever in memory."""

    def __init__(self, path: str | os.PathLike[str], edges: EdgeList, memory: int):
        self.directed = True if edges.directed is None else edges.directed
        self._arrays = edges.src, edges.dst, edges.weights
        self.num_edges = len(edges.src)
        self._block = block_edges(memory)
        self.weights = None if edges.weights is None else edges.weights.dtype
        with phase("ids"):
            self.ids = self._numbered(path, edges.vertices, memory)
        self.num_vertices = self.ids.count

    def _slices(self) -> Iterator[Arcs]:
        src, dst, weights = self._arrays
        for _, *part in slices(src, dst, *([] if weights is None else [weights]), size=self._block):
            yield part[0], part[1], part[2] if len(part) == 3 else None

    def _numbered(self, path: Any, vertices: np.ndarray | None, memory: int) -> VertexIds:
        if vertices is not None:
            count = len(vertices)
            if count and int(vertices[-1]) - int(vertices[0]) + 1 == count:
                return VertexIds(count, int(vertices[0]))
            return VertexIds(count, 0, np.array(vertices, np.int64) if count else None)
        low, high = np.iinfo(np.int64).max, -1
        for src, dst, _ in self._slices():
            low = min(low, int(src.min()), int(dst.min()))
            high = max(high, int(src.max()), int(dst.max()))
        if high < 0:
            return VertexIds(0)
        if high - low + 1 > memory // 2:
            return self._sorted(path, memory)
        present = np.zeros(high - low + 1, bool)
        for src, dst, _ in self._slices():
            present[src - low] = True
            present[dst - low] = True
        if present.all():
            return VertexIds(len(present), low)
        table = np.flatnonzero(present)
        table += low
        return VertexIds(len(table), 0, table)

    def _sorted(self, path: Any, memory: int) -> VertexIds:
        """Ids that lie too far apart to mark them: runs of sorted ones, each twice as long as the next at least."""
        runs: list[np.ndarray] = []
        for src, dst, _ in self._slices():
            runs.append(np.union1d(src, dst))
            while len(runs) > 1 and len(runs[-2]) < 2 * len(runs[-1]):
                runs.append(np.union1d(runs.pop(), runs.pop()))
            if 3 * runs[0].nbytes > memory:
                raise OverBudget(
                    f"{os.fspath(path)}: it has more than {len(runs[0]):,} vertices, and to sort their ids takes more "
                    f"than {memory / 2**20:,.0f} MiB; allow more memory"
                )
        table = reduce(np.union1d, reversed(runs))
        if int(table[-1]) - int(table[0]) + 1 == len(table):
            return VertexIds(len(table), int(table[0]))
        return VertexIds(len(table), 0, table)

    def blocks(self) -> Iterator[Arcs]:
        """Each edge once, as vertex numbers."""
        for src, dst, weights in self._slices():
            yield self.ids.to_internal(src, "edge source"), self.ids.to_internal(dst, "edge destination"), weights


def block_edges(memory: int) -> int:
    """Of a block, where a quarter of some memory may be used for one."""
    return max(1024, min(STREAM.block_edges, memory // 4 // PER_EDGE))


def check_given(given: Any) -> None:
    """Raise InputError for what is neither a graph nor the path of a file."""
    if not (is_path(given) or isinstance(given, Graph) or isinstance(getattr(given, "present", None), Graph)):
        raise InputError(f"G is a {type(given).__name__}, neither a Graph nor the path of a file")


def edges_of(
    given: Any,
    memory: int,
    directed: bool | None,
    weights: bool | str | None,
    folder: Path,
    of_text: dict[str, Any],
    columns: KeptColumns,
) -> GraphEdges | FileEdges:
    """The edges of what `check_given` takes, to be gone through any number of times; `folder` is for those of text,
    `of_text` says how it is read, and `columns` which columns go with them."""
    if not is_path(given):
        if directed is not None or weights is not None:
            raise InputError("directed= and weights= are for a file; a graph says itself what it is")
        for name, value in of_text.items():
            if value is not None and not (name == "skip_rows" and value == 0):
                raise InputError(f"{name}={shown(value)} is for a file; a graph says itself what it is")
        return GraphEdges(given, memory, columns.rows_of(given.present))
    if columns.of_file:
        named = {"edge_columns": columns.edges, "vertex_columns": columns.vertices}
        graph = read_graph(given, directed=directed, weights=weights, **of_text, **named)
        return GraphEdges(graph, memory, columns.rows_of(graph))
    edges = spilled_edges(given, folder, memory, directed=directed, weights=weights, **of_text)
    if edges is None:
        return GraphEdges(read_graph(given, directed=directed, weights=weights, **of_text), memory)
    if edges.src.dtype.kind in "iu" and edges.dst.dtype.kind in "iu":
        return FileEdges(given, edges, memory)
    return GraphEdges(graph_of_file(given, edges, directed), memory)


def rows_given(edges: GraphEdges | FileEdges) -> int:
    """How many edges the caller gave, those among them that are left out."""
    return edges.num_edges if isinstance(edges, FileEdges) else given_of(edges.graph.source)


def _numbered(edges: GraphEdges | FileEdges) -> Iterator[NumberedArcs]:
    """The blocks of the edges, with the row of each in what the caller gave."""
    if isinstance(edges, GraphEdges) and edges.whole is not None:
        yield from edges.whole_blocks()
        return
    source = None if isinstance(edges, FileEdges) else edges.graph.source
    kept = source.kept if isinstance(source, ArraySource) else None
    first, at, waiting = 0, 0, np.zeros(0, np.int64)
    for src, dst, weights in edges.blocks():
        if kept is None:
            yield src, dst, weights, np.arange(first, first + len(src))
            first += len(src)
            continue
        while len(waiting) < len(src):  # a bit for each that was given
            bits = np.unpackbits(kept[at : at + (len(src) >> 3) + 1])
            waiting = np.concatenate([waiting, np.flatnonzero(bits) + 8 * at])
            at += (len(src) >> 3) + 1
        yield src, dst, weights, waiting[: len(src)]
        waiting = waiting[len(src) :]


def numbered_arcs_of(edges: GraphEdges | FileEdges, inward: bool, numbered: bool) -> Iterator[NumberedArcs]:
    """As `arcs_of`, with the row of each edge in what the caller gave, where that is asked for."""
    if not numbered:
        for rows, others, weights in arcs_of(edges, inward):
            yield rows, others, weights, None
        return
    for src, dst, weights, numbers in _numbered(edges):
        if edges.directed:
            yield (dst, src, weights, numbers) if inward else (src, dst, weights, numbers)
            continue
        yield src, dst, weights, numbers
        other = src != dst
        assert numbers is not None
        yield dst[other], src[other], None if weights is None else weights[other], numbers[other]


def facts_of(edges: GraphEdges | FileEdges) -> WeightFacts | None:
    """What algorithms must know of all weights, from a pass over the edges."""
    if edges.weights is None:
        return None
    return WeightFacts.joined(WeightFacts.of(np, src, dst, w) for src, dst, w in edges.blocks() if w is not None)


def arcs_of(edges: GraphEdges | FileEdges, inward: bool) -> Iterator[Arcs]:
    """Edges as they stand in rows: at their sources, or where `inward` at their ends; undirected ones at both."""
    for src, dst, weights in edges.blocks():
        if edges.directed:
            yield (dst, src, weights) if inward else (src, dst, weights)
            continue
        yield src, dst, weights
        other = src != dst
        yield dst[other], src[other], None if weights is None else weights[other]
