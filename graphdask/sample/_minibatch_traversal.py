"""Traversal sampling for the loader of minibatches: on a CPU all hops of a batch in one go, with its vertices numbered.

Batches of many seeds are drawn one after the other, each hop by hop, by one kernel (kernels/neighborhoods.py). A vertex
that an edge reaches is looked up once, and so gets both its number and its place in the next frontier. The batches are
those of the general way, bit for bit; that draws where it does not apply: by a bias, across partitions, on a GPU.

Source: Hamilton, Ying, Leskovec, Inductive representation learning on large graphs (2017), Algorithm 2.
"""

from __future__ import annotations

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment, Messages
from graphdask.part import Part
from graphdask.partition import VertexMap
from graphdask.sample._beyond_memory import refuse_beyond_memory
from graphdask.sample.traversal import NumberedTraversal, State

ROOM = 1 << 21
"""Edges that one call of the kernel has room for, where no batch needs more."""
NUMBERED = ("nodes", "row", "col", "edge", "node_sizes", "edge_sizes")
"""Columns of batches whose vertices are numbered already: vertex numbers; of each edge, numbers of the vertex it was
drawn for and of its neighbour among those of the batch, and of the edge; and by batch and hop, how many there are."""


class MinibatchTraversal(NumberedTraversal):
    """The same; its columns are `NUMBERED` where all hops were drawn in one go. The seeds of an instance differ."""

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        plain = type(part.vertex_map) is VertexMap and part.size == 1 and env.backend.name == "cpu"
        if not plain or self.bias is not None or self.method != "auto":
            return super().init(part, env)
        state = self._prepared(part, env)
        state.columns = self._numbered(part, env, state)
        edges = len(state.columns["edge"])
        return state, self._nothing(part, active=False, frontier=len(self.seeds), edges=edges)

    def _numbered(self, part: Part, env: Environment, state: State) -> dict[str, Array]:
        n, dtype, hops = self.instances, part.vertex_map.dtype, len(self.fanouts)
        bounds = self.of(self.bounds, self.first, self.last + 1)
        seeds, bounds = self.seeds[bounds[0] : bounds[-1]].astype(dtype), bounds - bounds[0]
        sizes = np.zeros((n, hops + 1), np.int64), np.zeros((n, hops), np.int64)
        made: list[list[np.ndarray]] = []
        told, needed = np.zeros(4, np.int64), 0
        most = self.edges_at_most(state.rows.num_edges / max(state.rows.num_rows, 1))
        while not made or told[0] < n:
            room = max(int(min(most, ROOM)), needed + needed // 8)
            refuse_beyond_memory(env, self.name, f"batch {self.first + int(told[0])}", room, 24 + dtype.itemsize)
            nodes = np.empty(len(seeds) + room, dtype)
            columns = [np.empty(room, np.int64) for _ in range(3)]
            env.kernels("neighborhoods").neighborhoods_draw(
                n, self.first, seeds, bounds, state.rows.indptr, state.rows.indices,
                np.array(self.fanouts, np.int64), int(self.replace), np.uint64(self.seed & (2**64 - 1)), nodes,
                *columns, *sizes, told,
            )  # fmt: skip
            _, vertices, edges, needed = told.tolist()
            made.append([nodes[:vertices], *(column[:edges] for column in columns)])
            if told[0] < n:
                env.check_deadline(self.name, f"batch {self.first + int(told[0])}")
        joined = made[0] if len(made) == 1 else map(np.concatenate, zip(*made, strict=True))
        return dict(zip(NUMBERED, (*joined, *sizes), strict=True))
