"""What loaders of minibatches of a graph with types share: options by type, times by type, and how batches are put
together of instances.

A batch is one instance; or, disjoint, one for each seed. Then its vertices stand hop by hop, and those of a hop in the
order of the instances, so that vertices of each type begin with seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.edge_values import with_edge_values
from graphdask.graph.graph import Graph
from graphdask.graph.type_names import EdgeType, found_type, listed
from graphdask.graph.typed import TypedGraph
from graphdask.partition.conversions import class_of
from graphdask.sample._loader_parameters import LOADING, OF_TYPES
from graphdask.sample._loading import Loader, Ways
from graphdask.sample._minibatches import as_tensor, rows_of
from graphdask.sample._sampler_output import through
from graphdask.sample._typed_attributes import times_of_attribute, times_of_inputs, weighted_types
from graphdask.sample._typed_batches import CONVERT, by_vertex_type, checked_columns, to_torch
from graphdask.sample._typed_subgraphs import both_ways, reverse_types, take_induced
from graphdask.sample.hops import typed_options
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import drawn, refuse_partitions
from graphdask.sample.streamed import Streamed
from graphdask.sample.temporal import TemporalNeighbors, checked_limits, checked_strategy
from graphdask.sample.traversal import Traversal
from graphdask.sample.typed import Draw, SamplerOf, Seeds, TypedNeighborhoods, drawn_by_type


@dataclass
class Given:
    """What a caller gives of attributes."""

    x: Any
    y: Any
    vertex_columns: Any
    edge_columns: Any
    weight_attr: str | None = None
    time_attr: str | None = None


@dataclass
class Time:
    """What inputs see of edges that have times."""

    graphs: Mapping[EdgeType, Graph]
    """By type: the graph whose weights are the times; edges of other types are seen at all times."""
    limits: Mapping[EdgeType, np.ndarray]
    """int64 or float64: the time of each input, of the kind of the times of each type."""
    given: np.ndarray
    """The time of each input, of one of these kinds."""
    last: bool
    """Whether neighbours are the latest."""


@dataclass
class TypedRun:
    """Batches that are drawn together."""

    seeds: Seeds
    first: int
    """Number of the first instance."""
    instances: np.ndarray
    """int64, shape (batches + 1,): where the instances of each batch begin."""
    beside: dict[str, tuple[np.ndarray, np.ndarray]]
    """Arrays that batches hold in addition, and where the elements of each batch begin."""
    inputs: np.ndarray | None = None
    """int64, shape (instances,): the input that each instance sees the time of."""


@dataclass
class _Drawn:
    """A batch, but for rows of attributes."""

    sample: TypedNeighborhoods
    first: int
    """The instances of the batch, from the first one to before the last one."""
    last: int
    beside: dict[str, np.ndarray]


class TypedLoader(Loader):
    """Iterates over batches of a graph with types."""

    PARAMETERS = OF_TYPES + LOADING
    _time: Time | None = None
    _refuse_ends_of_any_time = False
    """Whether inputs have ends that are drawn at any time."""

    def _prepare_types(self, G: Any, num_neighbors: Any, ways: Ways, given: Given, **options: Any) -> None:
        """Check the options that all loaders of graphs with types have."""
        if not isinstance(G, TypedGraph):  # of whatever a caller gives
            raise InputError(f"G is a {class_of(G)}, not a TypedGraph; gd.from_frames makes one")
        in_time = options.pop("in_time", False) or given.time_attr is not None
        self._graphs, biases = weighted_types(G, given.weight_attr, options["bias"], in_time)
        self._by_type = typed_options(
            G, num_neighbors, "num_neighbors", options["replace"], biases, options["direction"], options["method"],
            options["seed"], self._graphs,
        )  # fmt: skip
        by_hop = zip(*(of_type["fanouts"] for of_type in self._by_type.values()), strict=True)
        most = [-1 if -1 in sizes else sum(sizes) for sizes in by_hop]
        self._asked_draws = {name: options[name] for name in ("bias", "method")}
        self._prepare(G, most, ways, **(options | {"bias": None}))
        self.typed, self._time_attr = G, given.time_attr
        self._reverses = reverse_types(G) if self._edges == "bidirectional" else {}
        names = [kind for kind, ids in G.vertex_ids_by_type.items() if not ids.are_numbers]
        if self._output != "arrays" and names:
            raise InputError(
                f"output={shown(self._output)} is for ids that are whole numbers; those of the type {names[0]!r} are "
                f"strings"
            )
        self._attributes = by_vertex_type(G, "x", given.x), by_vertex_type(G, "y", given.y)
        self._columns = checked_columns(G, given.vertex_columns, given.edge_columns, self._output, self._numbered)

    def _see_types(
        self, given: tuple[str, Any], inputs: tuple[int, str, str], times: Any, strategy: Any,
        vertices: tuple[str, np.ndarray] | None = None,
    ) -> Time | None:  # fmt: skip
        """What inputs see of each type; `given` is the argument that says their times.

        Inputs that are vertices, given by their type and numbers, have the times of these, if `time_attr` is a column
        of vertices and none are given.
        """
        (name, limits), (count, plural, one), attribute = given, inputs, self._time_attr
        if times is not None and attribute is not None:
            raise InputError("times and time_attr exclude each other; give one of them")
        if attribute is not None:
            times, of_vertices = times_of_attribute(self.typed, attribute, self._options["direction"])
            if of_vertices and vertices is None and self._refuse_ends_of_any_time:
                raise InputError(
                    f"time_attr={shown(attribute)} is a column of the vertices, and negatives would have ends of any "
                    f"time; name a column of the edges, or leave neg_sampling out"
                )
            if limits is None and of_vertices and vertices is not None:
                limits = times_of_inputs(self.typed, attribute, *vertices, of_vertices)
        last = checked_strategy("temporal_strategy", strategy, self._options["replace"])
        if limits is None:
            if times is not None or last:
                option = "time_attr" if attribute else "times" if times is not None else "temporal_strategy='last'"
                raise InputError(f"{option} says nothing without {name}=, the time of each {one}")
            return None
        for option, none in (("bias", None), ("method", "auto")):
            value = self._asked_draws[option]
            if value != none:
                raise InputError(f"{option}={shown(value)} is not for draws in time; leave it out, or {name}")
        if self._induced:
            raise InputError(f"subgraph_type='induced' has edges of all times; leave it out, or {name}")
        if isinstance(self._placement, Streamed):
            refuse_partitions(TemporalNeighbors.name, self._placement)
        graphs = {
            kind: with_edge_values(self.typed.of_type(kind), f"times of {kind}", of_type)
            for kind, of_type in _times_by_type(self.typed, times).items()
        }
        of_inputs = {
            kind: checked_limits(name, limits, count, plural, graph.source.weight_dtype)
            for kind, graph in graphs.items()
        }
        return Time(graphs, of_inputs, next(iter(of_inputs.values())), last)

    def _drawn(self, run: Any) -> Any:
        """The batches of one run, but for rows of attributes."""

        sample = drawn_by_type(
            self.typed, run.seeds, self._by_type, self._draw(self._numbered and not self._induced), run.first,
            self._sampler_of(run.inputs),
        )  # fmt: skip
        if self._induced:
            take_induced(sample, self._draw(self._numbered), self._inward, self._numbered)
        return batches_of(sample, run)

    def _draw(self, numbered: bool) -> Draw:
        """What runs samplers, with the rows of edges or without."""

        def draw(graph: Graph, sampler: Traversal) -> Neighborhoods:
            sampler.numbered = numbered
            found: Neighborhoods = drawn(graph, sampler, self._placement, self._client, False)
            return found

        return draw

    @property
    def _inward(self) -> bool:
        return all(options["direction"] == "in" for options in self._by_type.values())

    def _sampler_of(self, inputs: np.ndarray | None) -> SamplerOf:
        """The sampler of one type, whose instances see what is not later than their inputs, if these have times."""
        time = self._time

        def sampler_of(
            kind: EdgeType, vertices: np.ndarray, starts: np.ndarray, given: Mapping[str, Any]
        ) -> tuple[Traversal, Graph]:
            if time is None or kind not in time.graphs:
                return Traversal(vertices, starts, **given), self._graphs[kind]
            options = {name: given[name] for name in ("fanouts", "replace", "seed", "direction")}
            limits = time.limits[kind][inputs]
            return TemporalNeighbors(vertices, starts, limits=limits, last=time.last, **options), time.graphs[kind]

        return sampler_of

    def _finished(self, drawn: Any) -> Any:
        """A batch as the caller wants it."""
        common, places = self._fields(drawn)
        batch = self._made(drawn.beside, common)
        if self._of_output is not None:
            tensors = {name: as_tensor(of_type) for name, of_type in places.items()}
            batch, tensors = through(self._of_output, to_torch(batch), tensors)
            places = {name: np.asarray(of_type) for name, of_type in tensors.items()}
            n_id = {name: self.typed.ids_of(name)[of_type] for name, of_type in places.items()}
            batch = replace(batch, n_id=n_id)
        rows = {kind: np.asarray(of) for kind, of in (batch.e_id or {}).items() if of is not None}
        x, y = ({name: rows_of(of, places[name]) for name, of in given.items()} for given in self._attributes)
        columns = self._columns.of_vertices(places), self._columns.of_edges(rows)
        made = CONVERT[self._output](replace(batch, x=x, y=y, vertex_columns=columns[0], edge_columns=columns[1]))
        return made if self._transform is None else self._transform(made)

    def _fields(self, drawn: _Drawn) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What all batches hold, without rows of attributes, and the places of vertices among those of their type."""
        sample, first, last = drawn.sample, drawn.first, drawn.last
        nodes = {name: _Nodes.of(sample, name, first, last) for name in sample.nodes}
        places = {name: sample.places[name][of_type.order] for name, of_type in nodes.items()}
        inward, index, rows = self._inward, {}, {}
        for kind, offsets in sample.edge_offsets.items():
            near, far = (kind[2], kind[0]) if inward else (kind[0], kind[2])
            here = slice(*offsets[[first, last]])
            instances = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
            order = np.argsort(sample.hop[kind][here], kind="stable")
            ends = [
                nodes[name].numbers[number[kind][here] + nodes[name].begins[instances]][order]
                for name, number in ((far, sample.col), (near, sample.row))
            ]
            index[kind] = np.stack(ends if inward else ends[::-1])
            if self._numbered:
                rows[kind] = sample.edge[kind][here][order]
        if self._reverses:
            counts = {name: len(of_type.order) for name, of_type in nodes.items()}
            index, rows = both_ways(self._reverses, counts, index, rows)
        return {
            "n_id": {name: sample.nodes[name][of_type.order] for name, of_type in nodes.items()},
            "edge_index": index, "e_id": rows, "x": {}, "y": {},
            "num_sampled_nodes": {name: s[first:last].sum(0).tolist() for name, s in sample.node_sizes.items()},
            "num_sampled_edges": None if self._edges != "directional" else {
                kind: s[first:last].sum(0).tolist() for kind, s in sample.edge_sizes.items()
            },
            "batch": {name: of_type.instances for name, of_type in nodes.items()} if self._disjoint else None,
        }, places  # fmt: skip


