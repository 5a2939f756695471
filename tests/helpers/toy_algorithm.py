"""A toy algorithm in one file, as `graphdask/algorithms/` would have it: in-degrees, counted in one superstep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.summaries import values_of
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive, RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.partition.build import tally
from graphdask.partition.part import Part
from graphdask.results.result import Result


class InDegreeResult(Result):
    """What `in_degrees` returns."""

    columns = ("in_degree",)

    @property
    def in_degree(self) -> np.ndarray:
        """The number of edges that end at each vertex; int64, in the order of `vertex_ids`."""
        return self._column("in_degree")


class InDegrees(Primitive[Array]):
    """The primitive. Its state is a count for each slot; those of ghosts are sent to their owners."""

    name = "in-degrees"
    columns: ClassVar[Mapping[str, Any]] = {"count": np.int64}
    result_type = InDegreeResult
    queues = False

    def memory(self, part: Part, allocation: Allocation) -> int:
        return 17 * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[Array, Messages]:
        count = tally(env.backend, part.out.indices, part.num_slots)
        ghosts = env.xp.flatnonzero(count[part.num_owned :]) + part.num_owned
        edges = len(part.out.indices)
        return count, Messages(
            part.ids[:0], ghosts.astype(part.vertex_map.dtype), {"count": count}, False, part.num_owned, edges
        )

    def superstep(self, part: Part, state: Array, inbox: Inbox, env: Environment) -> Messages:
        for message in inbox.received:
            own = message.slots < part.num_owned
            state[message.slots[own]] += message.columns["count"][own]
        return Messages(part.ids[:0], part.ids[:0], {"count": state}, False)

    def result(self, part: Part, state: Array, env: Environment) -> dict[str, Array]:
        return {"in_degree": state[: part.num_owned].copy()}

    def verify(self, context: RankContext, part: Part, result: RankResult) -> Violation | None:
        """All in-degrees together are as many as the edges."""
        more = int(result.columns["in_degree"].sum()) - len(part.out.indices)
        more = int(context.comm.allreduce(np.array([more], np.int64), "sum")[0])
        return Violation(-1, -1, f"the in-degrees add up to {more:+,} beside the number of edges") if more else None


SUMMARY = values_of("in_degree")


@algorithm(
    "in-degrees", InDegreeResult, "Number of edges that end at every vertex.", summary=SUMMARY[0], words=SUMMARY[1],
    also="indegree in_degree_centrality",
)  # fmt: skip
@documented
def in_degrees(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> InDegreeResult:
    """In-degree of each vertex.

    Parameters
    ----------
    G : Graph
        Directed or undirected.

    Returns
    -------
    InDegreeResult
        With `in_degree`, int64 of shape (num_vertices,), in the order of `G.vertex_ids`.

    Raises
    ------
    InputError
        If `G` is not a Graph, or an argument has an invalid value.
    """
    checked_graph(G)
    return execute.run(G, InDegrees(), exchange=exchange, client=client, progress=progress)
