"""Biconnected components of undirected graphs, as `graphdask.algorithms.blocks` finds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.blocks import Biconnected, Blocks
from graphdask.algorithms.summaries import component_words
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
from graphdask.results.edge_values import EdgeValuesResult


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
