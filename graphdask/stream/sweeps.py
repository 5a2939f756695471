"""Sweeps over the chunks of a store in the order of layers, until no chunk has active rows.

A sweep skips chunks none of whose sources has changed. Changes by a chunk to a later chunk are seen in the same sweep.
Changes to an earlier chunk are seen in the next sweep, which goes in the opposite direction: so a path that leads back
through many layers is followed in one sweep too. The sweep that would have nothing to do certifies the answer, and
reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.device.backend import Backend, get_backend
from graphdask.engine.loop import Environment, RankContext, Superstep
from graphdask.kernels.common.compiling import clock
from graphdask.kernels.stream.chunk_pack import COUNTS
from graphdask.stream.format import Chunk, Section
from graphdask.stream.store import Store
from graphdask.stream.window import Traffic, Window

SUMS = "nbytes", "chunks", "resident", "skipped", "unused", "reading", "waiting", "distinct", "edges", "in_place"
"""What is added up of the traffic of all windows."""


@dataclass
class Log:
    """What a run does, as statistics show it; it also sees to the deadline."""

    context: RankContext | Environment | None = None
    what: str = ""
    history: list[Superstep] = field(default_factory=list)
    traffic: list[Traffic] = field(default_factory=list)
    """Of each window."""
    together: bool = False
    """Whether all windows are there at the same time."""
    _started: float = field(default_factory=clock)
    _waited: float = 0.0

    def sweep(self, vertices: int, edges: int) -> None:
        """A sweep, or an iteration, has come to its end."""
        now, wait = clock(), self.idle()
        history = self.context.history if isinstance(self.context, Environment) else self.history
        step = Superstep(
            len(history), vertices, edges, 0, 0, (), now - self._started - wait, 0.0, 0.0, wait
        )  # fmt: skip
        self._started = now
        if isinstance(self.context, Environment):
            self.context.record(step)
            return
        self.history.append(step)
        if self.context is not None and self.context.on_superstep is not None:
            self.context.on_superstep(step)

    def idle(self) -> float:
        """Seconds that computation has waited for chunks since this was asked last."""
        waited = sum(traffic.waiting for traffic in self.traffic)
        found, self._waited = waited - self._waited, waited
        return max(found, 0.0)

    def check(self) -> None:
        """Note that a chunk or a sweep is done; raise DeadlineExceeded where it took too long."""
        if self.context is not None:
            self.context.watchdog.advance(self.what, f"sweep {len(self.history)}")

    def streamed(self, seconds: float, steps: Sequence[Superstep] | None = None) -> dict[str, Any]:
        """Return the items of `Stats.streamed`; `steps` are the sweeps or supersteps, by default those of the log.

        `sweeps` are those that worked on a vertex.

        `least` is the number of bytes that must be read: those of the scanned edges, each counted once. These are as
        many edges as were scanned, but no more than the chunks hold that were asked for. The bytes that were read are
        at least as many.
        """
        total, steps = Traffic(), self.history if steps is None else steps
        for traffic in self.traffic:
            for name in SUMS:
                setattr(total, name, getattr(total, name) + getattr(traffic, name))
            total.memory = traffic.memory + total.memory if self.together else max(total.memory, traffic.memory)
            total.per_edge = max(total.per_edge, traffic.per_edge)
        least = min(
            total.per_edge * sum(step.edges for step in steps),
            sum(traffic.per_edge * traffic.edges for traffic in self.traffic),
        )
        sweeps = sum(step.frontier > 0 or step.edges > 0 for step in steps)
        return {"scheme": "layers", "sweeps": sweeps, "least": least} | total.to_dict(seconds)


class Sweeps:
    """The chunks that have active rows, sweep by sweep.

    Parameters
    ----------
    active : numpy.ndarray of bool, shape (num_vertices,)
        By position; who works on a chunk clears those of its rows, and sets those that have changed.
    counters : numpy.ndarray of int64
        Of the kernels; cleared after a sweep.
    chunks : range, optional
        Those that are swept. Default: all.
    """

    def __init__(
        self,
        window: Window,
        section: Section,
        active: np.ndarray,
        counters: np.ndarray,
        log: Log,
        chunks: range | None = None,
    ):
        self._window, self._section, self._active = window, section, active
        self._counters, self._log = counters, log
        self._chunks = range(len(section)) if chunks is None else chunks
        self._bounds = np.append(section.table["first"], section.table["first"][-1:] + section.table["rows"][-1:])
        self._end = int(self._bounds[self._chunks.stop]) if len(section) else 0
        self._forward = True

    def _next(self, number: int, forward: bool) -> int | None:
        """The first chunk from this one on, or the last one up to it, that has an active row."""
        if number not in self._chunks:
            return None
        bounds, active = self._bounds, self._active
        if forward:
            place = int(bounds[number]) + int(active[bounds[number] : self._end].argmax())
            return int(np.searchsorted(bounds, place, side="right")) - 1 if active[place] else None
        before = range(
            number, self._chunks.start - 1, -1
        )  # an array that is searched backwards is read element by element
        return next((k for k in before if active[bounds[k] : bounds[k + 1]].any()), None)

    def __iter__(self) -> Iterator[Chunk]:
        while self.waiting:
            yield from self.once()
            done = COUNTS.of(self._counters)
            self._log.sweep(done.worked, done.looked)
            self._counters[:] = 0

    @property
    def waiting(self) -> bool:
        """Whether a chunk has active rows."""
        return len(self._chunks) > 0 and self._next(self._chunks.start, True) is not None

    def once(self) -> Iterator[Chunk]:
        """Yield the chunks of one sweep, in the opposite direction of the previous sweep."""
        forward, chunks = self._forward, self._chunks
        self._forward = not forward
        number = self._next(chunks.start if forward else chunks.stop - 1, forward)
        visited, step = 0, 1 if forward else -1
        while number is not None:
            yield self._window.load(number, self._likely(number + step, forward))
            visited += 1
            self._log.check()
            number = self._next(number + step, forward)
        self._window.traffic.skipped += len(chunks) - visited

    def _likely(self, number: int, forward: bool) -> Iterator[int]:
        """What is read ahead: the next chunk, to which the edges of a layer lead, and those that have active rows."""
        if number in self._chunks:
            yield number
        if (later := self._next(number, forward)) is not None:
            yield later


def every_chunk(window: Window, section: Section, log: Log, chunks: range | None = None) -> Iterator[tuple[int, Chunk]]:
    """Each chunk once, or each of some, and its number."""
    chunks = range(len(section)) if chunks is None else chunks
    for number in chunks:
        yield number, window.load(number, range(number + 1, chunks.stop))
        log.check()


def cpu() -> Backend:
    """Where streams are worked on."""
    return get_backend("cpu")


def window_of(
    store: Store, name: str, memory: int, what: str, log: Log, ahead: int | None = None, **options: Any
) -> Window:
    """A window on a section whose traffic is logged; options are those of a Window."""
    window = Window(store, store.sections[name], memory, what, ahead, **options)
    log.traffic.append(window.traffic)
    return window
