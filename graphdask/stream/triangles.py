"""Triangles over a store: all edges stream past a block of rows of higher neighbours that fits the memory.

As in `graphdask.algorithms.triangles`, a triangle is found once, at its lowest vertex u, for its middle vertex v. Here
v is a vertex whose row is in the block, and every u is read from the file, once for each block. If all rows fit in one
block, at 5 bytes for each pair of neighbours, there are two passes over the edges; each further block takes one more.
With several ranks, each finds the triangles whose middle vertex is its own, and reads all edges for it.

Source: Hu, Tao, Chung, Massive graph triangulation (2013).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphdask.algorithms.clustering import LocalClustering, coefficients
from graphdask.algorithms.triangles import Triangles, other_order
from graphdask.stream.everywhere import Work
from graphdask.stream.own import Own

BYTES = 41
"""Per vertex: degrees, marks, neighbours, links, where rows begin, and answers."""
AGAIN = 33
"""The same with links as the only answer."""
ENTRY = 5
"""Bytes of a pair of neighbours."""
PIECE = 1 << 14
"""Vertices that are worked on at a time."""


def triangles(work: Work, primitive: Triangles) -> tuple[dict[str, Any], int]:
    """Return the counts, and the bytes of the state."""
    links, _, found, _, state = _counted(work)
    return {"count": work.answer(links), "triangles": found}, state


def clustering(work: Work, primitive: LocalClustering) -> tuple[dict[str, Any], int]:
    """Return the coefficients with what they are made of, and the bytes of the state."""
    links, joined, _, added, state = _counted(work)
    links, joined = work.answer(links), work.answer(joined)
    ways, coefficient = 1 if work.both else 2, np.empty(len(links))
    links *= ways
    for begin in range(0, len(coefficient), PIECE):
        piece = slice(begin, begin + PIECE)
        coefficient[piece] = coefficients(np, links[piece], joined[piece].astype(np.int64))
    return {"coefficient": coefficient, "links": links, "degree": joined, "added": ways * added}, state


def links_again(work: Work) -> np.ndarray:
    """The links of all vertices, counted by another order, by position; int64."""
    return _counted(work, again=True)[0]


def _counted(work: Work, again: bool = False) -> tuple[np.ndarray, np.ndarray, int, int, int]:
    """Links and neighbours by position, the triangles, what was added to links, and the bytes of the state."""
    n, own, store = work.num_vertices, work.own, work.store
    arcs = sum(store.sections[name].num_edges for name in work.names)
    longest = min(work.most_edges, math.isqrt((2 if again else 1) * arcs) + 1)  # more would have too many edges
    room = np.empty(work.most_edges, np.int32), np.empty(work.most_edges, np.uint8)
    state = work.open(AGAIN if again else BYTES, ENTRY * (work.most_edges + longest), Own.whole(store).chunks, share=2)
    entries = max(1, min(longest + work.left // ENTRY, arcs))
    state += ENTRY * max(0, entries - longest)
    degree, mark = np.zeros(n, np.uint32), np.zeros(n, np.uint8)
    for name in work.names:
        for first, degrees, _ in store.rows(store.sections[name]):
            degree[first : first + len(degrees)] += degrees
    for begin in range(0, n if again else 0, PIECE):
        some = slice(begin, begin + PIECE)
        degree[some] = other_order(np, degree[some], np.arange(begin, min(begin + PIECE, n)))
    joined, links, counters = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(3, np.int64)
    begins = np.zeros(own.count + 1, np.int64)
    ends, ties = np.empty(entries, np.int32), np.empty(entries, np.uint8)
    begin, end, looked = own.begin, own.begin, 0
    while work.any(begin < own.end):
        begins[0] = 0
        for rows in work.whole_rows(begin, own.end):
            at = begins[rows.first - begin :]
            made = work.kernels.rows_higher(
                rows.number, *_of(rows), work.both, degree, mark, *room, at, ends, ties, joined
            )  # fmt: skip
            end = rows.first + made
            if made < rows.number:
                break
        for rows in work.whole_rows(0, n) if begin < end else ():
            work.kernels.rows_triangles(
                rows.number, *_of(rows), work.both, degree, mark, *room, begin, end, begins, ends, ties, links, counters
            )  # fmt: skip
        work.log.sweep(end - begin, int(counters[1]) - looked)
        begin, looked = end, int(counters[1])
    del ends, ties, begins, mark, degree, room
    found, _, added = counters.tolist()
    if work.several:
        found, added = (int(value) for value in work.sum([found, added]))
        work.join(links, np.add)
        work.join(joined, np.add)
    return links, joined, found, added, state


def _of(rows: Any) -> tuple[Any, ...]:
    return rows.first, rows.indptr, rows.targets, rows.back_indptr, rows.back_targets
