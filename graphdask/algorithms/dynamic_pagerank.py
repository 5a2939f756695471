"""PageRank of a dynamic graph, which follows its batches: Static, Naive-dynamic, Dynamic Traversal, Dynamic Frontier
and Dynamic Frontier with Pruning.

Every vertex has a self-loop, given to those that have none, so that there are no dead ends. Iterations pull over the
in-edges of the vertices that are affected; the frontier methods mark more of them, over out-edges, as ranks change.
Each iteration lists the affected vertices again, those of few and of many edges apart, for different kernels. Marks are
in dynamic_marking.py. The messages between the ranks of the gang are in dynamic_messages.py.

If vertices have appeared, the ranks of the others are scaled by the numbers of vertices. They are then exact for the
new vertices standing alone, each with its self-loop, so that only the edges of the batch are left to follow.

With `error` in place of the tolerance an iteration is the last when the bound of rank_error.py has come down to it. A
frontier method then leaves its affected vertices to the next call, which takes them up, so that nothing of what is left
in them counts as lost. Once what is lost has taken up a quarter of the bound, no vertex is pruned any more (df), and at
half of it an iteration ranks all vertices (nd), after which nothing is lost; then the frontier goes on from what moved.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank for dynamic graphs, 2024,
Section 4 and Algorithms 1 to 5.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms import dynamic_marking as marking
from graphdask.algorithms import dynamic_messages
from graphdask.algorithms.dynamic_ranks import (
    DynamicPageRankResult,
    DynamicRanksState,
    Lists,
    degrees_of,
    every_of,
    listed_of,
    start_of,
    votes_of,
)
from graphdask.algorithms.dynamic_sweep import MANY, Sweep
from graphdask.algorithms.rank_error import Residual
from graphdask.device.backend import BLOCK
from graphdask.device.readback import readback_of
from graphdask.dynamic.rows import DynamicPart
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.kernels.common.tuning import MASS
from graphdask.kernels.dynamic.dynamic_pack import COUNTS, DynamicRanks, Flagged
from graphdask.partition.part import Part

METHODS = {"static": "Static", "nd": "Naive-dynamic", "dt": "Dynamic Traversal", "df": "Dynamic Frontier",
           "dfp": "Dynamic Frontier with Pruning"}  # fmt: skip
AUTO = "auto"
FRONTIERS, WHOLE = ("df", "dfp"), ("static", "nd")
LOW = 256
"""Most edges of a low row: in-edges where ranks are computed, out-edges where vertices are marked. A GPU takes 32 low
rows with a warp, a high one with a warp or a block."""
PARTITIONS = {"both": (LOW, LOW), "in": (LOW, 2**62), "none": (-1, 2**62)}
"""Most edges of a low row where vertices are ranked and where their out-neighbours are marked, by the degrees after
which vertices are partitioned (the paper's Figure 1)."""
STOP_PRUNING, RANK_ALL = 0.25, 0.5
"""Shares of the bound that may be lost before vertices are not pruned any more, and before all are ranked."""
MOST_EDGES = 0.35
"""Share of all edges, ranked over and marked over, from which method="auto" ranks all vertices from then on. Of 0.2 to
1, on R-MAT 19 and sx-askubuntu-a2q and two CPU cores, none differs from another by more than noise; on R-MAT 22 and an
H200, where iterations over all vertices scan more edges a second, 0.3 takes 0.85 of the time of 1 at batches of
1e-5, whose share is 0.43 to 0.5."""
TOLERANCE = 1e-6
"""Of df and dfp, relative, where neither it nor an error is given."""
TOLERANCE_OF_ERROR = 0.3
"""And this times the error, where one is. Of 1, 0.3, 0.1 and 0.01, on sx-askubuntu-a2q at batches of 1e-5 to 1e-3, it
loses least to the best one: looser ones lose more, so that all vertices are ranked more often; stricter ones mark more.
"""


class DynamicPageRank(Primitive[DynamicRanksState]):
    """The primitive, over the rows of a dynamic graph."""

    columns: ClassVar[Mapping[str, Any]] = {}
    record_columns: ClassVar[Mapping[str, Any]] = {"vertex": INDEX, "contribution": np.float64}
    result_type = DynamicPageRankResult
    votes = 11
    """The largest change, how many vertices were ranked for the first time, how many a traversal has reached, upper and
    lower halves of both sums in fixed point, edges that were scanned, and those that there are, and halves of the sum
    of ranks."""

    def __init__(
        self,
        method: str,
        damping: float,
        tol: float,
        max_iter: int,
        frontier_tol: float,
        prune_tol: float,
        keeps: bool = True,
        error: float | None = None,
        partition_by: str = "both",
    ):
        self.method, self.damping, self.tol, self.max_iter = method, damping, tol, max_iter
        self.frontier_tol, self.prune_tol, self.keeps, self.error = frontier_tol, prune_tol, keeps, error
        self.lows = PARTITIONS[partition_by]
        self.drift = 0.0
        """What an iteration over all vertices may still change the ranks to begin with, summed, but for vertices that
        the parts say are to be ranked."""
        self.start: Any = None
        """Ranks of the own vertices to begin with, in place of those of the last run."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"PageRank ({METHODS.get(self.method, self.method)})"

    def after(self, damping: float | None, drift: float, left: float) -> DynamicPageRank:
        """The same where the parts hold ranks of this damping, and where an iteration over all vertices may still
        change them by `drift`, `left` of it in vertices that are not to be ranked; with other ranks or none static."""
        primitive = copy.copy(self)
        if damping != self.damping:
            primitive.method, drift, left = "static", 0.0, 0.0
        primitive.drift = drift if self.error is None else left
        return primitive

    @property
    def everywhere(self) -> bool:
        """Whether every vertex is ranked in every iteration."""
        return self.method in WHOLE

    @property
    def _may_sweep(self) -> bool:
        """Whether vertices that are ranked are distinguished by their in-degrees."""
        return self.lows[0] == LOW

    def met(self, residual: float, error: float) -> bool:
        """Whether ranks are as good as they are to be."""
        return residual <= self.tol if self.error is None else error <= self.error

    @property
    def limit(self) -> float:
        """The error or residual at which iterations end; negative if `tol` is 0, so that only `max_iter` ends them."""
        return (self.tol or -1.0) if self.error is None else self.error

    def chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What statistics say of the methods of a run, from the values of its result."""
        found = {"method": values["method"], "steps": values["steps"]}
        if self.method in (*FRONTIERS, AUTO):
            found |= {"frontier_tol": self.frontier_tol, "prune_tol": self.prune_tol}
        return found

    def memory(self, part: Part, allocation: Allocation) -> int:
        index = part.vertex_map.dtype.itemsize
        remote = part.num_vertices - part.num_owned
        assert isinstance(part, DynamicPart)
        state = part.num_owned * (5 * 8 + 5 + 5 * index) + part.num_vertices * 9 + remote * 4 * (index + 8) + 2**16
        state += 8 * marking.pieces(part)
        return state + (Sweep.memory(part) if self._may_sweep else 0)

    def init(self, part: Part, env: Environment) -> tuple[DynamicRanksState, Messages]:
        assert isinstance(part, DynamicPart)
        xp, owned, most, size = env.xp, part.num_owned, part.num_vertices, part.size
        dtype = part.vertex_map.dtype
        inverse, loop = degrees_of(part, env)
        kernels, x, reported = env.kernels("dynamic", index_t=dtype), part.contributions, part.sent
        if x is None or reported is None or not self.keeps or self.everywhere:
            x, reported = xp.zeros(most, np.float64), xp.zeros(0 if size == 1 or self.everywhere else owned)
        rank = xp.empty(owned)
        kernels.dynamic_begin(owned, start_of(part, env, self.method, self.start), inverse, rank, x)
        traverses = self.method == "dt"
        mode = "dfp" if self.method == AUTO else self.method
        marks = 0 if self.everywhere else owned
        others = dynamic_messages.slots_of_others(part, env) if size > 1 else (part.ids[:0],) * 2
        flags = xp.zeros(most + marks + owned + (owned if traverses else 0), np.uint8)
        state = DynamicRanksState(
            rank=rank, inverse=inverse, loop=loop, x=x, reported=reported, sums=xp.zeros(owned), affected=flags[:most],
            expand=flags[most : most + marks], visited=flags[most + marks : most + marks + owned],
            seen=flags[most + marks + owned :], bounds=others[0], shifts=others[1], low=xp.empty(owned, dtype),
            high=xp.empty(owned, dtype), mark_low=xp.empty(marks, dtype), mark_high=xp.empty(marks, dtype),
            pieces=xp.empty(marking.pieces(part) if marks else 0, np.int64),
            counters=xp.zeros(len(COUNTS) + (2 * size + 1 if size > 1 else 0), np.uint64), every=every_of(part, env),
            base=(1.0 - self.damping) / max(part.alive, 1), num_vertices=part.alive, num_edges=part.num_in_edges,
            mode=mode, everyone=False, left=Residual(self.damping, self.drift), traversing=traverses,
            last=part.ids[:0],
        )  # fmt: skip
        if not self.everywhere:
            if self.error is not None and part.pending is not None:
                state.affected |= part.pending[0]
                if mode == "df":
                    state.expand |= part.pending[1]
            for sources in part.sources:  # affected as the out-neighbours of their self-loops
                kernels.dynamic_flag(len(sources), sources, state.expand, state.affected)
            for targets in part.targets:
                kernels.dynamic_flag(len(targets), targets, state.affected, state.affected)
            marking.list_flagged(part, state, env, self._becomes(state), self.lows[1])
            state.unmarked = self.method == AUTO and size == 1  # until it is known whether marks are of use
            if not state.unmarked:
                marking.mark(part, state, env, owned)
        if self._may_sweep and self.method in (*WHOLE, AUTO):
            state.row_kinds = Sweep.count(part, env)
        every = state.low if size == 1 else xp.arange(owned, dtype=dtype)  # no rank is notified
        messages = self._messages(part, state, env, Lists([every], [state.every]))
        if self._ranks_all(part, state, messages):  # while the host goes on
            state.sweep = Sweep.of(part, state, env) if self._may_sweep else None
            if state.sweep is not None and size == 1:
                state.sweep.sum(part, state, env)
                state.ahead = True
        return state, messages

    def _ranks_all(self, part: DynamicPart, state: DynamicRanksState, messages: Messages) -> bool:
        """Whether it is known on this rank that the first iteration ranks all vertices."""
        if self.method != AUTO or part.size > 1:
            return self.everywhere
        assert callable(messages.votes)
        return state.num_vertices > 0 and _soon(messages.votes()[7], state) >= MOST_EDGES

    def _list_affected(self, part: DynamicPart, state: DynamicRanksState, env: Environment) -> None:
        """List the own vertices that are to be ranked by the lengths of their rows; the counters, which must be 0, say
        how many."""
        env.kernels("dynamic", index_t=part.vertex_map.dtype).dynamic_split(
            part.num_owned, Flagged(
                flags=state.affected, becomes=1, length=part.backward.length, most=self.lows[0], low=state.low,
                high=state.high, counters=state.counters[COUNTS.place.low :],
            ),
        )  # fmt: skip

    def _to_rank(self, part: DynamicPart, state: DynamicRanksState, env: Environment) -> Lists:
        """The own vertices that are to be ranked; the other counters are 0 then."""
        if state.listed is None and state.sweep is not None:
            count = part.num_alive
            if state.mode not in WHOLE:  # else nobody looks
                state.low[:count] = env.xp.arange(count, dtype=state.low.dtype)
            state.listed = count, 0, state.num_edges
        if state.listed is None:
            state.counters.fill(0)
            self._list_affected(part, state, env)
            if part.size > 1:  # how many they are comes to the host with what is said of them
                counts = [state.counters[place:] for place in (COUNTS.place.low, COUNTS.place.high)]
                return Lists([state.low, state.high], counts, known=False)
            state.listed = listed_of(env.backend.to_host(state.counters))  # the next are listed before it waits again
        state.counters.fill(0)
        return self._lists(state, state.listed)

    def _lists(self, state: DynamicRanksState, listed: tuple[int, int, int]) -> Lists:
        low, high, edges = listed
        return Lists([state.low[:low], state.high[:high]], [state.every, state.every], edges)

    def _becomes(self, state: DynamicRanksState) -> int:
        """What is marked once is not pruned but by dfp, and need not be marked again."""
        return 0 if state.mode == "dfp" else 2

    def superstep(self, part: Part, state: DynamicRanksState, inbox: Inbox, env: Environment) -> Messages:
        assert isinstance(part, DynamicPart)
        if part.size > 1:
            dynamic_messages.take_in(part, state, inbox, env)
        if state.traversing:
            return self._traverse(part, state, env)
        frontier = state.mode in FRONTIERS
        state.swept = state.everyone or state.mode in WHOLE
        if state.unmarked and not state.swept:
            marking.mark(part, state, env, part.num_owned)
        state.unmarked = False
        state.sweep = Sweep.of(part, state, env) if state.swept and self._may_sweep else None
        if state.everyone or (state.swept and not state.iterations):
            self._begin_with_all(part, state, env)
        lists, state.listed = self._to_rank(part, state, env), None if frontier else state.listed
        if not state.ahead:
            self._sum(part, state, env, lists)
        kernels = env.kernels("dynamic", index_t=part.vertex_map.dtype)
        prunes = int(state.mode == "dfp")
        closed = int(self.method in ("dfp", AUTO))
        pack = DynamicRanks(
            sums=state.sums, inverse=state.inverse, loop=state.loop, base=state.base, factor=state.factor,
            damping=self.damping, closed=closed, prunes=prunes, prune=self.prune_tol, expands=int(frontier),
            frontier=self.frontier_tol, scale=state.left.scale, becomes=self._becomes(state),
            length=part.outward.length, most=self.lows[1], rank=state.rank, x=state.x, affected=state.affected,
            expand=state.expand, visited=state.visited, low=state.mark_low, high=state.mark_high,
            counters=state.counters,
        )  # fmt: skip
        for listed, count in zip(lists.of, lists.counts, strict=True):
            pack.assign(count=count, listed=None if state.sweep else listed)
            kernels.dynamic_update(len(listed), pack)
        if frontier:
            marking.mark(part, state, env, min(sum(map(len, lists.of)), part.num_owned))
            if part.size == 1:  # nobody else marks: the next list, so that the host waits once in an iteration
                self._list_affected(part, state, env)
        state.everyone, state.factor = False, 1.0
        by = "nd" if state.swept and state.mode != "static" else state.mode
        state.steps[by] = state.steps.get(by, 0) + 1
        state.ahead = state.readback is not None and state.sweep is not None and state.iterations < self.max_iter
        if state.ahead:
            kernels.dynamic_judge(1, self.limit, int(self.error is not None), pack)
        messages = self._messages(part, state, env, lists)
        if state.ahead:
            state.sweep.sum(part, state, env, state.counters[COUNTS.place.goes :])
        return messages

    def _begin_with_all(self, part: DynamicPart, state: DynamicRanksState, env: Environment) -> None:
        """What is needed before all vertices are ranked, for once or from now on."""
        whole, state.listed = state.mode in WHOLE, None
        if not whole or state.sweep is None:
            state.affected[: part.num_owned] = part.ids < part.alive
        if state.mode == "dfp":
            state.expand[:] = 0
        if whole and part.size == 1 and env.backend.name == "cuda":
            state.readback = readback_of(env.backend, len(state.counters), 1)

    def _sum(self, part: DynamicPart, state: DynamicRanksState, env: Environment, lists: Lists) -> None:
        """What the listed vertices gather over their in-edges, and the others too where that takes less."""
        sweep = state.sweep
        if sweep is None and self._may_sweep and not state.swept:
            edges = lists.edges if lists.known else state.looked
            sweep = Sweep.of(part, state, env) if edges >= MANY * state.num_edges else None
        if sweep is not None:
            sweep.sum(part, state, env)
            return
        kernels, rows = env.kernels("dynamic", index_t=part.vertex_map.dtype), part.backward
        sums = rows.begin, rows.length, rows.indices, state.x, state.sums
        (low, high), counts = lists.of, lists.counts
        kernels.dynamic_sum(len(low), counts[0], low, *sums)
        kernels.dynamic_sum_high(len(high), counts[1], high, *sums, per_item=BLOCK)

    def _traverse(self, part: DynamicPart, state: DynamicRanksState, env: Environment) -> Messages:
        """Mark the out-neighbours of the vertices that were marked last."""
        xp = env.xp
        reached = xp.flatnonzero((state.affected[: part.num_owned] > 0) & (state.seen == 0))
        state.passes += 1
        state.seen[reached] = 1
        state.expand[reached] = 1
        marking.list_flagged(part, state, env, self._becomes(state), self.lows[1])
        marking.mark(part, state, env, part.num_owned)
        return self._messages(part, state, env, Lists([], []), len(reached))

    def _messages(
        self, part: DynamicPart, state: DynamicRanksState, env: Environment, ranked: Lists, reached: int = 0
    ) -> Messages:
        """Send marks to the owners of their vertices, and what is new of `ranked` vertices to who needs it; the host
        waits here for what was counted, how many these are too where it does not know."""
        everything, frontier = state.mode in WHOLE, state.mode in FRONTIERS
        if part.size > 1 and not everything:
            dynamic_messages.count_changes(part, state, env, ranked)
        later = everything and ranked.known  # nothing but the votes is counted: it waits where the rest is done
        readback = state.readback if later else None
        sent = 0 if readback is None else readback.send(state.counters)
        counters = np.zeros(len(COUNTS), np.uint64) if later else env.backend.to_host(state.counters).copy()
        if not ranked.known:
            ranked = self._lists(state, found := listed_of(counters))
            state.listed = None if frontier else found
        elif part.size == 1 and frontier and state.iterations:
            state.listed = listed_of(counters)

        def votes() -> Sequence[float]:
            found = counters if not later else readback.read(sent) if readback else env.backend.to_host(state.counters)
            state.ahead = state.ahead and (not state.iterations or bool(COUNTS.of(found).goes))
            return votes_of(found, ranked, reached, state)

        state.looked = ranked.edges
        marking = COUNTS.of(counters).mark_edges
        looked = ranked.edges if ranked.of else marking
        worked_on = sum(map(len, ranked.of)) if state.iterations else reached
        if part.size == 1:
            return Messages(part.ids[:0], part.ids[:0], {}, True, worked_on, looked, votes=votes)
        if everything:
            bounds, records = dynamic_messages.everything(part, state, env)
        else:
            bounds, records = dynamic_messages.changes(part, state, env, ranked.of, counters)
        return Messages.of_records(records, bounds, active=True, frontier=worked_on, edges=looked, votes=votes)

    def ends(self, state: DynamicRanksState, votes: np.ndarray) -> bool:
        total: list[float] = votes.sum(axis=0).tolist()  # of whole numbers, but for the first
        state.affected_vertices += int(total[1])
        if not state.num_vertices:
            state.residual = state.left.left = state.left.affected = 0.0
            return True
        state.all_edges = total[8]
        if state.traversing:
            state.traversing = state.passes == 0 or total[2] > 0
            return False
        if state.iterations:
            spread, unsent = ((int(total[k]) << 32) + int(total[k + 1]) for k in (3, 5))
            state.residual = float(votes[:, 0].max())
            state.left.take(spread, unsent, state.swept)
            reached = state.residual if self.error is None else state.left.error
            if reached <= self.limit or state.iterations >= self.max_iter:
                return True
            if self.method == AUTO and state.mode == "nd":
                mass = (int(total[9]) << 32) + int(total[10])
                state.factor = state.left.rescaled(mass / MASS) or 1.0
        if self.error is not None and not self.everywhere:
            self._choose(state, total[7])
        return False

    def _choose(self, state: DynamicRanksState, looked: float) -> None:
        """Say how the next iteration is done, from what is lost and from the edges that the last one scanned."""
        assert self.error is not None
        lost = state.left.left / (self.error * (1.0 - self.damping))
        if state.mode == "nd":
            return
        if state.swept:  # all that says of the next frontier is what was marked
            looked -= state.all_edges
        if not state.iterations:
            looked = _soon(looked, state) * state.all_edges
        if (self.method == AUTO and looked >= MOST_EDGES * state.all_edges) or (
            self.method == "dt" and lost > RANK_ALL
        ):
            state.mode, state.everyone = "nd", True
        elif lost > RANK_ALL:
            state.mode, state.everyone = "df" if self.method == "df" else "dfp", True
        elif lost > STOP_PRUNING:
            state.mode = "df"

    def result(self, part: Part, state: DynamicRanksState, env: Environment) -> dict[str, Any]:
        assert isinstance(part, DynamicPart)
        drift = left = state.left.sum
        pending = None
        if self.error is not None and state.mode not in WHOLE:
            left = state.left.left
            pending = state.affected, state.expand
        if self.keeps:
            part.pagerank, part.ranked = state.rank, part.alive
            part.sources, part.targets, part.pending = [], [], pending
            if part.size > 1:
                part.contributions = part.sent = None
                if state.mode not in WHOLE:
                    dynamic_messages.take_back(part, state, env)
                    part.contributions, part.sent = state.x, state.reported
        return {
            "rank": state.rank[part.present],
            "method": next((method for method in METHODS if method in state.steps), self.method),
            "steps": state.steps,
            "iterations": state.iterations,
            "affected": state.affected_vertices,
            "residual": state.residual,
            "converged": self.met(state.residual, state.left.error),
            "error": state.left.error,
            "drift": drift,
            "left": left,
        }


def _soon(marking: float, state: DynamicRanksState) -> float:
    """The share of all edges that is scanned if so many edges are marked over to begin with: those of the vertices
    that they lead to, and of those that these mark in their turn."""
    return -2.0 * math.expm1(-marking / state.num_vertices)
