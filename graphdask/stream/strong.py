"""Strong components over a store: a colour of every vertex is in memory, and goes along the edges that are left.

A round, as in `graphdask.algorithms.strong`, which says why it is right: rows without an edge from another one that is
left are components, and so are those without one to another; a pass over the edges each takes them out, and what
follows in the same chunk. Then colours, which begin as vertex numbers, go along the edges, and the smallest stays; from
the vertices whose colour is their own, everything that has their colour is collected back along the edges, and taken
out. Every second round goes against the direction of the edges. In the first only the vertex of the most in- and
out-edges has a colour, and finds the giant component. Sweeps skip chunks without a row that waits, and follow a path
inside a chunk, or through chunks in the direction of the sweep, at once. A round takes some ten passes at most where
paths are short, and graphs have few rounds: but a ring whose vertices lie in all chunks by turns takes as many as it
has vertices.

The proof: as `graphdask.verify.strong` describes. To prove that no two classes reach each other, classes at which no
edge arrives are removed again and again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.strong import StrongComponents
from graphdask.engine.loop import RankResult
from graphdask.engine.violation import Violation
from graphdask.kernels.stream.chunk_pack import COUNTS, ChunkRows
from graphdask.stream.everywhere import Work, by_position, first_wrong, streams
from graphdask.stream.sweeps import cpu

BYTES = 26
"""Per vertex: colours, marks twice, numbers, labels, degrees for a moment, and the answer."""
PIECE = 1 << 14
"""Vertices that are checked at a time."""
GONE, NONE = -1, np.iinfo(np.int32).max


def _wrong(work: Work, primitive: StrongComponents, result: RankResult) -> Violation | None:
    column, kernels = result.columns["label"], cpu().kernels("layered_proofs")
    wrong = (column < 0) | (column > np.arange(len(column)))
    mine = first_wrong(wrong, "vertex {vertex} has the label {other}, not one up to its own", column)
    if mine:
        return mine
    work.open(20)
    label = by_position(work.store, column)
    for name, message in (
        ("out", "vertex {vertex} has the label {other}, which does not reach it inside that label"),
        ("inward", "vertex {vertex} has the label {other}, but does not reach it inside that label"),
    ):
        reached = (label == work.numbers()).view(np.uint8)
        work.until_quiet(name, reached.copy(), work.kernels.rows_collect, label, reached)
        mine = first_wrong(work.answer(reached) == 0, message, column)
        if mine:
            return mine
    arriving, gone = np.zeros(work.num_vertices, np.int64), reached
    gone[:] = 0
    pack = ChunkRows()
    for rows in work.rows("out"):
        pack.hold(rows, rows.indptr)
        kernels.rows_between(rows.number, label, arriving, pack)
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


@streams(StrongComponents, _wrong)
def strong_components(work: Work, primitive: Any) -> tuple[dict[str, Any], int]:
    """The smallest vertex number of every vertex's component; bytes of the state."""
    state = work.open(BYTES)
    n, number = work.num_vertices, work.numbers()
    label = np.full(n, GONE, np.int32)
    colour = number.copy()
    rounds = 0
    while work.any(bool((colour[work.own.begin : work.own.end] >= 0).any())):
        along, back = ("inward", "out") if rounds % 2 else ("out", "inward")
        for name in (back, along):
            _trim(work, name, number, colour, label)
        if rounds == 0:
            _pivot(work, colour)
        _round(work, along, back, number, colour, label, rounds == 0)
        rounds += 1
    return {"label": work.answer(label)}, state


def _trim(work: Work, name: str, number: np.ndarray, colour: np.ndarray, label: np.ndarray) -> None:
    """Take out own rows without an edge in a section."""
    pack = ChunkRows(counters=np.zeros(len(COUNTS), np.int64))
    for rows in work.rows(name):
        pack.hold(rows, rows.indptr)
        work.kernels.rows_alone(rows.number, colour, pack)
    alone = colour < 0
    alone &= label < 0
    label[alone] = number[alone]
    work.exchange(label)
    colour[label >= 0] = GONE
    done = COUNTS.of(pack.counters)
    work.log.sweep(done.worked, done.looked)


def _pivot(work: Work, colour: np.ndarray) -> None:
    """Leave a colour, 0, to the vertex of the most in- and out-edges, and none that others are not smaller than."""
    score = np.zeros(work.num_vertices)
    for first, degrees, _ in work.store.rows(work.store.sections["out"]):
        score[first : first + len(degrees)] = degrees
    for first, degrees, _ in work.store.rows(work.store.sections["inward"]):
        score[first : first + len(degrees)] *= degrees
    left = colour >= 0
    score[~left] = -1
    colour[left] = NONE
    if left.any():
        colour[int(score.argmax())] = 0


def _round(
    work: Work, along: str, back: str, number: np.ndarray, colour: np.ndarray, label: np.ndarray, first: bool
) -> None:
    """Let colours go, and take out the components of those whose colour is their own, or `first` of the pivot."""
    own, pivot = slice(work.own.begin, work.own.end), (colour == 0) & first
    active = np.zeros(work.num_vertices, np.uint8)
    active[own] = pivot[own] if first else colour[own] >= 0
    _until_quiet(work, along, active, colour, np.minimum, work.kernels.rows_spread, colour)
    reached = (pivot if first else (colour >= 0) & (colour == number)).view(np.uint8)
    active[own] = reached[own]
    _until_quiet(work, back, active, reached, np.maximum, work.kernels.rows_collect, colour, reached)
    taken = reached.view(bool)
    label[taken] = number[taken].min(initial=NONE) if first else colour[taken]
    colour[taken] = GONE
    left = colour >= 0
    colour[left] = number[left]


def _until_quiet(
    work: Work, name: str, active: np.ndarray, values: np.ndarray, how: Any, kernel: Any, *given: np.ndarray
) -> None:
    """Sweep until nothing waits on any rank; ranks send each other what they found of all vertices."""
    own = slice(work.own.begin, work.own.end)
    while True:
        found = work.until_quiet(name, active, kernel, *given)
        if not work.several or not work.any(found > 0):
            return
        mine = values[own].copy()
        work.join(values, how)
        active[own] = values[own] != mine
