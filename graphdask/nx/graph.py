"""NxGraph: a NetworkX graph as arrays, and as the graphdask graphs that algorithms run over.

Nodes, which may be any hashable objects, are numbered in NetworkX's order. Attributes of edges become columns, as far
as NetworkX asks for them; a graph with weights is made of a column when an algorithm first needs it. NetworkX keeps
the converted graph with its own, in `G.__networkx_cache__`, until that is changed; the partitions live as long.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from copy import copy
from itertools import chain
from typing import Any

import networkx
import numpy as np

from graphdask.errors import InputError
from graphdask.graph.construct import from_edges
from graphdask.graph.graph import Graph


class NxGraph:
    """A NetworkX graph on graphdask's side.

    Attributes
    ----------
    nodes : list
        In NetworkX's order; a node's number is its place.
    src, dst : numpy.ndarray of int64, shape (m,)
        Numbers of the edges' ends; an undirected edge stands once.
    columns : dict of list
        Values of edge attributes by name, each of m entries.
    """

    __networkx_backend__ = "graphdask"

    def __init__(self, G: Any, edge_attrs: Mapping[str, Any], preserve: bool, node_data: Any, graph_data: Any):
        self._directed, self._multigraph = bool(G.is_directed()), bool(G.is_multigraph())
        self.nodes: list[Hashable] = list(G)
        self._adj = dict(zip(self.nodes, range(len(self.nodes)), strict=True))
        rows = list(G._adj.values())
        if self._multigraph:
            lengths = [sum(map(len, row.values())) for row in rows]
            ends: Any = (node for row in rows for node, edges in row.items() for _ in edges)
        else:
            lengths = [len(row) for row in rows]
            ends = chain.from_iterable(rows)
        dst = np.fromiter(map(self._adj.__getitem__, ends), np.int64, sum(lengths))
        src = np.repeat(np.arange(len(rows)), np.array(lengths, np.int64))
        once = slice(None) if self._directed else src <= dst
        self.src, self.dst = src[once], dst[once]
        chosen = np.arange(len(dst))[once] if preserve or edge_attrs or self._multigraph else None
        self.data: list[dict[Any, Any]] | None = None
        self.keys: list[Hashable] | None = None
        self.columns: dict[Any, list[Any]] = {}
        if chosen is not None:
            pick = chosen.tolist()
            if preserve or edge_attrs:
                dicts = list(chain.from_iterable(_dicts(row, self._multigraph) for row in rows))
                if preserve:
                    self.data = [dict(dicts[place]) for place in pick]
                for name, default in edge_attrs.items():
                    self.columns[name] = [dicts[place].get(name, default) for place in pick]
            if self._multigraph:
                keys = [key for row in rows for edges in row.values() for key in edges]
                self.keys = [keys[place] for place in pick]
        self.node_data, self.graph = node_data, graph_data
        self._graphs: dict[Any, Graph] = {}

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multigraph

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        return len(self.src)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self._adj
        except TypeError:
            return False

    def number(self, node: Hashable) -> int:
        """The place of a node; KeyError where there is none."""
        return self._adj[node]

    def numbers_of(self, nodes: Any) -> list[int]:
        """The places of the nodes that NetworkX would take from `nodes`, all for None."""
        return [self._adj[node] for node in networkx.Graph.nbunch_iter(self, nodes)]  # type: ignore[arg-type]

    def plain(self) -> Graph:
        """The graph without weights."""
        return self._made(None, lambda: self._graph(self.src, self.dst, None))

    def reversed(self) -> Graph:
        """The graph without weights, its edges turned round."""
        if not self._directed:
            return self.plain()
        return self._made("reversed", lambda: self._graph(self.dst, self.src, None))

    def weighted(self, weight: Any, against: bool = False) -> Graph:
        """The graph, or the graph turned round, with an attribute as weights, 1 where an edge has none.

        Without weights for None.

        Raises
        ------
        NotImplementedError
            Where a value is not a number.
        """
        if weight is None:
            return self.reversed() if against else self.plain()
        src, dst = (self.dst, self.src) if against and self._directed else (self.src, self.dst)
        key = ("weight", weight, against and self._directed)
        return self._made(key, lambda: self._graph(src, dst, self.weights(weight)))

    def weights(self, weight: Any) -> np.ndarray:
        """An attribute of the edges as an array, 1 where an edge has none; int64 if all are whole, else float64."""
        values = self.columns.get(weight)
        if values is None:
            values = [data.get(weight, 1) for data in self.data] if self.data is not None else [1] * len(self.src)
        if not values:
            return np.zeros(0, np.int64)
        if not all(isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating) for value in values):
            raise NotImplementedError(f"graphdask takes numbers as weights, and {weight!r} is not on every edge")
        try:
            return np.array(values, np.float64 if any(isinstance(x, float | np.floating) for x in values) else np.int64)
        except OverflowError:
            raise NotImplementedError(f"a value of {weight!r} is above 2**63 - 1") from None

    def induced(self, kept: np.ndarray, chosen: np.ndarray | None = None) -> NxGraph:
        """The nodes where `kept` is true and the edges between them, with what the graph has kept of attributes.

        `chosen` gives the numbers of the edges to take, in their order; without it, all are taken.
        """
        part, place = copy(self), np.cumsum(kept) - 1
        nodes = np.flatnonzero(kept).tolist()
        edges = np.arange(len(self.src)) if chosen is None else chosen
        edges = edges[kept[self.src[edges]] & kept[self.dst[edges]]]
        part.nodes = [self.nodes[number] for number in nodes]
        part._adj = dict(zip(part.nodes, range(len(nodes)), strict=True))
        part.src, part.dst = place[self.src[edges]], place[self.dst[edges]]
        pick = edges.tolist()
        part.data = None if self.data is None else [self.data[number] for number in pick]
        part.keys = None if self.keys is None else [self.keys[number] for number in pick]
        part.columns = {name: [values[number] for number in pick] for name, values in self.columns.items()}
        part.node_data = None if self.node_data is None else [self.node_data[number] for number in nodes]
        part._graphs = {}
        return part

    def _graph(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> Graph:
        try:
            return from_edges(src, dst, weights, len(self.nodes), self._directed)
        except InputError as error:  # a weight is NaN
            raise NotImplementedError(str(error)) from None

    def _made(self, key: Any, make: Any) -> Graph:
        if key not in self._graphs:
            self._graphs[key] = make()
        return self._graphs[key]

    def __repr__(self) -> str:
        kind = ("Multi" if self._multigraph else "") + ("DiGraph" if self._directed else "Graph")
        return f"<NxGraph: {kind} of {len(self):,} nodes and {len(self.src):,} edges, for graphdask>"


def _dicts(row: Any, multigraph: bool) -> Any:
    """The attributes of the edges of a row of the adjacency."""
    return chain.from_iterable(edges.values() for edges in row.values()) if multigraph else row.values()


def computes_edges(G: Any) -> bool:
    """Whether a class of its own gives neighbours that do not stand in the adjacency, as a complement does."""
    base = networkx.MultiGraph if G.is_multigraph() else networkx.Graph
    if G.is_directed():
        base = networkx.MultiDiGraph if G.is_multigraph() else networkx.DiGraph
    names = ("__getitem__", "__iter__", "neighbors", "adjacency", "adj")
    return any(getattr(type(G), name, None) is not getattr(base, name) for name in names)


def convert_from_nx(
    G: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> NxGraph:
    """Convert a NetworkX graph, with the attributes that are asked for; NetworkX's convention.

    Parameters
    ----------
    G : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    edge_attrs, node_attrs : dict, optional
        Attributes to keep, with what stands where one is missing.
    preserve_edge_attrs, preserve_node_attrs, preserve_graph_attrs : bool
        Keep all of them.
    name, graph_name : str, optional
        Of the function and the argument that the graph is for.

    Returns
    -------
    NxGraph

    Raises
    ------
    NotImplementedError
        For a class of its own that computes its edges.

    Examples
    --------
    >>> import networkx as nx
    >>> from graphdask.nx.graph import convert_from_nx
    >>> G = convert_from_nx(nx.path_graph(3))
    >>> nx.number_connected_components(G)
    1
    """
    if isinstance(G, NxGraph):
        return G
    if computes_edges(G):
        raise NotImplementedError(f"{type(G).__name__} computes its edges; graphdask takes those of NetworkX's classes")
    nodes: Any = None
    if preserve_node_attrs:
        nodes = [dict(data) for data in G._node.values()]
    elif node_attrs:
        nodes = [{key: data.get(key, default) for key, default in node_attrs.items()} for data in G._node.values()]
    graph = dict(G.graph) if preserve_graph_attrs else {}
    return NxGraph(G, edge_attrs or {}, preserve_edge_attrs, nodes, graph)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Convert a graph back, with the attributes it has kept; other results are NetworkX's already."""
    if not isinstance(result, NxGraph):
        return result
    kinds = (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph)
    G = kinds[result.is_directed() + 2 * result.is_multigraph()](**result.graph)
    nodes, node_data = result.nodes, result.node_data
    G.add_nodes_from(nodes if node_data is None else zip(nodes, map(dict, node_data), strict=True))
    data = [dict(x) for x in result.data] if result.data is not None else [{} for _ in result.src]
    for attribute, values in result.columns.items():
        for kept, value in zip(data, values, strict=True):
            kept[attribute] = value
    src, dst = ([nodes[number] for number in end.tolist()] for end in (result.src, result.dst))
    keys = () if result.keys is None else (result.keys,)
    G.add_edges_from(zip(src, dst, *keys, data, strict=True))
    return G
