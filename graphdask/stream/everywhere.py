"""Runs in which every rank keeps values of all vertices, and goes through the chunks of its own rows on the CPU.

After a pass, the ranks exchange everything that they found for their rows. These are a few bytes per vertex, little in
comparison with the edges. If a graph is opened for a GPU, these runs use the main memory of its host, in as many bytes
as `memory` says; answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.kernels.common.compiling import clock
from graphdask.kernels.stream.chunk_pack import COUNTS
from graphdask.kernels.stream.layered_rows_pack import WaitingRows
from graphdask.stream.cores import available
from graphdask.stream.direct import BLOCK
from graphdask.stream.forms import PROOFS, STREAMED, Streamed
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared_store import StreamedPart, backend_of, part_of
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log, Sweeps, cpu
from graphdask.stream.window import Window, least_memory

EXCHANGED = 8
"""Bytes per vertex that are sent at a time, if there are several ranks."""


class Rows(NamedTuple):
    """Own rows that stand one after the other, with their edges."""

    first: int
    """The position of the first."""
    indptr: np.ndarray
    targets: np.ndarray
    back_indptr: np.ndarray
    """Of in-edges; of undirected graphs the same as those before."""
    back_targets: np.ndarray
    weights: np.ndarray
    """Of out-edges; empty if there are none."""

    @property
    def number(self) -> int:
        return len(self.indptr) - 1


@dataclass
class Work:
    """A run over a share of a store; its windows are those of `stack`."""

    context: RankContext
    part: StreamedPart
    log: Log
    stack: ExitStack

    def __post_init__(self) -> None:
        self.store, self.own, self.several = self.part.store, self.part.own, self.part.size > 1
        self.num_vertices, self.both = self.store.num_vertices, bool(self.store.header["directed"])
        self.windows: dict[str, Window] = {}
        self.left = 0
        """Bytes that neither the state nor windows take."""
        self.kernels = cpu().kernels("layered_rows")

    @property
    def names(self) -> list[str]:
        """The sections with all edges of a row."""
        return sorted({"out", gathered(self.store)}, reverse=True)

    @property
    def most_edges(self) -> int:
        """Of a row, at most."""
        return sum(int(self.store.sections[name].table["edges"].max(initial=0)) for name in self.names)

    def open(self, per_vertex: int, more: int = 0, chunks: dict[str, range] | None = None, share: int = 1) -> int:
        """Open windows in what is left beside so many bytes per vertex and `more`, or a part in `share` of that.

        Returns the bytes of the state.
        """
        state = self._state(per_vertex) + more
        names, chunks = self.names, self.own.chunks if chunks is None else chunks
        free = self.part.memory - state
        each = max(free // share // len(names), min(free // len(names), self.least))
        self.left = max(0, free - len(names) * each)
        for name in names:
            window = Window(
                self.store, self.store.sections[name], each, self.log.what, self.part.read_ahead, chunks[name],
                of=len(names),
            )  # fmt: skip
            self.log.traffic.append(window.traffic)
            self.windows[name] = self.stack.enter_context(window)
        return state

    def threads(self, per_vertex: int, each: int) -> int:
        """How many threads may have `each` bytes, beside so many bytes per vertex and windows; at least one."""
        left = self.part.memory - self._state(per_vertex) - self.least * len(self.names)
        return max(1, min(available(), left // max(each, 1)))

    def _state(self, per_vertex: int) -> int:
        return (per_vertex + (EXCHANGED if self.several else 0)) * self.num_vertices

    @property
    def window_bytes(self) -> int:
        """What all windows take, which are there at the same time."""
        return sum(window.traffic.memory for window in self.windows.values())

    @property
    def least(self) -> int:
        """Bytes of a window that reads chunks as blocks of the file."""
        return least_memory(self.store.sections.values()) + 2 * BLOCK

    def numbers(self) -> np.ndarray:
        """The vertex number of every position, int32."""
        return np.arange(self.num_vertices, dtype=np.int32) if self.store.by_number else self.store.numbers()

    def rows(self, name: str, begin: int | None = None, end: int | None = None) -> Iterator[Rows]:
        """The own rows, or those of a range, chunk by chunk, with their edges in one section."""
        begin, end = self.own.begin if begin is None else begin, self.own.end if end is None else end
        window, table = self.windows[name], self.store.sections[name].table
        here = [
            k for k in range(len(table)) if table["first"][k] < end and table["first"][k] + table["rows"][k] > begin
        ]
        for at, number in enumerate(here):
            chunk = window.load(number, here[at + 1 :])
            low, high = max(begin - chunk.first, 0), min(end - chunk.first, len(chunk.degrees))
            indptr = window.indptr(chunk)[low : high + 1]
            yield Rows(chunk.first + low, indptr, chunk.targets, indptr, chunk.targets, chunk.weights)
            self.log.check()

    def whole_rows(self, begin: int | None = None, end: int | None = None) -> Iterator[Rows]:
        """The same with their in-edges, where edges have a direction: chunks of both sections at a time."""
        if not self.both:
            yield from self.rows("out", begin, end)
            return
        inward, back = self.rows("inward", begin, end), None
        for out in self.rows("out", begin, end):
            at, last = out.first, out.first + out.number
            while at < last:
                while back is None or back.first + back.number <= at:
                    back = next(inward)
                to = min(last, back.first + back.number)
                yield Rows(
                    at, out.indptr[at - out.first : to - out.first + 1], out.targets,
                    back.indptr[at - back.first : to - back.first + 1], back.targets, out.weights,
                )  # fmt: skip
                at = to

    def until_quiet(self, name: str, active: np.ndarray, kernel: Any, *values: Any) -> int:
        """Sweep over the own chunks with active rows until there are none; how many values have changed.

        The kernel is given the number of rows, the values, and a pack.
        """
        total, counters = np.zeros((2, len(COUNTS)), np.int64)
        section, window = self.store.sections[name], self.windows[name]
        pack = WaitingRows(low=self.own.begin, high=self.own.end, active=active, counters=counters)
        sweeps = Sweeps(window, section, active, counters, self.log, self.own.chunks[name])
        while sweeps.waiting:
            for chunk in sweeps.once():
                pack.hold(chunk, window.indptr(chunk))
                kernel(len(chunk.degrees), *values, pack)
            total += counters
            if not self.several:
                swept = COUNTS.of(counters)
                self.log.sweep(swept.worked, swept.looked)
            counters[:] = 0
        done = COUNTS.of(total)
        if self.several:  # who has to do with less waits for the others
            self.log.sweep(done.worked, done.looked)
        return int(done.found)

    def any(self, here: bool) -> bool:
        """Whether it is so on a rank."""
        return here if not self.several else bool(self.sum([float(here)])[0])

    def sum(self, here: list[float]) -> np.ndarray:
        """Of all ranks."""
        return self.context.comm.allgather(np.array(here, np.float64)).sum(axis=0)

    def exchange(self, values: np.ndarray) -> None:
        """Send own values, by position, to all ranks, and receive those of the other ranks."""
        if self.several:
            own, size = values[self.own.begin : self.own.end], self.part.size
            mine = self.context.backend.from_host(np.ascontiguousarray(own))
            cuts = pairwise(self.part.vertex_map.offsets.tolist())
            for (begin, end), piece in zip(cuts, self.context.comm.alltoallv([mine] * size), strict=True):
                values[begin:end] = self.context.backend.to_host(piece)

    def join(self, values: np.ndarray, how: Callable[..., Any]) -> None:
        """Values of all vertices by position that each rank has: what all of them say, by a function of two arrays."""
        if not self.several:
            return
        backend, cuts = self.context.backend, self.part.vertex_map.offsets.tolist()
        parts = [backend.from_host(values[a:b].copy()) for a, b in pairwise(cuts)]
        own = values[self.own.begin : self.own.end]
        pieces = [backend.to_host(piece) for piece in self.context.comm.alltoallv(parts)]
        del parts
        own[:] = pieces[0]
        for piece in pieces[1:]:
            how(own, piece, out=own)
        del pieces[:], piece
        self.exchange(values)

    def answer(self, values: np.ndarray) -> np.ndarray:
        """What a rank returns of values by position: of one rank all of them by vertex number, else the own ones."""
        if self.several:
            return values[self.own.begin : self.own.end].copy()
        if self.store.by_number:
            return values
        found = np.empty_like(values)
        for first, ids in self.store.order():
            found[ids] = values[first : first + len(ids)]
        return found


Found = Callable[[Work, Any], tuple[dict[str, Any], int]]
"""Finds columns and values for a primitive, and says how many bytes its state takes."""
Check = Callable[[Work, Any, RankResult], Violation | None]
"""Proves the result of a primitive over the whole store; returns the first violation, or None."""


@dataclass(frozen=True)
class Everywhere:
    """A function that finds columns and values, and says how many bytes its state takes."""

    found: Found

    def __call__(self, context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
        started, log, backend = clock(), Log(context, primitive.name), backend_of(context, part)
        with ExitStack() as stack:
            work = Work(context, part, log, stack)
            found, state = self.found(work, primitive)
        with backend.activate():
            columns = {name: backend.from_host(value) for name, value in found.items() if isinstance(value, np.ndarray)}
        values = {name: value for name, value in found.items() if name not in columns}
        values["streamed"] = traffic = log.streamed(clock() - started) | {"window": work.window_bytes}
        dtypes = {name: array.dtype for name, array in columns.items()}
        memory = state + traffic["window"]
        return RankResult(columns, values, dtypes, log.history, context.comm.name, "CPU", memory, state, state)


def streams(primitive: type, check: Check) -> Callable[[Found], Found]:
    """Enter the decorated function as the streamed form of a primitive; `check` proves its result."""

    def proved(
        context: RankContext, graph: StreamedPart, primitive: Any, result: RankResult, log: Log
    ) -> Violation | None:
        memory = graph.memory - sum(column.nbytes for column in result.columns.values())
        whole = part_of(graph.store, 0, 1, memory, graph.read_ahead)
        with ExitStack() as stack:
            return check(Work(context, whole, log, stack), primitive, result)

    def enter(found: Found) -> Found:
        STREAMED[primitive] = Streamed(Everywhere(found))
        PROOFS[primitive] = proved
        return found

    return enter


def first_wrong(wrong: np.ndarray, message: str, other: np.ndarray | None = None) -> Violation | None:
    """Return the violation of the smallest vertex number for which `wrong`, with what a column says of it, or None."""
    at = int(wrong.argmax()) if len(wrong) else 0
    if not len(wrong) or not wrong[at]:
        return None
    return Violation(at, -1 if other is None else int(other[at]), message)


def by_position(store: Store, values: np.ndarray) -> np.ndarray:
    """Return values that stand by vertex number in the order of the store."""
    if store.by_number:
        return values
    found = np.empty_like(values)
    for first, ids in store.order():
        found[first : first + len(ids)] = values[ids]
    return found
