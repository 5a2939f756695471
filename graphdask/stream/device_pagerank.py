"""PageRank through a device: ranks, contributions and sums are there, the in-edges stream past them.

The sums of rows and the updates have the order of additions that they have in memory, and the same fixed point, so that
ranks have the same bits. The host receives two numbers an iteration; meanwhile the first chunks of the next are copied,
and one is summed. It goes the other way, and so begins with those that are still there.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from itertools import chain

import numpy as np

from graphdask.algorithms.pagerank import DANGLING_SCALE, NOISE, PageRank
from graphdask.algorithms.rank_layout import refuse_extremes
from graphdask.device.backend import Array, Backend
from graphdask.device.residency import give_back
from graphdask.engine.loop import Environment
from graphdask.kernels.pagerank.pagerank_pack import COUNTS as RANKS
from graphdask.kernels.pagerank.pagerank_pack import RankRows
from graphdask.kernels.stream.chunk_pack import COUNTS, ChunkRows
from graphdask.stream.device_runs import THREADS, Run
from graphdask.stream.device_shared import with_mirrors
from graphdask.stream.device_sums import PER_EDGE, TOGETHER, Sums, table_bytes
from graphdask.stream.device_window import DeviceWindow
from graphdask.stream.pagerank import First, PageRankState, Progress, StreamedPageRank, gathered
from graphdask.stream.pagerank import shares as of_host
from graphdask.stream.shared_store import EXCHANGE, StreamedPart


class DeviceRanks:
    """The ranks of the own rows, and the contributions of all vertices that rows are summed from.

    Parameters
    ----------
    per_vertex : int
        Bytes of the device that are not for chunks.
    """

    def __init__(self, run: Run, primitive: PageRank, per_vertex: int, stack: ExitStack, first: First):
        xp, store, own, real = run.xp, run.store, run.own, np.dtype(primitive.real)
        n, count, name = store.num_vertices, own.count, gathered(store)
        self._run, self._primitive = run, primitive
        streamed = primitive.self_loops or (primitive.weighted and store.weights is not None)
        self._every, self._way = list(own.chunks[name]), 1
        self._runs = [[number] for number in self._every]
        """Chunks of one launch each."""
        if streamed and name != "out":
            out_weight, self._extra = _out_weights(run, primitive, per_vertex)
            give_back(run.backend)  # the window on out-edges, before there is one on in-edges
        self._window = stack.enter_context(_window(run, name, per_vertex))
        if streamed and name == "out":
            out_weight, self._extra = _out_weights(run, primitive, per_vertex, self._window)
        elif not streamed:
            self._window.ask(self._every)  # they come while what follows is made
            out_weight, self._extra = run.sent(run.host.column("degrees")).astype(np.float64), xp.zeros(0, np.uint8)
        self._window.with_indptr = False
        if streamed:
            refuse_extremes(out_weight, primitive.real, xp)
        with np.errstate(divide="ignore"):
            self._inverse = xp.where(out_weight > 0, 1.0 / out_weight, 0.0)
        del out_weight
        if first.ranks is not None:
            self.rank = first.ranks
        elif primitive.start is not None:
            self.rank = run.backend.from_host(of_host(store, primitive.start, own, real))
        else:
            self.rank = xp.full(count, 1.0 / max(n, 1), real)
        self.x = xp.zeros(n, real)
        """Contributions, by position."""
        self.x[own.begin : own.end] = (self.rank * self._inverse).astype(real)
        self._teleport = xp.zeros(0, np.float64)
        if primitive.personalization is not None:
            self._teleport = run.backend.from_host(of_host(store, primitive.personalization, own))
        self._sums, self._place = xp.empty(count, np.float64), xp.arange(own.begin, own.end, dtype=np.int32)
        self._counters, self._readback = xp.zeros((2, len(RANKS)), np.uint64), run.host.readback(len(RANKS))
        self._sent: int | None = None
        self._begun = False
        """Whether the first chunk of the next iteration has been summed."""
        without = self.rank[self._inverse == 0].astype(np.float64)
        self.progress = Progress(n, NOISE[real.name], **first.numbers)
        last = self._counters[(self.progress.iterations + 1) % 2]
        last[RANKS.place.dangling] = xp.rint(without * DANGLING_SCALE).astype(np.uint64).sum(dtype=np.uint64)
        self._kernels = run.backend.kernels("pagerank", index_t=np.int32, real_t=real, weight_t=np.dtype(np.float32))
        self._add = Sums(run, primitive, self._window, self.x, self._sums)
        if streamed and name == "out":
            self._turn_round()
        table = store.sections[name].table["edges"]
        self._edges = int(table[own.chunks[name].start : own.chunks[name].stop].sum())

    @property
    def votes(self) -> tuple[float, ...]:
        """What is to be known of all rows."""
        if self._sent is None:
            counters = self._run.backend.to_host(self._counters[(self.progress.iterations + 1) % 2])
        else:
            counters = self._readback.read(self._sent)
        self._sent = None
        return self._primitive.votes_of(counters)

    def iterate(self) -> int:
        """Sum all rows and update their ranks; return the number of scanned edges."""
        state, primitive, every = self.progress, self._primitive, self._every
        back = every[::-1]
        at = 0
        for numbers in self._runs:
            at += len(numbers)
            later = chain(every[at:], back)
            if self._begun:
                self._window.ask(later)
            elif len(numbers) > 1:
                self._add.together(numbers, later)
            else:
                self._add(self._window.load(numbers[0], later))
            self._begun = False
            self._run.log.check()
        here, there = self._counters[:: 1 - 2 * (state.iterations % 2)]
        self._turn_round()
        self._kernels.pagerank_update(
            self._run.own.count, RankRows(
                sums=self._sums, inverse=self._inverse, teleport=self._teleport,
                personalized=int(primitive.personalization is not None), extra=self._extra,
                has_extra=int(primitive.self_loops), place=self._place, slot=self._place, damping=primitive.damping,
                base=state.base(primitive), dangling_scale=DANGLING_SCALE, change_scale=state.change_scale, sends=0,
                rank=self.rank, x=self.x, reported=self.x[:0], counters=here, cleared=there,
            ),
        )  # fmt: skip
        state.iterations += 1
        self._sent = self._readback.send(here)
        self._begin()
        self._window.settle()
        return self._edges

    def _begin(self) -> None:
        """Sum the first chunk of what may be the next iteration, while the host finds out whether there is one."""
        complete = self._run.own.count == self._run.store.num_vertices
        more = self.progress.iterations < self._primitive.max_iter
        if complete and more and self._every and self._window.holds(self._every[0]):
            self._add(self._window.load(self._every[0]))
            self._begun = True

    def _turn_round(self) -> None:
        self._way = -self._way
        self._every = self._window.mixed(TOGETHER)[:: self._way]
        self._runs = self._add.runs(self._every)


class DevicePageRank(StreamedPageRank):
    """The primitive."""

    def __init__(self, run: Run, part: StreamedPart, primitive: PageRank, stack: ExitStack):
        super().__init__(part, primitive, stack)
        self.run, self.log = run, run.log
        self.per_vertex += EXCHANGE if part.size > 1 else 0
        run.require(self.per_vertex + 16, self.name, PER_EDGE, more=_more(run, gathered(run.store)))

    def begin(self, part: StreamedPart, env: Environment, first: First) -> PageRankState:
        self.log.context = env
        ranks = DeviceRanks(self.run, self.primitive, self.per_vertex, self.stack, first)
        return PageRankState(ranks, ranks.iterate)

    def view(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        return with_mirrors(part, backend) if part.size > 1 else part

    def answer(self, part: StreamedPart, ranks: DeviceRanks) -> Array:
        return self.run.by_number(ranks.rank, self.run.ids()) if part.size == 1 else ranks.rank


def _window(run: Run, name: str, per_vertex: int) -> DeviceWindow:
    """Made before what is per vertex."""
    return run.window(name, per_vertex, run.log.what, PER_EDGE, coming=per_vertex, more=_more(run, name))


def _more(run: Run, name: str) -> int:
    """Bytes for tables of the own chunks that stay."""
    return table_bytes(run.store.sections[name], run.own.chunks[name])


def _out_weights(
    run: Run, primitive: PageRank, per_vertex: int, given: DeviceWindow | None = None
) -> tuple[Array, Array]:  # fmt: skip
    """Per own row the weight of all out-edges, which are streamed, and whether it is given a self-loop (empty where
    none is). A window on them may be given."""
    xp, own, n, chunks = run.xp, run.own, run.store.num_vertices, run.own.chunks["out"]
    weighted = primitive.weighted and run.store.weights is not None
    if weighted:
        out_weight = xp.zeros(own.count, np.float64)
    else:
        out_weight = run.sent(run.host.column("degrees")).astype(np.float64)
    loop, ones = xp.zeros(n, np.uint8), xp.ones(n if weighted else 0, primitive.real)
    pack = ChunkRows(counters=xp.zeros(len(COUNTS), np.uint64))
    with _window(run, "out", per_vertex) if given is None else nullcontext(given) as window:
        window.with_indptr = primitive.self_loops
        add = Sums(run, primitive, window, ones, out_weight)
        for number in chunks:
            chunk = window.load(number, range(number + 1, chunks.stop))
            if primitive.self_loops:
                pack.counters.fill(0)
                pack.hubs = window.hubs
                pack.hold(chunk, chunk.indptr)
                run.trees.layered_own(chunk.rows, loop, pack)
                run.trees.layered_own_hubs(THREADS, loop, pack)
            if weighted:  # in the place of `indptr`
                add(chunk)
            run.log.check()
    if not primitive.self_loops:
        return out_weight, xp.zeros(0, np.uint8)
    extra = (1 - loop[own.begin : own.end]).astype(np.uint8)
    return out_weight + extra, extra
