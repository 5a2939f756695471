"""Triangles over a store: all edges stream past a block of rows of higher neighbours that fits the memory.

As in `graphdask.algorithms.triangles`, a triangle is found once, at its middle vertex v, for its lowest vertex u. Here
v is a vertex whose row is in the block, and every u is read from the file, once for each block. If all rows fit in one
block, at 5 bytes for each pair of neighbours, there are two passes over the edges; each further block takes one more.
With several ranks, each finds the triangles whose middle vertex is its own, and reads all edges for it.

The proof: as `graphdask.verify.triangles` describes. The edges among the neighbours of all sampled vertices are counted
in one pass; counting again takes the passes of the run.

Source: Hu, Tao, Chung, Massive graph triangulation (2013).
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.clustering import LocalClustering, coefficients
from graphdask.algorithms.triangles import Triangles, other_order
from graphdask.engine.loop import RankResult
from graphdask.engine.violation import Violation
from graphdask.kernels.stream.chunk_pack import ChunkRows
from graphdask.kernels.stream.layered_rows_pack import TRIANGLES, HigherRows, WholeRows
from graphdask.stream.everywhere import Work, first_wrong, streams
from graphdask.stream.own_chunks import Own
from graphdask.stream.sweeps import cpu
from graphdask.verify.triangles import sampled

BYTES = 41
"""Per vertex: degrees, marks, neighbours, links, where rows begin, and answers."""
AGAIN = 33
"""The same with links as the only answer."""
ENTRY = 5
"""Bytes of a pair of neighbours."""
PIECE = 1 << 14
"""Vertices that are worked on at a time."""


def _wrong(work: Work, primitive: Triangles, result: RankResult, clustering: bool = False) -> Violation | None:
    links, ways = result.columns["links" if clustering else "count"], 2 if clustering and not work.both else 1
    with ExitStack() as stack:
        mine = _near(replace(work, stack=stack), links, result, clustering)
    if mine:
        return mine
    again = work.answer(links_again(work))
    if ways == 2:
        again *= 2
    wrong = links != again
    if wrong.any():
        at = int(wrong.argmax())
        what = "edges among its neighbours" if clustering else "triangles"
        return Violation(at, -1, f"vertex {{vertex}} has {links[at]} {what}, not {again[at]}")
    found, total = int(links.sum()), int(result.values["added"]) if clustering else 3 * result.values["triangles"]
    what = "the edges among neighbours" if clustering else "the counts of all vertices"
    return None if found == total else Violation(-1, -1, f"{what} add up to {found}, not to {total}")


def _near(work: Work, links: np.ndarray, result: RankResult, clustering: bool) -> Violation | None:
    """What is wrong by the number of neighbours, or by the edges among those of a sample."""
    n = work.num_vertices
    work.open(14)
    degree, mark = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    kernels = cpu().kernels("layered_proofs")
    pack = WholeRows(both=int(work.both))
    for rows in work.whole_rows():
        pack.hold(rows, rows.indptr)
        kernels.rows_distinct(rows.number, mark, degree, pack)
    del mark, pack
    degree = work.answer(degree)
    for begin in range(0, n, PIECE):
        some = slice(begin, begin + PIECE)
        mine = _coefficients(result, some, degree[some]) if clustering else _counts(links[some], degree[some])
        if mine:
            return Violation(mine.vertex + begin, mine.other, mine.message)
    del degree
    return _sample(work, links, 1 if clustering else 2)


def _counts(count: np.ndarray, degree: np.ndarray) -> Violation | None:
    pairs = degree.astype(np.int64) * (degree - 1) // 2
    wrong = (count < 0) | (count > pairs)
    return first_wrong(wrong, "vertex {vertex} has a negative count, or more triangles than pairs of neighbours")


def _coefficients(result: RankResult, some: slice, degree: np.ndarray) -> Violation | None:
    given, links, found = (result.columns[name][some] for name in ("degree", "links", "coefficient"))
    pairs = degree.astype(np.int64) * (degree - 1)
    expected = coefficients(np, links, degree.astype(np.int64))
    return (
        first_wrong(given != degree, "vertex {vertex} has another number of distinct neighbours")
        or first_wrong((links < 0) | (links > pairs), "vertex {vertex} has more edges among its neighbours than fit")
        or first_wrong(
            ~(found == expected), "vertex {vertex} has another coefficient than its edges among neighbours give"
        )
    )


def _sample(work: Work, links: np.ndarray, ways: int) -> Violation | None:
    """Whether `links`, the directed edges among the neighbours of a vertex, are right for the sampled vertices."""
    chosen = list(sampled(work.num_vertices))
    near = np.zeros(work.num_vertices, np.uint32)
    for k, place in enumerate(work.store.positions(chosen).tolist()):
        for rows in work.whole_rows(place, place + 1):
            for indptr, targets in (rows.indptr, rows.targets), (rows.back_indptr, rows.back_targets):
                near[targets[indptr[0] : indptr[-1]]] |= np.uint32(1 << k)
        near[place] &= ~np.uint32(1 << k)
    found, kernels = np.zeros(len(chosen), np.int64), cpu().kernels("layered_proofs")
    pack = ChunkRows()
    for rows in work.rows("out"):
        pack.hold(rows, rows.indptr)
        kernels.rows_among(rows.number, near, found, pack)
    for vertex, edges in zip(chosen, found.tolist(), strict=True):
        claimed = ways * int(links[vertex])
        if claimed != edges:
            return Violation(
                int(vertex), -1, f"vertex {{vertex}} has {claimed} edges among its neighbours, not {edges}"
            )
    return None


@streams(Triangles, _wrong)
def triangles(work: Work, primitive: Triangles) -> tuple[dict[str, Any], int]:
    """Return the counts, and the bytes of the state."""
    links, _, found, _, state = _counted(work)
    return {"count": work.answer(links), "triangles": found}, state


@streams(LocalClustering, partial(_wrong, clustering=True))
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
    higher = np.empty(work.most_edges, np.int32), np.empty(work.most_edges, np.uint8)
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
    joined, links, begins = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(own.count + 1, np.int64)
    pack = HigherRows(
        both=int(work.both), degree=degree, mark=mark, higher=higher[0], higher_ties=higher[1],
        joined=joined, links=links, ends=np.empty(entries, np.int32), ties=np.empty(entries, np.uint8),
        totals=np.zeros(len(TRIANGLES), np.int64),
    )  # fmt: skip
    begin, end, looked = own.begin, own.begin, 0
    while work.any(begin < own.end):
        begins[0] = 0
        for rows in work.whole_rows(begin, own.end):
            pack.hold(rows, rows.indptr)
            pack.begins = begins[rows.first - begin :]
            made = work.kernels.rows_higher(rows.number, pack)
            end = rows.first + made
            if made < rows.number:
                break
        pack.begins = begins
        for rows in work.whole_rows(0, n) if begin < end else ():
            pack.hold(rows, rows.indptr)
            work.kernels.rows_triangles(rows.number, begin, end, pack)
        totals = TRIANGLES.of(pack.totals)
        work.log.sweep(end - begin, totals.looked - looked)
        begin, looked = end, totals.looked
    found, _, added = TRIANGLES.of(pack.totals)
    del pack, begins, mark, degree, higher
    if work.several:
        found, added = (int(value) for value in work.sum([found, added]))
        work.join(links, np.add)
        work.join(joined, np.add)
    return links, joined, found, added, state
