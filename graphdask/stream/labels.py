"""Label propagation over a store: the labels of all vertices are in memory, and an iteration is a pass over the edges.

An iteration reads the labels of the previous iteration only. So the order in which rows are read does not matter, and
the answer is the same as in memory. In a directed graph, in- and out-edges are read side by side.

The proof computes the last iteration again, as `graphdask.verify.label_propagation` describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.engine.loop import RankResult
from graphdask.engine.violation import Violation
from graphdask.kernels.stream.layered_rows_pack import WholeRows
from graphdask.partition.neighbours import Block
from graphdask.stream.cores import Cores, finished
from graphdask.stream.everywhere import Rows, Work, by_position, first_wrong, streams
from graphdask.stream.tuning import STREAM
from graphdask.verify.label_propagation import most_frequent

BYTES = 20
"""Per vertex: labels, those found and those before, and the answers."""


SORTING = 112
"""Bytes for each of these edges."""


def _wrong(work: Work, primitive: LabelPropagation, result: RankResult) -> Violation | None:
    label, before, iterations = result.columns["label"], result.columns["before"], int(result.values["iterations"])
    n = work.num_vertices
    mine = first_wrong(
        (before < 0) | (before >= n) | (label < 0) | (label >= n), "vertex {vertex} has a label that is no vertex"
    )
    if iterations < 2:
        mine = mine or first_wrong(before != np.arange(n), "vertex {vertex} does not begin with its own label")
    if iterations < primitive.iterations or iterations == 0:
        mine = mine or first_wrong(before != label, "vertex {vertex} changed its label in the last iteration")
    if mine or iterations == 0:
        return mine
    most = work.most_edges
    piece = max(1, min(STREAM.counted_edges, most))
    counting = 4 * n if piece < most else 0  # of the labels at the ends of a row that is longer than a piece
    work.open(14, max(SORTING * piece, counting))
    there = by_position(work.store, before)
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
    return first_wrong(
        work.answer(expected) != label, "vertex {vertex} has not the most frequent label of its neighbours"
    )


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
        for begin in range(0, len(some), STREAM.counted_edges):
            np.add.at(counts, label[some[begin : begin + STREAM.counted_edges]], 1)
    return int(counts.argmax())


@streams(LabelPropagation, _wrong)
def label_propagation(work: Work, primitive: LabelPropagation) -> tuple[dict[str, Any], int]:
    """Labels, as vertex numbers, those before the last iteration, and how many were computed; bytes of the state."""
    own, most = slice(work.own.begin, work.own.end), work.most_edges
    threads = work.threads(BYTES, 4 * most)
    state = work.open(BYTES, 4 * most * threads)
    label, iterations = work.numbers(), 0
    fresh, before = label[own].copy(), label[own].copy()
    goes_on = primitive.iterations > 0 and work.num_vertices > 0
    with Cores(threads) as cores:
        while goes_on:
            looked = sum(sum(_found(work, cores, rows, label, fresh)) for rows in work.whole_rows())
            goes_on = work.any(bool((fresh != label[own]).any()))
            before[:], label[own] = label[own], fresh
            work.exchange(label)
            iterations += 1
            goes_on = goes_on and iterations < primitive.iterations
            work.log.sweep(work.own.count, looked)
    del fresh
    before = before if work.several else work.answer(before)
    return {"label": work.answer(label), "before": before, "iterations": iterations}, state


def _found(work: Work, cores: Cores, rows: Rows, label: np.ndarray, fresh: np.ndarray) -> list[int]:
    """Find the labels of some rows; edges visited."""
    to, pack = fresh[rows.first - work.own.begin :], WholeRows(both=int(work.both))
    pack.hold(rows, rows.indptr)
    return finished(cores.begin(rows.indptr, partial(_rows, work, pack, label, to)))


def _rows(work: Work, pack: WholeRows, label: np.ndarray, fresh: np.ndarray, first: int, last: int) -> int:
    degrees = np.diff(pack.indptr[first : last + 1])  # type: ignore[arg-type]
    if work.both:
        degrees = degrees + np.diff(pack.back_indptr[first : last + 1])  # type: ignore[arg-type]
    found = np.empty(int(degrees.max(initial=0)), np.int32)
    looked: int = work.kernels.rows_frequent(last - first, first, label, found, fresh, pack)
    return looked
