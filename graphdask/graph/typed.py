"""TypedGraph: one graph whose vertices and edges have types, made of a table of edges for each type.

Vertices are numbered 0..n-1, type after type, in each type in ascending order of the caller's ids. Edges stand type
after type, in each type as they were given. So the type of a vertex or of an edge follows from its number or its row,
and takes no memory. A TypedGraph is a Graph of these numbers; every algorithm runs on it.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for what a type of edges is: the
type of the vertices that they leave, a name, and the type of those that they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.arrow_tables import TABLES, arrow_table, plain_values
from graphdask.graph.construct import checked_ids, checked_weights
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import Own, flag, whole
from graphdask.interface.suggest import public
from graphdask.partition.conversions import class_of
from graphdask.partition.given import given_array
from graphdask.partition.ids import VertexIds, check_same_kind
from graphdask.partition.sources import ArraySource

EdgeType = tuple[str, str, str]
"""Type of the sources, name, type of the destinations."""
REVERSE = "rev_"
"""What the name of a type of reversed edges begins with, as PyTorch Geometric names them."""


@public
@dataclass(eq=False)
class TypedGraph(Graph):
    """A directed graph with types of vertices and of edges, made by `graphdask.from_frames`.

    As a Graph its vertices have the numbers 0 to `num_vertices` - 1; `number` and `named` convert them.
    """

    vertex_ids_by_type: Mapping[str, VertexIds] = field(default_factory=dict)
    edge_weights: Mapping[EdgeType, np.ndarray | None] = field(default_factory=dict)
    edge_bounds: tuple[int, ...] = (0,)
    """Where the edges of each type begin among all, and their number."""
    of_one: dict[EdgeType, Graph] = field(default_factory=dict, repr=False, init=False)
    """The graphs of one type of edges that were asked for."""
    numbered: Graph | None = field(default=None, repr=False, init=False)
    """The same graph with the numbers of the types in the place of weights, once it was asked for."""

    @property
    def vertex_types(self) -> tuple[str, ...]:
        """Names of the types of vertices, in the order of their numbers."""
        return tuple(self.vertex_ids_by_type)

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """Types of edges: type of the sources, name, type of the destinations."""
        return tuple(self.edge_weights)

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
        parts = tuple(name) if isinstance(name, tuple | list) else (name,)
        if not all(isinstance(part, str) for part in parts):
            raise InputError(f"{shown(name)} is no type of edges; it is a name, or three")
        if parts in self.edge_weights:
            return parts  # type: ignore[return-value]
        found = [kind for kind in self.edge_types if kind[1:2] == parts]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{shown(name)} names {len(found)} types of edges: {_listed(found)}; give one of these")
        raise InputError(f"{shown(name)} is no type of edges of this graph; there are {_listed(self.edge_types)}")

    def of_type(self, name: Any) -> Graph:
        """Return the graph of all vertices and the edges of one type, whose rows begin at 0.

        Parameters
        ----------
        name : str or (str, str, str)
            The name of a type if no other has it, or its three parts.
        """
        kind = self.edge_type(name)
        if kind not in self.of_one:
            place, whole_graph = self.edge_types.index(kind), self.source
            assert isinstance(whole_graph, ArraySource)
            share = slice(*self.edge_bounds[place : place + 2])
            source = ArraySource(
                self.num_vertices, whole_graph.src[share], whole_graph.dst[share], self.edge_weights[kind]
            )
            self.of_one[kind] = Graph(source, self.ids, True, {"edges_read": source.num_edges}, self.plan)
        return self.of_one[kind]

    def rows_of(self, name: Any) -> slice:
        """Return where the edges of a type stand among all edges of the graph."""
        place = self.edge_types.index(self.edge_type(name))
        return slice(*self.edge_bounds[place : place + 2])

    def without_types(self) -> Graph:
        """Return the same vertices, by their numbers, and edges as a plain graph."""
        return Graph(self.source, self.ids, True, dict(self.report), self.plan)

    def to_undirected(self, *, multi_edges: Own[str] = "keep") -> Graph:
        """Return the plain graph without the directions of its edges, as `Graph.to_undirected`."""
        return self.without_types().to_undirected(multi_edges=multi_edges)

    def reverse(self) -> Graph:
        """Return the plain graph with all edges turned round; `from_frames(reverse=True)` adds types of such edges."""
        return self.without_types().reverse()

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


def checked_vertex_type(G: TypedGraph, name: Any, where: str = "") -> str:
    """Return the name, or raise InputError if no vertices have this type; `where` is before the reason."""
    if not isinstance(name, str) or name not in G.vertex_ids_by_type:
        there = ", ".join(G.vertex_types)
        raise InputError(f"{where}{shown(name)} is no type of vertices of this graph; there are {there}")
    return name


def _listed(kinds: Sequence[EdgeType]) -> str:
    return ", ".join(map(str, kinds))


def from_frames(
    edges: Mapping[EdgeType, Any],
    src: str = "src",
    dst: str = "dst",
    weight: str | None = None,
    *,
    vertices: Mapping[str, Any] | None = None,
    reverse: bool = False,
) -> TypedGraph:
    """Make one graph of several tables of edges, each of a type of its own.

    Parameters
    ----------
    edges : mapping of (str, str, str) to table
        By type: the type of the vertices that edges leave, a name, the type of those that they lead to. A table is a
        data frame or whatever has an Arrow stream, or a pair of arrays, or an array of shape (2, m), sources first.
    src, dst : str
        Columns of the edges' ends: whole numbers or strings, of one kind for each type of vertices.
    weight : str, optional
        Column of the weights, in the tables that have it.
    vertices : mapping of str to int or array, optional
        By type: the number of vertices, which are 0 to that - 1, or all ids, isolated vertices included. Default:
        those that edges name.
    reverse : bool
        Add for each type (a, name, b) the reversed edges as the type (b, "rev_" + name, a), unless a is b.

    Returns
    -------
    TypedGraph

    Raises
    ------
    InputError
        For a key that is not three names, a column that is not there, ids of different kinds in one type of vertices,
        an edge to a vertex that `vertices` leaves out, or a type of vertices that no edges have.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_frames({
    ...     ("user", "rates", "item"): (["ann", "bob"], [7, 9]), ("user", "knows", "user"): (["ann"], ["bob"]),
    ... })
    >>> G
    <TypedGraph: vertices 2 user, 2 item; edges 2 user rates item, 1 user knows user>
    >>> G.number("item", [9])
    array([3])
    >>> gd.bfs(G, G.number("user", "ann")).depth.tolist()
    [0, 1, 1, 2]
    """
    if not isinstance(edges, Mapping) or not edges:
        raise InputError(f"edges={shown(edges)} is not a mapping of types of edges to tables, one at least")
    flag("reverse", reverse)
    ends: dict[EdgeType, tuple[np.ndarray, np.ndarray]] = {}
    weights: dict[EdgeType, np.ndarray | None] = {}
    for given, table in edges.items():
        kind = _checked_type(given)
        one, other, values = _columns(f"edges[{kind}]", table, src, dst, weight)
        ends[kind] = checked_ids(f"{src} of {kind}", one), checked_ids(f"{dst} of {kind}", other)
        if len(ends[kind][0]) != len(ends[kind][1]):
            raise InputError(f"edges[{kind}] has {len(ends[kind][0])} sources and {len(ends[kind][1])} destinations")
        weights[kind] = checked_weights(values, len(ends[kind][0]), f"{weight} of {kind}")
    named = _vertices_of(ends, vertices)
    firsts = dict(zip(named, np.cumsum([0, *(ids.count for ids in named.values())]).tolist(), strict=False))
    numbers: dict[EdgeType, tuple[np.ndarray, np.ndarray]] = {}
    for (a, name, b), (one, other) in ends.items():
        numbers[a, name, b] = _numbers(named[a], a, one) + firsts[a], _numbers(named[b], b, other) + firsts[b]
        if reverse and a != b:
            turned = b, REVERSE + name, a
            if turned in ends:
                raise InputError(f"reverse=True makes the type {turned}, which edges has too; leave one of them out")
            numbers[turned], weights[turned] = numbers[a, name, b][::-1], weights[a, name, b]
    kinds = list(numbers)
    bounds = np.cumsum([0, *(len(numbers[kind][0]) for kind in kinds)]).tolist()
    total = sum(ids.count for ids in named.values())
    one, other = (np.concatenate([numbers[kind][end] for kind in kinds]) for end in (0, 1))
    source = ArraySource(total, one, other, _joined([weights[kind] for kind in kinds]))
    report = {"edges_read": len(one), "vertices": total, "self_loops": int(np.count_nonzero(one == other))}
    return TypedGraph(
        source, VertexIds(total), True, report, vertex_ids_by_type=named,
        edge_weights={kind: weights[kind] for kind in kinds}, edge_bounds=tuple(bounds),
    )  # fmt: skip


def _checked_type(given: Any) -> EdgeType:
    if not isinstance(given, tuple) or len(given) != 3 or not all(isinstance(part, str) and part for part in given):
        raise InputError(
            f"{shown(given)} is no type of edges; it is a tuple of the type of the sources, a name, and the type of "
            f"the destinations"
        )
    return given


def _columns(what: str, table: Any, src: str, dst: str, weight: str | None) -> tuple[Any, Any, Any]:
    """Sources, destinations, and weights or None, of a data frame, a pair of arrays or an array of two rows."""
    if isinstance(table, tuple | list) and len(table) == 2 and not isinstance(table[0], str):
        return table[0], table[1], None
    if getattr(table, "ndim", None) == 2 and not hasattr(table, "columns"):
        array = given_array(what, table)
        if len(array) == 2:
            return array[0], array[1], None
    if not (isinstance(table, Mapping) or hasattr(table, "columns") or hasattr(table, "__arrow_c_stream__")):
        raise InputError(
            f"{what} is a {class_of(table)}; it is {TABLES}, a pair of arrays, or an array of shape (2, m)"
        )
    columns = arrow_table(what, table)
    names = [src, dst]
    if weight is not None and weight in columns.column_names:
        names.append(weight)
    columns = arrow_table(what, columns, names)
    values = [plain_values(f"{what}: column {name!r}", columns[name]) for name in names]
    return values[0], values[1], values[2] if len(values) > 2 else None


def _joined(weights: list[np.ndarray | None]) -> np.ndarray | None:
    """The weights of all edges, if all types have them."""
    there = [values for values in weights if values is not None]
    return np.concatenate(there) if len(there) == len(weights) else None


def _numbers(ids: VertexIds, name: str, given: np.ndarray) -> np.ndarray:
    return ids.to_internal(given, f"vertex of type {name!r}") if len(given) else np.zeros(0, np.int64)


def _vertices_of(
    ends: Mapping[EdgeType, tuple[np.ndarray, np.ndarray]], vertices: Mapping[str, Any] | None
) -> dict[str, VertexIds]:
    """The ids of each type of vertices, in the order in which the types are named."""
    found: dict[str, list[np.ndarray]] = {}
    for (a, _, b), (one, other) in ends.items():
        found.setdefault(a, []).append(one)
        found.setdefault(b, []).append(other)
    if vertices is not None and not isinstance(vertices, Mapping):
        raise InputError(f"vertices={shown(vertices)} is not a mapping of types to their vertices")
    given = dict(vertices or {})
    for name in given:
        if name not in found:
            raise InputError(f"vertices has the type {shown(name)}, which no type of edges has")
    made = {}
    for name, arrays in found.items():
        stated = given.get(name)
        if stated is None:
            filled = [array for array in arrays if len(array)]
            for array in filled[1:]:
                check_same_kind(filled[0], array)
            made[name] = VertexIds.of_sorted(np.unique(np.concatenate(filled)) if filled else np.zeros(0, np.int64))
        elif isinstance(stated, int | np.integer) and not isinstance(stated, bool):
            made[name] = VertexIds(whole(f"vertices[{name!r}]", stated))
        else:
            made[name] = VertexIds.of_sorted(np.unique(checked_ids(f"vertices[{name!r}]", stated)))
    return made
