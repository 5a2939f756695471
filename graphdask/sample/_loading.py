"""What loaders of minibatches share: the passes over their input, the runs that draw batches, and the threads.

A loader says what a run draws (`_run`) and what a batch is made of (`_made`). Several batches are drawn in one run, and
the next run is made while the batches of this one are used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.errors import InputError, shown
from graphdask.graph.edge_values import with_edge_values
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice, flag, whole
from graphdask.partition.given import given_where_it_is
from graphdask.sample._bidirectional import bidirectional_batches
from graphdask.sample._column_names import is_of_vertices, times_of_vertices, with_times_of_vertices
from graphdask.sample._induced_batches import induced_batches
from graphdask.sample._loader_parameters import LOADING, described_loader
from graphdask.sample._minibatches import (
    CONVERT,
    Drawn,
    as_tensor,
    caller_ids,
    checked_output,
    checked_rows,
    drawn_batches,
    rows_of,
    to_torch,
)
from graphdask.sample._sampler_output import checked_of_outputs, checked_transform, through
from graphdask.sample.hops import checked_options, checked_sizes
from graphdask.sample.induced import Induced
from graphdask.sample.minibatch_traversal import MinibatchTraversal
from graphdask.sample.sampler import Placement, checked_placement, refuse_partitions
from graphdask.sample.streamed import Streamed
from graphdask.sample.temporal import NumberedTemporal, checked_limits, checked_strategy
from graphdask.sample.traversal import NumberedTraversal, Traversal
from graphdask.sample.words import raw_words

SUBGRAPHS = ("directional", "bidirectional", "induced")
"""Which edges batches have."""
RUN_EDGES = 1 << 23
"""Edges that one run draws, about, where the caller leaves it open."""
SHUFFLE = np.uint64(0x4E4C)
"""Half of the key of the numbers that inputs are shuffled by; the other half is the seed."""


class Fields:
    """What batches of all loaders have in common."""

    PYG: ClassVar[str] = "Data"
    """The class of `torch_geometric.data` that `output="pyg"` makes of them."""
    n_id: Any
    metadata_fields: tuple[str, ...] = ("input_id", "seed_time")
    """Names of the fields that a sampler output of PyTorch Geometric has as metadata."""

    @property
    def num_nodes(self) -> int:
        """Vertices of the batch."""
        return len(self.n_id)

    def __repr__(self) -> str:
        shown_fields = [f for f in fields(self) if f.repr]  # type: ignore[arg-type]
        shapes = (f"{f.name}={_shown(getattr(self, f.name))}" for f in shown_fields)
        return f"{type(self).__name__}({', '.join(text for text in shapes if not text.endswith('=None'))})"


def _shown(value: Any) -> str:
    return str(list(value.shape)) if hasattr(value, "shape") else str(value)


@dataclass
class Seen:
    """What inputs see of a graph in time."""

    limits: np.ndarray
    """int64 or float64: the time of each."""
    last: bool
    """Whether their neighbours are the latest."""


@dataclass
class Run:
    """Batches that are drawn together."""

    sampler: Traversal
    beside: dict[str, tuple[np.ndarray, np.ndarray]]
    """Arrays that batches hold in addition, and where the elements of each batch begin."""
    per: int | None = None
    """Instances of a batch; None where a batch is one."""


@dataclass(frozen=True)
class Ways:
    """How batches are made: the options that all loaders have."""

    batch_size: Any
    shuffle: Any
    drop_last: Any
    placement: Placement
    client: Any
    edge_rows: Any
    x: Any
    y: Any
    transform: Callable[[Any], Any] | None
    output: str
    prefetch: Any
    batches_per_run: Any
    subgraph_type: str
    transform_sampler_output: Callable[[Any], Any] | None = None


class Loader:
    """Iterates over batches; every pass is an epoch."""

    PARAMETERS: ClassVar[str] = LOADING
    """Descriptions of the parameters that loaders share."""
    _traversal: type[NumberedTraversal] = MinibatchTraversal
    _inputs: int
    """How many inputs are divided into batches."""
    _seen: Seen | None = None
    _disjoint = False
    """Whether every seed has a neighbourhood of its own."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "Parameters\n" in (cls.__doc__ or ""):  # a class that others derive from has none
            described_loader(cls)

    def _prepare(self, G: Graph, num_neighbors: Sequence[int], ways: Ways, **options: Any) -> None:
        """Check the options that all loaders have."""
        checked_graph(G)
        self._options = checked_options(G, checked_sizes(num_neighbors, "num_neighbors", -1), **options)
        self.graph, self.batch_size = G, whole("batch_size", ways.batch_size, 1)
        self.shuffle, self._drop_last = flag("shuffle", ways.shuffle), flag("drop_last", ways.drop_last)
        self._placement, self._client = checked_placement(ways.placement), ways.client
        self._numbered = flag("edge_rows", ways.edge_rows)
        self._x, self._y = checked_rows("x", ways.x, G.num_vertices), checked_rows("y", ways.y, G.num_vertices)
        self._transform = checked_transform("transform", ways.transform)
        self._output = checked_output(ways.output, G)
        self._of_output = checked_of_outputs(ways.transform_sampler_output, self._output)
        self._edges = choice("subgraph_type", ways.subgraph_type, SUBGRAPHS)
        self._induced = self._edges == "induced"
        if self._induced and isinstance(self._placement, Streamed):
            refuse_partitions(Induced.name, self._placement)
        self._prefetch, self.epoch = whole("prefetch", ways.prefetch, 0), 0

    def _divide(self, inputs: int, seeds_of_an_input: float, batches_per_run: Any) -> None:
        """Divide the inputs into batches, and batches into runs."""
        self._inputs = inputs
        self._count = inputs // self.batch_size if self._drop_last else -(-inputs // self.batch_size)
        if batches_per_run is None:
            seeds = int(min(self.batch_size, inputs) * seeds_of_an_input)
            self._at_once = max(1, RUN_EDGES // max(1, self._edges_of_a_batch(seeds)))
        else:
            self._at_once = whole("batches_per_run", batches_per_run, 1)

    def __len__(self) -> int:
        """Batches of an epoch."""
        return self._count

    def __iter__(self) -> Iterator[Any]:
        """The batches of the next epoch."""
        epoch = whole("epoch", self.epoch, 0, 2**40 - 1)
        self.epoch = epoch + 1
        return self._batches(epoch)

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Run:
        """What is drawn for batches `first` to `last` - 1 of an epoch, whose inputs stand in an order."""
        raise NotImplementedError

    def _made(self, drawn: Drawn, common: dict[str, Any]) -> Any:
        """A batch, whose fields `common` all loaders have."""
        raise NotImplementedError

    def _see(
        self, given: tuple[str, Any], inputs: tuple[int, str], times: Any, time_attr: Any, strategy: Any,
        vertices: np.ndarray | None = None,
    ) -> Seen | None:  # fmt: skip
        """What inputs see; `given` is the argument that says their times. The graph gets the times of its edges.

        Inputs that are vertices have the times of these, if `time_attr` is a column of vertices and none are given.
        """
        (name, limits), (count, what) = given, inputs
        if times is not None and time_attr is not None:
            raise InputError("times and time_attr exclude each other; give one of them")
        of_vertices = times_of_vertices(self.graph, time_attr) if is_of_vertices(self.graph, time_attr) else None
        if limits is None and of_vertices is not None and vertices is not None:
            limits = of_vertices[vertices]
        last = checked_strategy("temporal_strategy", strategy, self._options["replace"])
        if limits is None:
            if times is not None or time_attr is not None or last:
                option = "times" if times is not None else "time_attr" if time_attr else "temporal_strategy='last'"
                raise InputError(f"{option} says nothing without {name}=, the time of each {what}")
            return None
        for option, none in (("bias", None), ("method", "auto")):
            value = self._options.pop(option)
            if value != none:
                raise InputError(f"{option}={shown(value)} is not for draws in time; leave it out, or {name}")
        if self._induced:
            raise InputError(f"subgraph_type='induced' has edges of all times; leave it out, or {name}")
        if isinstance(self._placement, Streamed):
            refuse_partitions(NumberedTemporal.name, self._placement)
        if of_vertices is not None:
            direction = self._options["direction"]
            self.graph = with_times_of_vertices(self.graph, time_attr, of_vertices, direction)
        else:
            given_as = "times" if time_attr is None else "time_attr"
            self.graph = with_edge_values(self.graph, given_as, times if time_attr is None else time_attr)
        plural = "input vertices" if what == "input vertex" else f"{what}s"
        return Seen(checked_limits(name, limits, count, plural, self.graph.source.weight_dtype), last)

    def _sampler(self, seeds: np.ndarray, bounds: np.ndarray | None, first: int, limits: Any) -> Traversal:
        """The sampler of instances from `first` on; with bounds an instance is a batch, else a seed."""
        sampler: Traversal
        if self._seen is None:
            sampler = self._traversal(seeds, bounds, **self._options)
        else:
            sampler = NumberedTemporal(seeds, None, limits=limits, last=self._seen.last, **self._options)
        sampler.numbered = self._numbered and not self._induced
        count = sampler.instances
        sampler.first = sampler.origin = first
        sampler.last = first + count
        return sampler

    def _batches(self, epoch: int) -> Iterator[Any]:
        order = self._order(epoch)
        firsts = range(0, self._count, self._at_once)

        def drawn(first: int) -> list[Drawn]:
            return self._drawn(self._run(order, epoch, first, min(first + self._at_once, self._count)))

        if not self._prefetch:
            for first in firsts:
                yield from map(self._finished, drawn(first))
            return
        with _Threads() as draws, _Threads() as finishes:
            runs = draws.ahead(drawn, firsts, self._prefetch)
            yield from finishes.ahead(self._finished, chain.from_iterable(runs), 1)

    def _order(self, epoch: int) -> np.ndarray:
        """Places of the inputs of all batches, one after the other."""
        if not self.shuffle:
            return np.arange(self._inputs)
        numbers = raw_words(self._options["seed"], SHUFFLE, (0, epoch), 0, self._inputs)
        return np.argsort(numbers, kind="stable")

    def _edges_of_a_batch(self, seeds: int) -> int:
        """About how many; where all neighbours are taken, rows are reckoned to be as long as in the mean."""
        source = self.graph.source
        stored = source.num_edges * (1 if self.graph.directed else 2)
        one = Traversal(np.zeros(seeds, np.int64), np.array([0, seeds]), **self._options)
        return int(min(one.edges_at_most(stored / max(source.num_vertices, 1)), stored or 1))

    def _drawn(self, run: Run) -> list[Drawn]:
        """The batches of one run, but for rows of `x` and `y`."""
        result = self._sampled(run.sampler)
        if self._placement == "auto":
            self._placement = result.placement  # where it did not fit once, it is not tried again
        drawn = drawn_batches(result, run.beside, run.per)
        if not self._induced:
            return bidirectional_batches(drawn) if self._edges == "bidirectional" else drawn
        return induced_batches(drawn, self.graph.num_vertices, self._numbered, self._sampled)

    def _sampled(self, sampler: Any) -> Any:
        return execute.sample(self.graph, sampler, self._placement, client=self._client, progress=False)

    def _finished(self, drawn: Drawn) -> Any:
        """A batch as the caller wants it."""
        common = {
            "n_id": drawn.n_id, "edge_index": drawn.edge_index, "e_id": drawn.e_id, "batch": drawn.batch,
            "num_sampled_nodes": drawn.num_sampled_nodes, "num_sampled_edges": drawn.num_sampled_edges,
            "direction": self._options["direction"], "x": None, "y": None,
        }  # fmt: skip
        if self._of_output is None:
            made = self._made(drawn, common | self._attributes_of(drawn.numbers))
        else:
            batch, places = through(self._of_output, to_torch(self._made(drawn, common)), as_tensor(drawn.numbers))
            numbers = given_where_it_is("node", places)
            n_id = as_tensor(caller_ids(self.graph, numbers, isinstance(numbers, np.ndarray)))
            made = replace(batch, n_id=n_id, **self._attributes_of(numbers))
        converted = CONVERT[self._output](made)
        return converted if self._transform is None else self._transform(converted)

    def _attributes_of(self, numbers: Any) -> dict[str, Any]:
        """Rows of what the caller gave of vertices."""
        return {"x": rows_of(self._x, numbers), "y": rows_of(self._y, numbers)}


def each_once(name: str, given: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return vertex numbers, or raise InputError if one is there twice; `given` are the caller's ids."""
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(again):
        first, second = order[again[0] : again[0] + 2]
        raise InputError(f"{name} has {given[first]!s} twice, at places {first} and {second}")
    return numbers


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
