"""Neighbour sampling on a graph with types: so many neighbours of a vertex along the edges of each type.

A hop draws for each type of edges from the vertices at its near ends that the last hop reached first. What is drawn for
a vertex depends on the seed, the type of the edges, the instance and the vertex alone. It does not depend on the other
types.

Sources: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for fan-outs by type; Hamilton,
Ying, Leskovec, Inductive representation learning on large graphs (2017).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.errors import InputError, VerificationError, shown
from graphdask.graph.graph import Graph
from graphdask.graph.type_names import EdgeType, checked_vertex_type
from graphdask.graph.typed import TypedGraph
from graphdask.interface.suggest import public
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.traversal import Traversal

Draw = Callable[[Graph, Traversal], Neighborhoods]
"""Draws the neighbours of one type at one hop."""


@public
@dataclass
class TypedNeighborhoods:
    """Sampled edges and vertices by type. Those of an instance stand together, hop by hop; instances in their order.

    Vertices of an instance are numbered from 0 in each type: seeds first, then in the order in which edges reach them,
    in each hop type of edges after type of edges, as PyTorch Geometric numbers them.
    """

    graph: TypedGraph
    vertex_type: str
    """That of the seeds."""
    instances: int
    nodes: dict[str, np.ndarray] = field(default_factory=dict)
    """By type of vertices: the caller's ids."""
    places: dict[str, np.ndarray] = field(default_factory=dict)
    """int64: their places in `graph.ids_of(type)`."""
    node_offsets: dict[str, np.ndarray] = field(default_factory=dict)
    """int64, shape (instances + 1,): where the vertices of each instance begin."""
    row: dict[EdgeType, np.ndarray] = field(default_factory=dict)
    """By type of edges: the number of the vertex whose neighbour was drawn, int64."""
    col: dict[EdgeType, np.ndarray] = field(default_factory=dict)
    """The number of the neighbour, int64."""
    edge: dict[EdgeType, np.ndarray] = field(default_factory=dict)
    """int64: the row of each edge in the table of its type; empty without `edge_rows`."""
    hop: dict[EdgeType, np.ndarray] = field(default_factory=dict)
    """int32: 0 for neighbours of the seeds."""
    edge_offsets: dict[EdgeType, np.ndarray] = field(default_factory=dict)
    """int64, shape (instances + 1,): where the edges of each instance begin."""
    node_sizes: dict[str, np.ndarray] = field(default_factory=dict)
    """int64, shape (instances, hops + 1): seeds, and vertices that each hop reaches first."""
    edge_sizes: dict[EdgeType, np.ndarray] = field(default_factory=dict)
    """int64, shape (instances, hops): edges of each hop."""
    samples: list[tuple[EdgeType, int, Neighborhoods]] = field(default_factory=list, repr=False)
    """What was drawn: the type of the edges, the hop, and the sample."""

    def verify(self) -> TypedNeighborhoods:
        """Prove that every sampled edge exists and every budget holds, type by type and hop by hop; return self.

        Raises
        ------
        VerificationError
            Naming the first edge or instance that breaks an invariant.
        """
        for kind, hop, sample in self.samples:
            try:
                sample.verify()
            except VerificationError as error:
                raise VerificationError(f"edges of type {kind} at hop {hop}: {error}") from error
        return self

    def __repr__(self) -> str:
        vertices = ", ".join(f"{len(ids):,} {name}" for name, ids in self.nodes.items())
        edges = ", ".join(f"{len(row):,} {' '.join(kind)}" for kind, row in self.row.items())
        return f"<TypedNeighborhoods: {self.instances:,} instances; vertices {vertices}; edges {edges}>"


def sizes_by_type(G: TypedGraph, fanouts: Any, name: str, checked: Callable[..., Any]) -> dict[EdgeType, Any]:
    """The fan-outs of each type of edges, of as many hops each.

    Raises
    ------
    InputError
        For a mapping that leaves a type out or names one twice, or that has numbers of hops that differ.
    """
    if not isinstance(fanouts, Mapping):
        sizes = checked(fanouts, name, -1)
        return dict.fromkeys(G.edge_types, sizes)
    made: dict[EdgeType, Any] = {}
    for given, of_type in fanouts.items():
        try:
            kind = G.edge_type(given)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if kind in made:
            raise InputError(f"{name} has the type {kind} twice")
        made[kind] = checked(of_type, f"{name}[{shown(given)}]", -1)
    missing = [kind for kind in G.edge_types if kind not in made]
    if missing:
        raise InputError(f"{name} has no numbers for edges of type {missing[0]}; zeros draw none")
    hops = {len(sizes) for sizes in made.values()}
    if len(hops) > 1:
        raise InputError(f"{name} has {min(hops)} hops for one type and {max(hops)} for another; give zeros")
    return {kind: made[kind] for kind in G.edge_types}


