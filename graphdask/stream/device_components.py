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
from graphdask.kernels.stream import layered_hooks as at
from graphdask.kernels.stream import layered_trees
from graphdask.stream.components import SHARED, Components, State
from graphdask.stream.in_place import RowsInPlace, possible
from graphdask.stream.on_device import Flags, Run, join_chunks, labelled, largest
from graphdask.stream.shared import StreamedPart

BYTES = 20
"""Bytes of the device per vertex, with what the answer takes, which a window has until then."""


class DeviceComponents(Components):
    """The primitive."""

    def __init__(self, run: Run, part: StreamedPart, primitive: ConnectedComponents, stack: ExitStack):
        super().__init__(part, primitive, stack)
        self.per_vertex = BYTES if part.size == 1 else SHARED
        self.run, self.log = run, run.log
        self.kernels = run.backend.kernels("components", index_t=np.int32)
        self.windows = stack.enter_context(ExitStack())
        run.require(self.per_vertex, self.name)

    def begin(self, part: StreamedPart, state: State, env: Environment) -> None:
        self.log.context = env
        alone, undirected = part.size == 1 and part.num_vertices > 0, not part.store.header["directed"]
        self.in_place = alone and undirected and possible(self.run, 12)
        if not self.in_place:
            per_vertex = 4 if part.size == 1 else self.per_vertex
            state.window = self.windows.enter_context(self.run.window("out", per_vertex, self.name))
            depth = state.window.buffers + 2
            section = part.store.sections["out"]
            self.flags = Flags(self.run, section, layered_trees.COUNTERS, layered_trees.CLEARED, depth)

    def join(self, part: StreamedPart, state: State, chunks: range) -> None:
        if self.in_place:
            self._join_in_place(state)
            return
        choose = part.size == 1 and not part.store.header["directed"]
        join_chunks(self.run, state.window, self.flags, state.tree, chunks, state.anchor, choose)
        state.counters[:2] = self.flags.totals
        if not state.turns:  # labels take the memory of the window
            self.windows.close()
            state.window = None

    def _join_in_place(self, state: State) -> None:
        run, tree = self.run, state.tree
        n, rows, words = len(tree), RowsInPlace(run), np.zeros(at.STATE, np.uint64)
        kernels = run.backend.kernels("layered_hooks", index_t=np.int32)

        def first(words: Array, asked: Array) -> None:
            kernels.layered_hook_first(n, *rows.chunks, tree, words, asked)

        def rest(words: Array, asked: Array) -> None:
            kernels.layered_hook_rest(32 * n, *rows.chunks, tree, giant, words, asked)

        missing = slice(at.MISSING, at.STATE)
        words = rows.until_there(first, words, missing, [at.MISSING])
        giant = largest(run, tree)
        words = rows.until_there(rest, words, missing, [at.MISSING])
        rows.settle(int(words[at.SECTORS]))
        state.counters[:2] = words[at.WORKED], words[at.LOOKED]

    def join_pairs(self, tree: Array, vertices: Array, roots: Array) -> None:
        self.kernels.components_pairs(len(vertices), vertices, roots, tree)

    def largest(self, tree: Array) -> int:
        return largest(self.run, tree)

    def flatten(self, tree: Array) -> None:
        self.kernels.components_compress(len(tree), tree)

    def labels(self, part: StreamedPart, state: State) -> Array:
        own, ids = part.own, self.run.ids()
        label = labelled(self.run, state.tree, ids)
        return self.run.by_number(label, ids) if part.size == 1 else label[own.begin : own.end].copy()
