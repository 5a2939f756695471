"""Results over a store, proved by one pass over the edges, for PageRank an iteration, for triangles another count.

Searches and shortest paths: as `graphdask.verify.sssp` describes; an edge of a search has the length 1. If parents are
at the same distance as their children, the path along parents is followed by doubling, and must leave that distance.

Components: no edge joins two labels; a label is the smallest vertex that has it; and there are as many labels as trees
in a forest that all edges make, so that no two components share one.

PageRank: as `graphdask.verify.pagerank` describes. Proofs of other algorithms stand beside their streamed forms.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.nearness import Nearness
from graphdask.algorithms.pagerank import PageRank, SinglePageRank
from graphdask.algorithms.power_iteration import PowerIteration
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.algorithms.weighted_nearness import WeightedNearness
from graphdask.comm.single import SingleCommunicator
from graphdask.device.residency import fetched
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.targets import stopped_at
from graphdask.engine.violation import Violation, first_of_all
from graphdask.program.primitive import VertexProgram
from graphdask.stream import betweenness, nearness, power_iteration, weighted_betweenness, weighted_nearness
from graphdask.stream.betweenness import degrees_of
from graphdask.stream.components import forest
from graphdask.stream.everywhere import by_position, first_wrong
from graphdask.stream.forms import PROOFS, Supersteps, of_class
from graphdask.stream.pagerank import StreamedPageRank, gathered
from graphdask.stream.paths import UNIT
from graphdask.stream.programs import proved
from graphdask.stream.shared_store import StreamedPart, own_numbers, part_of
from graphdask.stream.stopping import limit_of
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log, cpu, every_chunk, window_of
from graphdask.verify.betweenness import impossible, scaled_alike, shorter_paths, sums
from graphdask.verify.pagerank import ROUNDING, claims, mass

BYTES = 40
"""Per vertex, of the arrays that a tree is proved with."""
LEFT_OVER = "vertex {vertex} has a parent at the same distance, and so on in a circle"


def verify(context: RankContext, graph: StreamedPart, primitive: Any, result: RankResult) -> Violation | None:
    """Return the first violation, or None; of several ranks, the first receives all values and proves them."""
    result = replace(result, columns={name: fetched(column) for name, column in result.columns.items()})
    proof = of_class(PROOFS, type(primitive))
    if proof is None:
        by_all = of_class(BY_ALL, type(primitive))
        assert by_all is not None  # what has a streamed form has one of the two
        return by_all(context, graph, primitive, result)
    if graph.size > 1:
        gathered = _gathered(context, graph, result)
        if gathered is None:
            return None
        result, context = gathered, replace(context, comm=SingleCommunicator())
    context = replace(context, backend=cpu())  # where a store is proved, whatever streamed it
    log = Log(context, f"verifying {primitive.name}")
    return proof(context, graph, primitive, result, log)


def _scores(
    context: RankContext, part: StreamedPart, primitive: Betweenness | WeightedBetweenness, result: RankResult
) -> Violation | None:
    """As `graphdask.verify.betweenness` and `weighted_betweenness` describe; every rank checks its own rows."""
    store, score, ids = part.store, result.columns["score"], own_numbers(part)
    score = score[ids] if part.size == 1 else score
    dead_end = (degrees_of(part, "out") == 0) | (degrees_of(part, gathered(store)) == 0)
    mine = impossible(score, dead_end, ids)
    if first_of_all(context, mine):
        return mine
    here = replace(part, device=context.backend.name)
    if here.device == "cuda":
        from graphdask.stream import device_forms  # noqa: F401  fills a table; its kernels import Numba
    search = INNER[type(primitive)].run(context, here, primitive)[1]
    if search.shorter:
        return shorter_paths(context, search.shorter)
    return sums(context, part, scaled_alike(score, ids, primitive, np), np, search)


def _gathered(context: RankContext, part: StreamedPart, result: RankResult) -> RankResult | None:
    """On the first rank the values of all, by vertex number."""
    columns = {}
    for name, column in result.columns.items():
        here = context.backend.from_host(column)
        pieces = context.comm.alltoallv([here if peer == 0 else here[:0] for peer in range(part.size)])
        if part.rank:
            continue
        by_position = np.concatenate([context.backend.to_host(piece) for piece in pieces])
        columns[name] = np.empty_like(by_position)
        for first, ids in part.store.order():
            columns[name][ids] = by_position[first : first + len(ids)]
    return None if part.rank else replace(result, columns=columns)


def _ends(store: Store, bad: np.ndarray) -> tuple[int, int]:
    """The vertices at two positions."""
    found = [0, 0]
    for first, ids in store.order():
        for end in (0, 1):
            if first <= bad[end] < first + len(ids):
                found[end] = int(ids[bad[end] - first])
    return found[0], found[1]


def _search(context: RankContext, part: StreamedPart, primitive: Any, result: RankResult, log: Log) -> Violation | None:
    depth, parent = result.columns["depth"], result.columns["parent"]
    return _tree(context, part, primitive, depth, parent, False, log)


def _paths(context: RankContext, part: StreamedPart, primitive: Any, result: RankResult, log: Log) -> Violation | None:
    distance, parent, weighted = result.columns["distance"], result.columns["parent"], part.store.weights is not None
    return _tree(context, part, primitive, distance, parent, weighted, log)


def _tree(
    context: RankContext, part: StreamedPart, primitive: Any, distance: np.ndarray, parent: np.ndarray, weighted: bool,
    log: Log,
) -> Violation | None:  # fmt: skip
    store, n, floats = part.store, part.num_vertices, distance.dtype.kind == "f"
    whole, limit = part_of(store, 0, 1, part.memory, None), limit_of(primitive)
    until = stopped_at(context.comm, cpu(), whole, distance, primitive.targets, limit)
    start = np.zeros(n, bool)
    start[list(primitive.sources)] = True
    reached = distance < np.inf if floats else distance != -1
    none = ~(distance >= 0) if floats else distance < -1
    mine = (
        first_wrong(
            none | (parent < -1) | (parent >= n), "vertex {vertex} has a distance below 0, or a parent that is none"
        )
        or first_wrong(
            start & ((distance != 0) | (parent != np.arange(n))), "source {vertex} must have distance 0 and itself"
        )
        or first_wrong(
            reached != (parent >= 0), "vertex {vertex} has a distance and no parent, or a parent and no distance"
        )
        or first_wrong(
            reached & (distance > until), "vertex {vertex} is farther than the distance at which the search stops"
        )
    )
    if mine:
        return mine
    dtype = distance.dtype if floats else np.dtype(np.int64)
    wide = np.where(reached, distance, unreached(dtype)).astype(dtype)
    there, above = by_position(store, wide), by_position(store, parent)
    witnessed, bad, section = np.zeros(n, np.uint8), np.full(2, -1), store.sections["out"]
    kernels = cpu().kernels("layered")
    with window_of(store, "out", part.memory - BYTES * n, log.what, log) as window:
        for _, chunk in every_chunk(window, section, log):
            kernels.layered_check(
                len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.ids, chunk.targets,
                chunk.weights if weighted else UNIT, -1 if weighted else 0, dtype.type(until), there, above, witnessed,
                bad,
            )  # fmt: skip
    if bad[0] >= 0:
        return Violation(*_ends(store, bad), "the edge from {vertex} to {other} can relax: {other} is nearer that way")
    seen = np.empty(n, np.uint8)
    for first, ids in store.order():
        seen[ids] = witnessed[first : first + len(ids)]
    seen[start] = 1
    mine = first_wrong(reached & (seen == 0), "vertex {vertex} has no edge from its parent that gives its distance")
    flat = seen == 2
    if mine or not flat.any():
        return mine
    step = np.where(flat, parent, np.arange(n))
    for _ in range(n.bit_length()):
        step = step[step]
    return first_wrong(flat[step], LEFT_OVER)


def _components(
    context: RankContext, part: StreamedPart, primitive: Any, result: RankResult, log: Log
) -> Violation | None:
    store, memory, label, n = part.store, part.memory, result.columns["label"], part.num_vertices
    number = np.arange(n, dtype=np.int32)
    mine = first_wrong((label < 0) | (label > number), "vertex {vertex} has a label that is no vertex up to itself")
    mine = mine or first_wrong(label[label] != label, "the label of vertex {vertex} has another label itself")
    if mine:
        return mine
    bad = _differing(store, label, memory - 12 * n, log)
    if bad[0] >= 0:
        return Violation(*_ends(store, bad), "the edge from {vertex} to {other} joins two labels")
    tree = forest(store, memory - 12 * n, log)
    trees, labels = int((tree == number).sum()), int((label == number).sum())
    return None if trees == labels else Violation(-1, -1, f"there are {trees} components, and {labels} labels")


def _differing(store: Store, label: np.ndarray, memory: int, log: Log) -> np.ndarray:
    """The positions of the ends of an edge between two labels, -1 where there is none; its memory is given back."""
    there, bad, kernels = by_position(store, label), np.full(2, -1), cpu().kernels("layered")
    with window_of(store, "out", memory, log.what, log) as window:
        for _, chunk in every_chunk(window, store.sections["out"], log):
            kernels.layered_differ(
                len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.targets, there, bad
            )  # fmt: skip
    return bad


@dataclass(frozen=True)
class _Given:
    """Ranks to begin with, as they are."""

    ranks: np.ndarray

    def of(self, part: Any, env: Any) -> np.ndarray:
        return self.ranks[part.ids]


def _ranks(context: RankContext, graph: StreamedPart, primitive: Any, result: RankResult, log: Log) -> Violation | None:
    rank = result.columns["rank"]
    least = (1.0 - primitive.damping) / max(len(rank), 1) * (1.0 - 4.0 * float(np.finfo(rank.dtype).eps))
    mine = first_wrong(~((rank >= (0.0 if primitive.personalization else least)) & (rank <= 2.0)),
                  "vertex {vertex} has a rank below its share of walkers who start anew, or none")  # fmt: skip
    if mine or not len(rank):
        return mine
    again = copy.copy(primitive)
    again.start, again.max_iter, again.tol = _Given(rank), 1, 0.0
    whole = part_of(graph.store, 0, 1, graph.memory, None)
    with ExitStack() as stack:
        once = StreamedPageRank(whole, again, stack)
        found = run_primitive(context.comm, whole, once, context.environment("selective"))
    allowed = primitive.damping * result.values["change"] + ROUNDING[rank.dtype.name]
    change = found.values["change"]
    if change > allowed:
        moved = np.abs(found.columns["rank"].astype(np.float64) - rank)
        return Violation(
            int(moved.argmax()), -1,
            f"one more iteration changes the ranks by {change:.3g}, which must be {allowed:.3g} at most; that "
            "of vertex {vertex} changes most",
        )  # fmt: skip
    return claims(primitive, result) or mass(context, result)


INNER: dict[type, Supersteps] = {
    Betweenness: betweenness.INNER, WeightedBetweenness: weighted_betweenness.INNER
}  # fmt: skip
"""The searches alone, where ranks send each other what they find."""
BY_ALL: dict[type, Callable[[RankContext, StreamedPart, Any, RankResult], Violation | None]] = {
    Betweenness: _scores, Nearness: nearness.proved, VertexProgram: proved, WeightedBetweenness: _scores,
    WeightedNearness: weighted_nearness.proved,
}  # fmt: skip
"""By primitive, the proof of its result, if every rank proves its own vertices."""
PROOFS |= {
    BreadthFirstSearch: _search, ConnectedComponents: _components, PageRank: _ranks,
    PowerIteration: power_iteration.proved, ShortestPaths: _paths, SinglePageRank: _ranks,
}  # fmt: skip
