"""The cases of `graphdask.bench.program` in other libraries, as their users write them.

NetworkX has a function for each. python-graphblas has semirings: its search, shortest paths and components are a
product of the frontier and the adjacency matrix for each level; its PageRank and Katz centrality are a product for each
iteration. The graph of a library is made before anything is timed, and its answer is brought to an array afterwards.
Where NetworkX stops after a number of iterations, it raises its exception for iterations that did not converge and
returns nothing; there is no answer to compare.

Source: Kepner and Gilbert, Graph Algorithms in the Language of Linear Algebra, SIAM 2011.
"""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.bench.analysis.peers import Edges

DAMPING = 0.85


@dataclass(frozen=True)
class Asked:
    """The numbers of a run."""

    source: int
    iterations: int
    """Of PageRank."""
    rounds: int
    """Of Katz centrality."""
    alpha: float
    """Of Katz centrality."""


@dataclass(frozen=True)
class Peer:
    """A library."""

    name: str
    package: str
    module: str
    most: int
    """Edges of the largest graph that it is given."""
    make: Callable[[Edges], Any]
    """Gives its graph, with weights where the edges have some."""
    runs: Mapping[str, Callable[[Any, Asked], Any]]
    """For each case, `run(graph, asked)`: what is timed."""
    read: Callable[[str, Any, int], np.ndarray | None]
    """`read(case, answer, vertices)`: the answer as an array as that of the program, or None where there is none."""

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.package)


# NetworkX -------------------------------------------------------------------------------------------------------------


def _nx_graph(edges: Edges) -> Any:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(edges.n))
    src, dst = edges.src.tolist(), edges.dst.tolist()
    if edges.weights is None:
        graph.add_edges_from(zip(src, dst, strict=True))
    else:
        graph.add_weighted_edges_from(zip(src, dst, edges.weights.tolist(), strict=True))
    return graph


def _nx_bfs(graph: Any, asked: Asked) -> Any:
    import networkx as nx

    return nx.single_source_shortest_path_length(graph, asked.source)


def _nx_sssp(graph: Any, asked: Asked) -> Any:
    import networkx as nx

    return nx.single_source_dijkstra_path_length(graph, asked.source)


def _nx_components(graph: Any, asked: Asked) -> Any:
    import networkx as nx

    return list(nx.connected_components(graph))


def _nx_pagerank(graph: Any, asked: Asked) -> Any:
    import networkx as nx

    try:
        return nx.pagerank(graph, DAMPING, max_iter=asked.iterations, tol=0.0, weight=None)
    except nx.PowerIterationFailedConvergence:
        return None


def _nx_katz(graph: Any, asked: Asked) -> Any:
    import networkx as nx

    try:
        return nx.katz_centrality(graph, asked.alpha, max_iter=asked.rounds, tol=0.0, normalized=False)
    except nx.PowerIterationFailedConvergence:
        return None


def _nx_read(case: str, answer: Any, vertices: int) -> np.ndarray | None:
    if answer is None:
        return None
    if case == "components":
        label = np.empty(vertices, np.int64)
        for members in answer:
            label[list(members)] = min(members)
        return label
    found = np.full(vertices, {"bfs": -1, "sssp": math.inf}.get(case, math.nan))
    found[list(answer)] = list(answer.values())
    return found


# python-graphblas -----------------------------------------------------------------------------------------------------


def _gb_graph(edges: Edges) -> Any:
    from graphblas import Matrix

    src, dst, weights = edges.arcs
    values = True if weights is None else weights
    return Matrix.from_coo(src, dst, values, nrows=edges.n, ncols=edges.n)


def _gb_bfs(graph: Any, asked: Asked) -> Any:
    from graphblas import Vector, semiring

    depth, frontier = Vector(np.int32, graph.nrows), Vector(bool, graph.nrows)
    frontier[asked.source] = True
    level = 0
    while frontier.nvals:
        depth(frontier.S) << level
        frontier(~depth.S, replace=True) << frontier.vxm(graph, semiring.any_pair)
        level += 1
    return depth


def _least(graph: Any, values: Any, frontier: Any, semiring: Any) -> Any:
    """Send along the edges of a frontier what `semiring` makes of it, until no value gets smaller."""
    from graphblas import binary

    while frontier.nvals:
        frontier << frontier.vxm(graph, semiring)
        fresh = frontier.dup(mask=~values.S)
        lower = frontier.ewise_mult(values, binary.lt).new(bool)
        frontier << fresh.ewise_add(frontier.dup(mask=lower.V), binary.min)
        values(frontier.S) << frontier
    return values


def _gb_sssp(graph: Any, asked: Asked) -> Any:
    from graphblas import Vector, semiring

    distance = Vector(float, graph.nrows)
    distance[asked.source] = 0.0
    return _least(graph, distance, distance.dup(), semiring.min_plus)


def _gb_components(graph: Any, asked: Asked) -> Any:
    from graphblas import Vector, semiring

    label = Vector.from_dense(np.arange(graph.nrows))
    return _least(graph, label, label.dup(), semiring.min_first)


def _gb_pagerank(graph: Any, asked: Asked) -> Any:
    from graphblas import Vector, monoid, semiring

    n = graph.nrows
    degree = graph.reduce_rowwise("count").new(float)
    inverse = degree.apply("truediv", left=1.0).new()
    rank = Vector.from_scalar(1.0 / n, n, float)
    for _ in range(asked.iterations):
        share = rank.ewise_mult(inverse, "times").new()
        lost = float(rank.reduce(monoid.plus).value) - float(rank.dup(mask=degree.S).reduce(monoid.plus).value or 0.0)
        gathered = share.vxm(graph, semiring.plus_first).new()
        rank << (1.0 - DAMPING + DAMPING * lost) / n
        rank("plus") << gathered.apply("times", right=DAMPING)
    return rank


def _gb_katz(graph: Any, asked: Asked) -> Any:
    from graphblas import Vector, semiring

    centrality = Vector.from_scalar(0.0, graph.nrows, float)
    for _ in range(asked.rounds):
        gathered = centrality.vxm(graph, semiring.plus_first).new()
        centrality << 1.0
        centrality("plus") << gathered.apply("times", right=asked.alpha)
    return centrality


def _gb_read(case: str, answer: Any, vertices: int) -> np.ndarray:
    nothing = {"bfs": -1, "sssp": math.inf}.get(case, 0)
    found: np.ndarray = answer.to_dense(fill_value=nothing)
    return found


PEERS = (
    Peer(
        "networkx", "networkx", "networkx", 1 << 21, _nx_graph,
        {"bfs": _nx_bfs, "sssp": _nx_sssp, "components": _nx_components, "pagerank": _nx_pagerank, "katz": _nx_katz},
        _nx_read,
    ),
    Peer(
        "python-graphblas", "python-graphblas", "graphblas", 1 << 26, _gb_graph,
        {"bfs": _gb_bfs, "sssp": _gb_sssp, "components": _gb_components, "pagerank": _gb_pagerank, "katz": _gb_katz},
        _gb_read,
    ),
)  # fmt: skip
