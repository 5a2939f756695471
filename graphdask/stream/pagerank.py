"""PageRank over a store: ranks and contributions are in memory, and every iteration streams all in-edges.

Rows are whole, shared among the cores, and in the order of vertex numbers; sums are made by the kernels of
`graphdask.algorithms.pagerank`, and rank without out-edges and the change are summed in fixed point: so ranks are those
in memory, bit for bit. Cores that are done with a chunk go on to the next one: nobody waits for the others before the
end of an iteration. Each of several ranks sums its own rows, and sends all its contributions to the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.distribution import Distribution
from graphdask.algorithms.pagerank import DANGLING_SCALE, NOISE, PageRank, SinglePageRank, scale_of
from graphdask.algorithms.rank_layout import refuse_extremes
from graphdask.device.backend import Array
from graphdask.engine.checkpoints import Resumable, Saved
from graphdask.engine.loop import ALL, Environment, Inbox, Messages
from graphdask.errors import InputError
from graphdask.kernels.pagerank.pagerank_pack import COUNTS as RANKS
from graphdask.kernels.pagerank.pagerank_pack import RankRows
from graphdask.kernels.stream.chunk_pack import COUNTS, ChunkRows
from graphdask.partition.part import Part
from graphdask.stream.cores import Cores, finished
from graphdask.stream.format import Chunk, Section
from graphdask.stream.forms import STREAMED, Streamed, Supersteps, refuse_without_in_edges
from graphdask.stream.own_chunks import Own
from graphdask.stream.shared_store import StreamedPart, Streaming
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log, cpu, every_chunk, window_of
from graphdask.stream.window import Window

NONE = np.zeros(0, np.int32)
HANDS = 2
"""Chunks that cores work on at a time, where memory allows."""


@dataclass
class Progress:
    """What `PageRank.ends` reads and writes of a state."""

    num_vertices: int
    noise: float
    iterations: int = 0
    dangling: float = 0.0
    change: float = 2.0
    residual: float = float("inf")
    resumed: bool = False

    @property
    def change_scale(self) -> float:
        return scale_of(self.change, self.noise)

    def found(self, tol: float) -> dict[str, Any]:
        """How the iterations ended."""
        return {
            "iterations": self.iterations, "residual": self.residual, "change": self.change,
            "converged": self.residual <= tol,
        }  # fmt: skip

    def base(self, primitive: PageRank) -> float:
        """Return what every vertex receives from vertices without out-edges and from teleports.

        With a personalization, return the sum of this over all vertices.
        """
        base = primitive.damping * self.dangling + (1.0 - primitive.damping)
        return base if primitive.personalization is not None else base / self.num_vertices


@dataclass
class First:
    """Where iterations begin."""

    ranks: Array | None = None
    """Of own rows; None for those that the primitive begins with."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """Fields of Progress that are those of a checkpoint."""


@dataclass
class PageRankState:
    ranks: Any
    """`Ranks`, or what is like it."""
    iterate: Callable[[], int]
    """Sum all rows and update their ranks; return the number of scanned edges."""


@dataclass
class _Ids:
    """What `Distribution.of` reads of a partition."""

    ids: np.ndarray


@dataclass
class _Cpu:
    """What it reads of an environment."""

    backend: Any
    xp: Any = np


def state_bytes(primitive: PageRank) -> int:
    """Per vertex: ranks, contributions, sums, inverses, positions, what is optional, and the answer."""
    real = np.dtype(primitive.real).itemsize
    optional = (8 if primitive.personalization else 0) + (1 if primitive.self_loops else 0)
    return 3 * real + 8 + 8 + 4 + optional + 8


def copied_weights(store: Store, primitive: PageRank) -> int:
    """Bytes of the weights of the chunks that are worked on, where kernels take another type than the file has."""
    real = np.dtype(primitive.real)
    if not primitive.weighted or store.weights is None or store.weights == real:
        return 0
    most = max(int(section.table["edges"].max(initial=0)) for section in store.sections.values())
    return (HANDS + 1) * real.itemsize * most


def refuse_weights(store: Store, primitive: PageRank) -> None:
    """Raise as `refuse_without_in_edges` does, and where ranks cannot be weighted."""
    refuse_without_in_edges(store, primitive)
    facts = store.facts
    if primitive.weighted and facts is not None and facts.unfit is not None:
        u, _, weight = facts.unfit
        raise InputError(
            f"an edge out of vertex number {u} (of vertex_ids) has the weight {weight:g}; pagerank takes weights of 0 "
            "or more that are finite; weighted=False leaves them aside"
        )


class Ranks:
    """The ranks of some rows, and the contributions of all vertices that rows are summed from."""

    def __init__(
        self, store: Store, primitive: PageRank, memory: int, log: Log, ahead: int | None, own: Own, first: First
    ):
        n, real = store.num_vertices, np.dtype(primitive.real)
        self.store, self.primitive, self.own, self.log = store, primitive, own, log
        out_weight, self.extra = _out_weights(store, primitive, memory, log, ahead, own)
        refuse_extremes(out_weight, primitive.real, np)
        self.inverse = np.divide(1.0, out_weight, out=np.zeros(own.count), where=out_weight > 0)
        del out_weight
        self.rank = first_ranks(store, primitive, own) if first.ranks is None else first.ranks
        self.x = np.zeros(n, real)
        """Contributions, by position."""
        self.x[own.begin : own.end] = self.rank * self.inverse
        teleport = primitive.personalization
        self.teleport = np.zeros(0) if teleport is None else shares(store, teleport, own)
        self.sums, self.place = np.empty(own.count), np.arange(own.begin, own.end, dtype=np.int32)
        self.counters = np.zeros((2, len(RANKS)), np.uint64)
        without = self.rank[self.inverse == 0].astype(np.float64)
        self.progress = Progress(n, NOISE[real.name], **first.numbers)
        last = self.counters[(self.progress.iterations + 1) % 2]
        last[RANKS.place.dangling] = np.rint(without * DANGLING_SCALE).astype(np.uint64).sum(dtype=np.uint64)
        self.section = store.sections[gathered(store)]

    @property
    def votes(self) -> tuple[float, ...]:
        """What is to be known of all rows."""
        return self.primitive.votes_of(self.counters[(self.progress.iterations + 1) % 2])

    def iterate(self, window: Window, cores: Cores) -> int:
        """Sum all rows and update their ranks; return the number of scanned edges."""
        state, primitive = self.progress, self.primitive
        looked = _sum(window, self.section, primitive, self.x, self.sums, cores, self.own, self.log)
        turn, kernels = state.iterations % 2, cpu().kernels("pagerank")
        base, change_scale = state.base(primitive), state.change_scale

        def update(first: int, last: int) -> np.ndarray:
            rows, (counters, cleared) = slice(first, last), np.zeros((2, len(RANKS)), np.uint64)
            kernels.pagerank_update(
                last - first, RankRows(
                    sums=self.sums[rows], inverse=self.inverse[rows], teleport=self.teleport[rows],
                    personalized=int(primitive.personalization is not None), extra=self.extra[rows],
                    has_extra=int(primitive.self_loops), place=self.place[rows], slot=self.place[rows],
                    damping=primitive.damping, base=base, dangling_scale=DANGLING_SCALE, change_scale=change_scale,
                    sends=0, rank=self.rank[rows], x=self.x, reported=self.x[:0], counters=counters,
                    cleared=cleared,
                ),
            )  # fmt: skip
            return counters

        parts, place = np.array(cores.each(self.own.count, update)), RANKS.place
        here, there = self.counters[:: 1 - 2 * turn]
        for sums in (place.dangling, place.change):
            here[sums] += parts[:, sums].sum()
        here[place.largest] = max(here[place.largest], parts[:, place.largest].max())
        there[:] = 0
        state.iterations += 1
        return looked


def gathered(store: Store) -> str:
    """The section with the edges that ranks are summed over."""
    return "inward" if store.header["directed"] else "out"


class StreamedPageRank(Streaming, Resumable):
    """The primitive, on a CPU; `graphdask.stream.device_pagerank` has what is different on a device.

    Each rank sums its own rows, and sends all its contributions to the others.
    """

    votes = PageRank.votes

    def __init__(self, part: StreamedPart, primitive: PageRank, stack: ExitStack):
        super().__init__(primitive.name, stack)
        self.primitive, self.per_vertex = primitive, state_bytes(primitive)
        if part.size > 1:
            self.per_vertex += 3 * np.dtype(primitive.real).itemsize + 4

    @property
    def columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"contribution": self.primitive.real}

    def init(self, part: StreamedPart, env: Environment) -> tuple[PageRankState, Messages]:  # type: ignore[override]
        state = self.begin(part, env, First())
        return state, self._messages(part, state, 0)

    def facts(self) -> dict[str, Any]:
        return self.primitive.facts()

    def saved(self, part: Part, state: PageRankState, inbox: Inbox, env: Environment) -> Saved:
        found = state.ranks.progress
        numbers = {"iterations": found.iterations, "change": found.change, "residual": found.residual}
        return {"rank": state.ranks.rank}, numbers

    def resumed(  # type: ignore[override]
        self, part: StreamedPart, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[PageRankState, Messages]:
        state = self.begin(part, env, First(columns["rank"], {**numbers, "resumed": numbers["iterations"] > 0}))
        return state, self._messages(part, state, 0)

    def begin(self, part: StreamedPart, env: Environment, first: First) -> PageRankState:
        """The state before an iteration."""
        store, primitive, name = part.store, self.primitive, gathered(part.store)
        self.log.context, self.beside = env, copied_weights(store, primitive)
        free = part.memory - self.per_vertex * part.num_vertices - self.beside

        def made() -> Ranks:
            return Ranks(store, primitive, free, self.log, part.read_ahead, part.own, first)

        ranks = made() if primitive.weighted or primitive.self_loops else None  # edges have a window of their own
        window = self.window(part, name, env, hands=HANDS)
        window.ask(part.own.chunks[name])
        ranks = made() if ranks is None else ranks
        cores = self.stack.enter_context(Cores())
        return PageRankState(ranks, partial(ranks.iterate, window, cores))

    def answer(self, part: StreamedPart, ranks: Any) -> Array:
        """The ranks of own rows, in the order of results."""
        if part.size > 1:
            return ranks.rank
        answer = np.empty_like(ranks.rank)
        for first, ids in part.store.order():
            answer[ids] = ranks.rank[first : first + len(ids)]
        return answer

    def _messages(self, part: StreamedPart, state: PageRankState, edges: int) -> Messages:
        ranks, nothing = state.ranks, np.zeros(0, part.vertex_map.dtype)
        values, worked = {"contribution": ranks.x[part.own.begin : part.own.end]}, part.own.count if edges else 0
        return Messages(ALL, nothing, values, True, worked, edges, to="ghosts", votes=ranks.votes)

    def ends(self, state: PageRankState, votes: np.ndarray) -> bool:
        return self.primitive.ends(state.ranks.progress, votes)  # type: ignore[arg-type]

    def superstep(self, part: StreamedPart, state: PageRankState, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        n = part.num_vertices
        for message in inbox.received:
            assert message.run is not None  # all of a rank's
            first = (message.run.start + part.own.begin) % n
            state.ranks.x[first : first + message.count] = message.columns["contribution"]
        return self._messages(part, state, state.iterate())

    def result(self, part: StreamedPart, state: PageRankState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"rank": self.answer(part, state.ranks)} | state.ranks.progress.found(self.primitive.tol)


def _weights(chunk: Chunk, primitive: PageRank) -> np.ndarray:
    """As the kernels take them; in float32 where ranks are, as in memory."""
    if not primitive.weighted:
        return np.zeros(0, np.float32)
    if np.dtype(primitive.real) == np.float32:
        with np.errstate(over="ignore", under="ignore"):
            return chunk.weights.astype(np.float32, copy=False)
    return chunk.weights.astype(np.float64, copy=False)


def _sum(
    window: Window, section: Section, primitive: PageRank, x: np.ndarray, sums: np.ndarray, cores: Cores, own: Own,
    log: Log, also: Callable[[int, np.ndarray, np.ndarray], None] | None = None,
) -> int:  # fmt: skip
    """Sum what the own rows of all chunks of a section gather from x into their places; how many edges there are.

    Meanwhile `also` is called with the first position, indptr and targets of each chunk.
    """
    kernels, looked, under_way = cpu().kernels("pagerank"), 0, deque[list[Future[Any]]]()
    for _, chunk in every_chunk(window, section, log, own.chunks[section.name]):
        low, high = max(own.begin - chunk.first, 0), min(own.end - chunk.first, len(chunk.degrees))
        indptr, to = window.indptr(chunk)[low : high + 1], chunk.first + low - own.begin
        edges = indptr, chunk.targets, _weights(chunk, primitive)
        looked += int(indptr[-1] - indptr[0])
        under_way.append(cores.begin(indptr, partial(_sum_rows, kernels, *edges, x, sums[to:])))
        if also is not None:
            also(chunk.first + low, indptr, chunk.targets)
        while len(under_way) >= window.hands:
            finished(under_way.popleft())
    for parts in under_way:
        finished(parts)
    return looked


def _sum_rows(
    kernels: Any, indptr: np.ndarray, ends: np.ndarray, weights: np.ndarray, x: np.ndarray, sums: np.ndarray,
    first: int, last: int,
) -> None:  # fmt: skip
    """Sum some rows."""
    kernels.pagerank_sum(
        last - first, indptr[first : last + 1], ends, weights, int(len(weights) > 0), x, NONE, 0, sums[first:last]
    )


def _out_weights(
    store: Store, primitive: PageRank, memory: int, log: Log, ahead: int | None, own: Own
) -> tuple[np.ndarray, np.ndarray]:
    """Per own row the weight of all out-edges, and whether it is given a self-loop (empty where none is)."""
    n, section, chunks = store.num_vertices, store.sections["out"], own.chunks["out"]
    out_weight = np.zeros(own.count)
    if not primitive.weighted:
        for first, degrees, _ in store.rows(section, chunks):
            out_weight[first - own.begin : first - own.begin + len(degrees)] = degrees
    if not primitive.weighted and not primitive.self_loops:
        return out_weight, np.zeros(0, np.uint8)
    loop, ones = np.zeros(n, np.uint8), np.ones(n if primitive.weighted else 0, primitive.real)
    pack, kernels = ChunkRows(counters=np.zeros(len(COUNTS), np.int64)), cpu().kernels("layered_trees")

    def mark(first: int, indptr: np.ndarray, targets: np.ndarray) -> None:
        pack.first, pack.indptr, pack.targets = first, indptr, targets
        kernels.layered_own(len(indptr) - 1, loop, pack)

    with window_of(store, "out", memory, "pagerank", log, ahead) as window, Cores() as cores:
        if primitive.weighted:
            _sum(window, section, primitive, ones, out_weight, cores, own, log, mark if primitive.self_loops else None)
        else:
            for _, chunk in every_chunk(window, section, log, chunks):
                mark(chunk.first, window.indptr(chunk), chunk.targets)
    if not primitive.self_loops:
        return out_weight, np.zeros(0, np.uint8)
    extra = (1 - loop[own.begin : own.end]).astype(np.uint8)
    out_weight += extra
    return out_weight, extra


def first_ranks(store: Store, primitive: PageRank, own: Own) -> np.ndarray:
    """Of the own rows, before the first iteration."""
    if primitive.start is not None:
        return shares(store, primitive.start, own, primitive.real)
    return np.full(own.count, 1.0 / max(store.num_vertices, 1), primitive.real)


def shares(store: Store, given: Distribution, own: Own, dtype: Any = np.float64) -> np.ndarray:
    """Of the own rows."""
    found = np.empty(own.count, dtype)
    for first, ids in store.order(own.chunks["out"]):
        at = first - own.begin
        found[at : at + len(ids)] = given.of(_Ids(ids), _Cpu(cpu()))  # type: ignore[arg-type]
    return found


STREAMED |= dict.fromkeys(
    (PageRank, SinglePageRank), Streamed(Supersteps(StreamedPageRank), refuse_weights, resumes=True)
)
