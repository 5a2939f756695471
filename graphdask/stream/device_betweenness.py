"""Betweenness through a device: what is known of every vertex is there, and the chunks of edges stream past it.

The kernels are those of a graph in memory, so a row's sum has their order, and with as many lanes scores have the bits
that they have there. The host hears after each chunk how many of its rows were reached; the next ones are copied
meanwhile. Several ranks tell each other levels as they do on CPUs; in a chunk that has come positions are made slots.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from graphdask.algorithms._levels import Level
from graphdask.algorithms.betweenness import HUB, Betweenness
from graphdask.backend import Array, Backend
from graphdask.engine import Environment, RankContext, RankResult, run_primitive
from graphdask.part import Part
from graphdask.stream.betweenness import (
    FIXED,
    StreamedBetweenness,
    StreamedInnerVertices,
    fitting,
    located,
    sections_of,
)
from graphdask.stream.device import DeviceChunk, DeviceWindow, room_for
from graphdask.stream.device_runs import prepared
from graphdask.stream.device_shared import with_mirrors
from graphdask.stream.on_device import Run
from graphdask.stream.shared import StreamedPart


def device_bytes(lanes: int, several: bool = False) -> int:
    """Per vertex of the device, which must not run out: also the levels where each lane reaches it in another one."""
    return FIXED + lanes * ((40 if several else 24) + 4 + (1 if lanes <= 8 else 8))


def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
    """Bytes of the device for the tables, and for chunks at least."""
    names = sections_of(part.store)
    each = room_for(part.store.sections[name] for name in names) + _tables(part)
    aside = _pieces(part, names) * (12 + 8 * lanes)
    return device_bytes(lanes, part.size > 1) * part.num_vertices, len(names) * each + aside


def _tables(part: StreamedPart) -> int:
    """Bytes that belong to the chunks of a section."""
    return 4096 + 8 * max(len(section) for section in part.store.sections.values())


def _pieces(part: StreamedPart, names: list[str]) -> int:
    """The most pieces of rows of many edges that kernels put aside in a chunk."""
    most = max(int(part.store.sections[name].table["edges"].max(initial=0)) for name in names)
    return most // (HUB // 2) + most // HUB


class DeviceBetweenness(StreamedBetweenness):
    """The primitive over a share of a store."""

    def __init__(self, primitive: Betweenness, lanes: int, stack: ExitStack, part: StreamedPart, backend: Backend):
        super().__init__(primitive, lanes, stack)
        self.work: Run = prepared(part, backend, self.log)

    def per_vertex(self, part: Part) -> int:
        return device_bytes(self.lanes, part.size > 1)

    def _room(self, part: StreamedPart, env: Environment) -> int:
        return min(part.memory, int(env.backend.free_memory() * env.memory_share))

    def _put_aside(self, part: StreamedPart, names: list[str]) -> int:
        return _pieces(part, names)

    def _window(self, part: StreamedPart, name: str, room: int) -> Any:
        section = part.store.sections[name]
        window = DeviceWindow(
            self.work.host, self.work.backend, section, room - _tables(part), self.name, self.log, part.read_ahead,
            chunks=part.own.chunks[name], arrived=self._in_slots, of=len(sections_of(part.store)),
        )  # fmt: skip
        return self.stack.enter_context(window)

    def _in_slots(self, chunk: DeviceChunk) -> None:
        """The ends of the edges of a chunk that has come, which are slots from now on."""
        begin, n = self.work.own.begin, self.work.store.num_vertices
        if begin:
            self.work.trees.layered_cyclic(len(chunk.targets), chunk.targets, begin, n)

    def _loaded(self, part: StreamedPart, name: str, number: int, later: list[int]) -> tuple[int, Array, Array]:
        chunk, own = self.windows[name].load(number, later), part.own
        before = max(own.begin - chunk.first, 0)
        return chunk.first + before - own.begin, chunk.indptr[before:], chunk.targets

    def _level(self, rows: Array, masks: Array, env: Environment) -> Level:
        """Rows of a chunk are found in any order; the way back looks for them in other chunks, where edges have a
        direction."""
        if len(self.windows) == 1:
            return super()._level(rows, masks, env)
        order = env.xp.argsort(rows)
        return Level(rows[order], masks[order])


class DeviceInnerVertices(StreamedInnerVertices, DeviceBetweenness):
    """The searches alone, as `InnerVertices` tells."""


def run(
    context: RankContext, part: StreamedPart, primitive: Betweenness, backend: Backend, kind: type[DeviceBetweenness]
) -> tuple[RankResult, DeviceBetweenness, dict[str, Any]]:
    """The scores, on the device, of one rank by vertex number, of several those of its rows in the order of their
    positions; what has found them, and what statistics add."""
    with backend.activate(), ExitStack() as stack:
        search = kind(primitive, fitting(part, primitive.lanes, needed), stack, part, backend)
        work = search.work
        work.require(search.per_vertex(part), primitive.name, chunks=needed(part, search.lanes)[1])
        stack.enter_context(work.host.reading())
        before = work.host.nbytes
        env = replace(context.environment("selective"), backend=backend)
        if part.size > 1:
            part = with_mirrors(part, backend)
        result = run_primitive(context.comm, located(part, backend.xp), search, env)
        score = result.columns["score"] if part.size > 1 else work.by_number(result.columns["score"], work.ids())
    more = {"device": "cuda", "from_disk": work.host.nbytes - before}
    return replace(result, columns={"score": score}), search, more
