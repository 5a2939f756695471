"""TypedGraph: one graph whose vertices and edges have types, made of a table of edges for each type.

Vertices are numbered 0..n-1, type after type, in each type in ascending order of the caller's ids. Edges stand type
after type, in each type as they were given. So the type of a vertex or of an edge follows from its number or its row,
and takes no memory. A TypedGraph is a Graph of these numbers; every algorithm runs on it.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for what a type of edges is: the
type of the vertices that they leave, a name, and the type of those that they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.graph.graph import Graph
from graphdask.graph.type_names import EdgeType, VertexNumbers, checked_vertex_type, found_type, turned_types
from graphdask.graph.typed_columns import TypedColumns
from graphdask.interface.kinds import Own
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.partition.ids import VertexIds
from graphdask.partition.reversed import reversed_source
from graphdask.partition.sources import ArraySource
from graphdask.partition.vertex_map import Plan


@public
@dataclass(eq=False)
class TypedGraph(TypedColumns, Graph):  # type: ignore[misc]
    """A directed graph with types of vertices and of edges, made by `graphdask.from_frames`.

    As a Graph its vertices have the numbers 0 to `num_vertices` - 1; `number` and `named` convert them. Algorithms,
    `edges`, `edge_blocks`, `to_scipy`, `to_dask_dataframe` and `to_dask_array` have these numbers. `subgraph` and
    `reverse` keep types; `to_arrow`, `to_frame`, `to_networkx` and `head` have types and the caller's ids.
    """

    vertex_ids_by_type: Mapping[str, VertexIds] = field(default_factory=dict)
    edge_types: tuple[EdgeType, ...] = ()
    """Types of edges: type of the sources, name, type of the destinations."""
    edge_bounds: tuple[int, ...] = (0,)
    """Where the edges of each type begin among all, and their number."""
    columns_of_edges: Mapping[EdgeType, tuple[str, ...]] = field(default_factory=dict)
    """Names of the columns that edges of a type have; in `edge_attributes` other edges have nulls."""
    columns_of_vertices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the columns that vertices of a type have; in `vertex_attributes` other vertices have nulls."""
    of_one: dict[EdgeType, Graph] = field(default_factory=dict, repr=False, init=False)
    """The graphs of one type of edges that were asked for."""
    numbered: Graph | None = field(default=None, repr=False, init=False)
    """The same graph with the numbers of the types in the place of weights, once it was asked for."""

    @property
    def vertex_types(self) -> tuple[str, ...]:
        """Names of the types of vertices, in the order of their numbers."""
        return tuple(self.vertex_ids_by_type)

    @property
    def vertex_bounds(self) -> np.ndarray:
        """int64, shape (types + 1,): the number of the first vertex of each type, and that of all vertices."""
        return np.concatenate(([0], np.cumsum([ids.count for ids in self.vertex_ids_by_type.values()], dtype=np.int64)))

    def count(self, vertex_type: str) -> int:
        """How many vertices of a type there are."""
        return self.vertex_ids_by_type[checked_vertex_type(self, vertex_type)].count

    def ids_of(self, vertex_type: str) -> np.ndarray:
        """The caller's ids of the vertices of a type, in ascending order."""
        return self.vertex_ids_by_type[checked_vertex_type(self, vertex_type)].values

    def number(self, vertex_type: str, ids: Any) -> np.ndarray:
        """Return the numbers of vertices of a type, int64, by the caller's ids.

        Raises
        ------
        VertexNotFound
            For an id that no vertex of the type has.
        """
        own = self.vertex_ids_by_type[checked_vertex_type(self, vertex_type)]
        given = given_array("ids", ids)
        if not given.size:
            return np.zeros(given.shape, np.int64)
        return own.to_internal(given, f"vertex of type {vertex_type!r}") + self._first(vertex_type)

    def named(self, vertex_type: str, numbers: Any) -> np.ndarray:
        """Return the caller's ids of vertices of a type, by their numbers; -1 (None among string ids) stays.

        Raises
        ------
        InputError
            For a number that no vertex of the type has.
        """
        own, first = self.vertex_ids_by_type[checked_vertex_type(self, vertex_type)], self._first(vertex_type)
        given = given_array("numbers", numbers)
        if not given.size:
            return own.to_caller(np.zeros(given.shape, np.int64))
        whole_numbers = given.dtype.kind in "iu"
        if not whole_numbers or ((given != -1) & ((given < first) | (given >= first + own.count))).any():
            raise InputError(
                f"numbers of vertices of type {vertex_type!r} are whole numbers from {first} to {first + own.count - 1}"
            )
        return own.to_caller(np.where(given == -1, -1, given - first))

    def edge_type(self, name: Any) -> EdgeType:
        """Return the type of edges that a name or the three parts of a type name.

        Raises
        ------
        InputError
            If there is none, or several have the name.
        """
        return found_type(self.edge_types, name)

    def of_type(self, name: Any) -> Graph:
        """Return the graph of all vertices and the edges of one type, whose rows begin at 0.

        Parameters
        ----------
        name : str or (str, str, str)
            The name of a type if no other has it, or its three parts.
        """
        kind = self.edge_type(name)
        if kind not in self.of_one:
            share, every, names = self.rows_of(kind), self.source, self.columns_of_edges.get(kind, ())
            assert isinstance(every, ArraySource)
            weights = None if every.weights is None else every.weights[share]
            source = ArraySource(self.num_vertices, every.src[share], every.dst[share], weights)
            columns = self.edge_attributes.only(np.arange(share.start, share.stop), names) if names else None
            self.of_one[kind] = Graph(
                source, self.ids, True, {"edges_read": source.num_edges}, self.plan, edge_attributes=columns,
                vertex_attributes=self.vertex_attributes,
            )  # fmt: skip
        return self.of_one[kind]

    def rows_of(self, name: Any) -> slice:
        """Return where the edges of a type stand among all edges of the graph."""
        place = self.edge_types.index(self.edge_type(name))
        return slice(*self.edge_bounds[place : place + 2])

    def without_types(self) -> Graph:
        """Return the same vertices, by their numbers, and edges as a plain graph."""
        return Graph(
            self.source, self.ids, True, dict(self.report), self.plan, edge_attributes=self.edge_attributes,
            vertex_attributes=self.vertex_attributes,
        )  # fmt: skip

    def to_undirected(self, *, multi_edges: Own[str] = "keep") -> Graph:
        """Return the plain graph without types and without the directions of its edges, as `Graph.to_undirected`.

        An undirected edge has no type of sources, so types are left out. Rows of edges and numbers of vertices stay.
        """
        return self.without_types().to_undirected(multi_edges=multi_edges)

    def reverse(self) -> TypedGraph:
        """Return the graph with all edges turned round.

        The type (a, name, b) becomes (b, "rev_" + name, a), and (a, "rev_" + name, b) becomes (b, name, a). Rows of
        edges, weights and columns stay.

        Raises
        ------
        InputError
            If two types would become one.
        """
        types = turned_types(self.edge_types)
        columns = {kind: self.columns_of_edges[old] for old, kind in types.items() if old in self.columns_of_edges}
        return replace(
            self, source=reversed_source(self.source), report=dict(self.report), edge_types=tuple(types.values()),
            columns_of_edges=columns, built=None, replicas=None, on_host=None,
        )  # fmt: skip

    def subgraph(self, vertices: Any, *, client: Any = None, progress: bool | None = None) -> TypedGraph:
        """Return the graph of some vertices and of all edges between these, with all types and columns.

        Parameters
        ----------
        vertices : mapping of str to array of ids, or array of int
            By type: the caller's ids; a type that is left out gives no vertices. Or numbers of vertices.
        client, progress
            As for a Graph.

        Returns
        -------
        TypedGraph
            In this process. Types without vertices or edges are there too. Edges of a type stand as in this graph.

        Raises
        ------
        VertexNotFound
            If one of them is not a vertex.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_frames({("user", "rates", "item"): (["ann", "bob", "bob"], [7, 7, 9])})
        >>> G.subgraph({"user": ["bob"], "item": [7, 9]})
        <TypedGraph: vertices 1 user, 2 item; edges 2 user rates item>
        """
        if isinstance(vertices, Mapping):
            for name in vertices:
                checked_vertex_type(self, name, "vertices: ")
            given = [self.number(name, ids).reshape(-1) for name, ids in vertices.items()]
            vertices = np.concatenate([np.zeros(0, np.int64), *given])
        made: TypedGraph = super().subgraph(vertices, client=client, progress=progress)
        return made

    def restricted(self, vertices: np.ndarray, rows: np.ndarray) -> TypedGraph:
        """Return the graph of some vertices and some edges between these, with all types.

        Parameters
        ----------
        vertices : int64 array
            Numbers, ascending and each once.
        rows : int64 array
            Rows of edges, each once.
        """
        rows, source, bounds = np.sort(rows), self.source, self.vertex_bounds
        assert isinstance(source, ArraySource)
        src, dst = (np.searchsorted(vertices, end[rows]) for end in (source.src, source.dst))
        shares = np.searchsorted(vertices, bounds)
        named = {
            name: VertexIds.of_sorted(ids.to_caller(vertices[a:b] - first)) if b > a else VertexIds(0)
            for (name, ids), a, b, first in zip(
                self.vertex_ids_by_type.items(), shares[:-1], shares[1:], bounds[:-1], strict=True
            )
        }
        weights = None if source.weights is None else source.weights[rows]
        ids = VertexNumbers(len(vertices), types=self.vertex_types)
        edges, columns = self.edge_attributes, self.vertex_attributes
        return replace(
            self, source=ArraySource(len(vertices), src, dst, weights), ids=ids, vertex_ids_by_type=named,
            report={"edges_read": len(rows), "vertices": len(vertices), "self_loops": int((src == dst).sum())},
            edge_bounds=tuple(np.searchsorted(rows, self.edge_bounds).tolist()),
            edge_attributes=None if edges is None else edges.only(rows),
            vertex_attributes=None if columns is None else replace(columns.only(vertices), ids=ids),
            plan=Plan(), built=None, replicas=None, on_host=None,
        )  # fmt: skip

    def with_type_numbers(self) -> Graph:
        """Return the same graph as a plain one whose weights are the places of types in `edge_types`, int32."""
        if self.numbered is None:
            source = self.source
            assert isinstance(source, ArraySource)
            types = np.repeat(np.arange(len(self.edge_types), dtype=np.int32), np.diff(self.edge_bounds))
            source = ArraySource(self.num_vertices, source.src, source.dst, types, source.skewed)
            self.numbered = Graph(source, self.ids, True, dict(self.report), self.plan)
        return self.numbered

    def _first(self, vertex_type: str) -> int:
        """The number of the first vertex of a type."""
        return int(self.vertex_bounds[self.vertex_types.index(vertex_type)])

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "of_one": {}, "numbered": None}

    def __repr__(self) -> str:
        vertices = ", ".join(f"{ids.count:,} {name}" for name, ids in self.vertex_ids_by_type.items())
        sizes = np.diff(self.edge_bounds).tolist()
        edges = ", ".join(
            f"{size:,} {source} {name} {end}" for (source, name, end), size in zip(self.edge_types, sizes, strict=True)
        )
        return f"<TypedGraph: vertices {vertices}; edges {edges}>"
