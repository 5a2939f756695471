"""PageRank over a store that several ranks share, each with a device: each rank sums its own rows on its device.

Each rank sends all its contributions to the others, as in `graphdask.stream.shared_pagerank`.
"""

from __future__ import annotations

from contextlib import ExitStack

from graphdask.algorithms.pagerank import PageRank
from graphdask.engine.loop import Environment
from graphdask.stream.device_pagerank import DeviceRanks
from graphdask.stream.on_device import Run
from graphdask.stream.shared import EXCHANGE, StreamedPart
from graphdask.stream.shared_pagerank import SharedPageRank, State


class DevicePageRank(SharedPageRank):
    """The primitive."""

    def __init__(self, run: Run, primitive: PageRank, stack: ExitStack):
        super().__init__(primitive, stack)
        self.run, self.log = run, run.log
        self.per_vertex += EXCHANGE

    def begin(self, part: StreamedPart, env: Environment) -> State:
        ranks = DeviceRanks(self.run, self.primitive, self.per_vertex, self.stack)
        return State(ranks, ranks.iterate)
