"""Neighborhoods: what traversal samplers return, edge by edge, and renumbered as loaders of neural networks want it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.errors import InputError, shown
from graphdask.kernels.neighbors.neighborhoods_pack import NumberedVertices
from graphdask.sample.result import Samples


@dataclass(frozen=True)
class Block:
    """What one layer of a network reads: the first `num_dst` of the first `num_src` vertices gather along the edges."""

    num_src: int
    num_dst: int
    row: np.ndarray
    """Number of the vertex that gathers, below num_dst, for each edge."""
    col: np.ndarray
    """Number of the neighbour, below num_src."""
    e_id: np.ndarray | None = None
    """Row of each edge in what the graph was made of; None of samples, and of batches without these rows."""


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
    sizes: tuple[int, ...]
    """How many vertices are seeds, and how many each hop reaches first."""

    def to_csr(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges as (indptr, indices), both int64, one row for each of `nodes`; each row as it was drawn."""
        return _rows(self.row, self.col, len(self.nodes))

    def blocks(self) -> list[Block]:
        """Return the layers of a network over this subgraph, the outermost first.

        The last layer computes the seeds from the vertices of hop 0. Every other layer computes what the next layer
        reads; the layer k places from the last has all edges of hops 0 to k. The vertices of a layer are a prefix of
        those of the previous layer.
        """
        known = np.cumsum(self.sizes).tolist()
        ends = np.searchsorted(self.hop, np.arange(len(self.sizes) - 1), side="right").tolist()
        made = [
            Block(known[hop + 1], known[hop], self.row[:end], self.col[:end]) for hop, end in enumerate(ends)
        ]  # fmt: skip
        return made[::-1]


@dataclass(frozen=True)
class Subgraphs:
    """The sampled subgraphs of all instances as one, disjoint: vertices are numbered through."""

    nodes: np.ndarray
    """The caller's id of each vertex."""
    node_offsets: np.ndarray
    """int64, shape (instances + 1,): where the vertices of each instance begin."""
    row: np.ndarray
    """Place in `nodes` of the vertex whose neighbour was drawn, int64, for each edge."""
    col: np.ndarray
    """Place in `nodes` of the neighbour."""
    edge_offsets: np.ndarray
    """int64, shape (instances + 1,): where the edges of each instance begin."""

    def to_csr(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges as (indptr, indices), both int64, one row for each of `nodes`; each row as it was drawn.

        The rows of instance i are `indptr[node_offsets[i] : node_offsets[i + 1] + 1]`.
        """
        return _rows(self.row, self.col, len(self.nodes))


def _rows(row: np.ndarray, col: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(row, kind="stable")
    return np.concatenate(([0], np.cumsum(np.bincount(row, minlength=count)))), col[order]


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
        sampler = self.sampler
        return np.searchsorted(self._internal("instance"), np.arange(sampler.first, sampler.last + 1))

    @cached_property
    def _renumbered(self) -> tuple[np.ndarray, ...]:
        nodes, *others = renumbered(
            self.graph.num_vertices,
            self.sampler,
            self.edge_offsets,
            self.new_vertices,
            self._internal("src"),
            self._internal("dst"),
        )
        made = self.graph.ids.to_caller(nodes), *others
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

    @cached_property
    def sizes(self) -> np.ndarray:
        """int64, shape (instances, hops + 1): how many vertices are seeds, and how many each hop reaches first."""
        _, _, row, col, seeds = self._renumbered
        return sizes_of(seeds, len(self.sampler.fanouts), self.edge_offsets, self._internal("hop"), row, col)[0]

    def coo(self) -> Subgraphs:
        """The subgraphs of all instances as one, disjoint: row and column of each edge, with the vertices numbered
        through.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
        >>> c = gd.sample.neighbors(G, [0, 2], fanouts=[2]).coo()
        >>> c.nodes.tolist(), c.row.tolist(), c.col.tolist()
        ([0, 1, 2, 2, 3], [0, 0, 3], [1, 2, 4])
        """
        first = np.repeat(self.node_offsets[:-1], np.diff(self.edge_offsets))
        return Subgraphs(self.nodes, self.node_offsets, self.row + first, self.col + first, self.edge_offsets)

    def csr(self) -> tuple[np.ndarray, np.ndarray]:
        """The same as (indptr, indices), one row for each of `nodes`; those of instance i begin at `node_offsets[i]`.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
        >>> indptr, indices = gd.sample.neighbors(G, [0, 2], fanouts=[2]).csr()
        >>> indptr.tolist(), indices.tolist()
        ([0, 2, 2, 2, 3, 3], [1, 2, 4])
        """
        return self.coo().to_csr()

    def _place_of(self, instance: int) -> int:
        first, last = self.sampler.first, self.sampler.last
        if isinstance(instance, bool) or not isinstance(instance, int | np.integer) or not first <= instance < last:
            raise InputError(
                f"instance={shown(instance)} is none of the {last - first} instances, {first} to {last - 1}"
            )
        return int(instance) - first

    def subgraph(self, instance: int) -> Subgraph:
        """The sampled subgraph of one instance.

        Raises
        ------
        InputError
            If there is no such instance.
        """
        here = self._place_of(instance)
        edges = slice(*self.edge_offsets[here : here + 2])
        nodes = slice(*self.node_offsets[here : here + 2])
        return Subgraph(
            self.nodes[nodes], self.row[edges], self.col[edges], self.hop[edges], tuple(self.sizes[here].tolist())
        )


def renumbered(
    num_vertices: int, sampler: Any, edge_offsets: np.ndarray, new_vertices: int, src: np.ndarray, dst: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Vertex numbers of the vertices of each instance, where they begin, row and column of each edge among them, and
    how many vertices of each instance are seeds."""
    nodes = np.empty(len(sampler.seeds) + new_vertices * len(src), src.dtype)
    offsets, seeds = np.zeros(sampler.instances + 1, np.int64), np.zeros(sampler.instances, np.int64)
    row, col = np.empty(len(src), np.int64), np.empty(len(src), np.int64)
    get_backend("cpu").kernels("neighborhoods").neighborhoods_renumber(
        sampler.instances, num_vertices, new_vertices, NumberedVertices(
            seeds=sampler.seeds, seed_bounds=sampler.bounds, edge_bounds=edge_offsets, src=src, dst=dst, nodes=nodes,
            node_offsets=offsets, seeds_of=seeds, row=row, col=col,
        ),
    )  # fmt: skip
    return nodes[: offsets[-1]].copy(), offsets, row, col, seeds


def sizes_of(
    seeds: np.ndarray, hops: int, edge_offsets: np.ndarray, hop: np.ndarray, row: np.ndarray, col: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of each instance: seeds, and those that each hop reaches first; and edges of each hop. Both int64."""
    vertices, edges = np.zeros((len(seeds), hops + 1), np.int64), np.zeros((len(seeds), hops), np.int64)
    vertices[:, 0] = seeds
    get_backend("cpu").kernels("neighborhoods").neighborhoods_sizes(
        len(seeds), edge_offsets, hop, row, col, vertices, edges
    )
    return vertices, edges
