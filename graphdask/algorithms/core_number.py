"""Core numbers by peeling: remove, again and again, the vertices that have at most k neighbours left, for rising k.

State: the number of neighbours that each own vertex has left, and a queue of the vertices in the order of their
removal. A superstep takes in how many neighbours vertices lost on other ranks, empties the queue, and notifies the
owners of ghosts how many neighbours these lost. When no rank has sent anything, all ranks advance to the least degree
that is left on any rank, which they find by a vote. The vertices left after level k are the (k+1)-core, whatever the
order of events within the level.

Sources: Seidman, Network structure and minimum degree (1983); Batagelj, Zaversnik, An O(m) algorithm for cores
decomposition of networks (2003).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import MAXIMAL, Allocation, put_aside
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.kernels.core_number.core_number_pack import COUNTS, Peeling
from graphdask.partition.part import Part
from graphdask.results.result import Result

PLACES = 36
"""Bits of `order` for the place in the queue; those above are the superstep."""


@dataclass
class CoresState:
    peeling: Peeling
    """What the kernels work on: degrees, queues and their lengths."""
    core: Array
    """Per own vertex; -1 if it is not removed yet."""
    order: Array
    """int64 per own vertex: superstep and place in the queue of its removal."""
    alive: Array
    """Own vertices that may be left."""
    step: int = 0


class CoreResult(Result):
    """What `core_number` returns."""

    columns = ("core",)

    @property
    def core(self) -> np.ndarray:
        """The largest k for which the vertex is in the k-core; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("core")