def typed_ids(G: TypedGraph, name: str, given: Any) -> tuple[str, Any]:
    """The type and the ids of vertices, given as a pair of both."""
    if not isinstance(given, tuple | list) or len(given) != 2 or not isinstance(given[0], str):
        raise InputError(
            f"{name}={shown(given)} does not say the type; give a pair such as {name}=({G.vertex_types[0]!r}, ids)"
        )
    return checked_vertex_type(G, given[0]), given[1]


def seed_of(seed: int, kind: EdgeType) -> int:
    """The seed of the draws along edges of one type."""
    digest = hashlib.blake2b("\0".join(kind).encode(), digest_size=8).digest()
    return seed ^ int.from_bytes(digest, "little")


class Reached:
    """The vertices of one type that instances have reached."""

    def __init__(self, num_vertices: int, instances: int):
        self.num_vertices = num_vertices
        self.keys = self.numbers = np.zeros(0, np.int64)
        self.counts = np.zeros(instances, np.int64)
        self.hops: list[tuple[np.ndarray, np.ndarray]] = []
        """Instances and vertices that each hop reached first, in the order of the instances."""

    def take(self, found: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Number the vertices that a hop reached first, in the order given."""
        none = np.zeros(0, np.int64)
        instances, vertices = (np.concatenate([none, *(pair[k] for pair in found)]) for k in (0, 1))
        keys, places = np.unique(instances * self.num_vertices + vertices, return_index=True)
        at = np.searchsorted(self.keys, keys)
        known = np.zeros(len(keys), bool)
        inside = at < len(self.keys)
        known[inside] = self.keys[at[inside]] == keys[inside]
        places = np.sort(places[~known])
        order = places[np.argsort(instances[places], kind="stable")]
        instances, vertices = instances[order], vertices[order]
        of_each = np.bincount(instances, minlength=len(self.counts))
        begins = np.cumsum(of_each) - of_each
        numbers = self.counts[instances] + np.arange(len(instances)) - begins[instances]
        self.counts += of_each
        self.hops.append((instances, vertices))
        keys = np.concatenate([self.keys, instances * self.num_vertices + vertices])
        order = np.argsort(keys)
        self.keys, self.numbers = keys[order], np.concatenate([self.numbers, numbers])[order]

    def has(self, instances: np.ndarray, vertices: np.ndarray) -> np.ndarray:
        """Whether an instance has reached each vertex."""
        keys = instances * self.num_vertices + vertices
        at = np.searchsorted(self.keys, keys)
        return at < len(self.keys) if not len(self.keys) else self.keys[np.minimum(at, len(self.keys) - 1)] == keys

    def numbers_of(self, instances: np.ndarray, vertices: np.ndarray) -> np.ndarray:
        """The number of each vertex among those of its instance."""
        return self.numbers[np.searchsorted(self.keys, instances * self.num_vertices + vertices)]


Seeds = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By type: vertex numbers, each once in its instance, and where those of each instance begin."""
SamplerOf = Callable[[EdgeType, np.ndarray, np.ndarray, Mapping[str, Any]], tuple[Traversal, Graph]]
"""The sampler of one type at one hop, of vertices, where those of each instance begin, and options; and its graph."""


def drawn_by_type(
    G: TypedGraph,
    seeds: Seeds,
    options: Mapping[EdgeType, Mapping[str, Any]],
    draw: Draw,
    first: int = 0,
    sampler_of: SamplerOf | None = None,
) -> TypedNeighborhoods:
    """Draw hop after hop.

    Parameters
    ----------
    seeds : mapping of str to pair of int64 arrays
        Of one type or several; as `Seeds` says.
    options : mapping
        By type of edges: arguments of Traversal, with the fan-outs of all hops and the caller's seed.
    draw : callable
        Runs a sampler on the graph of a type.
    first : int
        Number of the first instance.
    sampler_of : callable, optional
        Default: plain traversal of the graphs of types.
    """

    def plain(
        kind: EdgeType, vertices: np.ndarray, starts: np.ndarray, given: Mapping[str, Any]
    ) -> tuple[Traversal, Graph]:
        return Traversal(vertices, starts, **given), G.of_type(kind)

    instances, number = len(next(iter(seeds.values()))[1]) - 1, G.num_vertices
    hops = len(next(iter(options.values()))["fanouts"]) if options else 0
    reached = {name: Reached(number, instances) for name in G.vertex_types}
    for name, of_type in reached.items():
        vertices, bounds = seeds.get(name, (np.zeros(0, np.int64), np.zeros(instances + 1, np.int64)))
        of_type.take([(np.repeat(np.arange(instances), np.diff(bounds)), vertices)])
    made = TypedNeighborhoods(G, next(iter(seeds)), instances)
    drawn: dict[EdgeType, list[tuple[np.ndarray, ...]]] = {kind: [] for kind in options}
    for hop in range(hops):
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in reached}
        for kind, of_kind in options.items():
            near, far = (kind[2], kind[0]) if of_kind["direction"] == "in" else (kind[0], kind[2])
            here, vertices = reached[near].hops[hop]
            if not len(here) or not of_kind["fanouts"][hop]:
                continue
            starts = np.searchsorted(here, np.arange(instances + 1))
            given = {**of_kind, "fanouts": (of_kind["fanouts"][hop],), "seed": seed_of(of_kind["seed"], kind)}
            sampler, graph = (sampler_of or plain)(kind, vertices.astype(_index(G)), starts, given)
            sampler.first, sampler.last, sampler.origin = first, first + instances, first
            sample = draw(graph, sampler)
            made.samples.append((kind, hop, sample))
            columns = [sample._internal(column).astype(np.int64, copy=False) for column in ("src", "dst", "instance")]
            columns[2] = columns[2] - first
            edge = sample._internal("edge") if "edge" in sample.columns else columns[0][:0]
            drawn[kind].append((*columns, edge, np.full(len(columns[0]), hop, np.int32)))
            found[far].append((columns[2], columns[1]))
        for name, pairs in found.items():
            reached[name].take(pairs)
    for name, of_type in reached.items():
        put_vertices(made, name, of_type, hops)
    for kind, of_kind in options.items():
        near, far = (kind[2], kind[0]) if of_kind["direction"] == "in" else (kind[0], kind[2])
        put_edges(made, kind, drawn[kind], reached[near], reached[far], hops)
    return made


