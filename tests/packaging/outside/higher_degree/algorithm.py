"""How many neighbours of each vertex have a higher degree than itself.

State: the degree of each slot. Before the first superstep every vertex sends its degree to its ghosts. The superstep
reads what arrived and compares the degrees at both ends of each edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.summaries import values_of
from graphdask.engine import (
    ALL,
    Allocation,
    Environment,
    Inbox,
    Messages,
    Part,
    Primitive,
    RankContext,
    RankResult,
    Violation,
    advance,
    exchange_bytes,
    most_deferred,
)
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.results.result import Result
from higher_degree.kernels.higher_pack import FOUND, Higher

FAMILY = "higher_degree.kernels.higher"


class HigherNeighborsResult(Result):
    """What `higher_neighbors` returns."""

    columns = ("higher",)

    @property
    def higher(self) -> np.ndarray:
        """The number of neighbours of higher degree; int64 of shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("higher")


class HigherNeighbors(Primitive[Higher]):
    """The primitive. Its state is what the kernels work on."""

    name = "higher neighbors"
    columns: ClassVar[Mapping[str, Any]] = {"degree": np.int64}
    result_type = HigherNeighborsResult
    notifies_ghosts = True
    queues = False

    def memory(self, part: Part, allocation: Allocation) -> int:
        ids = most_deferred(part.out) * part.vertex_map.dtype.itemsize
        return 8 * (part.num_slots + part.num_owned + len(FOUND)) + ids + exchange_bytes(part, 8)

    def init(self, part: Part, env: Environment) -> tuple[Higher, Messages]:
        xp, none = env.xp, part.ids[:0]
        degree = xp.zeros(part.num_slots, np.int64)
        degree[: part.num_owned] = part.out.indptr[1:] - part.out.indptr[:-1]
        state = Higher(
            degree=degree, higher=xp.zeros(part.num_owned, np.int64),
            hubs=xp.empty(most_deferred(part.out), part.vertex_map.dtype), counters=xp.zeros(len(FOUND), np.int64),
        )  # fmt: skip
        return state, Messages(ALL, none, {"degree": degree}, active=True, to="ghosts")

    def superstep(self, part: Part, state: Higher, inbox: Inbox, env: Environment) -> Messages:
        inbox.put("degree", state.degree)
        kernels, none = env.kernels(FAMILY, index_t=part.vertex_map.dtype), part.ids[:0]
        advance(kernels.higher_count, kernels.higher_count_hubs, part.out, part.num_owned, state)
        edges = state.read_counters(env.backend).edges
        return Messages(none, none, {"degree": state.degree}, False, part.num_owned, edges, to="ghosts")

    def result(self, part: Part, state: Higher, env: Environment) -> dict[str, Any]:
        return {"higher": state.higher}

    def verify(self, context: RankContext, part: Part, result: RankResult) -> Violation | None:
        """Count again by array operations, with degrees that are fetched from their owners."""
        env, higher = context.environment(self.exchange), result.columns["higher"]
        xp, indptr = env.xp, part.out.indptr
        own = indptr[1:] - indptr[:-1]
        (degree,) = env.fetch_ghosts(part, [own])
        row = xp.searchsorted(indptr, xp.arange(part.out.num_edges), side="right") - 1
        before = xp.zeros(part.out.num_edges + 1, np.int64)
        xp.cumsum(degree[part.out.indices] > own[row], out=before[1:])
        expected = before[indptr[1:]] - before[indptr[:-1]]
        wrong = xp.flatnonzero(higher != expected)
        if not len(wrong):
            return None
        first = int(wrong[0])
        message = f"vertex {{vertex}} has {int(expected[first])} neighbors of higher degree, not {int(higher[first])}"
        return Violation(int(part.ids[first]), -1, message)


SUMMARY = values_of("higher")


@algorithm(
    "higher-neighbors", HigherNeighborsResult, "Number of neighbors of higher degree.", summary=SUMMARY[0],
    words=SUMMARY[1],
)  # fmt: skip
@documented
def higher_neighbors(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> HigherNeighborsResult:
    """Number of neighbors with a higher degree than the vertex itself.

    Parameters
    ----------
    G : Graph
        Directed or undirected; in a directed graph, out-edges count. Each of several parallel edges counts.

    Returns
    -------
    HigherNeighborsResult
        With `higher`, int64 of shape (num_vertices,), in the order of `G.vertex_ids`.

    Raises
    ------
    InputError
        If `G` is not a Graph, or an argument has an invalid value.

    Examples
    --------
    >>> import graphdask as gd
    >>> higher_neighbors(gd.from_edges([0, 0, 0], [1, 2, 3], directed=False)).higher.tolist()
    [0, 1, 1, 1]
    """
    checked_graph(G)
    return execute.run(G, HigherNeighbors(), exchange=exchange, client=client, progress=progress)
