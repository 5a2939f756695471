"""Articulation points, bridges and biconnected components of undirected graphs; `_biconnected` finds the components."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms._biconnected import Biconnected, Blocks, labels
from graphdask.algorithms.summaries import component_words
from graphdask.display import terminal
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
from graphdask.results.edge_values import EdgesResult, EdgeValuesResult
from graphdask.results.result import Result


class ArticulationResult(Result):
    """What `articulation_points` returns."""

    columns = ("articulation",)

    @property
    def articulation(self) -> np.ndarray:
        """Whether each vertex is an articulation point; bool, shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("articulation")

    @property
    def points(self) -> np.ndarray:
        """The ids of the articulation points, ascending."""
        return self.graph.vertex_ids[self.articulation]


class BridgesResult(EdgesResult):
    """What `bridges` returns. Its edges are in the order of their rows."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest id of the vertex's two-edge-connected component; shape (num_vertices,)."""
        return self._column("label")


class BiconnectedResult(EdgeValuesResult):
    """What `biconnected_components` returns."""

    columns = ("label", "parent")
    vertex_valued = ("label", "parent")

    @property
    def label(self) -> np.ndarray:
        """The component of the edge between each vertex and its parent, -1 or None for a root; (num_vertices,)."""
        return self._column("label")

    @property
    def parent(self) -> np.ndarray:
        """The parent in a search tree from the smallest id of each connected component; a root is its own."""
        return self._column("parent")

    @property
    def num_components(self) -> int:
        """The number of biconnected components."""
        label = self._internal("label")
        return len(np.unique(label[label >= 0]))

    @property
    def edge_label(self) -> np.ndarray:
        """The component of each edge, by its row in what the graph was made of; -1 or None for self-loops and rows that
        are no edge of the graph."""
        rows = self._of_edges("row")
        label = np.full(max(self._value("rows"), self.graph.report.get("edges_read", 0)), -1, np.int64)
        label[rows] = self._of_edges("edge_label")
        return self.graph.ids.to_caller(label)

    def memberships(self) -> tuple[np.ndarray, np.ndarray]:
        """Return labels of components and vertices in them, each pair once, by label; a vertex may be in several."""
        label, parent = self._internal("label"), self._internal("parent")
        inside = np.flatnonzero(label >= 0)
        pairs = np.concatenate([[label[inside], inside], [label[inside], parent[inside]]], axis=1).astype(np.int64)
        pairs = np.unique(pairs, axis=1)
        return self.graph.ids.to_caller(pairs[0]), self.graph.ids.to_caller(pairs[1])


class ArticulationPoints(Biconnected):
    """The primitive of `articulation_points`."""

    name = "articulation points"
    result_type = ArticulationResult
    edge_rows = False

    def found(self, blocks: Blocks) -> dict[str, Any]:
        return {"articulation": blocks.articulation()}


class Bridges(Biconnected):
    """The primitive of `bridges`. Each bridge stands on the rank of its end that is farther from the root."""

    name = "bridges"
    result_type = BridgesResult

    def found(self, blocks: Blocks) -> dict[str, Any]:
        part, env, edges, bridge = blocks.part, blocks.env, blocks.edges, blocks.bridge()
        (ids,) = env.fetch_ghosts(part, [part.ids])
        kept = edges.up & bridge[edges.row]
        one, other = ids[edges.row[kept]], ids[part.out.indices[kept]]
        assert part.out.rows is not None
        ends = {"source": env.xp.minimum(one, other), "destination": env.xp.maximum(one, other)}
        label = labels(part, env, edges.without(part, env, bridge))
        return {"label": label, "row": part.out.rows[kept]} | ends


class BiconnectedComponents(Biconnected):
    """The primitive of `biconnected_components`. Each edge stands on the rank of its smaller id, in stored order."""

    name = "biconnected components"
    result_type = BiconnectedResult

    def found(self, blocks: Blocks) -> dict[str, Any]:
        part, env, edges, csr = blocks.part, blocks.env, blocks.edges, blocks.part.out
        ids, label = env.fetch_ghosts(part, [part.ids, blocks.label])
        kept = ids[edges.row] < ids[csr.indices]
        assert csr.rows is not None
        row = csr.rows[kept]
        of_edges = {"row": row, "edge_label": label[edges.below][kept]}
        of_edges["rows"] = 1 - env.least(-(int(csr.rows.max()) if len(csr.rows) else -1))
        label = env.xp.where(blocks.child, blocks.label, blocks.label.dtype.type(-1))
        return {"label": label, "parent": part.vertex_map.to_id(env.backend, blocks.tree.parent)} | of_edges


def _points(result: Any) -> dict[str, Any]:
    return {"points": int(result.articulation.sum()), "vertices": result.graph.num_vertices}


def _points_words(found: dict[str, Any]) -> str:
    return f"{terminal.count(found['points'], 'articulation point')} of {terminal.count(found['vertices'], 'vertex')}"


