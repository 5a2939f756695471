"""Neighborhoods: what traversal samplers return, edge by edge, and renumbered as loaders of neural networks want it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphdask.errors import InputError
from graphdask.sample.result import Samples


@dataclass(frozen=True)
class Subgraph:
    """The sampled edges of one instance, with its vertices numbered from 0 on."""

    nodes: np.ndarray
    """The caller's id of each vertex: the seeds first, then the others in the order in which edges reach them."""
    row: np.ndarray
    """Number of the vertex whose neighbour was drawn, int64, for each edge."""
    col: np.ndarray
    """Number of the neighbour."""
    hop: np.ndarray

    def to_csr(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges as (indptr, indices), both int64, one row for each of `nodes`; each row as it was drawn."""
        order = np.argsort(self.row, kind="stable")
        counts = np.bincount(self.row, minlength=len(self.nodes))
        return np.concatenate(([0], np.cumsum(counts))), self.col[order]


class Neighborhoods(Samples):
    """Sampled edges, in the order of instance, hop, the vertex's place in the frontier, and as they were drawn.

    A frontier has the order of the edges that reached its vertices. Where all neighbours were taken, they stand in the
    order of their ids.
    """

    columns = ("src", "dst", "hop", "instance")
    vertex_valued = ("src", "dst")
    new_vertices = 1
    """How many vertices an edge may add to its instance's: its source may come from elsewhere, or may not."""

    @property
    def src(self) -> np.ndarray:
        """The caller's id of the vertex whose neighbour was drawn, for each edge."""
        return self._column("src")

    @property
    def dst(self) -> np.ndarray:
        """The caller's id of the neighbour."""
        return self._column("dst")

    @property
    def hop(self) -> np.ndarray:
        """int32: 0 for neighbours of the seeds."""
        return self._column("hop")

    @property
    def instance(self) -> np.ndarray:
        """int64: place of the seed, or of the array of seeds, among those given."""
        return self._column("instance")

    @cached_property
    def edge_offsets(self) -> np.ndarray:
        """int64, shape (instances + 1,): where the edges of each instance begin."""
        return np.searchsorted(self._internal("instance"), np.arange(self.sampler.instances + 1))

    @cached_property
    def _renumbered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        from graphdask.backend import get_backend

        src, dst, sampler = self._internal("src"), self._internal("dst"), self.sampler
        nodes = np.empty(len(sampler.seeds) + self.new_vertices * len(src), src.dtype)
        offsets = np.zeros(sampler.instances + 1, np.int64)
        row, col = np.empty(len(src), np.int64), np.empty(len(src), np.int64)
        get_backend("cpu").kernels("neighborhoods").neighborhoods_renumber(
            sampler.instances,
            sampler.seeds,
            sampler.bounds,
            self.edge_offsets,
            self.new_vertices,
            src,
            dst,
            nodes,
            offsets,
            row,
            col,
        )
        made = self.graph.ids.to_caller(nodes[: offsets[-1]].copy()), offsets, row, col
        for array in made:
            array.flags.writeable = False
        return made

    @property
    def nodes(self) -> np.ndarray:
        """The caller's ids of the vertices of each instance: seeds first, then in the order in which edges reach them.

        As the loaders of PyTorch Geometric number them; those of instance i begin at `node_offsets[i]`.
        """
        return self._renumbered[0]

    @property
    def node_offsets(self) -> np.ndarray:
        """int64, shape (instances + 1,): where the vertices of each instance begin in `nodes`."""
        return self._renumbered[1]

    @property
    def row(self) -> np.ndarray:
        """int64, for each edge: the number of `src` among the vertices of its instance, from 0 on."""
        return self._renumbered[2]

    @property
    def col(self) -> np.ndarray:
        """int64, for each edge: the number of `dst` among the vertices of its instance, from 0 on."""
        return self._renumbered[3]

    def subgraph(self, instance: int) -> Subgraph:
        """The sampled subgraph of one instance.

        Raises
        ------
        InputError
            Where there is no such instance.
        """
        count = self.sampler.instances
        if isinstance(instance, bool) or not isinstance(instance, int | np.integer) or not 0 <= instance < count:
            raise InputError(f"instance={instance!r} is none of the {count} instances, 0 to {count - 1}")
        edges = slice(*self.edge_offsets[instance : instance + 2])
        nodes = slice(*self.node_offsets[instance : instance + 2])
        return Subgraph(self.nodes[nodes], self.row[edges], self.col[edges], self.hop[edges])
