"""Proofs of the results of what `graphdask.stream.everywhere` runs, over the whole store and on the CPU of its host.

Core numbers: every vertex has at least as many neighbours of its core number or more as its core number says, so no
core number is too large. Then vertices with no more such neighbours than that are removed, which takes one neighbour
from those of the same core number. If all vertices are removed, no core number is too small; a vertex that stays is in
a larger core. Each row is scanned twice.

Labels: the last iteration is computed again, as `graphdask.verify.label_propagation` describes.

Strong components: as `graphdask.verify.strong` describes. To prove that no two classes reach each other, classes at
which no edge arrives are removed again and again. Sweeps skip chunks without active rows.

Triangles and clustering coefficients: as `graphdask.verify.triangles` describes. The edges among the neighbours of all
sampled vertices are counted in one pass; counting again takes the passes of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.clustering import LocalClustering, coefficients
from graphdask.algorithms.core_number import CoreNumber
from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.algorithms.strong import StrongComponents
from graphdask.algorithms.triangles import Triangles
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.neighbours import Block
from graphdask.stream.everywhere import Rows, Work
from graphdask.stream.shared import StreamedPart, part_of
from graphdask.stream.sweeps import Log, cpu
from graphdask.stream.triangles import links_again
from graphdask.verify.label_propagation import most_frequent
from graphdask.verify.triangles import sampled

PIECE = 1 << 14
"""Edges of rows that are sorted at a time, or vertices that are checked at a time."""
SORTING = 112
"""Bytes for each of these edges."""
Proof = Callable[[Work, Any, RankResult], Violation | None]


def proved(context: RankContext, graph: StreamedPart, primitive: Any, result: RankResult, log: Log) -> Violation | None:
    """Return the first violation, or None; columns are by vertex number, and count as part of the memory."""
    memory = graph.memory - sum(column.nbytes for column in result.columns.values())
    whole = part_of(graph.store, 0, 1, memory, graph.read_ahead)
    with ExitStack() as stack:
        return PROOFS[type(primitive)](Work(context, whole, log, stack), primitive, result)


def _first(wrong: np.ndarray, message: str, other: np.ndarray | None = None) -> Violation | None:
    """The vertex of the smallest number for which `wrong`, and what a column says of it."""
    at = int(wrong.argmax()) if len(wrong) else 0
    if not len(wrong) or not wrong[at]:
        return None
    return Violation(at, -1 if other is None else int(other[at]), message)


def _standing(work: Work, values: np.ndarray) -> np.ndarray:
    """Values by vertex number, by position."""
    if work.store.by_number:
        return values
    found = np.empty_like(values)
    for first, ids in work.store.order():
        found[first : first + len(ids)] = values[ids]
    return found


def _cores(work: Work, primitive: CoreNumber, result: RankResult) -> Violation | None:
    column, kernels = result.columns["core"], cpu().kernels("layered_proofs")
    enough = "vertex {vertex} has fewer neighbours of its core number or more than that says"
    mine = _first(column < 0, enough)
    if mine:
        return mine
    work.open(12)
    core, left = _standing(work, column), np.zeros(work.num_vertices, np.int32)
    for rows in work.rows("out"):
        kernels.rows_at_least(rows.number, rows.first, rows.indptr, rows.targets, core, left)
    mine = _first(work.answer(left < core), enough)
    if mine:
        return mine
    active = (left == core).view(np.uint8)
    work.until_quiet("out", active, kernels.rows_peel, core, left)
    return _first(work.answer(left > core), "vertex {vertex} is in a larger core than its core number says")


def _labels(work: Work, primitive: LabelPropagation, result: RankResult) -> Violation | None:
    label, before, iterations = result.columns["label"], result.columns["before"], int(result.values["iterations"])
    n = work.num_vertices
    mine = _first(
        (before < 0) | (before >= n) | (label < 0) | (label >= n), "vertex {vertex} has a label that is no vertex"
    )
    if iterations < 2:
        mine = mine or _first(before != np.arange(n), "vertex {vertex} does not begin with its own label")
    if iterations < primitive.iterations or iterations == 0:
        mine = mine or _first(before != label, "vertex {vertex} changed its label in the last iteration")
    if mine or iterations == 0:
        return mine
    most = work.most_edges
    piece = max(1, min(PIECE, most))
    counting = 4 * n if piece < most else 0  # of the labels at the ends of a row that is longer than a piece
    work.open(14, max(SORTING * piece, counting))
    there = _standing(work, before)
    expected = there.copy()
    for rows in work.whole_rows():
        for first, last in _pieces(work, rows, piece):
            parts = [(rows.indptr, rows.targets), (rows.back_indptr, rows.back_targets)][: 1 + work.both]
            ends = [targets[indptr[first] : indptr[last]] for indptr, targets in parts]
            if sum(map(len, ends)) > piece:
                expected[rows.first + first] = _counted(ends, there)
                continue
            here = np.arange(rows.first + first, rows.first + last)
            repeated = [np.repeat(here, np.diff(indptr[first : last + 1])) for indptr, _ in parts]
            block = Block(
                rows.first + first, rows.first + last, np.concatenate(repeated), np.concatenate(ends),
                np.zeros(0, np.uint8),
            )  # fmt: skip
            most_frequent(np, block, there[block.slots], n, expected)
    return _first(work.answer(expected) != label, "vertex {vertex} has not the most frequent label of its neighbours")


def _pieces(work: Work, rows: Rows, piece: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that have so many edges together, or one row that has more."""
    ends = rows.indptr[1:] - rows.indptr[0]
    if work.both:
        ends = ends + (rows.back_indptr[1:] - rows.back_indptr[0])
    begin, done = 0, 0
    while begin < rows.number:
        end = max(begin + 1, int(np.searchsorted(ends, done + piece, side="right")))
        yield begin, end
        begin, done = end, int(ends[end - 1])


