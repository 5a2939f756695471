"""PageRank of a dynamic graph, which follows its batches: Static, Naive-dynamic, Dynamic Traversal, Dynamic Frontier
and Dynamic Frontier with Pruning.

Every vertex has a self-loop, given to those that have none, so that there are no dead ends. Iterations pull over the
in-edges of the vertices that are affected; the frontier methods mark more of them, over out-edges, as ranks change. The
affected vertices are listed anew in each iteration, those of few and of many edges apart, for a thread or a block each.
Ranks of the gang are sent the contributions that changed, of vertices of which they have out-neighbours, and the marks
of vertices that they own, and nothing else: what they were told in one call they know in the next one.

Where vertices have appeared, the ranks of the others are scaled by the numbers of vertices: they are exact then for the
new vertices standing alone, each with its self-loop, so that only the edges of the batch are left to follow.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank for dynamic graphs, 2024,
Section 4 and Algorithms 1 to 5.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.backend import Array
from graphdask.buffers import Allocation
from graphdask.dynamic_rows import DynamicPart, DynamicRows, owners
from graphdask.engine import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.errors import InputError
from graphdask.part import Part
from graphdask.result import Result
from graphdask.runtime import runtime

METHODS = {"static": "Static", "nd": "Naive-dynamic", "dt": "Dynamic Traversal", "df": "Dynamic Frontier",
           "dfp": "Dynamic Frontier with Pruning"}  # fmt: skip
FRONTIERS = ("df", "dfp")
LOW = 64
"""Most edges of a row that a thread takes: in-edges where ranks are computed, out-edges where vertices are marked."""
BLOCK = 256
MARK = -1.0
"""Stands for a mark among contributions, which are above 0."""
COUNTERS = 5


@dataclass
class State:
    rank: Array
    """float64 per own vertex."""
    inverse: Array
    """float64 per own vertex: 1 / out-degree, self-loop included."""
    loop: Array
    """uint8 per own vertex: whether the self-loop is stored."""
    x: Array
    """float64 per id, contributions; 0 where this rank needs none."""
    told: Array
    """float64 per own vertex, as other ranks know them; empty where there are none."""
    sums: Array
    affected: Array
    """uint8 per id, those of own vertices to be ranked, and of others until their owners are told."""
    expand: Array
    """uint8 per id: 1 where the out-neighbours of an own vertex are to be marked, 2 where they are and stay so."""
    visited: Array
    """uint8 per own vertex: whether it was ranked in this run."""
    seen: Array
    """uint8 per own vertex: whether a traversal has passed it; empty for other methods."""
    remote: Array
    """uint8 per id: whether the vertex is another rank's; empty where there are none."""
    low: Array
    high: Array
    """Index dtype, lists of own vertices."""
    counters: Array
    """uint64; see kernels/dynamic.py."""
    base: float
    """(1 - damping) / number of vertices."""
    num_vertices: int
    traversing: bool
    last: Array
    """Own vertices that were told of in the last step, which in the end nobody takes in any more."""
    passes: int = 0
    """Steps of the traversal."""
    listed: tuple[int, int, int] | None = None
    """Lengths of `low` and `high` and their edges where these stay as they are."""
    iterations: int = 0
    affected_vertices: int = 0
    """Vertices of all ranks that were ranked in this run."""
    residual: float = math.inf


