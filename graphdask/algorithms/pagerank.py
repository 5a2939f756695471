"""PageRank by power iteration, pulling over in-edges.

State: the rank of every own vertex, and for every slot its contribution, rank / out-weight, told by the owner to the
ghosts once an iteration. An iteration sums contributions over each row of in-edges, then updates the ranks. Rank on
vertices without out-edges and the change of the ranks are summed in fixed point, whose additions have no order, and
travel as votes: every rank learns both with the contributions, and decides on the end by itself. With rows in the order
of ids, nothing in a result depends on how the graph is divided, to the last bit.

Sources: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024), Section 4.1;
Pan et al., Multi-GPU Graph Analytics, Section IV (PR); NetworkX for conventions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.distribution import Distribution
from graphdask.algorithms.pull import Chunks, Rows, refuse_weights, without_loop
from graphdask.backend import Array
from graphdask.buffers import Allocation
from graphdask.engine import ALL, Environment, Inbox, Messages, Primitive
from graphdask.errors import InputError
from graphdask.part import Part
from graphdask.result import Result

DANGLING_SCALE = 2.0**61
"""Fixed point of the rank on vertices without out-edges, which is 1 at most."""
CHANGE_BITS = 60
"""Bits of the largest sum of |change| that is possible."""
NOISE = {"float64": 2.0**-40, "float32": 2.0**-14}
"""What a sum of |change| may grow by through rounding, from one iteration to the next."""
OUT_WEIGHTS = {"float64": (1e-150, 1e150), "float32": (1e-20, 1e20)}
"""Sums of out-weights with which contributions neither overflow nor vanish."""


def scale_of(change: float, noise: float) -> float:
    """Fixed point of a sum of |change|, which is no larger than the one before but for rounding."""
    return math.ldexp(1.0, CHANGE_BITS - math.frexp(max(change, noise))[1])


@dataclass
class Told:
    """Contributions on their way between ranks, in the order of x on both sides, so that all is read and written in a
    row; in a broadcast, which knows no such order, by slot."""

    values: Array
    """real_t, what this rank tells: per own vertex in the order of x, or per slot; empty where there is one rank."""
    to: Array
    """Where in `values` the contribution of each own vertex stands, in the order of x."""
    mirror: Array | None
    """Which of `values` each rank is told, rank after rank, from the next one on around; None in a broadcast."""
    place: Array
    """Where in x the contributions of the ghosts stand, in the order in which they come."""

    @classmethod
    def of(cls, part: Part, env: Environment, place: Array, order: Array, slot: Array, real: Any) -> Told:
        """From where each slot's contribution stands in x, and the own vertices in that order."""
        xp, owned = env.xp, part.num_owned
        if part.size == 1:
            return cls(xp.zeros(0, real), slot[:0], None, place[:0])
        if env.exchange == "broadcast":
            return cls(xp.zeros(part.num_slots, real), slot, None, place[owned:])
        assert part.mirrors is not None
        assert part.mirrored is not None
        ghosts, mirror, begin = place[owned:].copy(), order[part.mirrored], 0
        for step in range(1, part.size):
            first, last = (int(bound) - owned for bound in part.slot_bounds[step : step + 2])
            ghosts[first:last].sort()
            end = begin + len(part.mirrors[(part.rank + step) % part.size])
            mirror[begin:end].sort()
            begin = end
        return cls(xp.zeros(owned, real), xp.arange(owned, dtype=order.dtype), mirror, ghosts)

    def hear(self, inbox: Inbox, kernels: Any, owned: int, x: Array) -> None:
        """Take in what other ranks told."""
        if self.mirror is None:
            inbox.put("contribution", self.values)
            kernels.pagerank_scatter(len(self.place), self.values[owned:], self.place, x)
            return
        for letter in inbox.letters:
            place = self.place[letter.first - owned : letter.first - owned + letter.count]
            kernels.pagerank_scatter(letter.count, letter.columns["contribution"], place, x)


@dataclass
class State:
    rows: Rows
    order: Array
    """Per own vertex its number in the order of `place`, in which whatever is per own vertex stands here."""
    at: Array
    """Where their contributions stand in x."""
    rank: Array
    """real_t per own vertex."""
    inverse: Array
    """float64 per own vertex: 1 / out-weight, 0 where there are no out-edges."""
    teleport: Array
    """float64 per own vertex, empty where every vertex has the same."""
    extra: Array
    """uint8 per own vertex: whether it is given a self-loop; empty where none is."""
    x: Array
    """real_t, contributions, those of vertices of many out-edges first, which the caches then keep."""
    told: Told
    """What is told of them to other ranks, and where in x stands what is heard."""
    sums: Array
    """float64 per own vertex."""
    counters: Array
    """uint64, shape (2, 3): rank without out-edges, sum of |change|, largest |change| of this rank, of the next
    iteration and the one before by turns (kernels/pagerank.py)."""
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


