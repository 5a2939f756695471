"""DaskGraph: a Graph among Dask's collections, so that Dask's functions take it without taking it apart.

A graph is lazy: its partitions are built when something first needs them. Ranks that exchange edges build them together
in one long task for each worker, which no graph of independent tasks can state. So the tasks given here stand for the
partitions and compute nothing: `dask.persist` runs them, learns from their futures which client it has, and then builds
the partitions as `G.persist(client=client)` does. `dask.compute` gives the graph itself, or where a cluster computes a
copy of its description; a function under `dask.delayed` gets the same.

Source: Dask, Custom Collections (docs.dask.org), for the methods and what calls them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphdask.errors import Unsupported

PLANNED = "planned"
"""What a task that stands for a partition gives."""


class DaskCollection:
    """What Dask asks of each collection and that is the same for graphs and results."""

    @property
    def __dask_optimize__(self) -> AsItIs:
        """Nothing can be optimized."""
        return AsItIs()

    @property
    def __dask_scheduler__(self) -> Any:
        """The one of other collections, with which Dask compares it."""
        import dask.threaded

        return dask.threaded.get


class DaskGraph(DaskCollection):
    """The methods by which Dask knows a graph."""

    plan: Any
    built: Any

    @property
    def _dask_name(self) -> str:
        """One name for each graph; of a graph that changes, for each version."""
        token = self.__dict__.setdefault("_token", uuid.uuid4().hex)
        return f"{token}-{getattr(self, 'version', 0)}"

    def __dask_graph__(self) -> dict[Any, Any]:
        """Tasks that stand for the partitions and for the exchange of edges between them."""
        name, keys = self._dask_name, self.__dask_keys__()
        edges = [(f"edges-{name}", rank) for rank in range(len(keys))]
        made: dict[Any, Any] = {key: (_planned,) for key in edges}
        if len(keys) == 1:
            return {**made, keys[0]: (_planned, edges[0])}
        exchange = f"exchange-{name}"
        return {**made, exchange: (_planned, edges), **{key: (_planned, exchange) for key in keys}}

    def __dask_keys__(self) -> list[tuple[str, int]]:
        parts = self.plan.parts or 1
        if self.built is not None:
            parts = len(self.built.vertex_map.offsets) - 1
        return [(f"partition-{self._dask_name}", rank) for rank in range(parts)]

    def __dask_tokenize__(self) -> tuple[str, str]:
        return type(self).__name__, self._dask_name

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _graph_of, (Carried(self),)

    def __dask_postpersist__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _persisted, (self,)


class AsItIs:
    """Leaves tasks as they are.

    Each collection has an object of its own: `dask.compute` of several kinds of collections (Dask 2026.8) gives the
    results of those with one optimizer first, so those of graphs would change places with others.
    """

    def __call__(self, graph: Any, *_: Any, **__: Any) -> Any:
        """Return the tasks."""
        return graph


class Carried:
    """A graph among the arguments of a task."""

    def __init__(self, graph: Any):
        self.graph = graph

    def __reduce__(self) -> Any:
        """A graph that does not travel says so only where a task needs it."""
        refused = getattr(self.graph, "stays_because", None)
        return (Carried, (self.graph,)) if refused is None else (Refused, (refused,))


class Refused:
    """In place of a graph that does not travel."""

    def __init__(self, reason: str):
        self.reason = reason

    @property
    def graph(self) -> Any:
        """Raise Unsupported."""
        raise Unsupported(self.reason)


def _planned(*_: Any) -> str:
    return PLANNED


def _graph_of(_: Sequence[str], carried: Carried | Refused) -> Any:
    return carried.graph


def _persisted(values: Mapping[Any, Any], graph: Any, rename: Mapping[str, str] | None = None) -> Any:
    """Build the partitions, and return the graph; `values` are futures, results, or of dask.optimize tasks."""
    if rename is not None:
        raise Unsupported(
            f"dask.graph_manipulation cannot order the tasks of {graph!r}, which exchange edges; use "
            f"G.to_dask_dataframe(), whose tasks make the edges"
        )
    first = values.get(graph.__dask_keys__()[0])
    if isinstance(first, str):
        return graph.persist()
    client = getattr(first, "client", None)
    return graph if client is None else graph.persist(client=client)
