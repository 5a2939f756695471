"""Minibatches of neighbourhoods for networks on graphs, in the shape of PyTorch Geometric's NeighborLoader.

A batch is an instance of neighbour sampling whose seeds are some of the input vertices. Several batches are drawn in
one run, and the next run is made while the batches of this one are used: of samples there are never more alive than
those of `prefetch` + 1 runs. Arrays are handed on by DLPack, so nothing is copied on the way to PyTorch.

Sources: Hamilton, Ying, Leskovec, Inductive representation learning on large graphs (2017); Fey, Lenssen, Fast graph
representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import flag
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.sample._blocks import Layered
from graphdask.sample._column_names import is_of_vertices, weighted_by
from graphdask.sample._loading import Fields, Loader, Run, Ways, each_once
from graphdask.sample._minibatches import Drawn
from graphdask.sample.sampler import Placement


@dataclass(repr=False)
class Batch(Layered, Fields):
    """One minibatch. Arrays are NumPy's, or CuPy's where the graph is on a GPU; or tensors of PyTorch."""

    n_id: Any
    """int64, shape (nodes,): the caller's id of each vertex; seeds first, then in the order in which edges reach them.
    Strings where the ids are. With times a vertex stands there for each seed that it was reached from."""
    edge_index: Any
    """int64, shape (2, edges): numbers of the neighbour and of the vertex it was drawn for, as messages go."""
    e_id: Any
    """int64, shape (edges,): the row of each edge in the arrays or the file that the graph was made of, so that
    `edge_attr[batch.e_id]` are the attributes of the edges. None with `edge_rows=False`."""
    batch_size: int
    """How many of the vertices are seeds."""
    input_id: Any
    """int64, shape (batch_size,): place of each seed among the input vertices."""
    num_sampled_nodes: list[int]
    """Seeds, then the vertices that each hop reached first."""
    num_sampled_edges: list[int] | None
    """Edges of each hop; None unless `subgraph_type` is "directional"."""
    x: Any = None
    """Rows of `x` for the vertices."""
    y: Any = None
    """Rows of `y` for the vertices."""
    batch: Any = None
    """int64, shape (nodes,): number of the seed that each vertex was reached from; disjoint or with times only."""
    seed_time: Any = None
    """int64 or float64, shape (batch_size,): the time of each seed; with times only."""
    direction: str = field(default="in", repr=False)
    """The `direction` of the loader; neither shown nor in `Data` of PyTorch Geometric."""


@public
class NeighborLoader(Loader):
    """Iterates over minibatches of sampled neighbourhoods, as `torch_geometric.loader.NeighborLoader` does.

    Every pass over the loader is an epoch, and `epoch` the number of the next one. Batch b of epoch e is instance
    e * len(loader) + b of `neighbors` with the same seed; with shuffle, input vertices stand in the order of 64-bit
    numbers of Philox 4x64 with the key (seed, 0x4E4C) and the counter (1, 0, 0, epoch). So a seed says all batches of
    all epochs, whatever the placement, the devices and the number of workers; set `epoch` to begin elsewhere.

    Parameters
    ----------
    G : Graph
    input_nodes : array of vertex ids, or of bool with an element for each vertex, optional
        The vertices that batches are made for, each once; disjoint or with times as often as wanted.
        Default: all.
    batch_size : int
        Input vertices of a batch; the last one has what is left.
    input_time : number, or array-like with one for each input vertex, optional
        The time of each input vertex, in the unit of `times`. With it neighbours are drawn as by `temporal_neighbors`:
        along edges that are not later than the time of the seed that they are reached from, at every hop.
    time_attr : str, optional
        The name of a column of the edges, as `times` may be, or of one of `G.vertex_columns` of a directed graph: every
        edge then has the time of the neighbour that is drawn along it, and `input_time` defaults to the times of the
        input vertices.
    disjoint : bool
        Give every seed a neighbourhood with vertices of its own, as with times; input vertices may then be there more
        than once. Default: the seeds of a batch share the vertices that they reach.

    Attributes
    ----------
    epoch : int
        Number of the next pass; 0 at first.

    Raises
    ------
    VertexNotFound
        For an input vertex that is none of the graph.
    InputError
        For an argument value that is not allowed, an input vertex that is there twice, an `x` of another length, times
        that are NaN or not one for each edge or input vertex, and for a bias with times.
    Unsupported
        With times, for a `Streamed` placement that speaks of partitions. When batches are made, for a graph that does
        not know the rows of its edges, if they are not left out.

    Notes
    -----
    `e_id` is the row of an edge in what the caller gave: its place in the arrays of `from_edges`, among the edges of a
    file in the order in which `read_graph` reads them, among the rows of all partitions of a Dask data frame, the
    stored entries of `A.tocoo()` (of an undirected graph those of the upper triangle) or the edges of `g.edges`. Edges
    that were dropped or merged count as well; one that others were merged into has its own row, the first of those of
    the smallest weight. Both directions of an undirected edge have the same row, and parallel edges have one each. Of a
    generated graph it is the place in `G.edges()`, where parallel edges are merged in those of the same graph with
    `multi_edges="keep"`.

    Disjoint or with times every seed has a neighbourhood of its own, and `batch` says whose each vertex is. Vertices
    and edges of a batch stand hop by hop, in each hop in the order of the seeds. Seed s of epoch e, counted from 0, is
    instance e * (seeds of an epoch) + s of `neighbors` or `temporal_neighbors`. The latter
    is what `NeighborLoader` of PyTorch Geometric gives with a `time_attr`.

    A pass that is left early ends its threads; that waits for the run that they are at.

    References
    ----------
    Fey, Lenssen, Fast graph representation learning with PyTorch Geometric, ICLR workshop 2019. Hamilton, Ying,
    Leskovec, NeurIPS 2017. Rossi et al., Temporal graph networks for deep learning on dynamic graphs, 2020.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([1, 2, 3, 3], [0, 0, 1, 2])
    >>> loader = gd.sample.NeighborLoader(G, [2, 1], input_nodes=[0, 3], batch_size=1)
    >>> first, second = loader
    >>> first.n_id.tolist(), first.edge_index.tolist(), first.num_sampled_nodes
    ([0, 1, 2, 3], [[1, 2, 3, 3], [0, 0, 1, 2]], [1, 2, 1])
    >>> second.n_id.tolist(), second.edge_index.tolist()
    ([3], [[], []])

    Of two seeds at different times, which see edges until then:

    >>> loader = gd.sample.NeighborLoader(G, [2], [0, 0], batch_size=2, times=[10, 20, 30, 40], input_time=[10, 25])
    >>> (both,) = loader
    >>> both.n_id.tolist(), both.batch.tolist(), both.edge_index.tolist()
    ([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [[2, 3, 4], [0, 1, 1]])
    """

    def __init__(
        self,
        G: Graph,
        num_neighbors: Sequence[int],
        input_nodes: Any = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        bias: str | None = None,
        weight_attr: str | None = None,
        method: str = "auto",
        direction: str = "in",
        seed: int = 0,
        input_time: Any = None,
        times: Any = None,
        time_attr: str | None = None,
        temporal_strategy: str = "uniform",
        subgraph_type: str = "directional",
        disjoint: bool = False,
        x: Any = None,
        y: Any = None,
        transform: Callable[[Any], Any] | None = None,
        transform_sampler_output: Callable[[Any], Any] | None = None,
        output: str = "arrays",
        prefetch: int = 1,
        batches_per_run: int | None = None,
        edge_rows: bool = True,
        placement: Placement = "auto",
        client: Any = None,
    ):
        ways = Ways(
            batch_size, shuffle, drop_last, placement, client, edge_rows, x, y, transform, output, prefetch,
            batches_per_run, subgraph_type, transform_sampler_output,
        )  # fmt: skip
        G, bias = weighted_by(checked_graph(G), weight_attr, bias, input_time is not None or time_attr is not None)
        self._prepare(
            G, num_neighbors, ways, replace=replace, bias=bias, direction=direction, method=method, seed=seed
        )  # fmt: skip
        in_time = input_time is not None or is_of_vertices(G, time_attr)
        self._disjoint = flag("disjoint", disjoint) or in_time
        self._input = _input_vertices(G, input_nodes, self._disjoint)
        count = len(self._input)
        self._seen = self._see(
            ("input_time", input_time), (count, "input vertex"), times, time_attr, temporal_strategy, self._input
        )  # fmt: skip
        self._divide(count, 1, batches_per_run)

    def __repr__(self) -> str:
        return (
            f"<NeighborLoader: {len(self)} batches of {self.batch_size} of {len(self._input)} vertices, neighbours "
            f"{list(self._options['fanouts'])}>"
        )

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Run:
        bounds = np.minimum(np.arange(first, last + 1) * self.batch_size, len(order))
        places = order[bounds[0] : bounds[-1]]
        bounds, seeds, beside = bounds - bounds[0], self._input[places], {}
        beside["input_id"] = places, bounds
        if not self._disjoint:
            return Run(self._sampler(seeds, bounds, epoch * self._count + first, None), beside)
        limits = None if self._seen is None else self._seen.limits[places]
        if limits is not None:
            beside["seed_time"] = limits, bounds
        of_epoch = min(self._count * self.batch_size, len(order))
        sampler = self._sampler(seeds, None, epoch * of_epoch + first * self.batch_size, limits)
        return Run(sampler, beside, self.batch_size)

    def _made(self, drawn: Drawn, common: dict[str, Any]) -> Batch:
        return Batch(batch_size=drawn.num_sampled_nodes[0], **drawn.beside, **common)


def _input_vertices(G: Graph, given: Any, again_too: bool) -> np.ndarray:
    """Vertex numbers of the input vertices, int64; each once, unless they may be there again too."""
    if given is None:
        return np.arange(G.num_vertices)
    asked = given_array("input_nodes", given)
    if asked.ndim != 1:
        raise InputError(f"input_nodes has {asked.ndim} dimensions; it is a list of vertices, or of bool for each")
    if asked.dtype == bool:
        if len(asked) != G.num_vertices:
            raise InputError(f"input_nodes has {len(asked)} elements of bool; the graph has {G.num_vertices} vertices")
        return np.flatnonzero(asked)
    numbers: np.ndarray = G.ids.to_internal(asked, "input node") if len(asked) else np.zeros(0, np.int64)
    if again_too:
        return numbers
    return each_once("input_nodes", asked, numbers)