@algorithm(
    "articulation", ArticulationResult, "Articulation points: vertices whose removal disconnects others.",
    summary=_points, words=_points_words, undirected=True, also="cut_vertices cutpoints articulation_vertices",
)  # fmt: skip
@of_undirected
def articulation_points(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> ArticulationResult:
    """Find the articulation points: vertices without which a connected component falls apart.

    Parallel edges and self-loops make no difference.

    Returns
    -------
    ArticulationResult
        With `articulation`, bool of shape (num_vertices,), in the order of `G.vertex_ids`, and `points`, the ids of the
        articulation points; identical for every number of partitions and on every device.

    References
    ----------
    Tarjan, Vishkin: An efficient parallel biconnectivity algorithm, SIAM Journal on Computing 14 (1985). Dong, Wang,
    Gu, Sun: Provably fast and space-efficient parallel biconnectivity, PPoPP 2023.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> gd.articulation_points(G).points.tolist()
    [2]
    """
    checked_undirected(G, "articulation_points")
    return execute.run(G, ArticulationPoints(), exchange=exchange, client=client, progress=progress)


def _bridges(result: Any) -> dict[str, Any]:
    return {"bridges": len(result.row), "parts": len(np.unique(result._internal("label")))}


def _bridges_words(found: dict[str, Any]) -> str:
    return f"{terminal.count(found['bridges'], 'bridge')}, {terminal.count(found['parts'], 'component')} without them"


@algorithm(
    "bridges", BridgesResult, "Bridges: edges whose removal disconnects vertices.", summary=_bridges,
    words=_bridges_words, undirected=True,
    also="has_bridges cut_edges two_edge_connected_components k_edge_components",
)  # fmt: skip
@of_undirected
def bridges(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> BridgesResult:
    """Find the bridges: edges without which a connected component falls apart.

    Of parallel edges none is a bridge, unless the graph was made with `multi_edges="merge"`. Self-loops are no bridges.

    Returns
    -------
    BridgesResult
        Of each bridge `source` and `destination`, the caller's ids, the smaller one first, and `row`, its row in what
        the graph was made of; in ascending order of `row`. Of each vertex `label`, the smallest id of its component if
        all bridges are removed, shape (num_vertices,), in the order of `G.vertex_ids`. All are identical for every
        number of partitions and on every device.

    Raises
    ------
    Unsupported
        If the rows of the edges are not known.

    References
    ----------
    Tarjan, Vishkin: An efficient parallel biconnectivity algorithm, SIAM Journal on Computing 14 (1985). Dong, Wang,
    Gu, Sun: Provably fast and space-efficient parallel biconnectivity, PPoPP 2023.

    Examples
    --------
    >>> import graphdask as gd
    >>> r = gd.bridges(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> r.source.tolist(), r.destination.tolist(), r.row.tolist()
    ([2], [3], [3])
    """
    checked_undirected(G, "bridges")
    return execute.run(G, Bridges(), exchange=exchange, client=client, progress=progress)


def _components(result: Any) -> dict[str, Any]:
    labels, _ = result.memberships()
    _, sizes = np.unique(labels, return_counts=True)
    found = {"components": len(sizes)}
    return found | {"largest": int(sizes.max())} if len(sizes) else found


@algorithm(
    "biconnected", BiconnectedResult, "Biconnected components of an undirected graph.", summary=_components,
    words=component_words, undirected=True, also="blocks bcc biconnected is_biconnected biconnected_component_edges",
)  # fmt: skip
@of_undirected
def biconnected_components(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> BiconnectedResult:
    """Find the biconnected components: the largest sets of edges of which any two lie on a common cycle.

    A bridge is a component by itself. Each edge but self-loops is in one component, and parallel edges are in the same
    one. Two components have one vertex in common at most, an articulation point.

    Returns
    -------
    BiconnectedResult
        `edge_label`, the component of each edge by its row in what the graph was made of, -1 (None among string ids)
        for self-loops. `label` and `parent`, of shape (num_vertices,), in the order of `G.vertex_ids`, name the
        component of the edge between a vertex and its parent in a search tree; the root of the tree, the smallest id of
        a connected component, has no such edge, and the label -1. A component is named by the smallest of its ids but
        that of the vertex nearest to the root. `memberships()` lists the vertices of each component. All are identical
        for every number of partitions and on every device.

    Raises
    ------
    Unsupported
        If the rows of the edges are not known.

    References
    ----------
    Tarjan, Vishkin: An efficient parallel biconnectivity algorithm, SIAM Journal on Computing 14 (1985). Dong, Wang,
    Gu, Sun: Provably fast and space-efficient parallel biconnectivity, PPoPP 2023.

    Examples
    --------
    >>> import graphdask as gd
    >>> r = gd.biconnected_components(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> r.edge_label.tolist()
    [1, 1, 1, 3]
    """
    checked_undirected(G, "biconnected_components")
    return execute.run(G, BiconnectedComponents(), exchange=exchange, client=client, progress=progress)
