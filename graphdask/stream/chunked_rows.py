"""Own rows of a store for the kernels of betweenness by hops and by weight and of programs, chunk by chunk.

Each section has a window. A chunk comes as the rows that are the rank's own, and the slots at the ends of their edges.
`graphdask.stream.device_chunked_rows` does the same through a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import Environment
from graphdask.partition.part import Csr
from graphdask.partition.vertex_map import TableMap
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log
from graphdask.stream.window import Window, least_memory


def sections_of(store: Store) -> list[str]:
    """The sections that are streamed."""
    return sorted({"out", gathered(store)})


def chunks_bytes(part: StreamedPart, names: Sequence[str] | None = None) -> int:
    """Bytes that windows on all of them, or on those of some names, take at least."""
    names = sections_of(part.store) if names is None else names
    return len(names) * (least_memory(part.store.sections[name] for name in names) + _slots_beside(part))


def _slots_beside(part: StreamedPart) -> int:
    """Bytes of the slots of a chunk's neighbours, where several ranks make them beside it."""
    if part.size == 1:
        return 0
    return 5 * max(int(section.table["edges"].max(initial=0)) for section in part.store.sections.values())


def fitting(part: StreamedPart, lanes: int, needed: Callable[[StreamedPart, int], tuple[int, int]]) -> int:
    """Return the number of lanes that fit: `lanes`, or half of it, a quarter, ..., but at least 1.

    Lanes fit if their tables take at most half of the memory, and tables and chunks together fit the memory.
    """

    def fits(lanes: int) -> bool:
        tables, chunks = needed(part, lanes)
        return 2 * tables <= part.memory and tables + chunks <= part.memory

    while lanes > 1 and not fits(lanes):
        lanes //= 2
    return lanes


class ChunkedRows:
    """Of a primitive over a share of a store, the windows on its chunks; `stack` is closed by who runs it."""

    name: str

    def begin(self, stack: ExitStack) -> None:
        """Before the run."""
        self.stack, self.log = stack, Log(what=self.name, together=True)

    def sections(self, part: StreamedPart) -> list[str]:
        """The sections whose chunks are asked for."""
        return sections_of(part.store)

    def open_windows(self, part: StreamedPart, env: Environment, taken: int) -> None:
        """Open the windows, in the memory that so many bytes of the primitive leave."""
        self.log.context = env
        names, index = self.sections(part), part.vertex_map.dtype
        free = self._free_memory(part, env) - taken
        self.windows: dict[str, Any] = {name: self._window(part, name, free // len(names)) for name in names}
        self.firsts = {name: env.backend.from_host(self._firsts(part, name).astype(index)) for name in names}

    def view(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        """The share of the store as supersteps take it."""
        return located(part)

    def result(self, part: Any, state: Any, env: Environment) -> dict[str, Any]:
        """The values of own rows; those of one rank by vertex number."""
        found: dict[str, Any] = super().result(part, state, env)  # type: ignore[misc]
        if part.size > 1:
            return found
        return {name: self.by_number(part, value) if np.ndim(value) else value for name, value in found.items()}

    def by_number(self, part: StreamedPart, values: Array) -> Array:
        """Values by position, by vertex number."""
        ordered = np.empty_like(values)
        for first, ids in part.store.order():
            ordered[ids] = values[first : first + len(ids)]
        return ordered

    def _free_memory(self, part: StreamedPart, env: Environment) -> int:
        """Bytes that may be taken."""
        return part.memory

    def _window(self, part: StreamedPart, name: str, free: int) -> Any:
        """A window on the chunks of a section."""
        section, chunks, free = part.store.sections[name], part.own.chunks[name], free - _slots_beside(part)
        of = len(self.sections(part))
        window = Window(part.store, section, free, self.name, part.read_ahead, chunks, of=of)
        self.log.traffic.append(window.traffic)
        return self.stack.enter_context(window)

    def _firsts(self, part: StreamedPart, name: str) -> np.ndarray:
        """The first own row of each chunk."""
        chunks = part.own.chunks[name]
        first: np.ndarray = part.store.sections[name].table["first"][chunks.start : chunks.stop]
        return first.astype(np.int64) - part.own.begin

    def loaded(self, part: StreamedPart, name: str, number: int, later: list[int]) -> tuple[int, Csr]:
        """Of a chunk the first own row, and its own rows, with the slots at the ends of their edges; `later` are chunks
        that come after it."""
        window, own = self.windows[name], part.own
        chunk = window.load(number, later[:2])
        self._simplify(part, chunk)
        slots = chunk.targets
        if own.begin:
            slots = slots - np.int32(own.begin)
            np.add(slots, np.int32(part.num_vertices), out=slots, where=slots < 0)
        csr = Csr(window.indptr(chunk), slots, chunk.weights, columns=self.columns_of(part, name, number))
        return self._own_rows(part, chunk.first, csr)

    def columns_of(self, part: StreamedPart, name: str, number: int) -> dict[str, Array]:
        """The columns of the edges of a chunk that are read, on the device."""
        return {}

    def _simplify(self, part: StreamedPart, chunk: Any) -> None:
        """Change a chunk before it is worked on."""

    def _own_rows(self, part: StreamedPart, first: int, csr: Csr) -> tuple[int, Csr]:
        """Of the rows of a chunk, the first of which stands at the position `first`, the own ones."""
        own = part.own
        before, rows = max(own.begin - first, 0), min(own.end - first, csr.num_rows)
        return first + before - own.begin, replace(csr, indptr=csr.indptr[before : rows + 1])

    def pieces(
        self, part: StreamedPart, name: str, rows: Array, env: Environment, forward: bool = True
    ) -> Iterator[tuple[slice, int, Csr]]:
        """The chunks that hold some own rows, which stand in their order: which of these, and the chunk, as `loaded`
        gives it. The last chunk comes first unless `forward`."""
        chunks = part.own.chunks[name]
        cuts = env.backend.to_host(env.xp.searchsorted(rows, self.firsts[name]))
        cuts = np.append(cuts, len(rows))
        needed = np.flatnonzero(np.diff(cuts))
        needed = needed if forward else needed[::-1]
        self.windows[name].traffic.skipped += len(chunks) - len(needed)
        numbers = (needed + chunks.start).tolist()
        for at, place in enumerate(needed.tolist()):
            yield (
                slice(int(cuts[place]), int(cuts[place + 1])),
                *self.loaded(part, name, numbers[at], numbers[at + 1 :]),
            )
            self.log.check()

    def every_piece(self, part: StreamedPart, name: str, forward: bool = True) -> Iterator[tuple[int, Csr]]:
        """All chunks, as `loaded` gives them; the last one first unless `forward`."""
        numbers = list(part.own.chunks[name])[:: 1 if forward else -1]
        for at, number in enumerate(numbers):
            yield self.loaded(part, name, number, numbers[at + 1 :])
            self.log.check()


def located(part: StreamedPart, xp: Any = np) -> StreamedPart:
    """The same share, which says where each vertex stands; its arrays are those of a device."""
    n = part.num_vertices
    return replace(
        part, vertex_map=TableMap(n, part.vertex_map.offsets, position_of=_positions(part.store)),
        out=Csr(xp.broadcast_to(xp.zeros(1, np.int64), n + 1), part.out.indices),
    )  # fmt: skip


def _positions(store: Store) -> np.ndarray:
    """int32 by vertex number."""
    found = np.empty(store.num_vertices, np.int32)
    for first, ids in store.order():
        found[ids] = np.arange(first, first + len(ids), dtype=np.int32)
    return found