def _index(G: Graph) -> np.dtype:
    dtype: np.dtype = G.source.src.dtype  # type: ignore[attr-defined]
    return dtype


def put_vertices(made: TypedNeighborhoods, name: str, of_type: Reached, hops: int) -> None:
    """Fill in what is known of the vertices of a type."""
    instances = np.concatenate([pair[0] for pair in of_type.hops])
    vertices = np.concatenate([pair[1] for pair in of_type.hops])
    order = np.argsort(instances, kind="stable")
    numbers = vertices[order]
    made.nodes[name] = made.graph.named(name, numbers)
    made.places[name] = numbers - (made.graph.number(name, made.graph.ids_of(name)[:1])[0] if len(numbers) else 0)
    made.node_offsets[name] = np.concatenate(([0], np.cumsum(of_type.counts)))
    made.node_sizes[name] = np.stack(
        [np.bincount(pair[0], minlength=made.instances) for pair in of_type.hops], axis=1
    ).reshape(made.instances, hops + 1)


def put_edges(
    made: TypedNeighborhoods, kind: EdgeType, drawn: Sequence[tuple[np.ndarray, ...]], near: Reached, far: Reached,
    hops: int,
) -> None:  # fmt: skip
    """Fill in the edges of a type, of which each hop gives ends, instances, rows and hops."""
    none = np.zeros(0, np.int64)
    src, dst, instance, edge = (np.concatenate([none, *(of_hop[k] for of_hop in drawn)]) for k in range(4))
    hop = np.concatenate([np.zeros(0, np.int32), *(of_hop[4] for of_hop in drawn)])
    order = np.argsort(instance, kind="stable")
    src, dst, instance, hop = src[order], dst[order], instance[order], hop[order]
    made.row[kind], made.col[kind], made.hop[kind] = near.numbers_of(instance, src), far.numbers_of(instance, dst), hop
    made.edge[kind] = edge[order] if len(edge) else edge
    made.edge_offsets[kind] = np.searchsorted(instance, np.arange(made.instances + 1))
    flat = np.bincount(instance * hops + hop, minlength=made.instances * hops)
    made.edge_sizes[kind] = flat.reshape(made.instances, hops)
