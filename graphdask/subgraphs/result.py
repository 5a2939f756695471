"""What functions of this package return, as rows in an order of their own: vertices by hops, and edges of subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.graph.construct import from_edges
from graphdask.graph.graph import Graph
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import whole
from graphdask.results.result import Kept
from graphdask.sample.result import Samples


class Ordered(Samples):
    """Samples whose rows stand in an order of their own, whatever the partitions."""

    sort_by: tuple[str, ...] = ()
    """Columns that order the rows, the last one first."""

    @cached_property
    def _order(self) -> np.ndarray | None:
        """The places of the rows in their order; None if they stand in it, as edges that one rank found do."""
        columns = [super(Ordered, self)._internal(name) for name in self.sort_by]
        if in_order(columns):
            return None
        order = np.lexsort(columns)
        self._gathered.clear()
        return order

    def _internal(self, name: str) -> np.ndarray:
        order = self._order
        if order is None:
            return super()._internal(name)
        if name not in self._gathered:
            values = super()._internal(name)[order]
            values.flags.writeable = False
            self._gathered[name] = values
        return self._gathered[name]

    @property
    def _offsets(self) -> np.ndarray:
        return np.searchsorted(self._internal("instance"), np.arange(self.sampler.instances + 1))


def in_order(columns: Sequence[np.ndarray]) -> bool:
    """Whether rows ascend by columns, of which the last one counts first.

    Examples
    --------
    >>> import numpy as np
    >>> in_order([np.array([1, 2, 0]), np.array([0, 0, 1])]), in_order([np.array([2, 1]), np.array([0, 0])])
    (True, False)
    """
    tied = np.ones(max(len(columns[-1]) - 1, 0), bool)
    for column in reversed(columns):
        if (tied & (column[1:] < column[:-1])).any():
            return False
        tied &= column[1:] == column[:-1]
    return True


class HopsResult(Ordered):
    """Vertices in the order of source, hop and `vertex_ids`, whatever the partitions."""

    columns = ("vertex", "hop", "instance")
    vertex_valued = ("vertex",)
    sort_by = ("vertex", "hop", "instance")

    @property
    def vertex(self) -> np.ndarray:
        """The caller's id of each vertex that is reached."""
        return self._column("vertex")

    @property
    def hop(self) -> np.ndarray:
        """int32: the number of hops to it from the nearest source; 0 for the source itself."""
        return self._column("hop")

    @property
    def instance(self) -> np.ndarray:
        """int64: the place of the source, or of the array of sources, among those given."""
        return self._column("instance")

    @property
    def offsets(self) -> np.ndarray:
        """int64, shape (sources + 1,): where the vertices of each source begin."""
        return self._offsets


class SubgraphResult(Ordered):
    """Edges in the order of subgraph, source and destination, whatever the partitions; parallel ones by weight.

    An undirected edge stands once, from its end that comes first in `vertex_ids`.
    """

    columns: tuple[str, ...] = ("src", "dst", "instance")
    vertex_valued = ("src", "dst")
    sort_by = ("dst", "src", "instance")

    def __init__(self, graph: Graph, sampler: Any, parts: Kept, *made: Any):
        if "weight" in parts.summary[0].dtypes:
            self.columns = (*self.columns, "weight")
        super().__init__(graph, sampler, parts, *made)

    @property
    def src(self) -> np.ndarray:
        """The caller's id of the source of each edge."""
        return self._column("src")

    @property
    def dst(self) -> np.ndarray:
        """The caller's id of its destination."""
        return self._column("dst")

    @property
    def instance(self) -> np.ndarray:
        """int64: the number of the subgraph that each edge is in."""
        return self._column("instance")

    @property
    def weight(self) -> np.ndarray | None:
        """The weight of each edge; None where the graph has no weights."""
        return self._column("weight") if "weight" in self.columns else None

    @property
    def edge_offsets(self) -> np.ndarray:
        """int64, shape (subgraphs + 1,): where the edges of each subgraph begin."""
        return self._offsets

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertex numbers of all subgraphs, and where those of each begin."""
        if self.sampler.members is not None:
            return self.sampler.members, self.sampler.bounds
        ends = np.unique(np.concatenate([self._internal("src"), self._internal("dst")]))
        return ends, np.array([0, len(ends)])

    @property
    def vertices(self) -> np.ndarray:
        """The caller's ids of the vertices of each subgraph, in the order of `vertex_ids`."""
        return self.graph.ids.to_caller(self._members[0])

    @property
    def vertex_offsets(self) -> np.ndarray:
        """int64, shape (subgraphs + 1,): where the vertices of each subgraph begin in `vertices`."""
        return self._members[1]

    def to_graph(self, instance: int = 0) -> Graph:
        """Return a subgraph as a Graph with the caller's ids, isolated vertices, weights, columns and types included.

        Parameters
        ----------
        instance : int
            The number of the subgraph.

        Raises
        ------
        InputError
            If there is no subgraph of that number.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 1, 2], [1, 2, 3])
        >>> gd.subgraph(G, [0, 1, 3]).to_graph()
        <Graph: 3 vertices, 1 edges, directed>
        """
        number = whole("instance", instance, 0, self.sampler.instances - 1)
        edges = slice(*self.edge_offsets[number : number + 2])
        vertices = slice(*self.vertex_offsets[number : number + 2])
        if isinstance(self.graph, TypedGraph):
            return self.graph.restricted(self._members[0][vertices].astype(np.int64), self.edge[edges])
        weight = self.weight
        graph = from_edges(
            self.src[edges], self.dst[edges], None if weight is None else weight[edges],
            vertices=self.vertices[vertices], directed=self.graph.directed,
        )  # fmt: skip
        graph.vertex_attributes = self.graph.vertex_attributes
        if self.graph.edge_attributes is not None:
            graph.edge_attributes = self.graph.edge_attributes.only(self.edge[edges])
        return graph
