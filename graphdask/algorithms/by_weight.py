"""What functions share whose paths go by the weights of a graph or by hops: options, checks, and the choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms._weighted_searches import Lengths
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.interface.registry import Option

OPTIONS = {
    "sources": Option("Estimate from K vertices; default: all, exact.", kind=int, least=1, metavar="K"),
    "seed": Option("Of the choice of K vertices.  [default: 0]"),
    "weighted": Option(
        "Shortest paths by the sums of weights, or by hops.  [default: where there are weights]", kind=bool,
        default=None, spelling="weighted/unweighted",
    ),
}  # fmt: skip


def by_option(function: Callable[..., Any], G: Graph, weighted: bool | None, **options: Any) -> Any:
    """Call a function as the command line does, which says whether weights count."""
    refuse_without_weights(G, weighted)
    return function(G, weight=None if weighted is False else "weight", **options)


def refuse_without_weights(G: Graph, weighted: bool | None, otherwise: str = "to count hops") -> None:
    """Raise InputError for the option --weighted of a graph without weights."""
    if weighted and not G.weighted:
        raise InputError(f"--weighted needs weights, and the graph has none; leave it out {otherwise}")


def checked_weight(weight: Any, normalized: Any = False) -> None:
    """Raise InputError for values that the arguments `weight` and `normalized` do not have."""
    if not isinstance(normalized, bool | np.bool_):
        raise InputError(f"normalized={normalized!r} is neither true nor false")
    if not (weight is None or (isinstance(weight, str) and weight == "weight")):
        raise InputError(
            f"weight={shown(weight)} is neither 'weight', the weights of the graph, nor None, which ignores them"
        )


def run_by(
    G: Graph, weight: Any, name: str, by_hops: Callable[[], Any], by_weight: Callable[[Lengths], Any],
    refuse: Callable[[Graph, Any], None], **how: Any,
) -> Any:  # fmt: skip
    """Run the primitive of `by_hops` or, if the graph has weights and `weight` is not None, that of `by_weight`.

    Parameters
    ----------
    name : str
        The caller's name in messages about weights.
    refuse : callable
        Raises InputError for a result by weight that says why there are no scores.
    how : dict
        Arguments of `execute.run`, `client` and `progress` among them.
    """
    if weight is None or not G.weighted:
        return execute.run(G, by_hops(), **how)
    result = execute.run(G, by_weight(Lengths.of(G, name, how["client"], how["progress"])), **how)
    refuse(G, result)
    return result
