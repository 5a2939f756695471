"""Induced subgraphs: all edges of the graph between the vertices of each of many sets.

It is a hop of traversal sampling from the vertices of a set, of which the edges to others of the set are taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment
from graphdask.kernels.neighbors.induced_pack import InducedEdges
from graphdask.partition.part import Part
from graphdask.sample._edge_tables import edge_rows
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.traversal import Traversal, TraversalState

ITEMS = 1 << 16
"""Vertices in one launch: their rows and their sets may be long."""


@dataclass
class InducedState(TraversalState):
    ids: Array | None = None
    """Per slot."""
    members: Array | None = None
    """Vertex numbers of all sets."""
    bounds: Array | None = None
    """int64, on the device."""


def edge_bytes(dtype: np.dtype) -> int:
    """Of an edge, as it is listed and handed back."""
    return 2 * (2 * dtype.itemsize + 8) + 4


class Induced(Traversal):
    """The sampler: instance i is the subgraph of the vertices `seeds[bounds[i]:bounds[i + 1]]`, which ascend."""

    name = "induced subgraphs"
    by_partitions = False
    undivided = "are of vertices that are drawn for all instances first; make fewer instances"

    def __init__(self, vertices: np.ndarray, bounds: np.ndarray):
        super().__init__(vertices, bounds, (-1,))

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes for vertices of the mean degree; once the edges are counted, their memory is checked."""
        index = part.vertex_map.dtype.itemsize
        tables = index * (part.num_slots + len(self.seeds)) + 8 * len(self.bounds)
        return super().memory(part, allocation) + tables

    def _prepared(self, part: Part, env: Environment) -> InducedState:
        dtype, backend = part.vertex_map.dtype, env.backend
        ids = env.fetch_ghosts(part, [part.ids])[0] if part.size > 1 else part.ids
        return InducedState(
            part.out, None, env.kernels("neighbors", index_t=dtype), ids=ids,
            edge_rows=edge_rows(part, part.out) if self.numbered else None,
            members=backend.from_host(self.seeds.astype(dtype)), bounds=backend.from_host(self.bounds),
        )  # fmt: skip

    def draw_hop(
        self,
        state: TraversalState,
        env: Environment,
        rows: Array,
        vertices: Array,
        instances: Array,
        tags: Array,
        hop: int,
    ) -> tuple[Array, Array, Array, Array, Array | None]:
        assert isinstance(state, InducedState)
        xp, n, dtype, csr = env.xp, len(rows), vertices.dtype, state.rows
        kernels = env.kernels("induced", index_t=dtype)
        graph = csr.indptr, csr.indices, state.ids, state.members, state.bounds
        instances = instances - self.origin
        counts, offsets = xp.empty(n, np.int64), xp.zeros(n + 1, np.int64)
        for begin in range(0, n, ITEMS):
            some = slice(begin, min(begin + ITEMS, n))
            self.check_deadline(env, begin, hop)
            kernels.induced_counts(some.stop - begin, rows[some], instances[some], *graph, counts[some], per_item=32)
        xp.cumsum(counts, out=offsets[1:])
        total = int(offsets[-1])
        refuse_beyond_memory(env, self.name, f"hop {hop}", total, edge_bytes(dtype) + 24 * self.numbered)
        places = xp.empty(total, np.int64) if self.numbered else None
        out = xp.empty(total, dtype), xp.empty(total, dtype), xp.empty(total, np.int64)
        pack = InducedEdges(
            indptr=csr.indptr, indices=csr.indices, ids=state.ids, members=state.members, bounds=state.bounds,
            src=out[0], dst=out[1], tag=out[2], places=places,
        )  # fmt: skip
        for begin in range(0, n, ITEMS):
            some = slice(begin, min(begin + ITEMS, n))
            self.check_deadline(env, begin, hop)
            pack.rows, pack.vertices, pack.instances = rows[some], vertices[some], instances[some]
            pack.tags, pack.offsets = tags[some], offsets[begin : some.stop + 1]
            kernels.induced_listed(some.stop - begin, pack, per_item=32)
        return *out, offsets, None if places is None else state.numbers_at(places)