class CoreNumber(Primitive[CoresState]):
    """The primitive. Its result `order` is the order of removal, which proves that no core number is too small."""

    name = "core number"
    columns: ClassVar[Mapping[str, Any]] = {"lost": INDEX}
    result_type = CoreResult
    votes = 2
    needs_all = "its queue ends with every vertex in it"

    def _lists(self, part: Part, allocation: Allocation) -> tuple[int, int]:
        """Entries of the lists of ghosts and of deferred rows."""
        ghosts = part.num_slots - part.num_owned
        if not allocation.partial:
            return ghosts, part.num_owned
        return min(ghosts, part.out.num_edges), put_aside(part.out)

    def memory(self, part: Part, allocation: Allocation) -> int:
        item = part.vertex_map.dtype.itemsize
        spared = sum(self._lists(part, MAXIMAL)) - sum(self._lists(part, allocation))
        return part.num_owned * (6 * item + 25) + (part.num_slots - part.num_owned) * 5 * item - item * spared

    def init(self, part: Part, env: Environment) -> tuple[CoresState, Messages]:
        xp, dtype, owned = env.xp, part.vertex_map.dtype, part.num_owned
        kernels = env.kernels("core_number", index_t=dtype)
        most_ghosts, most_aside = self._lists(part, env.allocation)
        peeling = Peeling(
            indptr=part.out.indptr, indices=part.out.indices, owned=owned, level=-1,
            degree=(part.out.indptr[1:] - part.out.indptr[:-1]).astype(dtype), queue=xp.empty(owned, dtype),
            lost=xp.zeros(part.num_slots, dtype), ghost_queue=xp.empty(most_ghosts, dtype),
            hubs=xp.empty(most_aside, dtype), counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        kernels.core_degrees(owned, peeling)
        kernels.core_degrees_hubs(HUB_THREADS, peeling)
        peeling.counters.fill(0)
        state = CoresState(peeling, xp.full(owned, -1, dtype), xp.zeros(owned, np.int64), xp.arange(owned, dtype=dtype))
        return state, self._messages(state, 0, 0, 0)

    def superstep(self, part: Part, state: CoresState, inbox: Inbox, env: Environment) -> Messages:
        kernels = env.kernels("core_number", index_t=part.vertex_map.dtype)
        peeling = state.peeling
        before = peeling.read_counters(env.backend)
        peeling.lost[peeling.ghost_queue[: before.ghosts]] = 0
        start = tail = before.queue
        state.step += 1
        reported, least = inbox.votes[:, 0].sum(), inbox.votes[:, 1].min(initial=np.inf)
        peeling.level = int(least) if reported == 0 and np.isfinite(least) else peeling.level
        if reported == 0 and len(state.alive):
            first = state.alive[peeling.degree[state.alive] <= peeling.level]
            tail = start + len(first)
            peeling.queue[start:tail] = first
        peeling.set_counters(queue=tail, ghosts=0, hubs=0, edges=0)
        if len(inbox):
            kernels.core_lose(len(inbox), inbox.slots, inbox.columns["lost"], peeling)
            tail = peeling.read_counters(env.backend).queue
        done, ghosts, edges = start, 0, 0
        while done < tail:
            peeling.set_counters(hubs=0)
            kernels.core_peel(tail - done, done, peeling)
            kernels.core_peel_hubs(HUB_THREADS, peeling)
            tail, ghosts, _, edges, done = peeling.read_counters(env.backend)
        removed = peeling.queue[start:tail]
        state.core[removed] = peeling.level
        state.order[removed] = (state.step << PLACES) + env.xp.arange(start, tail)
        return self._messages(state, ghosts, len(removed), edges)

    def _messages(self, state: CoresState, ghosts: int, removed: int, edges: int) -> Messages:
        least = np.inf
        if ghosts == 0 and len(state.alive):
            state.alive = state.alive[state.core[state.alive] < 0]
            if len(state.alive):
                least = float(state.peeling.degree[state.alive].min())
        reported = state.peeling.ghost_queue[:ghosts]
        active = ghosts > 0 or len(state.alive) > 0
        return Messages(
            reported[:0], reported, {"lost": state.peeling.lost}, active, removed, edges, votes=(ghosts, least)
        )

    def result(self, part: Part, state: CoresState, env: Environment) -> dict[str, Array]:
        return {"core": state.core, "order": state.order}


def _summary(result: Any) -> dict[str, Any]:
    core = result.core
    return {"degeneracy": core.max().item(), "vertices": int((core == core.max()).sum())} if len(core) else {}


def _words(found: dict[str, Any]) -> str:
    if not found:
        return "no vertices"
    return f"{terminal.count(found['vertices'], 'vertex')} in the innermost core, number {found['degeneracy']:,}"


@algorithm(
    "core", CoreResult, "Core number of every vertex of an undirected graph.", summary=_summary, words=_words,
    undirected=True, also="core core_numbers kcore coreness core_decomposition",
)  # fmt: skip
@documented
def core_number(
    G: Graph,
    *,
    exchange: str | None = None,
    allocation: str | float | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> CoreResult:
    """Core number of each vertex of an undirected graph (k-core decomposition).

    The k-core is the largest part of the graph in which every vertex has at least k neighbours; a vertex has core
    number k if it is in the k-core and not in the (k+1)-core. Parallel edges count once and self-loops not at all
    (NetworkX refuses self-loops; on graphs without, its numbers are the same).

    Parameters
    ----------
    G : Graph
        Undirected; `G.to_undirected()` makes one of a directed graph.
    allocation : {"maximal", "just-enough"}, optional
        Length of lists. "maximal" allocates them for all vertices, "just-enough" for as many entries as there can be
        in this graph. A fixed share is not supported, because every vertex ends in the queue. Default: maximal. The
        answer is the same.

    Returns
    -------
    CoreResult
        With `core`, int32 of shape (num_vertices,) (int64 above 2**31 - 2 vertices), in the order of `G.vertex_ids`;
        identical for every number of partitions and on every device.

    Raises
    ------
    InputError
        If `G` is not a Graph or is directed, or an argument has no such value.

    References
    ----------
    Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks, 2003.

    Examples
    --------
    >>> import graphdask as gd
    >>> gd.core_number(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)).core.tolist()
    [2, 2, 2, 1]
    """
    checked_undirected(G, "core_number")
    return execute.run(G, CoreNumber(), exchange=exchange, allocation=allocation, client=client, progress=progress)
