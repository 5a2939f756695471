"""HITS, hubs and authorities, as a program whose messages go along the edges and against them by turns.

State: `hub`, `authority`, and `before`, the authorities of the iteration before. An iteration has two supersteps. In
the first one vertices send their hub scores along the edges, and the sums are the authorities. In the second one they
send those against the edges, and the sums are the hub scores. What has been added up is divided by the sum over all
vertices, which is an aggregate, in the next superstep; hub scores of the last iteration when the run has ended.

Sources: Kleinberg, Authoritative sources in a hyperlinked environment, Journal of the ACM 46 (1999); NetworkX for
conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.algorithms.distribution import distribution
from graphdask.algorithms.power_iteration import (
    MAX_ITER,
    OPTIONS,
    TOL,
    PowerIteration,
    PowerIterationResult,
    checked,
    ended,
    ended_words,
    finite,
    iterated,
    of_iterations,
    uniform,
)
from graphdask.engine.loop import Environment, Inbox
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.registry import algorithm
from graphdask.partition.part import Part
from graphdask.program.program import Program
from graphdask.program.row_sums import CHUNK, Layout, Sums
from graphdask.program.state import ProgramState


class HitsResult(PowerIterationResult):
    """What `hits` returns."""

    columns = ("hub", "authority")

    @property
    def hub(self) -> np.ndarray:
        """How good the vertices are that a vertex points to; float64 of shape (num_vertices,), their sum 1."""
        return self._column("hub")

    @property
    def authority(self) -> np.ndarray:
        """How good the vertices are that point to a vertex; float64 of shape (num_vertices,), their sum 1."""
        return self._column("authority")


class Hits(PowerIteration):
    """The primitive. A superstep goes over the in-edges or the out-edges of the vertices, by turns."""

    name = "hits"
    result_type = HitsResult  # type: ignore[assignment]
    each = 2

    def memory_on(self, part: Part, env: Environment) -> int:
        needed = self.memory(part, env.allocation)
        if self._sums_turns(env):
            for csr in self.rows_of(part, False):
                needed += 8 * part.num_slots + 16 * (csr.num_edges // CHUNK) + Layout.memory(part, csr)
        return needed

    def _sums_turns(self, env: Environment) -> bool:
        return self.resident and not self.weighted and not env.frugal

    def _made(self, part: Part, env: Environment, together: bool = False) -> ProgramState:
        state = super()._made(part, env, together)
        state.turns = state.rows
        if self._sums_turns(env):
            state.sums_of_turns = [Sums.of(part, env, csr) for csr in state.rows]
        return state

    def _gather(self, part: Part, state: ProgramState, inbox: Inbox, env: Environment) -> None:
        turn = state.done % len(state.turns)
        state.rows = [state.turns[turn]]
        state.sums = state.sums_of_turns[turn] if state.sums_of_turns else None
        super()._gather(part, state, inbox, env)

    def scores(self, found: dict[str, Any], aggregates: Mapping[str, float]) -> dict[str, Any]:
        total = (aggregates["hubs"] if finite(aggregates) else 0.0) or 1.0  # what overflowed is refused
        return {"hub": found["hub"] / total, "authority": found["authority"], "before": found["before"]}


def _apply(v: Any, m: Any) -> Any:
    if v.superstep % 2 == 0:
        return {"before": v.authority, "authority": m / (v.hubs if v.hubs > 0.0 else 1.0)}
    total = v.authorities if v.authorities > 0.0 else 1.0
    return {"authority": v.authority / total, "hub": m / total}


def _program(first: float, weighted: bool) -> Program:
    def unweighted_send(e: Any) -> Any:
        return e.source.hub if e.superstep % 2 == 0 else e.source.authority

    def weighted_send(e: Any) -> Any:
        return e.weight * (e.source.hub if e.superstep % 2 == 0 else e.source.authority)

    return Program(
        state={"hub": (float, first), "authority": (float, 0.0), "before": (float, 0.0)},
        message=(float, "sum"),
        send=weighted_send if weighted else unweighted_send,
        apply=_apply,
        direction="both",
        activity="all",
        aggregate={
            "hubs": ("sum", lambda old, new: new.hub),
            "authorities": ("sum", lambda old, new: new.authority),
            "change": ("sum", lambda old, new: abs(new.authority - new.before)),
        },
        max_supersteps=1,
    )


@algorithm(
    "hits", HitsResult, "HITS: hubs and authorities.", summary=lambda result: ended(result, "hub", "authority"),
    words=ended_words, weights=True, options=OPTIONS, also="hub_score authority_score hubs_and_authorities kleinberg",
    example=lambda G: {"tol": 1e-6, "max_iter": 60},
)  # fmt: skip
@of_iterations
def hits(
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
) -> HitsResult:
    """Return hubs and authorities (HITS): good hubs point to good authorities, to which good hubs point.

    Authorities are the sums of the hub scores of their in-neighbours, and hub scores the sums of the authorities of
    their out-neighbours; each of the two is divided by its sum over all vertices. They are singular vectors of the
    matrix of the edges, for its largest singular value. In an undirected graph both are the eigenvector centrality.

    Parameters
    ----------
    tol : float
        Stop when the sum of the absolute changes of the authorities in an iteration is at most this. 0: do exactly
        `max_iter` iterations, without a warning. Default: 1e-10.
    start : dict or array-like of float, optional
        Hub scores of the first iteration, 0 or more: by the caller's vertex ids (0 for vertices that are not named), or
        an array of shape (num_vertices,) in the order of `G.vertex_ids`. Default: uniform.

    Returns
    -------
    HitsResult
        With `hub` and `authority`, each of shape (num_vertices,), in the order of `G.vertex_ids`, its sum 1 but for
        rounding (0 in a graph without edges); `iterations`, `residual` (the change in the last iteration) and
        `converged`. Identical bit for bit for every number of partitions and on every device.

    Raises
    ------
    InputError
        If an argument has an invalid value, if weights or the values of `start` are negative or not finite, or if the
        weights are so large that a sum overflows.
    VertexNotFound
        If `start` names an id that is not a vertex.

    References
    ----------
    Kleinberg: Authoritative sources in a hyperlinked environment, Journal of the ACM 46, 1999.

    Examples
    --------
    >>> import graphdask as gd
    >>> r = gd.hits(gd.from_edges([0, 0, 1, 3], [1, 2, 2, 2]))
    >>> r.hub.round(4).tolist(), r.authority.round(4).tolist()
    ([0.4142, 0.2929, 0.0, 0.2929], [0.0, 0.2929, 0.7071, 0.0])
    """
    checked_graph(G)
    tol, max_iter, weighted = checked(G, "hits", tol, max_iter, weighted, client, progress)
    first = distribution(G, start, "start")
    each = uniform(G) if first is None else None
    program = _program(each or 0.0, weighted)
    primitive = Hits(G, program, tol, max_iter, weighted, first, "hub")
    primitive.uniform = each
    overflow = "the weights are too large; divide them by a constant"
    result: HitsResult = iterated(
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
