"""Components of a store through a device, which holds the forest: over chunks that stream.

One rank reads the rows of an undirected graph where the host has them, if it can: most of them no further than the
first 32 bytes. Everything else is as `graphdask.stream.components` describes.
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from graphdask.algorithms.components import ConnectedComponents
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.stream.layered_hooks_pack import COUNTS, TreesThere
from graphdask.stream.components import SHARED, Components, ComponentsState
from graphdask.stream.device_runs import Flags, Run, join_chunks, labelled
from graphdask.stream.in_place import RowsInPlace, possible
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.trees import largest

BYTES = 20
"""Bytes of the device per vertex, with what the answer takes, which a window has until then."""


class DeviceComponents(Components):
    """The primitive."""

    def __init__(self, run: Run, part: StreamedPart, primitive: ConnectedComponents, stack: ExitStack):
        super().__init__(part, primitive, stack)
        self.per_vertex = BYTES if part.size == 1 else SHARED
        self.run, self.log = run, run.log
        self.windows = stack.enter_context(ExitStack())
        run.require(self.per_vertex, self.name)

    def begin(self, part: StreamedPart, state: ComponentsState, env: Environment) -> None:
        self.log.context = env
        alone, undirected = part.size == 1 and part.num_vertices > 0, not part.store.header["directed"]
        self.in_place = alone and undirected and possible(self.run, 12)
        if not self.in_place:
            per_vertex = 4 if part.size == 1 else self.per_vertex
            state.window = self.windows.enter_context(self.run.window("out", per_vertex, self.name))
            self.flags = Flags(self.run, part.store.sections["out"], state.window.buffers + 2)

    def join(self, part: StreamedPart, state: ComponentsState, chunks: range) -> None:
        if self.in_place:
            self._join_in_place(state)
            return
        choose = part.size == 1 and not part.store.header["directed"]
        join_chunks(self.run, state.window, self.flags, state.tree, chunks, state.anchor, choose)
        state.count(*self.flags.done)
        if not state.turns:  # labels take the memory of the window
            self.windows.close()
            state.window = None

    def _join_in_place(self, state: ComponentsState) -> None:
        run, tree = self.run, state.tree
        n, rows, kernels = len(tree), RowsInPlace(run), run.backend.kernels("layered_hooks", index_t=np.int32)
        pack = TreesThere(link=tree, counters=run.xp.zeros(len(COUNTS), np.int64), **rows.fields)
        rows.until_there(kernels.layered_hook_first, n, pack, [COUNTS.place.missing])
        pack.giant = largest(run.backend, tree)
        done = rows.until_there(kernels.layered_hook_rest, 32 * n, pack, [COUNTS.place.missing])
        rows.settle(done.sectors)
        state.count(done.worked, done.looked)

    def labels(self, part: StreamedPart, state: ComponentsState) -> Array:
        own, ids = part.own, self.run.ids()
        label = labelled(self.run, state.tree, ids)
        return self.run.by_number(label, ids) if part.size == 1 else label[own.begin : own.end].copy()
