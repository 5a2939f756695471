"""Programs over a store whose chunks stream through a device, where the states of all vertices are."""

from __future__ import annotations

from contextlib import ExitStack

from graphdask.device.backend import Backend
from graphdask.program.primitive import VertexProgram
from graphdask.stream.device_chunked_rows import DeviceChunkedRows, device_chunks_bytes
from graphdask.stream.device_runs import Run
from graphdask.stream.forms import combined
from graphdask.stream.programs import StreamedProgram
from graphdask.stream.shared_store import StreamedPart


class DeviceProgram(DeviceChunkedRows, StreamedProgram):
    """The primitive over a share of a store."""

    def __init__(self, run: Run, part: StreamedPart, primitive: VertexProgram, stack: ExitStack):
        super().__init__(part, primitive, stack)
        self.take(run, 0, 0)

    def view(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        return self.described(super().view(part, backend), backend)

    def _least(self, part: StreamedPart) -> int:
        return device_chunks_bytes(part, self.sections(part))


def program_of(run: Run, part: StreamedPart, primitive: VertexProgram, stack: ExitStack) -> DeviceProgram:
    """What runs a program on a rank, with what its primitive does otherwise than that of all programs."""
    made: DeviceProgram = combined(DeviceProgram, type(primitive))(run, part, primitive, stack)
    return made
