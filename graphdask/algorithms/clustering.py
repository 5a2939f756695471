"""Local clustering coefficient: the share of the possible edges among a vertex's neighbours that exist.

It is the triangle count with ties: a triangle adds, at each corner, the number of directions in which the other two are
joined. Source: Iosup et al., The LDBC Graphalytics Benchmark, Section 2.3.5 (LCC).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.summaries import largest
from graphdask.algorithms.triangles import Triangles, TrianglesState
from graphdask.engine.loop import Environment
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.partition.part import Part
from graphdask.results.result import Result


class ClusteringResult(Result):
    """What `local_clustering_coefficient` returns."""

    columns = ("coefficient",)

    @property
    def coefficient(self) -> np.ndarray:
        """Between 0 and 1; float64, shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("coefficient")


class LocalClustering(Triangles):
    """The primitive. Its results `links` (edges among the neighbours) and `degree` are what the verifier needs."""

    name = "local clustering coefficient"
    result_type = ClusteringResult

    def result(self, part: Part, state: TrianglesState, env: Environment) -> dict[str, Any]:
        links, degree = state.pack.links[: part.num_owned].copy(), state.degree[: part.num_owned].copy()
        if part.inward is part.out:
            links *= 2
        coefficient = coefficients(env.xp, links, degree)
        added = state.added * (2 if part.inward is part.out else 1)
        return {"coefficient": coefficient, "links": links, "degree": degree, "added": added}


def coefficients(xp: Any, links: Any, degree: Any) -> Any:
    """`links` as a share of degree * (degree - 1), 0 where there are no two neighbours; float64."""
    pairs = degree.astype(np.float64) * (degree - 1)
    return links / xp.maximum(pairs, 1.0)


def _summary(result: Any) -> dict[str, Any]:
    values = result.coefficient
    return {"mean": float(values.mean()) if len(values) else 0.0} | largest(result, "coefficient")


def _words(found: dict[str, Any]) -> str:
    return f"{found['mean']:.4g} on average"


@algorithm(
    "lcc", ClusteringResult, "Local clustering coefficient of every vertex (LDBC).", summary=_summary, words=_words,
    also="lcc clustering clustering_coefficient transitivity_local_undirected",
)  # fmt: skip
@documented
def local_clustering_coefficient(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> ClusteringResult:
    """Local clustering coefficient of each vertex: how many of the possible edges among its neighbours there are.

    The neighbours of v are the vertices joined to it in either direction, d(v) of them. Of the d(v) * (d(v) - 1) edges
    that there could be among them, each pair in both directions, the coefficient is the share that exists; 0 where v
    has fewer than two neighbours. An undirected edge stands for both directions. Parallel edges count once and
    self-loops not at all.

    This is the definition of LDBC Graphalytics. On undirected graphs NetworkX's `clustering` is the same; on directed
    ones NetworkX counts directed triangles instead (Fagiolo), another number.

    Parameters
    ----------
    G : Graph
        Directed or undirected.

    Returns
    -------
    ClusteringResult
        With `coefficient`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`: two whole numbers divided
        once, so identical bit for bit for every number of partitions and on every device.

    Raises
    ------
    InputError
        Where `G` is not a Graph, or an argument has no such value.

    References
    ----------
    Iosup et al.: LDBC Graphalytics, a benchmark for large-scale graph analysis on parallel and distributed platforms,
    VLDB 2016; its specification, section 2.3.5.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> gd.local_clustering_coefficient(G).coefficient.round(3).tolist()
    [0.5, 0.5, 0.167, 0.0]
    """
    checked_graph(G)
    return execute.run(G, LocalClustering(), exchange=exchange, client=client, progress=progress)
