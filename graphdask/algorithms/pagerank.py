"""PageRank by power iteration, pulling over in-edges.

State: the rank of every own vertex, and the contribution, rank / out-weight, of every slot. Once an iteration owners
send the contributions to the ghosts. An iteration sums contributions over each row of in-edges, then updates the ranks.
The rank on vertices without out-edges and the change of the ranks are summed in fixed point, so that the order of
additions does not matter, and travel as votes: every rank of the run receives both with the contributions, and decides
by itself whether to stop. Rows are in the order of ids, so no bit of a result depends on how the graph is divided.

A GPU that has the whole graph decides by itself, from the same sums, whether this was the last iteration. The host
launches the kernels of the next iteration before it knows; they sum the rows only if it was not the last.

Sources: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024), Section 4.1;
Pan et al., Multi-GPU Graph Analytics, Section IV (PR); NetworkX for conventions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.distribution import LOOKING, Distribution
from graphdask.algorithms.rank_layout import Layout, Layouts
from graphdask.device.ahead import Family, family
from graphdask.device.backend import Array
from graphdask.device.readback import Readback, readback_of
from graphdask.engine.bins import Shape
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import Resumable, Saved
from graphdask.engine.codes import Codes
from graphdask.engine.loop import ALL, Environment, Inbox, Messages, Primitive
from graphdask.kernels.pagerank.pagerank_pack import COUNTS, RankRows
from graphdask.partition.part import Part
from graphdask.results.result import Result

DANGLING_SCALE = 2.0**61
"""Fixed point of the rank on vertices without out-edges, which is 1 at most."""
CHANGE_BITS = 60
"""Bits of the largest sum of |change| that is possible."""
NOISE = {"float64": 2.0**-40, "float32": 2.0**-14}
"""Amount by which rounding may make a sum of |change| grow from one iteration to the next."""


def scale_of(change: float, noise: float) -> float:
    """Return the fixed-point scale for a sum of |change|; apart from rounding, it never exceeds the previous sum."""
    return math.ldexp(1.0, CHANGE_BITS - math.frexp(max(change, noise))[1])


@dataclass
class Reported:
    """Contributions that ranks exchange, in the order of x on both sides, so that memory is read and written in order.

    A broadcast has them by slot instead.
    """

    values: Array
    """real_t, what this rank sends: per own vertex in the order of x, or per slot; empty if there is one rank."""
    to: Array
    """Where in `values` the contribution of each own vertex stands, in the order of x."""
    mirror: Array | None
    """Which of `values` each rank is sent, rank after rank, beginning with rank + 1; None in a broadcast."""
    place: Array
    """Where in x the contributions of the ghosts stand, in the order in which they come."""
    places: dict[int, Array] = field(default_factory=dict)
    """The part of it for each rank, by the first slot of its ghosts."""

    @classmethod
    def of(cls, part: Part, env: Environment, layout: Layout, real: Any) -> Reported:
        xp, owned, order = env.xp, part.num_owned, layout.order
        if part.size == 1:
            return cls(xp.zeros(0, real), order[:0], None, layout.ghosts)
        to = xp.arange(owned, dtype=order.dtype)
        if env.exchange != "broadcast":
            return cls(xp.zeros(owned, real), to, layout.mirror, layout.received)
        slot = xp.empty_like(order)
        slot[order] = to
        return cls(xp.zeros(part.num_slots, real), slot, None, layout.ghosts)

    def arrive(self, inbox: Inbox, kernels: Any, owned: int, x: Array) -> None:
        """Scatter the contributions received, in an order that begins with rank + 1, so that ranks read from different
        peers at a time."""
        if self.mirror is None:
            inbox.put("contribution", self.values)
            kernels.pagerank_scatter(len(self.place), self.values[owned:], self.place, x)
            return
        for message in sorted(inbox.received, key=lambda message: message.first):
            place = self.places.get(message.first)
            if place is None:
                begin = message.first - owned
                place = self.places[message.first] = self.place[begin : begin + message.count]
            kernels.pagerank_scatter(message.count, message.columns["contribution"], place, x)


@dataclass
class PageRankState:
    layout: Layout
    rank: Array
    """real_t per own vertex, here and below in the order of x, in which the layout has them."""
    teleport: Array
    """float64 per own vertex, empty where every vertex has the same."""
    x: Array
    """real_t, contributions, those of vertices of many out-edges first, which the caches then keep."""
    reported: Reported
    """Contributions sent to other ranks, and the places in x of those received."""
    sums: Array
    """float64 per own vertex."""
    partial: Array
    """float64, sums of parts of long rows."""
    counters: Array
    """uint64, two rows of COUNTS, of the next and of the last iteration by turns."""
    num_vertices: int
    noise: float
    """What a sum of |change| may grow by through rounding, from one iteration to the next."""
    iterations: int = 0
    dangling: float = 0.0
    """Rank on vertices without out-edges, of the whole graph."""
    change: float = 2.0
    """Sum of |change| in the last iteration; 2 is the most that it can be."""
    residual: float = math.inf
    """The norm of the change in the last iteration."""
    readback: Readback | None = None
    """By which the host receives an iteration's counters while the next one's sums are under way, or contributions are
    coded for other ranks; None if it waits."""
    resumed: bool = False
    """Whether `change` and `residual` are those of a checkpoint, of which the counters know nothing."""
    ahead: bool = False
    """Whether the sums of the next iteration have been begun, unless the device has found that this was the last."""

    @property
    def change_scale(self) -> float:
        """Fixed point of the next sum of |change|."""
        return scale_of(self.change, self.noise)


class PageRankResult(Result):
    """What `pagerank` returns."""

    columns = ("rank",)

    @property
    def rank(self) -> np.ndarray:
        """The PageRank of every vertex; shape (num_vertices,), in the order of `vertex_ids`; their sum is 1."""
        return self._column("rank")

    @property
    def iterations(self) -> int:
        """How many iterations were done."""
        return self._value("iterations")

    @property
    def residual(self) -> float:
        """The norm of the ranks' change in the last iteration."""
        return self._value("residual")

    @property
    def converged(self) -> bool:
        """Whether the residual came down to the tolerance."""
        return self._value("converged")

    @property
    def error(self) -> float:
        """A bound of the L1 distance to the exact ranks, rounding left aside: damping / (1 - damping) * |change|."""
        damping = self.primitive.damping
        return damping / (1.0 - damping) * self._value("change")


