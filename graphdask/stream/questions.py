"""Questions about some vertices and edges of a graph on disk, answered from its file in this process.

A question about out-edges reads the chunks that hold the rows of its vertices, which the table of the file states, and
no others. In-edges of a directed graph are read so too if the file was built with them, and else found by a pass over
all chunks. Degrees read the lengths of rows alone, and a pass over the edges if an undirected graph has self-loops,
which count twice. One chunk is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.display.notebook import bar_class, is_watched
from graphdask.display.tuning import DISPLAY
from graphdask.errors import Unsupported
from graphdask.stream.format import Chunk, Section
from graphdask.stream.graph import StreamedGraph
from graphdask.stream.store import Store

FEW = 16
"""Vertices up to which their positions are searched for; of more, the positions of all vertices are read."""


def neighbours(graph: StreamedGraph, vertex: int, direction: str, client: Any, progress: bool | None) -> np.ndarray:
    """Numbers of the distinct neighbours of a vertex, ascending."""
    store = _asked(graph, "neighbors", client)
    (place,) = _positions(store, np.array([vertex])).tolist()
    found = []
    for section, against in _sections(store, direction):
        if not against:
            for chunk, begin, _ in _rows(store, section, np.array([place]), progress):
                found.append(chunk.targets[slice(*begin[:2])].copy())
            continue
        for chunk, _, begins in _all_rows(store, section, progress):
            edges = np.flatnonzero(chunk.targets == place)
            found.append(chunk.first + np.searchsorted(begins, edges, side="right") - 1)
    places: np.ndarray = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
    return np.sort(_numbers(store, places))


def edge_counts(
    graph: StreamedGraph, src: np.ndarray, dst: np.ndarray, client: Any, progress: bool | None
) -> np.ndarray:
    """How many edges lead from each of `src` to the vertex of `dst` beside it, int64."""
    store = _asked(graph, "has_edge", client)
    places = _positions(store, np.concatenate([src, dst]))
    rows, targets = places[: len(src)], places[len(src) :]
    counts = np.zeros(len(src), np.int64)
    order = np.argsort(rows, kind="stable")
    wanted, begins = np.unique(rows[order], return_index=True)
    pairs = iter(np.split(order, begins[1:]))
    for chunk, bounds, _ in _rows(store, store.sections["out"], wanted, progress):
        for first, last in bounds.reshape(-1, 2).tolist():
            pair, row = next(pairs), np.sort(chunk.targets[first:last])
            counts[pair] = np.searchsorted(row, targets[pair], "right") - np.searchsorted(row, targets[pair], "left")
    return counts


def edge_values(
    graph: StreamedGraph, src: int, dst: int, rows: bool, client: Any, progress: bool | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Rows and weights of the edges from one vertex to another, by weight and row; rows are None unless asked for."""
    store = _asked(graph, "edge", client)
    if rows and store.edge_rows is None:
        raise Unsupported(
            f"{store.path} does not hold which row of what it was built from each edge is; build it with "
            f"edge_rows=True (graphdask stream build --edge-rows), or ask with edge_rows=False"
        )
    place, target = _positions(store, np.array([src, dst])).tolist()
    section = store.sections["out"]
    ((chunk, bounds, _),) = _rows(store, section, np.array([place]), progress)
    first, last = bounds[:2].tolist()
    edges = first + np.flatnonzero(chunk.targets[first:last] == target)
    weights = None if store.weights is None else chunk.weights[edges]
    numbers = store.edge_numbers(section, _chunk_of(section, place))[edges] if rows else None
    keys = [values for values in (numbers, weights) if values is not None]  # lexsort takes the first key last
    if keys:
        order = np.lexsort(keys)
        numbers, weights = (None if values is None else values[order] for values in (numbers, weights))
    return numbers, weights


