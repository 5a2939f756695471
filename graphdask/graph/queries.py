"""GraphQueries: what a Graph answers about its vertices and edges, in the caller's ids.

`Graph` derives from it. Questions about one vertex go to the rank that owns the vertex; nothing is gathered. Of a graph
on disk this process reads the chunks that the question needs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graphdask import execute
from graphdask.errors import InputError, shown
from graphdask.graph.exported import first_edges, to_networkx, to_scipy
from graphdask.interface.kinds import choice, flag, whole
from graphdask.interface.parameters import described
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.partition.queries import DIRECTIONS
from graphdask.partition.reversed import reversed_source

ASKING = """
client : distributed.Client, optional
    Where the graph is, or is to be. Default: the active client, or this process if there is none.
progress : bool, optional
    Show a progress bar while the partitions are built.
"""
"""Parameters of questions that the ranks answer."""
_asking = partial(described, shared=ASKING)


class EdgeValues(NamedTuple):
    """The parallel edges from one vertex to another, by ascending weight and row."""

    row: np.ndarray | None
    """int32 or int64, shape (edges,): which row of the caller's input each one is, counted from 0, with the rows that
    were dropped; None without `edge_rows`."""
    weight: np.ndarray | None
    """float64, float32, int64 or int32, shape (edges,); None where the graph has no weights."""


@public
class GraphQueries:
    """Questions about vertices and edges, and other forms of a graph."""

    SPOKEN = "Graph"
    """The class that errors name."""

    def __len__(self: Any) -> int:
        """Number of vertices."""
        return int(self.num_vertices)

    def __bool__(self) -> bool:
        """True, also without vertices: a graph is an object and no sequence."""
        return True

    @_asking
    def degrees(self: Any, direction: str = "out", *, client: Any = None, progress: bool | None = None) -> np.ndarray:
        """Return the degree of every vertex.

        Parameters
        ----------
        direction : {"out", "in", "both"}
            Which edges of a vertex count in a directed graph. An undirected graph has no directions: each of them gives
            its degree.

        Returns
        -------
        numpy.ndarray of int64, shape (num_vertices,)
            In the order of `vertex_ids`. Parallel edges count each; a self-loop counts twice in an undirected graph and
            with "both", as in NetworkX.

        Raises
        ------
        InputError
            For another direction.
        Unsupported
            For a client, if the graph is on disk: this process reads its file then.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([10, 10, 20], [20, 30, 20])
        >>> G.degrees().tolist(), G.degrees("in").tolist()
        ([2, 1, 0], [0, 2, 1])
        """
        found: np.ndarray = execute.degrees(self, checked_direction(direction), client=client, progress=progress)
        return found

    @_asking
    def neighbors(
        self: Any, vertex: Any, direction: str = "out", *, client: Any = None, progress: bool | None = None
    ) -> np.ndarray:
        """Return the neighbours of a vertex, from the partition that owns it.

        Parameters
        ----------
        vertex : int or str
            The caller's id of a vertex.
        direction : {"out", "in", "both"}
            Along the edges, against them, or both. An undirected graph has no directions.

        Returns
        -------
        numpy.ndarray of int32, int64 or object
            The caller's ids, ascending, each once however many parallel edges there are; the vertex itself is among
            them if it has a self-loop.

        Raises
        ------
        VertexNotFound
            If there is no such vertex.
        InputError
            For another direction, or several vertices.
        Unsupported
            For a client, if the graph is on disk: this process reads its file then.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([10, 10, 20], [30, 20, 10])
        >>> G.neighbors(10).tolist(), G.neighbors(10, "in").tolist()
        ([20, 30], [20])
        """
        number, side = _number(self, "vertex", vertex), checked_direction(direction)
        numbers = execute.neighbours(self, number, side, client=client, progress=progress)
        found: np.ndarray = self.ids.to_caller(numbers)
        return found

    @_asking
    def has_edge(self: Any, u: Any, v: Any, *, client: Any = None, progress: bool | None = None) -> Any:
        """Return whether there is an edge from u to v, from the partitions that own the vertices u.

        Parameters
        ----------
        u, v : int, str, or array of vertex ids
            The caller's ids; arrays of one shape, or an array and one vertex.

        Returns
        -------
        bool, or numpy.ndarray of bool of that shape

        Raises
        ------
        VertexNotFound
            If one of them is not a vertex.
        InputError
            If the shapes do not fit.
        Unsupported
            For a client, if the graph is on disk: this process reads its file then.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges(["a", "b"], ["b", "c"])
        >>> G.has_edge("a", "b"), G.has_edge("b", ["a", "c"]).tolist()
        (True, [False, True])
        """
        src, dst = self.ids.to_internal(u, "u"), self.ids.to_internal(v, "v")
        try:
            src, dst = np.broadcast_arrays(src, dst)
        except ValueError:
            raise InputError(
                f"u has the shape {src.shape} and v {dst.shape}; give arrays of one shape, or one of them a single "
                f"vertex"
            ) from None
        counts = execute.edge_counts(self, src.reshape(-1), dst.reshape(-1), client=client, progress=progress)
        found = (counts > 0).reshape(src.shape)
        return found if found.ndim else bool(found)

    @_asking
    def edge(
        self: Any, u: Any, v: Any, *, edge_rows: bool = True, client: Any = None, progress: bool | None = None
    ) -> EdgeValues:
        """Return the rows and the weights of the edges from u to v, from the partition that owns u.

        Parameters
        ----------
        u, v : int or str
            The caller's ids.
        edge_rows : bool
            True, the default: the first call reads or generates the edges again for the rows of all of them, which then
            stay with the partitions. False: only the weights.

        Returns
        -------
        EdgeValues
            `row` and `weight`, an entry for each parallel edge; of length 0 if there is no edge.

        Raises
        ------
        VertexNotFound
            If u or v is not a vertex.
        Unsupported
            If the rows of its edges are unknown, as those of a graph on disk that was built without `edge_rows=True`;
            for a client, if the graph is on disk.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 1, 0], [1, 2, 1], weights=[5, 6, 4])
        >>> found = G.edge(0, 1)
        >>> found.row.tolist(), found.weight.tolist()
        ([2, 0], [4, 5])
        """
        ends = _number(self, "u", u), _number(self, "v", v)
        rows = flag("edge_rows", edge_rows)
        return EdgeValues(*execute.edge_values(self, *ends, rows, client=client, progress=progress))

    @_asking
    def subgraph(self: Any, vertices: Any, *, client: Any = None, progress: bool | None = None) -> Any:
        """Return the graph of some vertices and of all edges between these.

        Parameters
        ----------
        vertices : array of vertex ids
            Each counts once.
        progress : bool, optional
            Show a progress bar.

        Returns
        -------
        Graph
            In this process, with the caller's ids and weights. `graphdask.subgraph` leaves the edges with the workers,
            takes several sets, and has the rows of edges.

        Raises
        ------
        VertexNotFound
            If one of them is not a vertex.
        InputError
            For several sets of vertices.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.from_edges([0, 1, 2], [1, 2, 3]).subgraph([0, 1, 3])
        <Graph: 3 vertices, 1 edges, directed>
        """
        if given_array("vertices", vertices).ndim != 1:
            raise InputError("vertices= of G.subgraph is one array of ids; graphdask.subgraph takes several sets")
        return execute.subgraph(self, vertices, client=client, progress=progress)

    def reverse(self: Any) -> Any:
        """Return the graph with every edge turned round; an undirected graph is returned as it is.

        Of a graph on disk the result is one in memory, and of one that changes, one of the present version.

        Returns
        -------
        Graph
            With the same vertices, weights and rows of edges. Nothing is computed before its partitions are built.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 1], [1, 2], weights=[5, 6]).reverse()
        >>> G.edges().src.tolist(), G.edges().dst.tolist(), G.edges().weights.tolist()
        ([1, 2], [0, 1], [5, 6])
        """
        G = self.present
        if not G.directed:
            return G
        made = {"source": reversed_source(G.source), "report": dict(G.report)}
        return replace(G, **made, built=None, replicas=None, on_host=None)

    def head(self: Any, n: int = 5, *, client: Any = None, progress: bool | None = None) -> Any:
        """Return the first edges as a pandas DataFrame.

        Parameters
        ----------
        n : int
            How many, 0 or more.
        client : distributed.Client, optional
            Where to build a graph whose parallel edges are merged during the build; else it is refused, as by `edges`.
        progress : bool, optional
            Show a progress bar while such a graph is built.

        Returns
        -------
        pandas.DataFrame
            Columns `src`, `dst` in the caller's ids and, with weights, `weight`, in the order of `edges`. Only about
            these edges are read or made. `to_frame` has the other columns of the edges.

        Raises
        ------
        InputError
            For a number below 0.
        MissingDependency
            Without pandas: `pip install "graphdask[dataframe]"`.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.generate.preferential_attachment(2**40, degree=2).head(3)
           src  dst
        0    1    0
        1    2    0
        2    2    1
        """
        return first_edges(self.present, whole("n", n, 0), client, progress)

    def to_scipy(self: Any, *, client: Any = None, progress: bool | None = None) -> Any:
        """Return the adjacency matrix.

        Parameters
        ----------
        client, progress
            As in `edges`.

        Returns
        -------
        scipy.sparse.csr_array, shape (num_vertices, num_vertices)
            Row and column i are the vertex `vertex_ids[i]`. An entry is the weight, or True without weights. Parallel
            edges are entries of their own, which `sum_duplicates()` adds. An undirected edge has two entries, a
            self-loop one. `graphdask.from_scipy(A, directed=G.directed)` makes the same graph with vertices 0 to n - 1.

        Raises
        ------
        OverBudget
            If the edges do not fit into the memory of this process.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.from_edges([0, 1], [1, 2], weights=[5, 6]).to_scipy().toarray().tolist()
        [[0, 5, 0], [0, 0, 6], [0, 0, 0]]
        """
        return to_scipy(self.present, client, progress)

    def to_networkx(
        self: Any, weight: str = "weight", *, edge_columns: Any = True, vertex_columns: Any = True,
        multigraph: bool | None = None, client: Any = None, progress: bool | None = None,
    ) -> Any:  # fmt: skip
        """Return the graph as one of NetworkX.

        Parameters
        ----------
        weight : str
            Name of the edge attribute that holds weights; a graph without weights has no attribute.
        edge_columns, vertex_columns : list of str or bool
            Columns that become attributes of edges and of nodes, under their names; an edge or a node whose value is
            missing has no such attribute. True, the default: all, but one that is called as `weight` says. False: none.
        multigraph : bool, optional
            Whether to make a MultiGraph or MultiDiGraph. Default: if there are parallel edges.
        client, progress
            As in `edges`.

        Returns
        -------
        networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Nodes are the caller's ids as int or str, in the order of `vertex_ids`, isolated ones included. Weights are
            int or float.

        Raises
        ------
        InputError
            With multigraph=False, if there are parallel edges; for a column that is not there, or has the name of the
            weights.
        MissingDependency
            Without NetworkX: `pip install "graphdask[networkx]"`.
        OverBudget
            If the edges do not fit into the memory of this process.

        Examples
        --------
        >>> import graphdask as gd
        >>> g = gd.from_edges(["a", "b"], ["b", "c"], weights=[5, 6]).to_networkx()
        >>> list(g.edges(data=True))
        [('a', 'b', {'weight': 5}), ('b', 'c', {'weight': 6})]
        """
        columns = edge_columns, vertex_columns
        return to_networkx(self.present, weight, multigraph, client, progress, columns=columns)


def checked_direction(direction: Any) -> str:
    """Return a direction, or raise InputError."""
    found: str = choice("direction", direction, DIRECTIONS)
    return found


def _number(G: Any, name: str, vertex: Any) -> int:
    """The number of one vertex."""
    number = G.ids.to_internal(vertex, name)
    if number.ndim:
        raise InputError(f"{name}={shown(vertex)} is not one vertex; give the id of one")
    return int(number)
