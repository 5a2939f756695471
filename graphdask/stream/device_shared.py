"""The common base of primitives over a store through devices: their messages.

The state of each rank, and its chunks, are on its device. Values of vertices that other
ranks own are sent as records, by position, so that no array has to be in the order of slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import Messages
from graphdask.stream.device_runs import Run
from graphdask.stream.shared_store import StreamedPart, Streaming, most_reported


class OnDevice(Streaming):
    """A primitive over a part of a store whose chunks stream through a device."""

    notifies_ghosts = False
    value: Any = np.int64
    """Dtype of the value that is sent for a vertex."""

    def __init__(self, run: Run, name: str, stack: ExitStack):
        super().__init__(name, stack)
        self.run, self.log = run, run.log

    @property
    def record_columns(self) -> dict[str, Any]:  # type: ignore[override]
        return {"position": np.int32, "value": self.value}

    def outgoing(
        self, part: StreamedPart, marks: Array, elsewhere: np.ndarray, values: Array, active: bool, frontier: int,
        edges: int, votes: tuple[float, ...] = (),
    ) -> Messages:  # fmt: skip
        """Return messages to the owners of marked positions with the values there, up to `most_told(part)` at a time.

        The marks of positions that are sent are cleared. The first vote is whether marks are left, others are `votes`.
        `elsewhere` (bool) says which chunks of other ranks have marks.
        """
        xp, backend, left, unsent = self.run.xp, self.run.backend, most_reported(part), False
        found, bounds = [xp.zeros(0, np.int32)], np.zeros(part.size + 1, np.int64)
        for begin, end in _ranges(part, elsewhere, left):
            some = xp.flatnonzero(marks[begin:end])
            unsent = len(some) > left
            found.append((some[:left] + begin).astype(np.int32))
            marks[found[-1]] = 0
            left -= len(found[-1])
            if unsent:
                break
        positions = xp.concatenate(found)
        if len(positions):
            cuts = backend.from_host(part.vertex_map.offsets[1:].astype(np.int32))
            bounds[1:] = backend.to_host(xp.searchsorted(positions, cuts))
        records = {"position": positions, "value": values[positions]}
        return Messages.of_records(
            records, bounds, active=active or unsent, frontier=frontier, edges=edges, votes=(float(unsent), *votes)
        )


def _ranges(part: StreamedPart, elsewhere: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Where chunks of others follow each other that are flagged, in ranges of up to `most` positions or of a chunk."""
    table, begin, end = part.store.sections["out"].table, 0, 0
    for number in np.flatnonzero(elsewhere).tolist():
        first, last = int(table["first"][number]), int(table["first"][number] + table["rows"][number])
        if first == end and last - begin <= most:
            end = last
            continue
        if begin < end:
            yield begin, end
        begin, end = first, last
    if begin < end:
        yield begin, end


def with_mirrors(part: StreamedPart, backend: Backend) -> StreamedPart:
    """The part with the slots that others hold ghosts of, which are all, on the device."""
    count, size = part.own.count, part.size
    mirrored = backend.xp.tile(backend.xp.arange(count, dtype=part.vertex_map.dtype), size - 1)
    mirrors = [mirrored[:0]] * size
    for step in range(1, size):
        mirrors[(part.rank + step) % size] = mirrored[(step - 1) * count : step * count]
    return replace(part, mirrors=mirrors, mirrored=mirrored)
