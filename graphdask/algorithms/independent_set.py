"""A maximal independent set: vertices of which no two are neighbours, and to which no vertex can be added.

Vertices stand in a random order (`drawn_order`). In a superstep every undecided vertex with a member among its earlier
neighbours is out, and every one whose earlier neighbours are all out is a member; edges of decided vertices are
dropped. This gives the set that a sequential program finds that goes through the vertices in this order and takes each
one that has no neighbour in the set, after O(log n) supersteps with high probability.

Sources: Luby, A simple parallel algorithm for the maximal independent set problem (1986); Blelloch, Fineman, Shun,
Greedy sequential maximal independent set and matching are parallel on average (2012), Algorithm 2; Fischer, Noever,
Tight analysis of parallel randomized greedy MIS (2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.drawn_order import DrawnOrder
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.kinds import checked_seed
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import Option, algorithm
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Part
from graphdask.results.result import Result

UNDECIDED, MEMBER, OUT = 0, 1, 2


@dataclass
class SetState:
    status: Array
    """uint8 per slot."""
    rows: Array
    """Own undecided vertices, one for each edge to an earlier undecided neighbour."""
    slots: Array
    """These neighbours."""


class IndependentSetResult(Result):
    """What `maximal_independent_set` returns."""

    columns = ("member",)

    @property
    def member(self) -> np.ndarray:
        """Whether the vertex is in the set; bool, shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("member")

    @property
    def members(self) -> np.ndarray:
        """The ids of the vertices in the set, ascending."""
        return self.graph.vertex_ids[self.member]


class IndependentSet(Primitive[SetState]):
    """The primitive, for undirected graphs."""

    name = "maximal independent set"
    columns: ClassVar[Mapping[str, Any]] = {"status": np.uint8}
    result_type = IndependentSetResult
    notifies_ghosts = True
    queues = False

    def __init__(self, seed: int):
        self.seed = seed

    def memory(self, part: Part, allocation: Allocation) -> int:
        item, arcs = part.vertex_map.dtype.itemsize, part.out.num_edges
        return DrawnOrder.memory(part) + part.num_slots + 12 * part.num_owned + (item + 2) * arcs

    def init(self, part: Part, env: Environment) -> tuple[SetState, Messages]:
        rows, slots = DrawnOrder.of(part, env, self.seed).edges(part, env)
        state = SetState(env.xp.zeros(part.num_slots, np.uint8), rows, slots)
        return state, self._decide(part, state, env)

    def superstep(self, part: Part, state: SetState, inbox: Inbox, env: Environment) -> Messages:
        inbox.put("status", state.status)
        return self._decide(part, state, env)

    def _decide(self, part: Part, state: SetState, env: Environment) -> Messages:
        own, edges = state.status[: part.num_owned], len(state.rows)
        before = own == UNDECIDED
        earlier = state.status[state.slots]
        own[state.rows[earlier == MEMBER]] = OUT
        kept = (earlier == UNDECIDED) & (own[state.rows] == UNDECIDED)
        state.rows, state.slots = state.rows[kept], state.slots[kept]
        free = own == UNDECIDED
        free[state.rows] = False
        own[free] = MEMBER
        decided = places_of(env.xp, before & (own != UNDECIDED)).astype(part.vertex_map.dtype)
        active = len(state.rows) > 0
        return Messages(decided, decided[:0], {"status": state.status}, active, len(decided), edges, to="ghosts")

    def result(self, part: Part, state: SetState, env: Environment) -> dict[str, Any]:
        return {"member": state.status[: part.num_owned] == MEMBER}


def _summary(result: Any) -> dict[str, Any]:
    return {"members": int(result.member.sum()), "vertices": result.graph.num_vertices}


def _words(found: dict[str, Any]) -> str:
    return f"{found['members']:,} of {terminal.count(found['vertices'], 'vertex')} in the set"


@algorithm(
    "mis", IndependentSetResult, "Maximal independent set of an undirected graph.", summary=_summary, words=_words,
    undirected=True, options={"seed": Option("Of the order of the vertices.", least=0)},
    also="mis independent_set luby maximum_independent_set",
)  # fmt: skip
@of_undirected
def maximal_independent_set(
    G: Graph,
    seed: int = 0,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> IndependentSetResult:
    """Find a maximal independent set: no two of its vertices are neighbours, and no vertex can be added to it.

    The set is the one that a sequential program finds that goes through the vertices in a random order and takes each
    vertex that has no neighbour in the set. Self-loops do not count.

    Parameters
    ----------
    seed : int
        Of the random order, 0 to 2**64 - 1. Another seed gives another set, which may have another size.

    Returns
    -------
    IndependentSetResult
        With `member`, bool of shape (num_vertices,), in the order of `G.vertex_ids`, and `members`, the ids of the
        vertices in the set. The same seed gives the same set for every number of partitions and on every device.

    References
    ----------
    Luby: A simple parallel algorithm for the maximal independent set problem, SIAM Journal on Computing 15 (1986).
    Blelloch, Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average, SPAA 2012.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 0], [1, 2, 3], directed=False)
    >>> gd.maximal_independent_set(G).members.tolist()
    [1, 2, 3]
    """
    checked_undirected(G, "maximal_independent_set")
    return execute.run(G, IndependentSet(checked_seed(seed)), exchange=exchange, client=client, progress=progress)