def batches_of(sample: TypedNeighborhoods, run: TypedRun) -> list[_Drawn]:
    """The batches of a run, of what was drawn for all."""
    return [
        _Drawn(
            sample, int(run.instances[place]), int(run.instances[place + 1]),
            {name: values[at[place] : at[place + 1]] for name, (values, at) in run.beside.items()},
        )
        for place in range(len(run.instances) - 1)
    ]  # fmt: skip


@dataclass
class _Nodes:
    """The vertices of a type in a batch."""

    order: np.ndarray
    """int64: where each stands in the sample."""
    instances: np.ndarray
    """int64: the instance of each, counted from that of the batch."""
    numbers: np.ndarray
    """int64: the number in the batch of each, in the order of the sample."""
    begins: np.ndarray
    """int64: where those of each instance begin in the sample, counted from those of the batch."""

    @classmethod
    def of(cls, sample: TypedNeighborhoods, name: str, first: int, last: int) -> _Nodes:
        offsets, sizes = sample.node_offsets[name][first : last + 1], sample.node_sizes[name][first:last]
        hops = np.repeat(np.tile(np.arange(sizes.shape[1]), last - first), sizes.reshape(-1))
        order = np.argsort(hops, kind="stable")
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order))
        instances = np.repeat(np.arange(last - first), np.diff(offsets))
        return cls(offsets[0] + order, instances[order], numbers, offsets[:-1] - offsets[0])


def _times_by_type(G: TypedGraph, times: Any) -> dict[EdgeType, Any]:
    """The times of each type that has some: an array, the name of a column, or None for the weights."""
    if isinstance(times, Mapping):
        made = {found_type(G.edge_types, kind, "times: "): of_type for kind, of_type in times.items()}
        if not made:
            raise InputError("times={} has no type of edges; give the times of one at least")
        return made
    if times is None and not G.weighted:
        raise InputError("the edges of this graph carry no weights to be read as times; give times=")
    if times is None or isinstance(times, str):
        without = [kind for kind in G.edge_types if times is not None and times not in G.of_type(kind).edge_columns]
        if without:
            raise InputError(
                f"times={times!r} is no column of the edges of {listed(without)}; a mapping of types to columns leaves "
                f"out types whose edges have no times"
            )
        return dict.fromkeys(G.edge_types, times)
    raise InputError(
        f"times is a {class_of(times)}; it is the name of a column, or a mapping of types of edges to arrays or names"
    )
