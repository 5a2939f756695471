"""Minibatches of clusters of vertices, in the shape of PyTorch Geometric's ClusterLoader: Cluster-GCN.

A batch is the subgraph that the vertices of some clusters induce, with the edges between these clusters.

Source: Chiang et al., Cluster-GCN: An efficient algorithm for training deep and large graph convolutional networks
(2019), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.sample._loading import Fields, Loader, Run, Ways
from graphdask.sample._minibatches import Drawn
from graphdask.sample.induced import Induced
from graphdask.sample.sampler import Placement, refuse_partitions
from graphdask.sample.streamed import Streamed


@dataclass(repr=False)
class ClusterBatch(Fields):
    """One minibatch of clusters. Arrays are NumPy's, or CuPy's where the graph is on a GPU; or tensors of PyTorch."""

    n_id: Any
    """int64, shape (nodes,): the caller's id of each vertex, in the order of `G.vertex_ids`. Strings where ids are."""
    edge_index: Any
    """int64, shape (2, edges): numbers of the source and the destination of each edge among the vertices; an undirected
    edge stands in both directions."""
    e_id: Any
    """int64, shape (edges,): the row of each edge in what the graph was made of. None with `edge_rows=False`."""
    clusters: Any
    """int64, shape (clusters,): the labels of the clusters of the batch."""
    x: Any = None
    """Rows of `x` for the vertices."""
    y: Any = None
    """Rows of `y` for the vertices."""


@public
class ClusterLoader(Loader):
    """Iterates over minibatches of clusters and the edges within and between them, for Cluster-GCN.

    Every pass over the loader is an epoch, and `epoch` the number of the next one. Clusters are shuffled as the input
    vertices of `NeighborLoader`, so a seed says all batches of all epochs, whatever the placement, the devices and the
    number of workers.

    Parameters
    ----------
    G : Graph
    clusters : array of int, shape (vertices,)
        The label of the cluster of each vertex, in the order of `G.vertex_ids`; such as those of METIS or of
        `gd.louvain`.
    batch_size : int
        Clusters of a batch; the last one has what is left.
    shuffle : bool
        Put the clusters in another order in every epoch. Default: the order of their labels.
    seed : int
        0 to 2**64 - 1; of the order.

    Attributes
    ----------
    epoch : int
        Number of the next pass; 0 at first.

    Raises
    ------
    InputError
        For labels that are not one whole number for each vertex, and for an argument value that is not allowed.

    References
    ----------
    Chiang et al., Cluster-GCN: An efficient algorithm for training deep and large graph convolutional networks, KDD
    2019.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> first, second = gd.sample.ClusterLoader(G, [0, 0, 1, 1])
    >>> second.n_id.tolist(), second.edge_index.tolist()
    ([2, 3], [[0], [1]])
    >>> (both,) = gd.sample.ClusterLoader(G, [0, 0, 1, 1], batch_size=2)
    >>> both.edge_index.tolist()
    [[0, 1, 2, 3], [1, 2, 3, 0]]
    """

    def __init__(
        self,
        G: Graph,
        clusters: Any,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
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
        checked_graph(G)
        labels = given_array("clusters", clusters)
        if labels.shape != (G.num_vertices,) or (labels.dtype.kind not in "iu" and labels.size):
            raise InputError(
                f"clusters has the shape {labels.shape} and the dtype {labels.dtype}; a whole number for each of "
                f"{G.num_vertices} vertices is needed"
            )
        if labels.size and labels.max() > np.iinfo(np.int64).max:
            raise InputError(f"clusters has the label {labels.max()}; labels are below 2**63")
        labels = labels.astype(np.int64, copy=False)
        ways = Ways(
            batch_size, shuffle, drop_last, placement, client, edge_rows, x, y, transform, output, prefetch,
            batches_per_run, "directional",
        )  # fmt: skip
        self._prepare(G, [-1], ways, replace=False, bias=None, direction="out", method="auto", seed=seed)
        if isinstance(self._placement, Streamed):
            refuse_partitions(Induced.name, self._placement)
        self._vertices = np.argsort(labels, kind="stable")
        ordered = labels[self._vertices]
        self._labels, begins = np.unique(ordered, return_index=True)
        self._bounds = np.append(begins, len(ordered))
        count = len(self._labels)
        self._divide(count, G.num_vertices / max(count, 1), batches_per_run)

    def __repr__(self) -> str:
        return f"<ClusterLoader: {len(self)} batches of {self.batch_size} of {len(self._labels)} clusters>"

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Run:
        bounds = np.minimum(np.arange(first, last + 1) * self.batch_size, len(order))
        chosen = order[bounds[0] : bounds[-1]]
        bounds = bounds - bounds[0]
        each = [self._vertices[self._bounds[cluster] : self._bounds[cluster + 1]] for cluster in chosen]
        sets = [np.sort(np.concatenate(each[a:b])) for a, b in pairwise(bounds)]
        sampler = Induced(np.concatenate(sets), np.concatenate(([0], np.cumsum([len(some) for some in sets]))))
        sampler.numbered = self._numbered
        return Run(sampler, {"clusters": (self._labels[chosen], bounds)})

    def _made(self, drawn: Drawn, common: dict[str, Any]) -> ClusterBatch:
        return ClusterBatch(
            drawn.n_id, drawn.edge_index, drawn.e_id, drawn.beside["clusters"], common["x"], common["y"]
        )  # fmt: skip