class PageRank(Primitive[PageRankState], Resumable):
    """The primitive, with ranks in float64."""

    name = "PageRank"
    columns: ClassVar[Mapping[str, Any]] = {"contribution": np.float64}
    real: ClassVar[Any] = np.float64
    result_type = PageRankResult
    notifies_ghosts = True
    queues = False
    votes = 5
    """Upper and lower 32 bits of both sums in fixed point, and the largest change."""

    def __init__(
        self,
        damping: float,
        tol: float,
        max_iter: int,
        *,
        self_loops: bool = False,
        weighted: bool = False,
        norm: str = "l1",
        personalization: Distribution | None = None,
        start: Distribution | None = None,
    ):
        self.damping, self.tol, self.max_iter = damping, tol, max_iter
        self.self_loops, self.weighted, self.norm = self_loops, weighted, norm
        self.personalization, self.start = personalization, start

    @property
    def limit(self) -> float:
        """The residual at which iterations end; negative if `tol` is 0, so that only `max_iter` ends them."""
        return self.tol or -1.0

    @property
    def inward(self) -> bool:
        return True

    @property
    def _layouts(self) -> Layouts:
        return Layouts(self.real, self.weighted, self.self_loops)

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (
            family("pagerank", index_t=index, real_t=np.dtype(self.real), weight_t=np.dtype(np.float32)),
            family("row_lists", index_t=index),
            family("slices", index_t=index, real_t=np.dtype(self.real), weight_t=np.dtype(np.float32)),
        )

    def memory(self, part: Part, allocation: Allocation) -> int:
        return self._memory(part, None, None)

    def memory_on(self, part: Part, env: Environment) -> int:
        if self._layouts.kept(part) is not None:
            return self._memory(part, None, None)
        return self._memory(part, self._layouts.shape(part, env), self._layouts.codes(part, env))

    def _memory(self, part: Part, shape: Shape | None, codes: Codes | None) -> int:
        index, real = part.vertex_map.dtype.itemsize, np.dtype(self.real).itemsize
        owned, slots = part.num_owned, part.num_slots
        given = [each for each in (self.start, self.personalization) if each is not None]
        state = owned * (2 * real + 8 + (8 if self.personalization else 0)) + slots * real
        if part.size > 1:  # contributions sent, also while they are on their way out, and in
            state += owned * (real + index) + 2 * (slots - owned) * real
        looking = sum(each.nbytes for each in given) + owned * (8 * len(given) + LOOKING) if given else 0
        layout = self._layouts.kept(part)
        if layout is not None:
            return max(state + 8 * layout.rows.size, looking) + 2**16
        made, making = self._layouts.memory(part, shape, codes)
        if shape is not None:
            assert part.inward is not None
            state += 32 * shape.packets(part.inward.num_edges)
        return max(made + state, making, made + looking) + 2**16

    def facts(self) -> dict[str, Any]:
        given = {"damping": self.damping, "tol": self.tol, "max_iter": self.max_iter, "norm": self.norm}
        given |= {"self_loops": self.self_loops, "weighted": self.weighted, "dtype": np.dtype(self.real).name}
        for name, shares in (("personalization", self.personalization), ("start", self.start)):
            given[name] = None if shares is None else shares.checksum
        return given

    def saved(self, part: Part, state: PageRankState, inbox: Inbox, env: Environment) -> Saved:
        numbers = {"iterations": state.iterations, "change": state.change, "residual": state.residual}
        return {"rank": state.rank[state.layout.order]}, numbers

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[PageRankState, Messages]:
        return self._begun(part, env, columns["rank"].astype(np.float64), numbers)

    def init(self, part: Part, env: Environment) -> tuple[PageRankState, Messages]:
        return self._begun(part, env, None if self.start is None else self.start.of(part, env))

    def _begun(
        self, part: Part, env: Environment, ranks: Array | None, numbers: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[PageRankState, Messages]:
        """The state with ranks of own vertices, float64 in local order, or None for uniform, and numbers of `saved`."""
        xp, owned, iterations = env.xp, part.num_owned, numbers.get("iterations", 0)
        layout = self._layouts.of(part, env)
        first = xp.empty(owned)
        if ranks is not None:
            first[layout.order] = ranks
        else:
            first.fill(1.0 / max(part.num_vertices, 1))
        teleport = self._in_order(self.personalization, part, env, layout)
        state = PageRankState(
            layout,
            rank=xp.zeros(owned, self.real),
            teleport=teleport,
            x=xp.zeros(part.num_slots, self.real),
            reported=Reported.of(part, env, layout, self.real),
            sums=first,
            partial=layout.rows.workspace(xp),
            counters=xp.zeros((2, len(COUNTS)), np.uint64),
            num_vertices=part.num_vertices,
            noise=NOISE[np.dtype(self.real).name],
            readback=readback_of(env.backend, len(COUNTS), 1) if env.backend.name == "cuda" else None,
            resumed=iterations > 0,
            **numbers,
        )
        # the first ranks are sums that nothing damps; their change is not used
        self._update(part, state, damping=1.0, base=0.0, change_scale=0.0, turn=(iterations + 1) % 2)
        state.sums.fill(0.0)
        return state, self._messages(part, state, env, 0)

    @staticmethod
    def _in_order(given: Distribution | None, part: Part, env: Environment, layout: Layout) -> Array:
        """Shares of the own vertices in the order of x; empty where none are given."""
        if given is None:
            return env.xp.zeros(0, np.float64)
        shares = env.xp.empty(part.num_owned, np.float64)
        shares[layout.order] = given.of(part, env)
        return shares

    def superstep(self, part: Part, state: PageRankState, inbox: Inbox, env: Environment) -> Messages:
        layout = state.layout
        if part.size > 1:
            state.reported.arrive(inbox, layout.rows.kernels, part.num_owned, state.x)
        if not state.ahead:
            layout.rows.sum(state.x, state.sums, state.partial)
        # d * dangling + 1 - d is to be shared out
        base = self.damping * state.dangling + (1.0 - self.damping)
        if self.personalization is None:
            base /= part.num_vertices
        pack = self._update(part, state, self.damping, base, state.change_scale, state.iterations % 2)
        state.iterations += 1
        state.ahead = part.size == 1 and state.readback is not None and state.iterations < self.max_iter
        if state.ahead:
            layout.rows.kernels.pagerank_judge(1, self.limit, int(self.norm == "linf"), pack)
        messages = self._messages(part, state, env, layout.rows.csr.num_edges)
        if state.ahead:
            layout.rows.sum(state.x, state.sums, state.partial, pack.counters[COUNTS.place.goes :])
        return messages

    def _update(
        self, part: Part, state: PageRankState, damping: float, base: float, change_scale: float, turn: int
    ) -> RankRows:
        """Compute ranks and contributions from sums, and the counters of this turn; return what kernels take."""
        layout, reported = state.layout, state.reported
        here, there = state.counters if turn == 0 else state.counters[::-1]
        pack = RankRows(
            sums=state.sums, inverse=layout.inverse, teleport=state.teleport, personalized=int(self.personalization
            is not None), extra=layout.extra, has_extra=int(self.self_loops), place=layout.at, slot=reported.to,
            damping=damping, base=base, dangling_scale=DANGLING_SCALE, change_scale=change_scale,
            sends=int(part.size > 1), rank=state.rank, x=state.x, reported=reported.values, counters=here,
            cleared=there,
        )  # fmt: skip
        layout.rows.kernels.pagerank_update(part.num_owned, pack)
        return pack

    def _messages(self, part: Part, state: PageRankState, env: Environment, edges: int) -> Messages:
        reported, counters, readback = state.reported, state.counters[(state.iterations + 1) % 2], state.readback
        sent = 0 if readback is None else readback.send(counters)

        def votes() -> tuple[float, ...]:
            found = env.backend.to_host(counters) if readback is None else readback.read(sent)
            state.ahead = state.ahead and bool(COUNTS.of(found).goes)
            return self.votes_of(found)

        return Messages(
            ALL, part.ids[:0], {"contribution": reported.values}, True, part.num_owned, edges, to="ghosts",
            votes=votes, mirror=reported.mirror,
        )  # fmt: skip

    @staticmethod
    def votes_of(sums: np.ndarray) -> tuple[float, ...]:
        """The counters of an iteration as votes, which hold 53 bits each."""
        counts, low = COUNTS.of(sums), 2**32 - 1
        return (
            float(counts.dangling >> 32), float(counts.dangling & low), float(counts.change >> 32),
            float(counts.change & low), float(np.uint64(counts.largest).view(np.float64)),
        )  # fmt: skip

    def ends(self, state: PageRankState, votes: np.ndarray) -> bool:
        *counted, largest = zip(*votes.tolist(), strict=True)
        totals = [int(sum(each)) for each in counted]
        state.dangling = ((totals[0] << 32) + totals[1]) / int(DANGLING_SCALE)
        if state.resumed:
            state.resumed = False
        elif state.iterations:
            state.change = ((totals[2] << 32) + totals[3]) / state.change_scale
            state.residual = state.change if self.norm == "l1" else max(largest)
        elif not state.num_vertices:
            state.change = state.residual = 0.0
        return not state.num_vertices or state.residual <= self.limit or state.iterations >= self.max_iter

    def result(self, part: Part, state: PageRankState, env: Environment) -> dict[str, Any]:
        return {
            "rank": state.rank[state.layout.order],
            "iterations": state.iterations,
            "residual": state.residual,
            "change": state.change,
            "converged": state.residual <= self.tol,
        }


class SinglePageRank(PageRank):
    """The primitive, with ranks and contributions in float32; sums are float64 all the same."""

    columns: ClassVar[Mapping[str, Any]] = {"contribution": np.float32}
    real: ClassVar[Any] = np.float32