def _counted(ends: list[np.ndarray], label: np.ndarray) -> int:
    """The most frequent label at some ends, the smallest of several; of so many that all labels can be counted."""
    counts = np.zeros(len(label), np.int32)
    for some in ends:
        for begin in range(0, len(some), PIECE):
            np.add.at(counts, label[some[begin : begin + PIECE]], 1)
    return int(counts.argmax())


def _strong(work: Work, primitive: StrongComponents, result: RankResult) -> Violation | None:
    column, kernels = result.columns["label"], cpu().kernels("layered_proofs")
    wrong = (column < 0) | (column > np.arange(len(column)))
    mine = _first(wrong, "vertex {vertex} has the label {other}, not one up to its own", column)
    if mine:
        return mine
    work.open(20)
    label = _standing(work, column)
    for name, message in (
        ("out", "vertex {vertex} has the label {other}, which does not reach it inside that label"),
        ("inward", "vertex {vertex} has the label {other}, but does not reach it inside that label"),
    ):
        reached = (label == work.numbers()).view(np.uint8)
        work.until_quiet(name, reached.copy(), work.kernels.rows_collect, label, reached)
        mine = _first(work.answer(reached) == 0, message, column)
        if mine:
            return mine
    arriving, gone = np.zeros(work.num_vertices, np.int64), reached
    gone[:] = 0
    for rows in work.rows("out"):
        kernels.rows_between(rows.number, rows.first, rows.indptr, rows.targets, label, arriving)
    while True:
        active = _ready(label, arriving, gone)
        if not active.any():
            break
        work.until_quiet("out", active, kernels.rows_leave, label, arriving, gone)
    left = work.answer(gone) == 0
    if not left.any():
        return None
    return Violation(int(column[left].min()), -1, "label {vertex} and another one reach each other, or are reached "
                     "from two that do")  # fmt: skip


def _ready(label: np.ndarray, arriving: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """uint8 by position: who is there still, with a label at which no edge arrives."""
    ready = np.empty(len(label), np.uint8)
    for begin in range(0, len(label), PIECE):
        some = slice(begin, begin + PIECE)
        ready[some] = (gone[some] == 0) & (arriving[label[some]] == 0)
    return ready


def _triangles(work: Work, primitive: Triangles, result: RankResult, clustering: bool = False) -> Violation | None:
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
    for rows in work.whole_rows():
        kernels.rows_distinct(rows.number, *rows, work.both, mark, degree)
    del mark
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
    return _first((count < 0) | (count > pairs), "vertex {vertex} has a negative count, or more triangles than pairs "
                  "of neighbours")  # fmt: skip


def _coefficients(result: RankResult, some: slice, degree: np.ndarray) -> Violation | None:
    given, links, found = (result.columns[name][some] for name in ("degree", "links", "coefficient"))
    pairs = degree.astype(np.int64) * (degree - 1)
    expected = coefficients(np, links, degree.astype(np.int64))
    return (
        _first(given != degree, "vertex {vertex} has another number of distinct neighbours")
        or _first((links < 0) | (links > pairs), "vertex {vertex} has more edges among its neighbours than fit")
        or _first(~(found == expected), "vertex {vertex} has another coefficient than its edges among neighbours give")
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
    for rows in work.rows("out"):
        kernels.rows_among(rows.number, rows.first, rows.indptr, rows.targets, near, found)
    for vertex, edges in zip(chosen, found.tolist(), strict=True):
        said = ways * int(links[vertex])
        if said != edges:
            return Violation(int(vertex), -1, f"vertex {{vertex}} has {said} edges among its neighbours, not {edges}")
    return None


PROOFS: dict[type, Proof] = {
    CoreNumber: _cores,
    LabelPropagation: _labels,
    LocalClustering: partial(_triangles, clustering=True),
    StrongComponents: _strong,
    Triangles: _triangles,
}
