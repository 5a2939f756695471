"""Eigenvector centrality by power iteration, as a program.

State: `score`, the vector x of the last iteration, of the L2 norm 1; `before`, that of the iteration before; `image`,
x + A^T x, which is not normalised and which vertices send. The norm of an image is an aggregate, so that vertices know
it in the next superstep. That superstep divides image and messages by the norm, and adds up the change of the scores.
So a run takes a superstep more than it has iterations, and ends after the first iteration whose change is small enough.

Sources: Bonacich, Power and centrality: a family of measures, American Journal of Sociology 92 (1987); NetworkX for
conventions: x + A^T x rather than A^T x, so that iterations converge on bipartite graphs too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from graphdask.algorithms.distribution import distribution
from graphdask.algorithms.power_iteration import (
    MAX_ITER,
    OPTIONS,
    TOL,
    PowerIteration,
    ScoreResult,
    checked,
    ended,
    ended_words,
    iterated,
    of_iterations,
    uniform,
)
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.registry import algorithm
from graphdask.program.program import Program


class EigenvectorCentralityResult(ScoreResult):
    """What `eigenvector_centrality` returns."""


class EigenvectorCentrality(PowerIteration):
    """The primitive."""

    name = "eigenvector_centrality"
    result_type = EigenvectorCentralityResult  # type: ignore[assignment]
    ahead = 1

    def scores(self, found: dict[str, Any], aggregates: Mapping[str, float]) -> dict[str, Any]:
        return {name: found[name] for name in ("score", "before")}


def _apply(v: Any, m: Any) -> Any:
    norm = math.sqrt(v.norm) if v.norm > 0.0 else 1.0
    score = v.image / norm
    return {"before": v.score, "score": score, "image": score + m / norm}


def _program(first: float, weighted: bool) -> Program:
    return Program(
        state={"score": (float, 0.0), "before": (float, 0.0), "image": (float, first)},
        message=(float, "sum"),
        send=(lambda e: e.source.image * e.weight) if weighted else (lambda e: e.source.image),
        apply=_apply,
        activity="all",
        aggregate={
            "norm": ("sum", lambda old, new: new.image * new.image),
            "change": ("sum", lambda old, new: abs(new.score - old.score)),
        },
        max_supersteps=1,
    )


@algorithm(
    "eigenvector", EigenvectorCentralityResult, "Eigenvector centrality of every vertex.",
    summary=lambda result: ended(result, "score"), words=ended_words, weights=True, options=OPTIONS,
    also="eigenvector eigen_centrality evcent eigenvector_centrality_numpy",
    example=lambda G: {"tol": 1e-6, "max_iter": 60},
)  # fmt: skip
@of_iterations
def eigenvector_centrality(
    G: Graph,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    *,
    weighted: bool | None = None,
    start: Any = None,
    exchange: str | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> EigenvectorCentralityResult:
    """Return the eigenvector centrality: a vertex scores in proportion to the sum of the scores of its in-neighbours.

    The scores are the eigenvector of the largest eigenvalue of the transposed matrix of the edges. They are not
    negative, and their L2 norm is 1.

    Parameters
    ----------
    tol : float
        Stop when the sum of the absolute changes of the scores in an iteration is at most this. 0: do exactly
        `max_iter` iterations, without a warning. Default: 1e-10.
    start : dict or array-like of float, optional
        Scores of the first iteration, 0 or more: by the caller's vertex ids (0 for vertices that are not named), or an
        array of shape (num_vertices,) in the order of `G.vertex_ids`. Default: uniform.

    Returns
    -------
    EigenvectorCentralityResult
        With `score`, shape (num_vertices,), in the order of `G.vertex_ids`; `iterations`, `residual` (the change in the
        last iteration) and `converged`. Identical bit for bit for every number of partitions and on every device.

    Raises
    ------
    InputError
        If an argument has an invalid value, if weights or the values of `start` are negative or not finite, or if the
        weights are so large that a sum of squares overflows.
    VertexNotFound
        If `start` names an id that is not a vertex.

    Notes
    -----
    An iteration computes x + A^T x and divides it by its L2 norm, as NetworkX does. The answer is unique if the graph
    is strongly connected. In a graph without a cycle the iterations converge slowly or not at all: use
    `gd.katz_centrality` or `gd.pagerank`.

    References
    ----------
    Bonacich: Power and centrality: a family of measures, American Journal of Sociology 92, 1987.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3], [1, 2, 0, 0], directed=False)
    >>> gd.eigenvector_centrality(G).score.round(4).tolist()
    [0.6116, 0.5227, 0.5227, 0.2818]
    """
    checked_graph(G)
    tol, max_iter, weighted = checked(G, "eigenvector_centrality", tol, max_iter, weighted, client, progress)
    first = distribution(G, start, "start")
    each = uniform(G) if first is None else None
    program = _program(each or 0.0, weighted)
    primitive = EigenvectorCentrality(G, program, tol, max_iter, weighted, first, "image")
    primitive.uniform = each
    overflow = "the weights are too large; divide them by a constant"
    result: EigenvectorCentralityResult = iterated(
        G,
        primitive,
        overflow,
        exchange=exchange,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
    return result
