"""Label propagation over a store: the labels of all vertices are in memory, and an iteration is a pass over the edges.

An iteration reads the labels of the previous iteration only. So the order in which rows are read does not matter, and
the answer is the same as in memory. In a directed graph, in- and out-edges are read side by side.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.stream.cores import Cores, finished
from graphdask.stream.everywhere import Rows, Work

BYTES = 20
"""Per vertex: labels, those found and those before, and the answers."""


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
            work.tell(label)
            iterations += 1
            goes_on = goes_on and iterations < primitive.iterations
            work.log.sweep(work.own.count, looked)
    del fresh
    before = before if work.several else work.answer(before)
    return {"label": work.answer(label), "before": before, "iterations": iterations}, state


def _found(work: Work, cores: Cores, rows: Rows, label: np.ndarray, fresh: np.ndarray) -> list[int]:
    """Find the labels of some rows; edges visited."""
    to = fresh[rows.first - work.own.begin :]
    return finished(cores.begin(rows.indptr, partial(_rows, work, rows, label, to)))


def _rows(work: Work, rows: Rows, label: np.ndarray, fresh: np.ndarray, first: int, last: int) -> int:
    degrees = np.diff(rows.indptr[first : last + 1])
    if work.both:
        degrees = degrees + np.diff(rows.back_indptr[first : last + 1])
    room = np.empty(int(degrees.max(initial=0)), np.int32)
    looked: int = work.kernels.rows_frequent(last - first, first, *rows[1:], work.both, label, room, fresh)
    return looked
