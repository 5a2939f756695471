"""The algorithms that `graphdask bench analytics` measures, with the options under which others can be compared."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphdask.errors import InputError
from graphdask.interface.registry import algorithms


def _one(source: Any) -> dict[str, Any]:
    return {"source": source}


def _list(source: Any) -> dict[str, Any]:
    return {"sources": [source]}


@dataclass(frozen=True)
class Algorithm:
    """One way to call a public function."""

    name: str
    function: str
    """Name of the public function."""
    options: Mapping[str, Any] = field(default_factory=dict)
    source: Callable[[Any], dict[str, Any]] | None = None
    """Its arguments for a start vertex; None where the algorithm has none."""
    weights: bool = False
    """Whether it is run on the graph with weights."""
    directed: bool | None = None
    """Whether the graph must be directed, or must not be; None: either."""
    compared: str = "ms"
    """The time that is compared with that of others: of the whole call, or `iteration_ms`."""
    weight_dtype: str | None = None
    """What the weights are cast to, for libraries that take no others; None: as they are."""

    def run(self, graph: Any, source: Any = None, **where: Any) -> Any:
        """Run it, from the caller's id of a vertex where it starts from one."""
        import graphdask

        start = {} if self.source is None else self.source(source)
        return getattr(graphdask, self.function)(graph, **start, **self.options, **where)

    def takes(self, option: str) -> bool:
        """Whether the function has such an option."""
        import graphdask

        return option in inspect.signature(getattr(graphdask, self.function)).parameters

    def fits(self, directed: bool) -> bool:
        """Whether there is an answer for such a graph."""
        return self.directed is None or self.directed == directed


PAGERANK: dict[str, Any] = {"tol": 1e-4, "max_iter": 20, "dtype": "float32"}
"""As the GAP suite runs it."""
EACH_ITERATION: dict[str, Any] = {"tol": 1e-30, "max_iter": 20}
"""As many iterations for everyone: a change stays above such a tolerance, which may not be 0 elsewhere."""
PAGERANK_20 = {**EACH_ITERATION, "dtype": "float32", "weighted": False}
PAGERANK_WEIGHTED = {**EACH_ITERATION, "dtype": "float64", "weighted": True}

WITH_OPTIONS = (
    Algorithm("bfs-push", "bfs", {"direction": "push"}, source=_one),
    Algorithm("strong", "strongly_connected_components", directed=True),
    Algorithm("betweenness", "betweenness", {"weight": None}, source=_list),
    Algorithm("pagerank", "pagerank", PAGERANK),
    Algorithm("pagerank-20", "pagerank", PAGERANK_20, compared="iteration_ms"),
    Algorithm("sssp", "sssp", source=_one, weights=True),
    Algorithm("pagerank-weighted", "pagerank", PAGERANK_WEIGHTED, weights=True, compared="iteration_ms"),
    Algorithm("sssp-float32", "sssp", source=_one, weights=True, weight_dtype="float32"),
)
"""Those with weights stand last: their graph replaces the one without."""


def measured() -> list[Algorithm]:
    """Return the registered algorithms, as they are or with options."""
    named = {each.name for each in WITH_OPTIONS}
    plain = [
        Algorithm(
            known.command, name, source=_one if known.takes("source") else None,
            directed=False if known.undirected else None,
        )
        for name, known in algorithms().items()
        if known.command not in named
    ]  # fmt: skip
    return [*plain, *WITH_OPTIONS]


def chosen(names: tuple[str, ...]) -> list[Algorithm]:
    """Return algorithms by name, in the order of `measured`; all if none is named.

    Raises
    ------
    InputError
        For an unknown name.
    """
    known = [algorithm.name for algorithm in measured()]
    for name in names:
        if name not in known:
            raise InputError(f"algorithm={name!r} is not one of {', '.join(known)}")
    return [algorithm for algorithm in measured() if not names or algorithm.name in names]
