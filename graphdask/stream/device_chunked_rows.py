"""Own rows of a store for kernels of a device, chunk by chunk; as on a CPU (`graphdask.stream.chunked_rows`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import Environment
from graphdask.partition.part import Csr
from graphdask.stream.chunked_rows import ChunkedRows, located, sections_of
from graphdask.stream.device_runs import Run
from graphdask.stream.device_shared import with_mirrors
from graphdask.stream.device_window import DeviceChunk, DeviceWindow, least_memory
from graphdask.stream.shared_store import StreamedPart


def device_chunks_bytes(part: StreamedPart, names: Sequence[str] | None = None) -> int:
    """Bytes of the device that windows on all sections, or on those of some names, take at least."""
    names = sections_of(part.store) if names is None else names
    each = least_memory(part.store.sections[name] for name in names) + _tables(part)
    return len(names) * each


def most_edges(part: StreamedPart) -> int:
    """Of a chunk."""
    return max(int(section.table["edges"].max(initial=0)) for section in part.store.sections.values())


def _tables(part: StreamedPart) -> int:
    """Bytes that belong to the chunks of a section."""
    return 4096 + 8 * max(len(section) for section in part.store.sections.values())


class DeviceChunkedRows(ChunkedRows):
    """The windows on chunks that a device takes from the host's memory."""

    def take(self, run: Run, per_vertex: int, chunks: int) -> None:
        """Before the run, whose state takes so many bytes per vertex, and windows on chunks at least so many."""
        self.work, self.log, run.log.together = run, run.log, True
        run.require(per_vertex, self.name, chunks=chunks)

    def view(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        return located(with_mirrors(part, backend) if part.size > 1 else part, backend.xp)

    def by_number(self, part: StreamedPart, values: Array) -> Array:
        return self.work.by_number(values, self.work.ids())

    def _free_memory(self, part: StreamedPart, env: Environment) -> int:
        return min(part.memory, int(env.backend.free_memory() * env.memory_share))

    def _window(self, part: StreamedPart, name: str, free: int) -> Any:
        section = part.store.sections[name]
        window = DeviceWindow(
            self.work.host, self.work.backend, section, free - _tables(part), self.name, self.log, part.read_ahead,
            chunks=part.own.chunks[name], arrived=lambda chunk: self._arrived(part, chunk),
            of=len(self.sections(part)),
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
        columns = self.columns_of(part, name, number)
        return self._own_rows(part, chunk.first, Csr(chunk.indptr, chunk.targets, chunk.weights, columns=columns))
