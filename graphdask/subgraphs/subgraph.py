"""Subgraphs of given vertices, and of the k-core: what the caller sees of induced subgraphs.

Source: Seidman, Network structure and minimum degree (1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.core_number import CoreResult, core_number
from graphdask.graph.graph import Graph, checked_graph, checked_undirected
from graphdask.interface.kinds import Own, whole
from graphdask.interface.parameters import documented
from graphdask.sample.sampler import numbered, sampled
from graphdask.subgraphs.given import ascending, check_edge_rows, given_sets, same_members
from graphdask.subgraphs.result import SubgraphResult
from graphdask.subgraphs.selected import Selected


@documented
def subgraph(
    G: Graph,
    vertices: Any,
    *,
    edge_rows: bool = False,
    client: Any = None,
    progress: bool | None = None,
) -> SubgraphResult:
    """Return the subgraph induced by some vertices: all edges between these.

    Parameters
    ----------
    G : Graph
    vertices : array of vertex ids, or sequence of arrays
        The vertices of the subgraph, each counted once. With a sequence of arrays, each array gives a subgraph.

    Returns
    -------
    SubgraphResult
        `src`, `dst`, `weight`, `instance`, a row for each edge, parallel edges and self-loops included, and `edge` with
        the row of each edge in the caller's input. `vertices` and `vertex_offsets`, `edge_offsets`, and `to_graph`.
        Identical for every number of partitions and on every device.

    Raises
    ------
    VertexNotFound
        If one of `vertices` is not a vertex.
    InputError
        If `G` is not a Graph, or an argument has no such value.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 2, 3], weights=[5, 6, 7, 8])
    >>> s = gd.subgraph(G, [0, 2, 3])
    >>> s.src.tolist(), s.dst.tolist(), s.weight.tolist(), s.edge.tolist()
    ([0, 2], [2, 3], [6, 8], [1, 3])
    """
    checked_graph(G)
    flat, bounds = given_sets(G, "vertices", vertices)
    sets = ascending(flat, np.array([0, len(flat)]) if bounds is None else bounds)
    found: SubgraphResult = sampled(G, numbered(Selected(*sets), edge_rows), "partitioned", client, progress)
    return found


class KCoreResult(SubgraphResult):
    """The k-core."""

    cores: CoreResult
    """The core numbers of all vertices."""
    k: int
    """Its order."""

    def verify(self) -> KCoreResult:
        """Prove the core numbers, and that the edges are all between the vertices of the core; return self."""
        self.cores.verify()
        same_members(self, *_core(self.cores, self.k))
        super().verify()
        return self


class KCore(Selected):
    """The sampler of a k-core."""

    name = "k-core"
    result_type = KCoreResult


@documented
def k_core(
    G: Graph,
    k: Own[int | None] = None,
    *,
    edge_rows: bool = False,
    client: Any = None,
    progress: bool | None = None,
) -> KCoreResult:
    """Return the k-core of an undirected graph: its largest subgraph in which every vertex has at least k neighbours.

    Parameters
    ----------
    G : Graph
        Undirected; `G.to_undirected()` makes one of a directed graph.
    k : int, optional
        0 or more. Default: the largest core number, which gives the innermost core.

    Returns
    -------
    KCoreResult
        As `subgraph` returns; `k`, and `cores` with the core numbers of all vertices. Parallel edges count once and
        self-loops not at all as neighbours; the subgraph has them.

    Raises
    ------
    InputError
        If `G` is not a Graph or is directed, or an argument has no such value.

    Examples
    --------
    >>> import graphdask as gd
    >>> s = gd.k_core(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> s.vertices.tolist(), s.src.tolist(), s.dst.tolist(), s.k
    ([0, 1, 2], [0, 0, 1], [1, 2, 2], 2)
    """
    checked_undirected(G, "k_core")
    check_edge_rows(G, edge_rows)
    order = None if k is None else whole("k", k, 0)
    cores = core_number(G, client=client, progress=progress)
    if order is None:
        order = int(cores.core.max(initial=0))
    found: KCoreResult = sampled(G, numbered(KCore(*_core(cores, order)), edge_rows), "partitioned", client, progress)
    found.cores, found.k = cores, order
    return found


def _core(cores: CoreResult, k: int) -> tuple[np.ndarray, np.ndarray]:
    members = np.flatnonzero(cores.core >= k)
    return members, np.array([0, len(members)])