class DynamicPageRankResult(Result):
    """What `pagerank(D, method=...)` returns."""

    columns = ("rank",)

    @property
    def rank(self) -> np.ndarray:
        """The PageRank of every vertex; shape (num_vertices,), in the order of `vertex_ids` of the version it is of."""
        return self._column("rank")

    @property
    def method(self) -> str:
        """What was done: "static" also where there were no ranks to begin with."""
        return self.primitive.method

    @property
    def iterations(self) -> int:
        """How many iterations were done."""
        return self._value("iterations")

    @property
    def affected(self) -> int:
        """How many vertices were ranked anew at least once."""
        return self._value("affected")

    @property
    def residual(self) -> float:
        """The largest change of a rank in the last iteration."""
        return self._value("residual")

    @property
    def converged(self) -> bool:
        """Whether the residual came down to the tolerance."""
        return self._value("converged")

    def verify(self) -> DynamicPageRankResult:
        """Prove the result in linear time, on the workers; return it.

        Raises
        ------
        VerificationError
            Naming the first vertex that breaks an invariant.
        InputError
            Where the graph has changed since: the rows that the ranks are of are gone.
        """
        if self.built.rows.version != self.built.version:
            raise InputError("the graph has changed since these ranks were computed; verify them before the next batch")
        runtime().verify(self)
        return self


