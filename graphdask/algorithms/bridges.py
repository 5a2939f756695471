"""Bridges: edges without which a connected component falls apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.blocks import Biconnected, Blocks, labels
from graphdask.display import terminal
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
from graphdask.results.edge_values import EdgesResult


class BridgesResult(EdgesResult):
    """What `bridges` returns. Its edges are in the order of their rows."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest id of the vertex's two-edge-connected component; shape (num_vertices,)."""
        return self._column("label")


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
