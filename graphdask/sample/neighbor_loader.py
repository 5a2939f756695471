"""Minibatches of neighbourhoods for networks on graphs, in the shape of PyTorch Geometric's NeighborLoader.

A batch is an instance of neighbour sampling whose seeds are some of the input vertices. Several batches are drawn in
one run, and the next run is made while the batches of this one are used: of samples there are never more alive than
those of `prefetch` + 1 runs. Arrays are handed on by DLPack, so nothing is copied on the way to PyTorch.

Sources: Hamilton, Ying, Leskovec, Inductive representation learning on large graphs (2017); Fey, Lenssen, Fast graph
representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import whole
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.sample._edge_values import with_edge_values
from graphdask.sample._minibatch_traversal import MinibatchTraversal
from graphdask.sample._minibatches import CONVERT, Drawn, checked_output, checked_rows, drawn_batches, rows_of
from graphdask.sample.hops import checked_options, checked_sizes
from graphdask.sample.sampler import Placement, checked_placement, refuse_partitions
from graphdask.sample.streamed import Streamed
from graphdask.sample.temporal import NumberedTemporal, checked_limits, checked_strategy
from graphdask.sample.traversal import NumberedTraversal, Traversal

RUN_EDGES = 1 << 23
"""Edges that one run draws, about, where the caller leaves it open."""
SHUFFLE = np.uint64(0x4E4C)
"""Half of the key of the numbers that input vertices are shuffled by; the other half is the seed."""


@dataclass
class Batch:
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
    num_sampled_edges: list[int]
    """Edges of each hop."""
    x: Any = None
    """Rows of `x` for the vertices."""
    y: Any = None
    """Rows of `y` for the vertices."""
    batch: Any = None
    """int64, shape (nodes,): number of the seed that each vertex was reached from; with times only."""
    seed_time: Any = None
    """int64 or float64, shape (batch_size,): the time of each seed; with times only."""

    @property
    def num_nodes(self) -> int:
        """Vertices of the batch."""
        return sum(self.num_sampled_nodes)

    def __repr__(self) -> str:
        shapes = (f"{f.name}={_shown(getattr(self, f.name))}" for f in fields(self))
        return f"Batch({', '.join(text for text in shapes if not text.endswith('=None'))})"


def _shown(value: Any) -> str:
    return str(list(value.shape)) if hasattr(value, "shape") else str(value)


@dataclass
class _Times:
    """What input vertices see."""

    limits: np.ndarray
    """int64 or float64: the time of each."""
    last: bool
    """Whether their neighbours are the latest."""


@public
class NeighborLoader:
    """Iterates over minibatches of sampled neighbourhoods, as `torch_geometric.loader.NeighborLoader` does.

    Every pass over the loader is an epoch, and `epoch` the number of the next one. Batch b of epoch e is instance
    e * len(loader) + b of `neighbors` with the same seed; with shuffle, input vertices stand in the order of 64-bit
    numbers of Philox 4x64 with the key (seed, 0x4E4C) and the counter (1, 0, 0, epoch). So a seed says all batches of
    all epochs, whatever the placement, the devices and the number of workers; set `epoch` to begin elsewhere.

    Parameters
    ----------
    G : Graph
    num_neighbors : sequence of int
        Neighbours of a vertex at each hop; -1 for all of them.
    input_nodes : array of vertex ids, or of bool with an element for each vertex, optional
        The vertices that batches are made for, each once; with times as often as wanted. Default: all.
    batch_size : int
        Input vertices of a batch; the last one has what is left.
    shuffle : bool
        Put the input vertices in another order in every epoch.
    drop_last : bool
        Leave out a last batch of fewer than `batch_size`.
    replace, bias, method
        As for `neighbors`.
    direction : {"in", "out"}
        `in`: vertices that edges come from are drawn, and messages go along the edges. `out`: the other way round.
    seed : int
        0 to 2**64 - 1.
    input_time : number, or array-like with one for each input vertex, optional
        The time of each input vertex, in the unit of `times`. With it neighbours are drawn as by `temporal_neighbors`:
        along edges that are not later than the time of the seed that they are reached from, at every hop.
    times : array-like of int or float, shape (G.num_edges,), optional
        The time of each edge, in the order of `G.edges()`, of a graph made from arrays. Default: the weights of `G`.
    temporal_strategy : {"uniform", "last"}
        Of the edges that a seed sees, any or the latest; of edges of one time those to larger ids are later.
    x, y : array with a row for each vertex, in the order of `G.vertex_ids`, optional
        A NumPy or CuPy array, a memory map, or a tensor; a batch gets the rows of its vertices.
    transform : callable, optional
        Called with each batch, of the kind that `output` says; what it returns is the batch. With `prefetch` it is
        called in another thread.
    output : {"arrays", "torch", "pyg"}
        What batches hold: arrays as they were made; tensors; or a `torch_geometric.data.Data` of tensors. Tensors share
        the arrays' memory.
    prefetch : int
        Runs that are made ahead, in a thread; with 0 everything happens when a batch is asked for.
    batches_per_run : int, optional
        Batches that are drawn together. Default: as many as have about 2 million edges. It changes no batch.
    edge_rows : bool
        Whether batches have `e_id`. For the first batch the workers find the row of every edge: they make the edges
        again, and keep 4 bytes for each stored edge, or 8 if there are 2^31 edges or more. A streamed file holds the
        rows if it was built with `edge_rows=True`.
    placement, client
        As for `neighbors`.

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
    MissingDependency
        Without PyTorch or PyTorch Geometric, where `output` asks for them.
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

    With times every seed has a neighbourhood of its own, and `batch` says whose each vertex is. Vertices and edges of a
    batch stand hop by hop, in each hop in the order of the seeds. Seed s of epoch e, counted from 0, is instance
    e * (seeds of an epoch) + s of `temporal_neighbors`. This is what `NeighborLoader` of PyTorch Geometric gives with a
    `time_attr` of edges; for times of vertices, give every edge that of the vertex it comes from.

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

    _traversal: type[NumberedTraversal] = MinibatchTraversal

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
        method: str = "auto",
        direction: str = "in",
        seed: int = 0,
        input_time: Any = None,
        times: Any = None,
        temporal_strategy: str = "uniform",
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
        sizes = checked_sizes(num_neighbors, "num_neighbors", -1)
        self._options = checked_options(G, sizes, replace, bias, direction, method, seed)
        self.graph, self.batch_size = G, whole("batch_size", batch_size, 1)
        self.shuffle, drop_last = _flag("shuffle", shuffle), _flag("drop_last", drop_last)
        self._placement, self._client = checked_placement(placement), client
        self._numbered = _flag("edge_rows", edge_rows)
        self._input = _input_vertices(G, input_nodes, input_time is not None)
        self._times = self._checked_times(input_time, times, temporal_strategy)
        self._x, self._y = checked_rows("x", x, G.num_vertices), checked_rows("y", y, G.num_vertices)
        if transform is not None and not callable(transform):
            raise InputError(f"transform={shown(transform)} cannot be called")
        self._transform = transform
        self._output = checked_output(output, G)
        self._prefetch, self.epoch = whole("prefetch", prefetch, 0), 0
        count = len(self._input)
        self._count = count // self.batch_size if drop_last else -(-count // self.batch_size)
        if batches_per_run is None:
            self._at_once = max(1, RUN_EDGES // max(1, self._edges_of_a_batch()))
        else:
            self._at_once = whole("batches_per_run", batches_per_run, 1)

    def __len__(self) -> int:
        """Batches of an epoch."""
        return self._count

    def __repr__(self) -> str:
        return (
            f"<NeighborLoader: {len(self)} batches of {self.batch_size} of {len(self._input)} vertices, neighbours "
            f"{list(self._options['fanouts'])}>"
        )

    def __iter__(self) -> Iterator[Any]:
        """The batches of the next epoch."""
        epoch = whole("epoch", self.epoch, 0, 2**40 - 1)
        self.epoch = epoch + 1
        return self._batches(epoch)

    def _checked_times(self, input_time: Any, times: Any, strategy: Any) -> _Times | None:
        """What the input vertices see; the graph gets the times of its edges."""
        last = checked_strategy("temporal_strategy", strategy, self._options["replace"])
        if input_time is None:
            if times is not None or last:
                given = "times" if times is not None else "temporal_strategy='last'"
                raise InputError(f"{given} says nothing without input_time=, the time of each input vertex")
            return None
        for name, none in (("bias", None), ("method", "auto")):
            value = self._options.pop(name)
            if value != none:
                raise InputError(f"{name}={shown(value)} is not for draws in time; leave it out, or input_time")
        if isinstance(self._placement, Streamed):
            refuse_partitions(NumberedTemporal.name, self._placement)
        self.graph = with_edge_values(self.graph, "times", times)
        dtype = self.graph.source.weight_dtype
        return _Times(checked_limits("input_time", input_time, len(self._input), "input vertices", dtype), last)

    def _batches(self, epoch: int) -> Iterator[Any]:
        order = self._order(epoch)
        sampler, per = self._sampler(order, epoch), 1 if self._times is None else self.batch_size
        firsts = range(sampler.first, sampler.last, per * self._at_once)
        chunks = (sampler.chunk(first, min(first + per * self._at_once, sampler.last)) for first in firsts)

        def drawn(chunk: Traversal) -> list[Drawn]:
            return self._drawn(chunk, order[(chunk.first - sampler.first) // per * self.batch_size :])

        if not self._prefetch:
            for chunk in chunks:
                yield from map(self._finished, drawn(chunk))
            return
        with _Threads() as draws, _Threads() as finishes:
            runs = draws.ahead(drawn, chunks, self._prefetch)
            yield from finishes.ahead(self._finished, chain.from_iterable(runs), 1)

    def _order(self, epoch: int) -> np.ndarray:
        """Places of the input vertices of all batches, one after the other."""
        if not self.shuffle:
            return np.arange(len(self._input))
        key = np.array([self._options["seed"], SHUFFLE], np.uint64)
        numbers = np.random.Philox(key=key, counter=np.array([0, 0, 0, epoch], np.uint64)).random_raw(len(self._input))
        return np.argsort(numbers, kind="stable")

    def _sampler(self, order: np.ndarray, epoch: int) -> Traversal:
        """The sampler of all batches of an epoch: an instance is a batch, or with times a seed."""
        bounds = np.minimum(np.arange(self._count + 1) * self.batch_size, len(order))
        order = order[: bounds[-1]]
        sampler: Traversal
        if self._times is None:
            sampler = self._traversal(self._input[order], bounds, **self._options)
        else:
            limits, last = self._times.limits[order], self._times.last
            sampler = NumberedTemporal(self._input[order], None, limits=limits, last=last, **self._options)
        sampler.numbered = self._numbered
        count = sampler.instances
        sampler.first = sampler.origin = epoch * count
        sampler.last = sampler.first + count
        return sampler

    def _edges_of_a_batch(self) -> int:
        """About how many; where all neighbours are taken, rows are reckoned to be as long as in the mean."""
        source, seeds = self.graph.source, np.zeros(min(self.batch_size, len(self._input)), np.int64)
        stored = source.num_edges * (1 if self.graph.directed else 2)
        one = Traversal(seeds, np.array([0, len(seeds)]), **self._options)
        return int(min(one.edges_at_most(stored / max(source.num_vertices, 1)), stored or 1))

    def _drawn(self, sampler: Traversal, places: np.ndarray) -> list[Drawn]:
        """The batches of one run, but for rows of `x` and `y`."""
        result = execute.sample(self.graph, sampler, self._placement, client=self._client, progress=False)
        if self._placement == "auto":
            self._placement = result.placement  # where it did not fit once, it is not tried again
        return drawn_batches(result, places, None if self._times is None else self.batch_size)

    def _finished(self, drawn: Drawn) -> Any:
        """A batch as the caller wants it."""
        batch = Batch(
            drawn.n_id, drawn.edge_index, drawn.e_id, drawn.num_sampled_nodes[0], drawn.input_id,
            drawn.num_sampled_nodes, drawn.num_sampled_edges, rows_of(self._x, drawn.numbers),
            rows_of(self._y, drawn.numbers), drawn.batch, drawn.seed_time,
        )  # fmt: skip
        made = CONVERT[self._output](batch)
        return made if self._transform is None else self._transform(made)


class _Threads:
    """A thread that makes things ahead of their use; leaving the context ends it after what it is at."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "graphdask-loader")

    def __enter__(self) -> _Threads:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def ahead(self, make: Callable[[Any], Any], items: Iterable[Any], depth: int) -> Iterator[Any]:
        """Yield make(item) for each item, in order; the next `depth` are made while the caller uses one."""
        waiting: deque[Future[Any]] = deque()
        for item in items:
            waiting.append(self._pool.submit(copy_context().run, make, item))  # which may say what client to use
            del item
            if len(waiting) > depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name}={shown(value)} is neither True nor False")
    return bool(value)


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
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(again):
        first, second = order[again[0] : again[0] + 2]
        raise InputError(f"input_nodes has {asked[first]!s} twice, at places {first} and {second}")
    return numbers
