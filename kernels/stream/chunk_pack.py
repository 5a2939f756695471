"""A chunk of a layered edge list, as the packs of its kernels begin."""

from typing import Any

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("ChunkCounts", "worked", "looked", "found", "arrived", "listed[3]", "hubs[3]")
"""Rows processed, edges scanned, and, on a CPU, values that changed; arrivals of blocks at the barrier; rows, and
deferred rows, by round modulo 3."""
CLEARED = COUNTS.place.arrived
"""Counters from this one on are 0 before a chunk."""


class ChunkRows(Pack):
    first = "long long", "the position of the first row; rows are in the order of positions"
    indptr = (
        "const long long *",
        "per row: where its edges begin in `targets`; a last entry says where those of the last row end",
    )
    targets = "const index_t *", "per edge: the position of its target"
    hubs = "index_t *", "one entry per row of more than 4,096 edges, which a GPU shares among all blocks"
    counters = COUNTS, "what was done, and lengths of lists"

    def hold(self, chunk: Any, indptr: Any) -> None:
        """Let kernels work on a chunk whose rows begin at `indptr`."""
        self.first, self.indptr, self.targets = chunk.first, indptr, chunk.targets


class ActiveRows(ChunkRows):
    active = "unsigned char *", "per position: whether it waits to be processed, as a row of its chunk"
