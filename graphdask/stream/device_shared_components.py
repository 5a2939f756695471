"""Connected components of a store that several ranks share, each with a device that holds its forest.

Everything else is as `graphdask.stream.shared_components` describes.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.stream import layered_trees
from graphdask.stream.device import DeviceWindow
from graphdask.stream.on_device import Flags, Run, join_chunks, labelled, largest
from graphdask.stream.shared import StreamedPart
from graphdask.stream.shared_components import SharedComponents, State


class DeviceComponents(SharedComponents):
    """The primitive."""

    def __init__(self, run: Run, stack: ExitStack):
        super().__init__(stack)
        self.run, self.log = run, run.log
        self.kernels = run.backend.kernels("components", index_t=np.int32)

    def opened(self, part: StreamedPart, env: Environment) -> DeviceWindow:
        window = self.stack.enter_context(self.run.window("out", self.per_vertex, "components"))
        section = part.store.sections["out"]
        self.flags = Flags(self.run, section, layered_trees.COUNTERS, layered_trees.CLEARED, window.buffers + 2)
        return window

    def join(self, part: StreamedPart, state: State, chunks: range) -> None:
        join_chunks(self.run, state.window, self.flags, state.tree, chunks, state.anchor, False)
        state.counters[:2] = self.flags.totals

    def join_pairs(self, tree: Array, vertices: Array, roots: Array) -> None:
        self.kernels.components_pairs(len(vertices), vertices, roots, tree)

    def largest(self, tree: Array) -> int:
        return largest(self.run, tree)

    def flatten(self, tree: Array) -> None:
        self.kernels.components_compress(len(tree), tree)

    def labels(self, part: StreamedPart, tree: Array) -> Any:
        own = part.own
        return labelled(self.run, tree, self.run.ids())[own.begin : own.end].copy()  # all of it would stay
