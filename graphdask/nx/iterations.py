"""NetworkX's centralities by power iteration: eigenvector, Katz, and HITS."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.algorithms.eigenvector import eigenvector_centrality as run_eigenvector
from graphdask.algorithms.katz import katz_centrality as run_katz
from graphdask.algorithms.link_analysis import hits as run_hits
from graphdask.errors import GraphdaskWarning, InputError
from graphdask.graph.graph import Graph
from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import no_function, offered

RESTARTED = 20
"""Products that SciPy's singular vectors take in an iteration, about."""
MOST = 1 << 31
"""Iterations that ARPACK counts in 32 bits."""
LEAST = 1e-150
EXACT = 1e-12
"""Tolerance of HITS, which NetworkX computes about as exactly whatever its own is."""


def _refuses(arguments: Mapping[str, Any]) -> str:
    most, tol = arguments["max_iter"], arguments["tol"]
    if not (isinstance(most, int) and most >= 1):
        return f"max_iter={most!r} is not a whole number of 1 or more"
    if not (isinstance(tol, int | float) and 0 <= tol < math.inf):
        return f"tol={tol!r} is not a finite number of 0 or more"
    try:
        hash(arguments.get("weight")), bool(arguments.get("weight"))
    except (TypeError, ValueError):
        return "weight= is no name of an attribute"
    return no_function()(arguments) if "weight" in arguments else ""


def _katz_refuses(arguments: Mapping[str, Any]) -> str:
    for name in ("alpha", "beta"):
        value = arguments[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return f"graphdask takes a finite number as {name}="
    if 0 < abs(arguments["beta"]) < LEAST:
        return f"graphdask takes a beta= of at least {LEAST}, whose square is no 0"
    if arguments["nstart"] is not None:
        return "graphdask begins with 0, not with nstart="
    return _refuses(arguments)


def _hits_refuses(arguments: Mapping[str, Any]) -> str:
    if arguments["normalized"] is not True:
        return "graphdask normalizes the scores; normalized= is false"
    if arguments["nstart"] is not None:
        return "graphdask begins with equal scores, not with nstart="
    if arguments["method"] != "power_iteration":
        return f"method={arguments['method']!r} is left to NetworkX"
    if isinstance(arguments["max_iter"], int) and arguments["max_iter"] >= MOST:
        return f"max_iter={arguments['max_iter']} is more than ARPACK takes"
    if 0 < len(arguments["G"]) < 3 or not arguments["G"].number_of_edges():
        return "a graph without edges, or of one or two nodes, is left to NetworkX"
    return _refuses(arguments)


def _weighted(G: NxGraph, weight: Any) -> Graph:
    """The graph with an attribute as weights, which are numbers of 0 or more; without, for None."""
    if weight is not None:
        values = G.weights(weight)
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise NotImplementedError(f"graphdask takes finite numbers of 0 or more as {weight!r}")
    return G.weighted(weight)


def _found(run: Callable[[], Any], max_iter: int) -> Any:
    """The result of a run that converged."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphdaskWarning)
            found = run()
    except InputError:  # it overflows
        raise networkx.PowerIterationFailedConvergence(max_iter) from None
    if not found.converged:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    return found


def _below(bound: float) -> float:
    """NetworkX stops below a change, graphdask at one."""
    return max(math.nextafter(bound, 0.0), 5e-324)


@offered(edges=5_000, converted=1_000, refuses=_refuses, note="Weights are numbers of 0 or more.")
def eigenvector_centrality(
    G: NxGraph, max_iter: int = 100, tol: float = 1.0e-6, nstart: Any = None, weight: Any = None
) -> dict[Any, float]:
    if len(G) == 0:
        raise networkx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = None
    if nstart is not None:
        if all(value == 0 for value in nstart.values()):
            raise networkx.NetworkXError("initial vector cannot have all zero values")
        if set(nstart) != set(G):
            raise NotImplementedError("graphdask takes a value for each node as nstart=")
        start = np.array([nstart[node] for node in G.nodes], np.float64)
        if not (np.isfinite(start).all() and (start >= 0).all()):
            raise NotImplementedError("graphdask takes finite numbers of 0 or more as nstart=")
    if tol == 0:  # no change is below it
        raise networkx.PowerIterationFailedConvergence(max_iter)
    graph, limit = _weighted(G, weight), _below(len(G) * tol)
    found = _found(lambda: run_eigenvector(graph, limit, max_iter, start=start), max_iter)
    return dict(zip(G.nodes, found.score.tolist(), strict=True))


@offered(edges=5_000, converted=1_000, refuses=_katz_refuses, note="Weights are 0 or more; beta is a number.")
def katz_centrality(
    G: NxGraph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    if len(G) == 0:
        return {}
    if tol == 0:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    graph, whole = _weighted(G, weight), bool(normalized)
    found = _found(lambda: run_katz(graph, alpha, beta, _below(tol), max_iter, normalized=whole), max_iter)
    return dict(zip(G.nodes, found.score.tolist(), strict=True))


@offered(
    edges=20_000,
    converted=5_000,
    refuses=_hits_refuses,
    note="By power iteration from equal scores, which decide if several scores are right. Weights are 0 or more.",
)
def hits(
    G: NxGraph,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: Any = None,
    normalized: bool = True,
    *,
    method: str = "power_iteration",
) -> tuple[dict[Any, float], dict[Any, float]]:
    if len(G) == 0:
        return {}, {}
    graph = _weighted(G, "weight")
    found = _found(lambda: run_hits(graph, EXACT, RESTARTED * max_iter), max_iter)
    hubs, authorities = (dict(zip(G.nodes, x.tolist(), strict=True)) for x in (found.hub, found.authority))
    return hubs, authorities
