"""Independent sets and colourings over a store: vertices get the smallest values that their earlier neighbours leave.

The order is that of `graphdask.algorithms.drawn_order`, and both algorithms are sequential along it, so the answer is
the same as in memory. A colour is such a value. For a set, values are 0 and 1, and vertices of the value 0 are members.

Values of all vertices are in memory. A pass over the edges stores the earlier neighbours of as many vertices as fit in
memory, those that come next in the order. Then these vertices get their values, one after the other, and the next pass
stores those of the vertices after them. A first pass counts earlier neighbours, so that it is known how many vertices
fit. For a set, each pass counts again: a vertex with an earlier member is not in the set, whatever its other neighbours
are, and takes no place. Several ranks read their own rows, send each other what they store, and all compute all values.

The proof: every vertex has the value that it gets if its earlier neighbours have what they are claimed to have, as
`graphdask.verify.drawn_order` describes. Each row is scanned once.

Source: Maheshwari, Zeh, A survey of techniques for designing I/O-efficient algorithms (2003), Section 3.4, time-forward
processing; here values need no queue on disk, because they are in memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.algorithms.coloring import GreedyColoring
from graphdask.algorithms.drawn_order import drawn_of
from graphdask.algorithms.independent_set import IndependentSet
from graphdask.engine.loop import RankResult
from graphdask.engine.violation import Violation
from graphdask.kernels.stream.layered_rows_pack import OrderedRows
from graphdask.stream.everywhere import Work, by_position, first_wrong, streams
from graphdask.stream.sweeps import cpu

BYTES = 28
"""Per vertex: the order, places, values, counts, where stored neighbours begin, and the answer. Sorting takes less."""
ENTRY, SENT = 4, 8
"""Bytes of a stored neighbour, and what several ranks take besides to send it."""


def _ordered(work: Work, primitive: GreedyColoring | IndependentSet, most: int) -> OrderedRows:
    """The order of a primitive, and values that are not known."""
    store, n, key = work.store, work.num_vertices, np.empty(work.num_vertices, np.uint64)
    for first, ids in store.order():
        key[first : first + len(ids)] = ~drawn_of(ids, primitive.seed)
    order = key.argsort().astype(np.int32)
    del key
    if getattr(primitive, "strategy", "") == "largest_first":
        degree = np.empty(n, np.int32)
        for first, degrees, _ in store.rows(store.sections["out"]):
            degree[first : first + len(degrees)] = -degrees
        order = order[degree[order].argsort(kind="stable")]
        del degree
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    return OrderedRows(
        order=order, place=place, value=np.full(n, -1, np.int32), most=most,
        taken=np.full(work.most_edges + 2, -1, np.int32),
    )  # fmt: skip


def _values(work: Work, primitive: GreedyColoring | IndependentSet, most: int) -> tuple[np.ndarray, int]:
    """The value of every vertex by position, and the bytes of the state."""
    n, kernels, entry = work.num_vertices, cpu().kernels("layered_order"), ENTRY + SENT * work.several
    state = work.open(BYTES, entry * work.most_edges + 4 * (work.most_edges + 2), share=2)
    arcs = work.store.sections["out"].num_edges
    entries = max(work.most_edges, min(work.most_edges + work.left // entry, arcs // 2))
    pack = _ordered(work, primitive, most)
    pack.earlier, pack.ends = np.zeros(n, np.int32), np.empty(entries, np.int32)
    pack.begins, low, high = np.zeros(n + 1, np.int64), 0, 0
    while low < n:
        _pass(work, kernels, pack, low, high, every=high == 0 or most == 1)
        if work.several:
            work.exchange(pack.value)
            work.exchange(pack.earlier)
            _share(work, kernels, pack, low, high)
        kernels.order_values(high - low, low, pack)
        low, high = high, kernels.order_block(n, high, pack)
    return pack.value, state + entry * (entries - work.most_edges)


def _pass(work: Work, kernels: Any, pack: OrderedRows, low: int, high: int, every: bool) -> None:
    """Store the earlier neighbours of the own vertices of a block, and count those of others if `every`."""
    worked = looked = 0
    for rows in work.rows("out"):
        pack.hold(rows, rows.indptr)
        done = kernels.rows_earlier(rows.number, low, high, every, pack)
        worked, looked = worked + done[0], looked + done[1]
    work.log.sweep(worked, looked)


def _share(work: Work, kernels: Any, pack: OrderedRows, low: int, high: int) -> None:
    """Send what is stored of own vertices to all ranks."""
    backend, own, begins = work.context.backend, work.own, pairwise(work.part.vertex_map.offsets.tolist())
    given, none = (high - low, low), np.empty(0, np.int32)
    mine = np.empty(kernels.order_share(*given, own.begin, own.end, 0, none, pack), np.int32)
    kernels.order_share(*given, own.begin, own.end, 1, mine, pack)
    sent = [backend.from_host(mine)] * work.part.size
    for (begin, end), piece in zip(begins, work.context.comm.alltoallv(sent), strict=True):
        kernels.order_share(*given, begin, end, 2, backend.to_host(piece), pack)


def _expected(work: Work, primitive: GreedyColoring | IndependentSet, claimed: np.ndarray, most: int) -> np.ndarray:
    """The value that the claimed ones of its neighbours leave to each vertex, by vertex number."""
    work.open(BYTES, 4 * (work.most_edges + 2))
    pack, expected = _ordered(work, primitive, most), np.empty(len(claimed), np.int32)
    pack.value = by_position(work.store, claimed)
    for rows in work.rows("out"):
        pack.hold(rows, rows.indptr)
        cpu().kernels("layered_order").rows_expected(rows.number, expected, pack)
    return work.answer(expected)


def _wrong_set(work: Work, primitive: IndependentSet, result: RankResult) -> Violation | None:
    outside = (~result.columns["member"]).astype(np.int32)
    expected = _expected(work, primitive, outside, 1)
    return first_wrong(
        outside < expected, "vertex {vertex} is in the set, and so is one of its neighbours"
    ) or first_wrong(outside > expected, "vertex {vertex} is outside the set, and no earlier neighbour is in it")


def _wrong_colors(work: Work, primitive: GreedyColoring, result: RankResult) -> Violation | None:
    color = result.columns["color"]
    mine = first_wrong((color < 0) | (color > work.most_edges), "vertex {vertex} has no colour")
    return mine or first_wrong(
        color != _expected(work, primitive, color, work.most_edges + 1),
        "vertex {vertex} has not the smallest colour that its earlier neighbours leave",
    )


@streams(IndependentSet, _wrong_set)
def independent_set(work: Work, primitive: IndependentSet) -> tuple[dict[str, Any], int]:
    """Return who is a member, and the bytes of the state."""
    value, state = _values(work, primitive, 1)
    return {"member": work.answer(value == 0)}, state


@streams(GreedyColoring, _wrong_colors)
def colors(work: Work, primitive: GreedyColoring) -> tuple[dict[str, Any], int]:
    """Return the colours, and the bytes of the state."""
    value, state = _values(work, primitive, work.most_edges + 1)
    return {"color": work.answer(value)}, state
