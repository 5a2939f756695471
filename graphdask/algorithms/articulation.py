"""Articulation points: vertices without which a connected component falls apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.blocks import Biconnected, Blocks
from graphdask.display import terminal
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
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


class ArticulationPoints(Biconnected):
    """The primitive of `articulation_points`."""

    name = "articulation points"
    result_type = ArticulationResult
    edge_rows = False

    def found(self, blocks: Blocks) -> dict[str, Any]:
        return {"articulation": blocks.articulation()}


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
