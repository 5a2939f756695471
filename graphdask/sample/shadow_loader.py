"""Minibatches of a subgraph for each root, in the shape of PyTorch Geometric's ShaDowKHopSampler.

A root's subgraph has the vertices that neighbour sampling reaches from it and all edges of the graph between these. A
batch holds the subgraphs of some roots one after the other, and the vertices of each in the order of `G.vertex_ids`.

Source: Zeng et al., Decoupling the depth and scope of graph neural networks (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from graphdask.graph.graph import Graph
from graphdask.interface.kinds import whole
from graphdask.interface.suggest import public
from graphdask.sample._loading import Fields, Run
from graphdask.sample._minibatches import Drawn, rows_of
from graphdask.sample.neighbor_loader import NeighborLoader
from graphdask.sample.sampler import Placement

DEEPEST = 1 << 10
"""Hops at most."""


@dataclass(repr=False)
class ShaDowBatch(Fields):
    """One minibatch of subgraphs. Arrays are NumPy's, or CuPy's where the graph is on a GPU; or tensors of PyTorch."""

    n_id: Any
    """int64, shape (nodes,): the caller's id of each vertex, subgraph by subgraph, and in each in the order of
    `G.vertex_ids`. Strings where ids are."""
    edge_index: Any
    """int64, shape (2, edges): numbers of the source and the destination of each edge among the vertices, in ascending
    order of sources, then of destinations; an undirected edge stands in both directions."""
    e_id: Any
    """int64, shape (edges,): the row of each edge in what the graph was made of. None with `edge_rows=False`."""
    batch: Any
    """int64, shape (nodes,): number of the subgraph of each vertex."""
    ptr: Any
    """int64, shape (batch_size + 1,): where the vertices of each subgraph begin."""
    root_n_id: Any
    """int64, shape (batch_size,): number of the root of each subgraph among the vertices."""
    batch_size: int
    """Number of subgraphs."""
    input_id: Any
    """int64, shape (batch_size,): place of each root among the input vertices."""
    x: Any = None
    """Rows of `x` for the vertices."""
    y: Any = None
    """Rows of `y` for the roots."""

    PYG: ClassVar[str] = "Batch"


@public
class ShaDowLoader(NeighborLoader):
    """Iterates over minibatches of a subgraph for each root, as `torch_geometric.loader.ShaDowKHopSampler` does.

    A deep network over the subgraph of a root then computes the root alone. Every pass over the loader is an epoch, and
    `epoch` the number of the next one. Roots are shuffled and subgraphs drawn as by `NeighborLoader` with
    `disjoint=True` and `subgraph_type="induced"`, so a seed says all batches of all epochs, whatever the placement, the
    devices and the number of workers.

    Parameters
    ----------
    G : Graph
    depth : int
        Hops from a root, 0 to 1,024.
    num_neighbors : int
        Neighbours of a vertex at each hop; -1 for all of them.
    input_nodes : array of vertex ids, or of bool with an element for each vertex, optional
        The roots, as often as wanted. Default: all vertices.
    batch_size : int
        Roots of a batch; the last one has what is left.
    x, y : array with a row for each vertex, in the order of `G.vertex_ids`, optional
        A batch gets the rows of `x` of its vertices, and those of `y` of its roots.
    output : {"arrays", "torch", "pyg"}
        What batches hold: arrays as they were made; tensors; or a `torch_geometric.data.Batch` of tensors. Tensors
        share the arrays' memory.

    Attributes
    ----------
    epoch : int
        Number of the next pass; 0 at first.

    Raises
    ------
    VertexNotFound
        For a root that is none of the graph.
    InputError
        For an argument value that is not allowed, and an `x` of another length.
    Unsupported
        For a `Streamed` placement that speaks of partitions. When batches are made, for a graph that does not know the
        rows of its edges, if they are not left out.

    Notes
    -----
    With all neighbours batches are those of PyTorch Geometric. Else the draws differ: PyTorch Geometric extends a
    vertex that two edges reach in a hop twice, and takes all neighbours where there are no more than `num_neighbors`,
    with replacement too.

    References
    ----------
    Zeng et al., Decoupling the depth and scope of graph neural networks, NeurIPS 2021.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([1, 2, 0, 3], [2, 1, 1, 2])
    >>> (batch,) = gd.sample.ShaDowLoader(G, 1, -1, input_nodes=[2, 0], batch_size=2)
    >>> batch.n_id.tolist(), batch.ptr.tolist(), batch.root_n_id.tolist()
    ([1, 2, 3, 0], [0, 3, 4], [1, 3])
    >>> batch.edge_index.tolist(), batch.e_id.tolist()
    ([[0, 1, 2], [1, 0, 1]], [0, 1, 3])
    """

    def __init__(
        self,
        G: Graph,
        depth: int,
        num_neighbors: int,
        input_nodes: Any = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        bias: str | None = None,
        method: str = "auto",
        direction: str = "in",
        seed: int = 0,
        x: Any = None,
        y: Any = None,
        transform: Callable[[Any], Any] | None = None,
        output: str = "arrays",
        prefetch: int = 1,
        batches_per_run: int | None = None,
        edge_rows: bool = True,
        placement: Placement = "auto",
        client: Any = None,
    ):
        fanouts = [whole("num_neighbors", num_neighbors, -1)] * whole("depth", depth, 0, DEEPEST)
        super().__init__(
            G, fanouts, input_nodes, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, replace=replace,
            bias=bias, method=method, direction=direction, seed=seed, subgraph_type="induced", disjoint=True, x=x, y=y,
            transform=transform, output=output, prefetch=prefetch, batches_per_run=batches_per_run,
            edge_rows=edge_rows, placement=placement, client=client,
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<ShaDowLoader: {len(self)} batches of {self.batch_size} of {len(self._input)} roots, neighbours "
            f"{list(self._options['fanouts'])}>"
        )

    def _drawn(self, run: Run) -> list[Drawn]:
        return [_by_root(batch, self.graph.num_vertices) for batch in super()._drawn(run)]

    def _made(self, drawn: Drawn, common: dict[str, Any]) -> Any:
        of_roots = rows_of(common["y"], drawn.beside["root_n_id"])
        del common["num_sampled_nodes"], common["num_sampled_edges"], common["y"], common["direction"]
        return ShaDowBatch(batch_size=drawn.num_sampled_nodes[0], y=of_roots, **drawn.beside, **common)


def _by_root(batch: Drawn, num_vertices: int) -> Drawn:
    """A disjoint batch with its vertices root by root, in the order of their numbers."""
    backend, xp, roots = batch.backend, batch.backend.xp, batch.num_sampled_nodes[0]
    with backend.activate():
        order = xp.argsort(batch.batch * num_vertices + batch.numbers.astype(np.int64))
        place = xp.empty_like(order)
        place[order] = xp.arange(len(order))
        owners = batch.batch[order]
        here = {"ptr": xp.searchsorted(owners, xp.arange(roots + 1)), "root_n_id": place[:roots]}
        here = {name: values.astype(np.int64) for name, values in here.items()}
        return replace(
            batch, n_id=batch.n_id[order], numbers=batch.numbers[order], edge_index=place[batch.edge_index],
            batch=owners, beside=batch.beside | here,
        )  # fmt: skip
