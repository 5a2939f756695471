"""Traversal sampling for the loader of minibatches: one kernel draws all hops of many batches and numbers vertices.

The kernel is in kernels/neighbors/neighborhoods.py. On a CPU it draws one batch after the other, into
buffers of about the expected size, and is called again if they do not suffice. On a GPU it draws many batches together,
into buffers of the largest possible size, so the host waits once for all of them. A vertex that an edge reaches is
looked up once; that gives both its number and its place in the next frontier. The batches are bit for bit those of the
general traversal. The general traversal draws what this kernel does not support: across partitions, by a bias for very
many neighbours, on a GPU for all neighbours.

Source: Hamilton, Ying, Leskovec, Inductive representation learning on large graphs (2017), Algorithm 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.kernels.neighbors.neighborhoods_pack import DONE, NeighborhoodDraws
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample._together import MOST_DRAWN, MOST_HOPS
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.fanouts import FEW
from graphdask.sample.traversal import NumberedTraversal, TraversalState
from graphdask.sample.tuning import SAMPLE

BLOCKS = 4
"""Of the launch, on each processor at most."""
NUMBERED = ("nodes", "row", "col", "edge", "node_sizes", "edge_sizes")
"""Columns of batches whose vertices are numbered already: vertex numbers; of each edge, numbers of the vertex it was
drawn for and of its neighbour among those of the batch; the row of the edge; and by batch and hop, how many there are,
on the host."""


class MinibatchTraversal(NumberedTraversal):
    """The same; its columns are `NUMBERED` where all hops were drawn in one go. The seeds of an instance differ."""

    def init(self, part: Part, env: Environment) -> tuple[TraversalState, Messages]:
        on_gpu = env.backend.name != "cpu"
        if not self._in_one_go(part, on_gpu):
            return super().init(part, env)
        state = self._prepared(part, env)
        bounds = self.of(self.bounds, self.first, self.last + 1)
        seeds, bounds = self.seeds[bounds[0] : bounds[-1]].astype(part.vertex_map.dtype), bounds - bounds[0]
        state.columns = (self._together if on_gpu else self._one_by_one)(env, state, seeds, bounds)
        if self.numbered:
            state.columns["edge"] = self._numbers(state, env, state.columns["edge"])
        edges = len(state.columns["edge"])
        return state, self._nothing(part, active=False, frontier=len(self.seeds), edges=edges)

    @staticmethod
    def _numbers(state: TraversalState, env: Environment, places: Array) -> Array:
        """Numbers of the edges at some places, in the same memory where they have the same dtype."""
        rows = state.edge_rows
        if rows is None:
            return state.numbers_as_kept(places)
        numbers = places if rows.dtype == places.dtype else env.xp.empty(len(places), rows.dtype)
        kernels = env.kernels("edge_rows", index_t=places.dtype, row_t=rows.dtype)
        kernels.edge_rows_named(len(places), places, state.kept, rows, numbers)
        return numbers

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes of a launch's buffers on a GPU, of all batches, and of their copy when they are joined."""
        announced, width = super().memory(part, allocation), part.vertex_map.dtype.itemsize
        if isinstance(part.out.indptr, np.ndarray) or not self._in_one_go(part, True):
            return announced
        most = self.seeds_of(self.instances) * self._vertices_of_a_seed
        group = SAMPLE.minibatch_vertices
        joined = 2 * (24 + width) * most if most > group else 0
        return max(announced, int(_bytes(width) * min(most, group) + joined))

    @property
    def _vertices_of_a_seed(self) -> int:
        """At most, itself among them; one less is how many edges."""
        return 1 + sum(int(np.prod(self.fanouts[: hop + 1], dtype=object)) for hop in range(len(self.fanouts)))

    def _in_one_go(self, part: Part, on_gpu: bool) -> bool:
        if part.size > 1 or type(part.vertex_map) is not VertexMap or not self.in_few_launches:
            return False
        if not on_gpu:
            return self.alike or self.replace or max(self.fanouts, default=0) <= FEW
        most = MOST_DRAWN if self.replace else FEW
        if len(self.fanouts) > MOST_HOPS or not all(0 <= fanout <= most for fanout in self.fanouts):
            return False
        return int(np.diff(self.bounds).max(initial=0)) * self._vertices_of_a_seed <= SAMPLE.minibatch_vertices

    def _one_by_one(
        self, env: Environment, state: TraversalState, seeds: np.ndarray, bounds: np.ndarray
    ) -> dict[str, Array]:
        n, hops = self.instances, len(self.fanouts)
        sizes = np.zeros((n, hops + 1), np.int64), np.zeros((n, hops), np.int64)
        made: list[list[np.ndarray]] = []
        counts = np.zeros(len(DONE), np.int64)
        done = DONE.of(counts)
        most = self.edges_at_most(state.rows.num_edges / max(state.rows.num_rows, 1))
        while not made or done.instances < n:
            capacity = max(int(min(most, SAMPLE.minibatch_edges)), done.needed + done.needed // 8)
            refuse_beyond_memory(env, self.name, f"batch {self.first + done.instances}", capacity, 24 + seeds.itemsize)
            columns = np.empty(len(seeds) + capacity, seeds.dtype), *(np.empty(capacity, np.int64) for _ in range(3))
            self._call(env, state, self.first, seeds, bounds, (capacity, *columns, *sizes, counts), {})
            done = DONE.of(counts)
            made.append([columns[0][: done.vertices], *(column[: done.edges] for column in columns[1:])])
            if done.instances < n:
                env.check_deadline(self.name, f"batch {self.first + done.instances}")
        joined = made[0] if len(made) == 1 else map(np.concatenate, zip(*made, strict=True))
        return dict(zip(NUMBERED, (*joined, *sizes), strict=True))

    def _together(
        self, env: Environment, state: TraversalState, seeds: np.ndarray, bounds: np.ndarray
    ) -> dict[str, Array]:
        made: list[list[Array]] = []
        at_once, a = SAMPLE.minibatch_vertices // self._vertices_of_a_seed, 0
        while not made or a < self.instances:
            if a:
                env.check_deadline(self.name, f"batch {self.first + a}")
            b = max(int(np.searchsorted(bounds, bounds[a] + at_once, side="right")) - 1, a)
            whole = not a and b == self.instances
            drawn = self._group(env, state, self.first + a, seeds[bounds[a] : bounds[b]], bounds[a : b + 1] - bounds[a])
            made.append(drawn if whole else [column.copy() for column in drawn])
            a = b
        if len(made) > 1:
            *columns, node_sizes, edge_sizes = zip(*made, strict=True)
            made = [[*map(env.xp.concatenate, columns), *map(np.concatenate, (node_sizes, edge_sizes))]]
        return dict(zip(NUMBERED, made[0], strict=True))

    def _group(
        self, env: Environment, state: TraversalState, first: int, seeds: np.ndarray, bounds: np.ndarray
    ) -> list[Array]:
        """The columns of batches that are drawn by one launch."""
        xp, backend, n, hops = env.xp, env.backend, len(bounds) - 1, len(self.fanouts)
        each, dtype = self._vertices_of_a_seed, seeds.dtype
        most, capacity = len(seeds) * each, len(seeds) * (each - 1)
        refuse_beyond_memory(env, self.name, f"batch {first} and those after it", most, _bytes(dtype.itemsize))
        of_done, of_nodes = len(DONE), len(DONE) + n * (hops + 1)
        counts = xp.zeros(of_nodes + n * hops, np.int64)
        node_sizes, edge_sizes = counts[of_done:of_nodes].reshape(n, hops + 1), counts[of_nodes:].reshape(n, hops)
        columns = xp.empty(most, dtype), *(xp.empty(capacity, np.int64) for _ in range(3))
        scratch = dict(
            each=2 * each, vertices=xp.empty(most, dtype), owners=xp.empty(most, np.int32),
            sources=xp.empty(capacity, np.int32), drawn=xp.empty(capacity, np.int64), slots=xp.empty(capacity, dtype),
            entries=xp.full(4 * most, -1, dtype), node_starts=xp.empty((hops + 1) * (n + 1), np.int64),
            edge_starts=xp.empty(hops * (n + 1), np.int64), shifts=xp.empty(3 * n * (hops + 1), np.int64),
            state=xp.zeros(1 + BLOCKS * getattr(backend, "processors", 1), np.int64),
        )  # fmt: skip
        self._call(
            env, state, first, backend.from_host(seeds), backend.from_host(bounds),
            (capacity, *columns, node_sizes, edge_sizes, counts[:of_done]), scratch,
            per_item=-(-most // max(n, 1)), per_processor=BLOCKS,
        )  # fmt: skip
        found = backend.to_host(counts)
        done = DONE.of(found[:of_done])
        sizes = found[of_done:of_nodes].reshape(n, hops + 1), found[of_nodes:].reshape(n, hops)
        return [columns[0][: done.vertices], *(column[: done.edges] for column in columns[1:]), *sizes]

    def _call(
        self, env: Environment, state: TraversalState, first: int, seeds: Array, bounds: Array, out: Any, scratch: Any,
        **blocks: int,
    ) -> None:  # fmt: skip
        on_gpu = env.backend.name != "cpu"
        kernels = env.backend.kernels("neighborhoods", cooperative=on_gpu, index_t=seeds.dtype)
        draw = kernels.neighborhoods_draw if self.alike else kernels.neighborhoods_draw_biased
        fanouts = env.backend.from_host(np.array(self.fanouts, np.int64))
        draws = NeighborhoodDraws(
            seeds=seeds, seed_bounds=bounds, indptr=state.rows.indptr, indices=state.rows.indices, sums=state.sums,
            fanouts=fanouts, hops=len(self.fanouts), replace=int(self.replace), method=self.way,
            seed=np.uint64(self.seed), **dict(zip(("capacity", *NUMBERED, "reported"), out, strict=True)), **scratch,
        )  # fmt: skip
        draw(len(bounds) - 1, first, draws, **blocks)


def _bytes(width: int) -> int:
    """That a launch on a GPU takes for each vertex that there can be, and the edge to it."""
    return 40 + 7 * width
