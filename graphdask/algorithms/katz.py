"""Katz centrality by power iteration, as a program.

State: `score`, the vector x of the last iteration, and `before`, that of the iteration before. Vertices send their
scores, and compute alpha * sum + beta. Alpha and beta are fields of the state with the same value at every vertex, so
that the kernels are compiled once for all values. Scores are divided by their L2 norm at the end, if that is asked for.

Sources: Katz, A new status index derived from sociometric analysis, Psychometrika 18 (1953); NetworkX for conventions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from graphdask.algorithms.power_iteration import (
    MAX_ITER,
    OPTIONS,
    TOL,
    PowerIteration,
    ScoreResult,
    checked,
    ended,
    ended_words,
    finite,
    iterated,
    of_iterations,
)
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.registry import Option, algorithm
from graphdask.program.program import Program


class KatzCentralityResult(ScoreResult):
    """What `katz_centrality` returns."""


class KatzCentrality(PowerIteration):
    """The primitive."""

    name = "katz_centrality"
    result_type = KatzCentralityResult  # type: ignore[assignment]
    alpha, beta, normalized = 0.1, 1.0, True
    uniform = 0.0

    def scores(self, found: dict[str, Any], aggregates: Mapping[str, float]) -> dict[str, Any]:
        score, norm = found["score"], math.sqrt(aggregates["norm"]) or 1.0
        divided = self.normalized and finite(aggregates)  # what overflowed is refused
        return {"score": score / norm if divided else score, "before": found["before"]}


def _program(alpha: float, beta: float, weighted: bool) -> Program:
    return Program(
        state={"score": (float, 0.0), "before": (float, 0.0), "alpha": (float, alpha), "beta": (float, beta)},
        message=(float, "sum"),
        send=(lambda e: e.source.score * e.weight) if weighted else (lambda e: e.source.score),
        apply=lambda v, m: {"before": v.score, "score": v.alpha * m + v.beta},
        activity="all",
        aggregate={
            "norm": ("sum", lambda old, new: new.score * new.score),
            "change": ("sum", lambda old, new: abs(new.score - old.score)),
        },
        max_supersteps=1,
    )


@algorithm(
    "katz", KatzCentralityResult, "Katz centrality of every vertex.", summary=lambda result: ended(result, "score"),
    words=ended_words, weights=True,
    options={
        "alpha": Option("By which a path counts less for each edge; below 1 / the largest eigenvalue."),
        "beta": Option("What every vertex has by itself."),
        "normalized": Option("Divide by the L2 norm.", spelling="normalized/unnormalized"),
        **OPTIONS,
    },
    also="katz katz_centrality_numpy katz_index alpha_centrality",
    example=lambda G: {"alpha": 0.003, "tol": 1e-8},
)  # fmt: skip
@of_iterations
def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: float = 1.0,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    *,
    normalized: bool = True,
    weighted: bool | None = None,
    exchange: str | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> KatzCentralityResult:
    """Return the Katz centrality: how many paths end at a vertex, where a path of k edges counts alpha ** k.

    The scores x solve x = alpha * A^T x + beta. Iterations begin with x = 0.

    Parameters
    ----------
    alpha : float
        Attenuation of a path for each of its edges. The iterations converge if its absolute value is less than 1
        divided by the largest eigenvalue of the matrix of the edges.
    beta : float
        What every vertex scores by itself.
    tol : float
        Stop when the mean of the absolute changes of the scores, before they are normalized, is at most this in an
        iteration. 0: do exactly `max_iter` iterations, without a warning. Default: 1e-10.
    normalized : bool
        Divide the scores by their L2 norm, as NetworkX does. Default: True.

    Returns
    -------
    KatzCentralityResult
        With `score`, shape (num_vertices,), in the order of `G.vertex_ids`; `iterations`, `residual` (the mean change
        in the last iteration) and `converged`. Identical bit for bit for every number of partitions and on every
        device.

    Raises
    ------
    InputError
        If an argument has an invalid value, if weights are negative or not finite, or if the iterations diverge so far
        that a sum of squares overflows.

    References
    ----------
    Katz: A new status index derived from sociometric analysis, Psychometrika 18, 1953.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3], [1, 2, 0, 0])
    >>> gd.katz_centrality(G, alpha=0.5, normalized=False).score.round(4).tolist()
    [2.5714, 2.2857, 2.1429, 1.0]
    """
    checked_graph(G)
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not math.isfinite(value):
            raise InputError(f"{name}={shown(value)} is not a finite number")
    tol, max_iter, weighted = checked(G, "katz_centrality", tol, max_iter, weighted, client, progress)
    program = _program(float(alpha), float(beta), weighted)
    primitive = KatzCentrality(G, program, tol, max_iter, weighted, per_change=float(max(G.num_vertices, 1)))
    primitive.alpha, primitive.beta, primitive.normalized = float(alpha), float(beta), normalized
    size = f"alpha={alpha:g}" if alpha > 0 else f"the absolute value of alpha={alpha:g}"
    overflow = f"{size} is not below 1 divided by the largest eigenvalue of the graph; give alpha= nearer to 0"
    result: KatzCentralityResult = iterated(
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