def degrees(graph: StreamedGraph, direction: str, client: Any, progress: bool | None) -> np.ndarray:
    """The degrees of all vertices in the order of their numbers, int64."""
    store = _asked(graph, "degrees", client)
    found = np.zeros(store.num_vertices, np.int64)
    for section, against in _sections(store, direction):
        if against:
            for chunk, _, _ in _all_rows(store, section, progress):
                found += np.bincount(chunk.targets, minlength=len(found))
            continue
        for first, each, _ in store.rows(section):
            found[first : first + len(each)] += each
    if not graph.directed and store.header["self_loops"]:
        for chunk, _, begins in _all_rows(store, store.sections["out"], progress):
            sources = np.repeat(np.arange(len(begins) - 1), np.diff(begins)) + chunk.first
            found += np.bincount(sources[sources == chunk.targets], minlength=len(found))
    if store.by_number:
        return found
    by_number = np.zeros_like(found)
    by_number[store.numbers()] = found
    return by_number


def _asked(graph: StreamedGraph, name: str, client: Any) -> Store:
    """The open file."""
    if client is not None:
        raise Unsupported(
            f"client= is for a graph in memory; G.{name} reads {graph.store.path} in this process, so leave it out"
        )
    graph.store.check_open()
    return graph.store


def _sections(store: Store, direction: str) -> Iterator[tuple[Section, bool]]:
    """The sections to read for a direction, and whether their edges are to be taken against their direction."""
    if direction != "in" or not store.header["directed"]:
        yield store.sections["out"], False
    if direction != "out" and store.header["directed"]:
        yield store.sections.get("inward", store.sections["out"]), "inward" not in store.sections


def _chunk_of(section: Section, place: int) -> int:
    """The chunk that holds the row at a position."""
    return int(np.searchsorted(section.table["first"], place, side="right")) - 1


def _rows(
    store: Store, section: Section, places: np.ndarray, progress: bool | None
) -> Iterator[tuple[Chunk, np.ndarray, np.ndarray]]:
    """The chunks that hold the rows at some positions, which ascend.

    Yields
    ------
    chunk, bounds, begins
        Bounds: where the edges of each wanted row begin and end in the chunk, one pair after the other. Begins: where
        those of every row begin, and their number.
    """
    numbers = np.searchsorted(section.table["first"], places, side="right") - 1
    kept, firsts = np.unique(numbers, return_index=True)
    wanted = np.split(places, firsts[1:])
    for at, (chunk, begins) in enumerate(_read(store, section, kept.tolist(), progress)):
        own = wanted[at] - chunk.first
        yield chunk, np.stack([begins[own], begins[own + 1]], axis=1).reshape(-1), begins


def _all_rows(store: Store, section: Section, progress: bool | None) -> Iterator[tuple[Chunk, None, np.ndarray]]:
    """All chunks, as `_rows` yields them."""
    for chunk, begins in _read(store, section, range(len(section)), progress):
        yield chunk, None, begins


def _read(
    store: Store, section: Section, numbers: Sequence[int], progress: bool | None
) -> Iterator[tuple[Chunk, np.ndarray]]:
    memory = np.empty(max((sum(section.sizes(number)) for number in numbers), default=0), np.uint8)
    with bar_class()(
        total=len(numbers), desc="reading", unit=" chunks", leave=False, delay=DISPLAY.delay,
        disable=not is_watched(Config.load(progress=progress).progress),
    ) as bar:  # fmt: skip
        for number in numbers:
            chunk = store.read(section, number, memory)
            yield chunk, np.concatenate(([0], np.cumsum(chunk.degrees, dtype=np.int64)))
            bar.update(1)


def _positions(store: Store, numbers: np.ndarray) -> np.ndarray:
    """The positions of vertices, int64."""
    if store.by_number or len(numbers) <= FEW:
        return store.positions(numbers)
    places = np.empty(store.num_vertices, np.int32)
    places[store.numbers()] = np.arange(store.num_vertices, dtype=np.int32)
    return places[numbers].astype(np.int64)


def _numbers(store: Store, places: np.ndarray) -> np.ndarray:
    """The vertex numbers at positions, which ascend, int64."""
    found = np.array(places, np.int64)
    if store.by_number:
        return found
    section = store.sections["out"]
    chunks = np.searchsorted(section.table["first"], places, side="right") - 1
    kept, begins = np.unique(chunks, return_index=True)
    bounds = [*begins.tolist(), len(places)]
    for (first, ids), own in zip(store.order(kept.tolist()), pairwise(bounds), strict=True):
        found[slice(*own)] = ids[places[slice(*own)] - first]
    return found
