"""GraphSAINT: subgraphs for training, induced by vertices that are drawn by themselves, by edges, or by walks.

All three are walks. An edge (u, v) with the probability proportional to 1/deg(u) + 1/deg(v) is one step from a vertex
drawn uniformly among those with edges. A vertex v with the probability proportional to the squared norm of its column
of D^-1 A, the sum of 1/deg(u)^2 over the edges (u, v), is where one step ends from a vertex u drawn in proportion to
1/deg(u).

Source: Zeng, Zhou, Srivastava, Kannan, Prasanna, GraphSAINT: graph sampling based inductive learning method (ICLR
2020), Section 3 and Algorithm 2.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, VerificationError
from graphdask.graph.graph import Graph, checked_graph, checked_undirected
from graphdask.interface.kinds import checked_seed, whole
from graphdask.interface.parameters import documented
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws
from graphdask.sample.degrees import out_degrees
from graphdask.sample.induced import Induced
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import (
    Placement,
    checked_edge_rows,
    checked_placement,
    drawn,
    numbered,
    refuse_partitions,
    sampled,
)
from graphdask.sample.streamed import Streamed
from graphdask.sample.walkers import Walks, checked_length
from graphdask.sample.walks import FirstOrder

MOST = 1 << 62
"""Of the sum of the weights that roots are drawn by."""


class SaintSubgraphs(Neighborhoods):
    """Induced subgraphs, one for each instance; `nodes` of an instance ascend in the order of `vertex_ids`.

    Edges stand at their sources, in ascending order of both ends; an undirected edge is there in both directions.
    """

    new_vertices = 0
    walks: Walks
    """That visited the vertices."""
    _each: int
    """Walks of an instance."""
    _drawn: slice
    """Columns of the walks, which make the sets."""

    @cached_property
    def node_norm(self) -> np.ndarray:
        """float64, for each of `nodes`: in which share of the instances it is, C_v / N, the paper's lambda.

        The loss of a vertex is divided by it (and by the number of vertices).
        """
        _, of_node, counts = np.unique(self.sampler.seeds, return_inverse=True, return_counts=True)
        return np.asarray(counts[of_node] / max(self.sampler.instances, 1))

    @cached_property
    def edge_norm(self) -> np.ndarray:
        """float64, for each edge: C_uv / C_v, the paper's alpha, of v = `dst` and u = `src`.

        In how many of the instances that v is in the edge is, too; what v gets along the edge is divided by it.
        """
        src, dst, instance = (self._internal(name) for name in ("src", "dst", "instance"))
        order = np.lexsort((instance, dst, src))
        src, dst, instance = src[order], dst[order], instance[order]
        pair, once = np.ones(len(order), bool), np.ones(len(order), bool)
        pair[1:] = (src[1:] != src[:-1]) | (dst[1:] != dst[:-1])
        once[1:] = pair[1:] | (instance[1:] != instance[:-1])
        of_pair = np.cumsum(pair) - 1
        together = np.bincount(of_pair, once, int(pair.sum()))
        vertices, counts = np.unique(self.sampler.seeds, return_counts=True)
        norm = np.empty(len(order))
        norm[order] = together[of_pair] / counts[np.searchsorted(vertices, dst)]
        return norm

    def verify(self) -> SaintSubgraphs:
        """Prove that the walks are walks, the vertices those that they visited, and the edges all between these.

        Raises
        ------
        VerificationError
            Naming the first that is not.
        """
        self.walks.verify()
        vertices, bounds = _sets(self.walks._internal("walks")[:, self._drawn], self._each)
        same = np.array_equal(bounds, self.sampler.bounds) and np.array_equal(vertices, self.sampler.seeds)
        if not same:
            raise VerificationError("the vertices of the subgraphs are not those that were drawn")
        super().verify()
        return self


class _Subgraphs(Induced):
    name = "GraphSAINT subgraphs"
    result_type = SaintSubgraphs


def _sets(visited: np.ndarray, each: int) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of each instance, which is `each` rows, ascending and once; where those of each begin."""
    rows = np.sort(visited.reshape(len(visited) // each, each * visited.shape[1]), axis=1)
    kept = rows >= 0
    kept[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    return rows[kept].astype(np.int64), np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)


def _refuse_too_many(each: int, instances: int) -> None:
    """Raise OverBudget where the roots of so many instances, and what finds them, do not fit the host's memory."""
    refuse_beyond_memory(
        f"{instances:,} subgraphs of {each:,} roots each", instances * (24 * each + 40),
        "draw fewer or smaller ones, with another seed for each call",
    )  # fmt: skip


def _roots(weights: np.ndarray, each: int, instances: int, seed: int) -> np.ndarray:
    """Vertex numbers drawn with replacement in proportion to whole weights, `each` for an instance."""
    sums = np.cumsum(weights)
    kernels = get_backend("cpu").kernels("neighbors")
    of_all, out = np.zeros(instances, np.int64), [np.empty(each * instances, np.int64) for _ in range(3)]
    none = np.full(instances, -(1 << 62) - 1)  # no vertex has such a number, nor has random_nodes
    total = np.array([0, int(sums[-1])])
    kernels.neighbors_uniform(
        instances, ItemDraws(
            rows=of_all, vertices=none, instances=np.arange(instances), tags=of_all, indptr=total,
            offsets=np.arange(instances + 1) * each, replace=1, seed=np.uint64(seed), src=out[0], dst=out[1],
            tag=out[2],
        ),
    )  # fmt: skip
    return np.searchsorted(sums, out[1], side="right").astype(np.int64)


def _subgraphs(
    G: Graph, roots: np.ndarray, each: int, length: int, visited: slice, seed: int, edge_rows: Any,
    placement: Placement, client: Any, progress: bool | None,
) -> SaintSubgraphs:  # fmt: skip
    sampler = FirstOrder(roots, length, seed, "uniform", None, 0.0, 0.0)
    walks: Walks = drawn(G, sampler, placement, client, progress)
    induced = _Subgraphs(*_sets(walks._internal("walks")[:, visited], each))
    found: SaintSubgraphs = sampled(G, numbered(induced, edge_rows), placement, client, progress)
    found.walks, found._each, found._drawn = walks, each, visited
    return found


def _checked_placement(placement: Any, edge_rows: Any) -> Placement:
    """Where the graph is to be; and that `edge_rows` is True or False."""
    checked_edge_rows(edge_rows)
    where = checked_placement(placement)
    if isinstance(where, Streamed):
        refuse_partitions(_Subgraphs.name, where)
    return where


def _rooted(G: Graph, placement: Placement, client: Any, progress: bool | None) -> np.ndarray:
    """Out-degrees, some of which are above 0."""
    degrees = out_degrees(G, placement, client, progress)
    if not degrees.any():
        raise InputError("this graph has no edges to draw from")
    return degrees


@documented
def saint_nodes(
    G: Graph,
    nodes: int,
    instances: int = 1,
    *,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> SaintSubgraphs:
    """GraphSAINT's node sampler: subgraphs induced by vertices drawn in proportion to their columns' squared norms.

    A vertex v is drawn with a probability proportional to the sum of 1 / deg(u)^2 over the edges (u, v), where deg are
    out-degrees: the squared norm of its column of D^-1 A.

    Parameters
    ----------
    G : Graph
    nodes : int
        Vertices drawn for an instance, with replacement; it has as many at most.
    instances : int
        Subgraphs.

    Returns
    -------
    SaintSubgraphs
        `src`, `dst`, `instance`; `nodes`, `node_offsets`, `row`, `col`, `edge_offsets`; `node_norm`, `edge_norm`.

    Raises
    ------
    InputError
        For a number that is none, or where there are no edges.

    Notes
    -----
    Degrees of all vertices are gathered for it, 8 bytes each; 1 / deg is rounded to multiples of vertices / 2^62.

    References
    ----------
    Zeng, Zhou, Srivastava, Kannan, Prasanna: GraphSAINT, ICLR 2020.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    >>> s = gd.sample.saint_nodes(G, 50, instances=2)
    >>> s.nodes.tolist(), s.subgraph(0).row.tolist(), s.subgraph(0).col.tolist()
    ([0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])
    """
    checked_graph(G)
    where = _checked_placement(placement, edge_rows)
    each, count, number = whole("nodes", nodes, 1), whole("instances", instances, 0), checked_seed(seed)
    _refuse_too_many(each, count)
    degrees = _rooted(G, where, client, progress)
    weights = np.where(degrees > 0, MOST // len(degrees) // np.maximum(degrees, 1), 0)
    roots = _roots(weights, each, count, number)
    return _subgraphs(G, roots, each, 1, slice(1, 2), number, edge_rows, where, client, progress)


@documented
def saint_edges(
    G: Graph,
    edges: int,
    instances: int = 1,
    *,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> SaintSubgraphs:
    """GraphSAINT's edge sampler: subgraphs induced by the ends of edges of a probability ~ 1 / deg(u) + 1 / deg(v).

    Parameters
    ----------
    G : Graph
        Undirected. A self-loop has one end.
    edges : int
        Edges drawn for an instance, with replacement; it has twice as many vertices at most.
    instances : int
        Subgraphs.

    Returns
    -------
    SaintSubgraphs
        As `saint_nodes` returns. There are more edges in it than those that were drawn: all between their ends.

    Raises
    ------
    InputError
        If `G` is directed or has no edges, or for a number that is none.

    References
    ----------
    Zeng, Zhou, Srivastava, Kannan, Prasanna: GraphSAINT, ICLR 2020.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    >>> gd.sample.saint_edges(G, 50).nodes.tolist()
    [0, 1, 2]
    """
    checked_undirected(G, "saint_edges")
    where = _checked_placement(placement, edge_rows)
    each, count, number = whole("edges", edges, 1), whole("instances", instances, 0), checked_seed(seed)
    _refuse_too_many(each, count)
    weights = (_rooted(G, where, client, progress) > 0).astype(np.int64)
    roots = _roots(weights, each, count, number)
    return _subgraphs(G, roots, each, 1, slice(0, 2), number, edge_rows, where, client, progress)


@documented
def saint_walks(
    G: Graph,
    roots: int,
    length: int,
    instances: int = 1,
    *,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> SaintSubgraphs:
    """GraphSAINT's random walk sampler: subgraphs induced by what walks from random roots visit.

    Parameters
    ----------
    G : Graph
    roots : int
        Walks of an instance; their roots are drawn uniformly, with replacement.
    length : int
        Steps of a walk, 0 or more; one ends early at a vertex without out-edges.
    instances : int
        Subgraphs.

    Returns
    -------
    SaintSubgraphs
        As `saint_nodes` returns.

    Raises
    ------
    InputError
        For a number that is none, or where there are no vertices.

    References
    ----------
    Zeng, Zhou, Srivastava, Kannan, Prasanna: GraphSAINT, ICLR 2020.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    >>> s = gd.sample.saint_walks(G, 1, 2, instances=100)
    >>> bool(s.node_norm.min() > 0.5), bool(s.edge_norm.max() <= 1)
    (True, True)
    """
    n = checked_graph(G).num_vertices
    where = _checked_placement(placement, edge_rows)
    each, count, number = whole("roots", roots, 1), whole("instances", instances, 0), checked_seed(seed)
    _refuse_too_many(each, count)
    steps = checked_length(length)
    if not n:
        raise InputError("this graph has no vertices to draw from")
    drawn = _roots(np.ones(n, np.int64), each, count, number)
    return _subgraphs(G, drawn, each, steps, slice(0, steps + 1), number, edge_rows, where, client, progress)