class PageRank(Primitive[State]):
    """The primitive, with ranks in float64."""

    name = "PageRank"
    columns: ClassVar[Mapping[str, Any]] = {"contribution": np.float64}
    real: ClassVar[Any] = np.float64
    verifier = "graphdask.verify.pagerank"
    result_type = PageRankResult
    tells_ghosts = True
    needs_all = "it has no queues, and every vertex takes part in every iteration"
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
    def inward(self) -> bool:
        return True

    def memory(self, part: Part, allocation: Allocation) -> int:
        assert part.inward is not None
        index, real = part.vertex_map.dtype.itemsize, np.dtype(self.real).itemsize
        owned, slots, edges = part.num_owned, part.num_slots, part.inward.num_edges
        weight = wide = 0
        if self.weighted and part.inward.weights is not None:
            weight = wide = 4
            if real == 8 and part.inward.weights.dtype != np.float32:
                weight, wide = 8, 12  # both widths are there while one is made from the other
        lists, listing = Chunks.memory(part.inward)
        layout = edges * (index + weight) + (slots + 3 * owned) * index + lists
        per_own = 2 * real + 8 + 8 + (8 if self.personalization else 0) + (1 if self.self_loops else 0)
        kept = layout + owned * per_own + slots * real
        if part.size > 1:  # as many mirrors as ghosts, or a few more
            kept += slots * real + owned * index + (slots - owned) * index * 5 // 4
        ordering = slots * (2 * index + 2 + 8 + 4) + owned * 8
        weighing = owned * 8 + slots * real
        if self.weighted and part.out is not part.inward:
            lists, listing_out = Chunks.memory(part.out)
            weighing = max(weighing + part.out.num_edges * wide + lists, listing_out)
        narrowing = edges * (wide - weight)
        return max(kept, ordering, slots * index + listing, layout + max(weighing, narrowing)) + 2**16

    def start_ranks(self, part: Part, env: Environment) -> Array:
        """Ranks of the own vertices before the first iteration."""
        if self.start is not None:
            return self.start.of(part, env).astype(self.real)
        return env.xp.full(part.num_owned, 1.0 / max(part.num_vertices, 1), self.real)

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        xp, owned, slots = env.xp, part.num_owned, part.num_slots
        assert part.inward is not None
        if self.weighted:
            refuse_weights(part, env, "pagerank")
        place, slot = self._places(part, env)
        at, order = place[slot], xp.empty(owned, place.dtype)
        order[slot] = xp.arange(owned, dtype=place.dtype)
        rows = Rows.of(env, part.inward, self.weighted, self.real, place, order)
        out_weight = self._out_weights(part, env, rows, slot)
        extra = without_loop(part, env)[slot] if self.self_loops else xp.zeros(0, np.uint8)
        if self.self_loops:
            out_weight += extra
        self.refuse_extremes(out_weight, xp)
        with np.errstate(divide="ignore"):
            inverse = xp.where(out_weight > 0, 1.0 / out_weight, 0.0)
        del out_weight
        rank = self.start_ranks(part, env)[slot]
        contribution = (rank * inverse).astype(self.real)
        x = xp.zeros(slots, self.real)
        x[at] = contribution
        told = Told.of(part, env, place, order, slot, self.real)
        told.values[told.to] = contribution[: len(told.to)]
        counters = xp.zeros((2, 3), np.uint64)
        without = rank[inverse == 0].astype(np.float64)
        counters[1, 0] = xp.rint(without * DANGLING_SCALE).astype(np.uint64).sum(dtype=np.uint64)
        state = State(
            rows, order, at, rank, inverse, self._teleport(part, env, slot), extra, x, told, xp.empty(owned), counters,
            part.num_vertices, NOISE[np.dtype(self.real).name],
        )  # fmt: skip
        return state, self._say(part, state, env, 0)

    def _places(self, part: Part, env: Environment) -> tuple[Array, Array]:
        """Where contributions stand, those of many out-edges first; and the slots of the own vertices in that order.

        Keys have 16 bits, so that a radix sort serves.
        """
        xp, dtype = env.xp, part.vertex_map.dtype
        (degree,) = env.fetch_ghosts(part, [(part.out.indptr[1:] - part.out.indptr[:-1]).astype(dtype)])
        key = (65535 - xp.minimum(degree, 65535)).astype(np.uint16)
        del degree
        order = xp.argsort(key, kind="stable")
        place = xp.empty(len(key), dtype)
        place[order] = xp.arange(len(key), dtype=dtype)
        return place, order[order < part.num_owned].astype(dtype)

    def _out_weights(self, part: Part, env: Environment, rows: Rows, slot: Array) -> Array:
        """Per own vertex in the order of their contributions, float64."""
        xp = env.xp
        if not self.weighted:
            return (part.out.indptr[1:] - part.out.indptr[:-1]).astype(np.float64)[slot]
        sums = xp.empty(part.num_owned, np.float64)
        out = rows if part.out is part.inward else Rows.of(env, part.out, True, self.real, goes=rows.goes)
        out.sum(xp.ones(part.num_slots, self.real), sums)
        return sums

    def refuse_extremes(self, out_weight: Array, xp: Any) -> None:
        """Raise InputError where contributions would overflow or vanish."""
        least, most = OUT_WEIGHTS[np.dtype(self.real).name]
        wrong = xp.flatnonzero((out_weight > 0) & ((out_weight < least) | (out_weight > most)))
        if len(wrong):
            raise InputError(
                f"the out-edges of a vertex weigh {float(out_weight[wrong[0]]):g} together; in {np.dtype(self.real)} "
                f"pagerank takes {least:g} to {most:g}, and 0: scale the weights"
            )

    def _teleport(self, part: Part, env: Environment, slot: Array) -> Array:
        if self.personalization is None:
            return env.xp.zeros(0, np.float64)
        return self.personalization.of(part, env)[slot]

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        kernels, owned, told = state.rows.kernels, part.num_owned, state.told
        if part.size > 1:
            told.hear(inbox, kernels, owned, state.x)
        state.rows.sum(state.x, state.sums)
        # d * dangling + 1 - d is to be shared out
        base = self.damping * state.dangling + (1.0 - self.damping)
        if self.personalization is None:
            base /= part.num_vertices
        turn = state.iterations % 2
        kernels.pagerank_update(
            owned, state.sums, state.inverse, state.teleport, int(self.personalization is not None), state.extra,
            int(self.self_loops), state.at, told.to, self.damping, base, DANGLING_SCALE, state.change_scale,
            int(part.size > 1), state.rank, state.x, told.values, state.counters[turn], state.counters[1 - turn],
        )  # fmt: skip
        state.iterations += 1
        return self._say(part, state, env, state.rows.csr.num_edges)

    def _say(self, part: Part, state: State, env: Environment, edges: int) -> Messages:
        told, counters = state.told, state.counters[(state.iterations + 1) % 2]
        return Messages(
            ALL, part.ids[:0], {"contribution": told.values}, True, part.num_owned, edges, to="ghosts",
            votes=lambda: self.votes_of(env.backend.to_host(counters)), mirror=told.mirror,
        )  # fmt: skip

    @staticmethod
    def votes_of(sums: np.ndarray) -> tuple[float, ...]:
        """The counters of an iteration as votes, which hold 53 bits each."""
        dangling, change, low = int(sums[0]), int(sums[1]), 2**32 - 1
        return (
            float(dangling >> 32), float(dangling & low), float(change >> 32), float(change & low),
            float(sums[2:].view(np.float64)[0]),
        )  # fmt: skip

    def ends(self, state: State, votes: np.ndarray) -> bool:
        totals = [int(total) for total in votes[:, :4].sum(axis=0)]
        state.dangling = ((totals[0] << 32) + totals[1]) / int(DANGLING_SCALE)
        if state.iterations:
            state.change = ((totals[2] << 32) + totals[3]) / state.change_scale
            state.residual = state.change if self.norm == "l1" else float(votes[:, 4].max())
        elif not state.num_vertices:
            state.change = state.residual = 0.0
        return state.residual <= self.tol or state.iterations >= self.max_iter

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Any]:
        return {
            "rank": state.rank[state.order],
            "iterations": state.iterations,
            "residual": state.residual,
            "change": state.change,
            "converged": state.residual <= self.tol,
        }


class SinglePageRank(PageRank):
    """The primitive, with ranks and contributions in float32; sums are float64 all the same."""

    columns: ClassVar[Mapping[str, Any]] = {"contribution": np.float32}
    real: ClassVar[Any] = np.float32
