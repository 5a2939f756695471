"""Own rows of a store for kernels of a device, chunk by chunk; as on a CPU (`graphdask.stream.chunked_rows`)."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from graphdask.device.backend import Backend
from graphdask.engine.loop import Environment, RankContext, RankResult, run_primitive
from graphdask.partition.part import Csr
from graphdask.stream.chunked_rows import ChunkedRows, located, sections_of
from graphdask.stream.device import DeviceChunk, DeviceWindow, room_for
from graphdask.stream.device_runs import prepared
from graphdask.stream.device_shared import with_mirrors
from graphdask.stream.on_device import Run
from graphdask.stream.shared import StreamedPart


def device_chunks_bytes(part: StreamedPart, per_edge: int = 0) -> int:
    """Bytes of the device that windows on all sections take at least, with so many for each edge of a chunk."""
    names = sections_of(part.store)
    each = room_for(part.store.sections[name] for name in names) + _tables(part)
    return len(names) * each + per_edge * most_edges(part)


def most_edges(part: StreamedPart) -> int:
    """Of a chunk."""
    sections = (part.store.sections[name] for name in sections_of(part.store))
    return max(int(section.table["edges"].max(initial=0)) for section in sections)


def _tables(part: StreamedPart) -> int:
    """Bytes that belong to the chunks of a section."""
    return 4096 + 8 * max(len(section) for section in part.store.sections.values())


class DeviceChunkedRows(ChunkedRows):
    """The windows on chunks that a device takes from the host's memory."""

    def take(self, part: StreamedPart, backend: Backend) -> None:
        """Before the run."""
        self.work: Run = prepared(part, backend, self.log)

    def _room(self, part: StreamedPart, env: Environment) -> int:
        return min(part.memory, int(env.backend.free_memory() * env.memory_share))

    def _window(self, part: StreamedPart, name: str, room: int) -> Any:
        section = part.store.sections[name]
        window = DeviceWindow(
            self.work.host, self.work.backend, section, room - _tables(part), self.name, self.log, part.read_ahead,
            chunks=part.own.chunks[name], arrived=lambda chunk: self._arrived(part, chunk),
            of=len(sections_of(part.store)),
        )  # fmt: skip
        return self.stack.enter_context(window)

    def _arrived(self, part: StreamedPart, chunk: DeviceChunk) -> None:
        """The ends of the edges of a chunk that has come, which are slots from now on."""
        self._simplify(part, chunk)
        begin, n = self.work.own.begin, self.work.store.num_vertices
        if begin:
            self.work.trees.layered_cyclic(len(chunk.targets), chunk.targets, begin, n)

    def loaded(self, part: StreamedPart, name: str, number: int, later: list[int]) -> tuple[int, Csr]:
        chunk = self.windows[name].load(number, later)
        return self._own_rows(part, chunk.first, Csr(chunk.indptr, chunk.targets, chunk.weights))


def run_on_device(
    context: RankContext, part: StreamedPart, primitive: Any, backend: Backend, stack: ExitStack, chunks: int
) -> tuple[RankResult, dict[str, Any]]:
    """Run a primitive whose chunks a device takes, windows on which take so many bytes at least.

    Columns are on the device, of one rank by vertex number, of several those of its rows in the order of their
    positions. Returned besides is what statistics add.
    """
    work: Run = primitive.work
    work.require(primitive.per_vertex(part), primitive.name, chunks=chunks)
    stack.enter_context(work.host.reading())
    before = work.host.nbytes
    env = replace(context.environment("selective"), backend=backend)
    if part.size > 1:
        part = with_mirrors(part, backend)
    result = run_primitive(context.comm, located(part, backend.xp), primitive, env)
    columns = result.columns
    if part.size == 1:
        ids = work.ids()
        columns = {name: work.by_number(column, ids) for name, column in columns.items()}
    return replace(result, columns=columns), {"device": "cuda", "from_disk": work.host.nbytes - before}