class DynamicPageRank(Primitive[State]):
    """The primitive, over the rows of a dynamic graph."""

    columns: ClassVar[Mapping[str, Any]] = {}
    record_columns: ClassVar[Mapping[str, Any]] = {"vertex": INDEX, "contribution": np.float64}
    verifier = "graphdask.verify.dynamic_pagerank"
    result_type = DynamicPageRankResult
    votes = 3
    """The largest change, how many vertices were ranked for the first time, how many a traversal has reached."""

    def __init__(
        self,
        method: str,
        damping: float,
        tol: float,
        max_iter: int,
        frontier_tol: float,
        prune_tol: float,
        keeps: bool = True,
    ):
        self.method, self.damping, self.tol, self.max_iter = method, damping, tol, max_iter
        self.frontier_tol, self.prune_tol, self.keeps = frontier_tol, prune_tol, keeps
        self.drift = 0.0
        """What an iteration over all vertices may still change the ranks to begin with, summed."""
        self.start: Any = None
        """Ranks of the own vertices to begin with, in place of those of the last run."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"PageRank ({METHODS[self.method]})"

    def after(self, damping: float | None, drift: float) -> DynamicPageRank:
        """The same where the parts hold ranks of this damping and drift; with other ranks or none it is static."""
        primitive = copy.copy(self)
        if damping != self.damping:
            primitive.method, drift = "static", 0.0
        primitive.drift = drift
        return primitive

    @property
    def everywhere(self) -> bool:
        """Whether every vertex is ranked in every iteration."""
        return self.method in ("static", "nd")

    def memory(self, part: Part, allocation: Allocation) -> int:
        index = part.vertex_map.dtype.itemsize
        return part.num_owned * (7 * 8 + 4 + 2 * index + 24) + part.num_vertices * (8 + 3) + 2**16

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        assert isinstance(part, DynamicPart)
        xp, owned, most = env.xp, part.num_owned, part.num_vertices
        dtype = part.vertex_map.dtype
        _, loops = part.outward.find(env.backend, xp.arange(owned, dtype=dtype), part.ids)
        loop = loops.astype(np.uint8)
        inverse = 1.0 / (part.outward.length + (1 - loop)).astype(np.float64)
        rank = self._start(part, env)
        several = part.size > 1
        x, told = part.contributions, part.said
        if x is None or told is None or not self.keeps:
            x, told = xp.zeros(most, np.float64), xp.zeros(owned if several else 0)
        x[part.ids] = rank * inverse
        remote = xp.ones(most if several else 0, np.uint8)
        if several:
            remote[part.ids] = 0
        traverses = self.method == "dt"
        state = State(
            rank, inverse, loop, x, told, xp.zeros(owned), xp.zeros(most, np.uint8),
            xp.zeros(most, np.uint8), xp.zeros(owned, np.uint8), xp.zeros(owned if traverses else 0, np.uint8), remote,
            xp.empty(owned, dtype), xp.empty(owned, dtype), xp.zeros(COUNTERS, np.uint64),
            (1.0 - self.damping) / max(part.alive, 1), part.alive, traverses, part.ids[:0],
        )  # fmt: skip
        if self.everywhere:
            state.affected[part.ids[xp.flatnonzero(part.ids < part.alive)]] = 1
        else:
            for sources in part.sources:
                state.expand[part.ids[sources]] = 1
                state.affected[part.ids[sources]] = 1  # the out-neighbour of its self-loop
            for targets in part.targets:
                state.affected[part.ids[targets]] = 1
            self._mark(part, state, env)
        own = xp.arange(owned, dtype=dtype)
        return state, self._say(part, state, env, [own], 0, 0, 0)

    def _start(self, part: DynamicPart, env: Environment) -> Array:
        """Ranks of the own vertices to begin with; 0 of those that have not appeared."""
        xp, alive = env.xp, part.ids < part.alive
        even = alive.astype(np.float64) / max(part.alive, 1)
        if self.start is not None:
            return xp.where(alive, self.start, 0.0)
        if self.method == "static":
            return even
        assert part.pagerank is not None
        if part.ranked == part.alive:
            return part.pagerank.copy()
        return xp.where(part.ids < part.ranked, part.pagerank * (part.ranked / part.alive), even)

    def _split(self, part: DynamicPart, state: State, env: Environment, flags: Array, rows: DynamicRows) -> Any:
        """List the own vertices that are flagged by the lengths of their rows; how many, their edges, and the counters
        of what was done since they were set to 0."""
        kernels = env.kernels("dynamic", index_t=part.vertex_map.dtype)
        becomes = 1
        if flags is state.expand:
            # what is marked once is not pruned but by dfp, and need not be marked again
            becomes = 0 if self.method == "dfp" else 2
        kernels.dynamic_split(
            part.num_owned, part.ids, flags, becomes, rows.length, LOW, state.low, state.high, state.counters
        )
        counters = env.backend.to_host(state.counters).copy()
        state.counters[:] = 0
        return counters

    def _mark(self, part: DynamicPart, state: State, env: Environment) -> Any:
        """Mark the out-neighbours of the own vertices that say so as affected."""
        kernels = env.kernels("dynamic", index_t=part.vertex_map.dtype)
        rows = part.outward
        counters = self._split(part, state, env, state.expand, rows)
        low, high = int(counters[0]), int(counters[1])
        kernels.dynamic_mark(low, state.low, rows.begin, rows.length, rows.indices, state.affected)
        kernels.dynamic_mark_high(
            high, state.high, rows.begin, rows.length, rows.indices, state.affected, per_item=BLOCK
        )
        return counters

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        assert isinstance(part, DynamicPart)
        if part.size > 1 and len(inbox.records["vertex"]):
            vertex, contribution = inbox.records["vertex"], inbox.records["contribution"]
            marks = contribution == MARK
            state.affected[vertex[marks]] = 1
            state.x[vertex[~marks]] = contribution[~marks]
        if state.traversing:
            return self._traverse(part, state, env)
        kernels, rows = env.kernels("dynamic", index_t=part.vertex_map.dtype), part.backward
        if state.listed is None or self.method in FRONTIERS:
            counters = self._split(part, state, env, state.affected, rows)
            state.listed = int(counters[0]), int(counters[1]), int(counters[2])
        low, high, edges = state.listed
        lists = [state.low[:low], state.high[:high]]
        kernels.dynamic_sum(low, lists[0], rows.begin, rows.length, rows.indices, state.x, state.sums)
        kernels.dynamic_sum_high(
            high, lists[1], rows.begin, rows.length, rows.indices, state.x, state.sums, per_item=BLOCK
        )
        for listed in lists:
            kernels.dynamic_update(
                len(listed), listed, part.ids, state.sums, state.inverse, state.loop, state.base, self.damping,
                int(self.method == "dfp"), int(self.method == "dfp"), self.prune_tol, int(self.method in FRONTIERS),
                self.frontier_tol, state.rank, state.x, state.affected, state.expand, state.visited, state.counters,
            )  # fmt: skip
        if part.size > 1:
            lists = [each.copy() for each in lists]  # marking makes lists of its own in the same memory
        if self.method in FRONTIERS:
            counters = self._mark(part, state, env)
        else:
            counters = env.backend.to_host(state.counters).copy()
            state.counters[:] = 0
        state.iterations += 1
        largest = float(counters[3:4].view(np.float64)[0])
        return self._say(part, state, env, lists, largest, int(counters[4]), 0, low + high, edges)

    def _traverse(self, part: DynamicPart, state: State, env: Environment) -> Messages:
        """Mark the out-neighbours of the vertices that were marked last."""
        xp = env.xp
        reached = xp.flatnonzero((state.affected[part.ids] > 0) & (state.seen == 0))
        state.passes += 1
        state.seen[reached] = 1
        state.expand[part.ids[reached]] = 1
        counters = self._mark(part, state, env)
        return self._say(part, state, env, [], 0.0, 0, len(reached), len(reached), int(counters[2]))

    def _say(
        self, part: DynamicPart, state: State, env: Environment, ranked: list[Array], largest: float, first: int,
        reached: int, frontier: int = 0, edges: int = 0,
    ) -> Messages:  # fmt: skip
        """Tell marks to the owners of their vertices, and what is new of `ranked` vertices to who needs it."""
        votes = (largest, float(first), float(reached))
        if part.size == 1:
            return Messages(part.ids[:0], part.ids[:0], {}, True, frontier, edges, votes=votes)
        xp = env.xp
        marked = xp.flatnonzero(state.affected * state.remote).astype(part.vertex_map.dtype)
        state.affected[marked] = 0
        at = owners(env.backend, part, marked)
        own = xp.concatenate(ranked) if ranked else part.ids[:0]
        now = state.x[part.ids[own]]
        new = xp.flatnonzero(now != state.told[own])
        own, now = own[new], now[new]
        state.told[own], state.last = now, own
        vertices, contributions, counts = [], [], [0]
        for rank in range(part.size):
            marks, needed = marked[at == rank], part.held[rank, own] > 0
            if rank == part.rank:
                needed[:] = False
            vertices += [marks, part.ids[own[needed]]]
            contributions += [xp.full(len(marks), MARK), now[needed]]
            counts.append(len(vertices[-2]) + len(vertices[-1]))
        records = {"vertex": xp.concatenate(vertices), "contribution": xp.concatenate(contributions)}
        return Messages.of_records(
            records, np.cumsum(counts).astype(np.int64), active=True, frontier=frontier, edges=edges, votes=votes
        )

    def ends(self, state: State, votes: np.ndarray) -> bool:
        state.affected_vertices += int(votes[:, 1].sum())
        if not state.num_vertices:
            state.residual = 0.0
            return True
        if state.traversing:
            state.traversing = state.passes == 0 or bool(votes[:, 2].any())
            return False
        if state.iterations:
            state.residual = float(votes[:, 0].max())
        return state.residual <= self.tol or state.iterations >= self.max_iter

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Any]:
        assert isinstance(part, DynamicPart)
        drift = part.alive * state.residual if state.iterations else 0.0
        if self.method in FRONTIERS:
            drift += state.iterations * max(self.frontier_tol, self.prune_tol if self.method == "dfp" else 0.0)
        if not self.everywhere:
            drift += self.drift
        if self.keeps:
            part.pagerank, part.ranked = state.rank, part.alive
            part.sources, part.targets = [], []
            if part.size > 1:
                state.told[state.last] = -1.0
                part.contributions, part.said = state.x, state.told
        return {
            "rank": state.rank[env.xp.flatnonzero(part.ids < part.alive)],
            "iterations": state.iterations,
            "affected": state.affected_vertices,
            "residual": state.residual,
            "converged": state.residual <= self.tol,
            "drift": drift,
        }
