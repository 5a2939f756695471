"""Strongly connected components: every vertex gets the smallest id of its component.

A round has six phases; the votes of all ranks say when the next one begins.

1. Trim: a vertex without an edge from another vertex that is left is a component, and is removed. Then the same for
   edges to other vertices. The second pass changes no count of the first: the vertices that it removes have no edge to
   vertices that are left.
2. Spread: colours propagate along the edges that are left, and a vertex keeps the smallest that reaches it.
3. Show: owners send the colours to the ghosts.
4. Collect: from the *roots*, vertices whose colour is their own, back along edges between vertices of one colour. What
   is reached is the component of the root, and is removed.
5. Close: owners send to the ghosts which vertices are removed.

In the first round one vertex of many in- and out-edges, the pivot, is the only one with a colour, and its component is
usually the giant (forward-backward). In the later ones the colour of a vertex is its id, and every colour has a root;
every second of these rounds goes against the direction of the edges, as ids that rise along a chain of components would
otherwise let each round find only the first.

Why the colour is the label: when colours rest, that of v is the smallest id c among the vertices that reach v. If v is
collected from the root c, then v reaches c, and c reaches v: they are in one component. All of a component is reached
by the same vertices, so it has one colour; as these include the component itself, c is the smallest id in it.
Conversely, the component of a root has the colour of the root, and a path inside it leads from each of its vertices to
the root: all of it is collected, and nothing else. Only whole components are removed, and a path between two
vertices of one component never leaves it; so what is left has the same components as before. The smallest id that is
left is a root in every round but the first, and the pivot is in the first: each round takes something out.

All work inside a rank is done to its end before an exchange. Where few vertices and edges are left, every rank gathers
them and finds their components by itself (Tarjan): very few at once, more of them once a run has taken many supersteps,
as on long cycles, long paths, and long chains of components cut into small pieces. The components of a graph are
unique, so nothing of this shows in the answer.

Sources: McLendon, Hendrickson, Plimpton, Rauchwerger, Finding strongly connected components in distributed graphs
(2005); Orzan, On distributed verification and verified distribution (2004), Section 5; Fleischer, Hendrickson, Pinar,
On identifying strongly connected components in parallel (2000); Tarjan (1972).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._strong_rest import components_among
from graphdask.algorithms._strong_resumed import (
    CLOSE,
    COLLECT,
    SHOW,
    SPREAD,
    TRIM_IN,
    TRIM_OUT,
    ResumableComponents,
)
from graphdask.algorithms.components import ComponentsResult, ConnectedComponents
from graphdask.algorithms.summaries import component_words, components
from graphdask.algorithms.tuning import STRONG
from graphdask.device.ahead import Family, family
from graphdask.device.arrays import minus_ones
from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.buffers import MAXIMAL, Allocation, most_deferred
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.kernels.components.strong_pack import COUNTS, Colours
from graphdask.partition.part import Csr, Part

AT_ONCE = 256
"""Before `STRONG.patience` supersteps, one in so many of `STRONG.few` is what ranks finish."""

QUEUE = COUNTS.place.queue
SENT, LEFT, SCORE, VERTEX = range(4)
"""Votes: vertices sent to their owners; vertices and edges left; degree product and id of the best pivot (in CLOSE the
smallest id that was collected)."""


@dataclass
class StrongState:
    pack: Colours
    """What kernels work on: colours, labels, counts and queues. `queue` has the own vertices that this phase took out,
    in their order; `count` of a ghost is minus the edges to be taken off."""
    reported: Array
    """Per own vertex: the colour that its ghosts began with."""
    rows: Array
    """Own vertices that were left before the last trim phase, or before what was collected last."""
    left: int
    """Vertices that are left, and their out-edges."""
    roots: Array
    """Own vertices that colours begin from."""
    sent: Array
    """Ghosts whose owners were notified last."""
    phase: int = TRIM_IN
    round: int = 0
    supersteps: int = 0
    whole: bool = True
    """Whether nothing was out before the first round."""
    pivot: int = 0
    """The only vertex with a colour in the first round."""
    level: int = 1
    total: float = 0.0
    """Sum of `left` over all ranks."""


class StrongComponents(ResumableComponents, Primitive[StrongState]):
    """The primitive, for directed graphs; ranks finish at most `STRONG.few` vertices and edges by themselves."""

    name = "strong components"
    columns: ClassVar[Mapping[str, Any]] = {"value": INDEX}
    notifies_ghosts = True
    votes = 4
    needs_all = "its queue holds the vertices that a phase removes, which may be all of them"
    result_type = ComponentsResult

    @property
    def inward(self) -> bool:
        return True

    def _most_ghosts(self, part: Part, allocation: Allocation) -> int:
        """Entries of the list of ghosts."""
        ghosts = part.num_slots - part.num_owned
        return min(ghosts, max(csr.num_edges for csr in part.directions)) if allocation.partial else ghosts

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (family("strong", index_t=index),)

    def memory(self, part: Part, allocation: Allocation) -> int:
        width = part.vertex_map.dtype.itemsize
        most = part.num_owned + part.out.num_edges if part.size == 1 else STRONG.few
        slots, owned = (4 * width + 5) * part.num_slots, (3 * width + 33) * part.num_owned
        spared = (
            self._most_ghosts(part, MAXIMAL) - self._most_ghosts(part, allocation) - most_deferred(*part.directions)
        )
        return slots + owned - width * spared + (2 * width + 16) * min(STRONG.few, most)

    def init(self, part: Part, env: Environment) -> tuple[StrongState, Messages]:
        state = self.before_rounds(part, env)
        return state, self.begin_trim(part, state, env)

    def before_rounds(self, part: Part, env: Environment) -> StrongState:
        """The state of which nothing is out. Every rank calls it."""
        xp, dtype, slots, owned = env.xp, part.vertex_map.dtype, part.num_slots, part.num_owned
        (ids,) = env.fetch_ghosts(part, [part.ids])
        rows = xp.arange(owned, dtype=dtype)
        most_ghosts, hubs = self._most_ghosts(part, env.allocation), xp.empty(most_deferred(*part.directions), dtype)
        pack = Colours(
            ids=ids, owned=owned, colour=ids.copy(), count=xp.zeros(slots, dtype), label=minus_ones(xp, owned, dtype),
            queue=xp.empty(owned, dtype), ghost_queue=xp.empty(most_ghosts, dtype), hubs=hubs,
            counters=xp.zeros(len(COUNTS), np.int64), stamp=xp.zeros(slots, np.int32),
        )  # fmt: skip
        return StrongState(
            pack, reported=part.ids.copy(), rows=rows, left=owned + part.out.num_edges, roots=rows[:0], sent=rows[:0]
        )

    def superstep(self, part: Part, state: StrongState, inbox: Inbox, env: Environment) -> Messages:
        if state.phase in (SHOW, CLOSE):
            inbox.put("value", state.pack.colour)
        elif inbox.votes[:, SENT].any():
            state.pack.set_counters(ghosts=0, hubs=0, edges=0)
            if state.phase == SPREAD:
                return self._take_colours(part, state, inbox, env)
            take = self._take_counts if state.phase < SPREAD else self._take_reached
            return take(part, state, inbox, env)
        return self._next_phase(part, state, inbox.votes, env)

    def _next_phase(self, part: Part, state: StrongState, votes: np.ndarray, env: Environment) -> Messages:
        if state.phase in (TRIM_IN, TRIM_OUT, CLOSE):
            state.rows = state.rows[state.pack.colour[state.rows] >= 0]
        state.sent = state.sent[:0]
        state.pack.counters.fill(0)
        state.phase += 1
        if state.phase == SHOW and part.size == 1:
            state.phase = COLLECT  # there are no ghosts
        if state.phase == SPREAD:
            return self._begin_spread(part, state, votes, env)
        if state.phase == SHOW:
            return self._show(part, state, env)
        if state.phase == COLLECT:
            return self._begin_collect(part, state, env)
        if state.phase == CLOSE:
            return self._close(part, state)
        if state.phase > CLOSE:
            state.phase, state.round = TRIM_IN, state.round + 1
        return self.begin_trim(part, state, env)

    def begin_trim(self, part: Part, state: StrongState, env: Environment) -> Messages:
        """Begin the first phase of a round, or the second."""
        kernels, pack = self._kernels(part, env), state.pack
        _, csr = _both_ways(part, state.phase == TRIM_OUT)
        state.pack.counters.fill(0)
        state.pack.count.fill(0)
        if (
            state.round == 0 and state.whole and part.counts.get("self_loops") == 0
        ):  # what is left has all of these edges yet
            degrees = csr.indptr[state.rows + 1] - csr.indptr[state.rows]
            state.pack.count[state.rows] = degrees.astype(state.pack.count.dtype)
        else:
            advance(kernels.strong_count, kernels.strong_count_hubs, csr, state.rows, pack)
        kernels.strong_bare(len(state.rows), state.rows, pack)
        return self._trim(part, state, env, 0)

    def _take_counts(self, part: Part, state: StrongState, inbox: Inbox, env: Environment) -> Messages:
        state.pack.count[state.sent] = 0
        before = int(state.pack.counters[QUEUE])
        self._kernels(part, env).strong_take(len(inbox), inbox.slots, inbox.columns["value"], state.pack)
        return self._trim(part, state, env, before)

    def _trim(self, part: Part, state: StrongState, env: Environment, before: int) -> Messages:
        """Follow what was taken out, entries of the queue from `before` on."""
        csr, _ = _both_ways(part, state.phase == TRIM_OUT)
        listed = self._drain("strong_trim", part, state, env, csr)
        state.left -= self.weight_of(part, state.pack.queue[before:listed])
        return self._notify_owners(part, state, env, state.pack.count, listed - before)

    def _begin_spread(self, part: Part, state: StrongState, votes: np.ndarray, env: Environment) -> Messages:
        xp, dtype, owned = env.xp, part.vertex_map.dtype, part.num_owned
        fresh = state.pack.ids if state.round else xp.full(part.num_slots, np.iinfo(dtype).max, dtype)
        state.reported = xp.where(state.reported >= 0, fresh[:owned], dtype.type(-1))
        state.pack.colour = xp.where(state.pack.colour >= 0, fresh, dtype.type(-1))
        if state.round:
            state.roots = state.rows
        else:
            state.pivot = int(votes[votes[:, SCORE] == votes[:, SCORE].max(), VERTEX].min())
            state.roots = state.rows[state.pack.ids[state.rows] == state.pivot]
            state.pack.colour[state.roots] = 0
        return self.spread(part, state, env, state.roots)

    def _take_colours(self, part: Part, state: StrongState, inbox: Inbox, env: Environment) -> Messages:
        state.level += 1
        state.pack.set_counters(queue=0)
        state.pack.level = state.level
        self._kernels(part, env).strong_lower(len(inbox), inbox.slots, inbox.columns["value"], state.pack)
        return self.spread(part, state, env, state.pack.queue[: int(state.pack.counters[QUEUE])])

    def spread(self, part: Part, state: StrongState, env: Environment, rows: Array) -> Messages:
        """Let the colours of some own vertices go as far as they do on this rank."""
        kernels, pack = self._kernels(part, env), state.pack
        csr, _ = _both_ways(part, state.round % 2 == 1)
        rows, frontier = rows[env.xp.argsort(state.pack.colour[rows])], 0
        pack.base = state.level + 1
        while len(rows):
            frontier += len(rows)
            state.level += 1
            pack.set_counters(queue=0)
            pack.level = state.level
            advance(kernels.strong_spread, kernels.strong_spread_hubs, csr, rows, pack)
            rows = state.pack.queue[: int(state.pack.counters[QUEUE])].copy()
        return self._notify_owners(part, state, env, state.pack.colour, frontier)

    def _show(self, part: Part, state: StrongState, env: Environment) -> Messages:
        own = state.pack.colour[: part.num_owned]
        changed = env.xp.flatnonzero(own != state.reported).astype(part.vertex_map.dtype)
        state.reported = own.copy()
        return self._notify_ghosts(state, changed, 0.0)

    def _begin_collect(self, part: Part, state: StrongState, env: Environment) -> Messages:
        roots = state.roots
        if state.round:
            roots = roots[state.pack.colour[roots] == state.pack.ids[roots]]
        state.pack.label[roots] = state.pack.colour[roots]
        state.pack.colour[roots] = -1
        state.pack.queue[: len(roots)] = roots
        state.pack.set_counters(queue=len(roots))
        return self._collect(part, state, env, 0)

    def _take_reached(self, part: Part, state: StrongState, inbox: Inbox, env: Environment) -> Messages:
        before = int(state.pack.counters[QUEUE])
        self._kernels(part, env).strong_arrive(len(inbox), inbox.slots, state.pack)
        return self._collect(part, state, env, before)

    def _collect(self, part: Part, state: StrongState, env: Environment, before: int) -> Messages:
        _, csr = _both_ways(part, state.round % 2 == 1)
        listed = self._drain("strong_collect", part, state, env, csr)
        return self._notify_owners(part, state, env, state.pack.colour, listed - before)

    def _close(self, part: Part, state: StrongState) -> Messages:
        found = state.roots = state.rows[state.pack.colour[state.rows] < 0]
        state.left -= self.weight_of(part, found)
        state.reported[found] = -1
        return self._notify_ghosts(state, found, float(state.pack.ids[found].min()) if len(found) else np.inf)

    def _drain(self, name: str, part: Part, state: StrongState, env: Environment, csr: Csr) -> int:
        """Launch a kernel over the queue until it appends nothing; return the length of the queue."""
        kernels, pack = self._kernels(part, env), state.pack
        kernel, hubs = getattr(kernels, name), getattr(kernels, f"{name}_hubs")
        pack.assign(indptr=csr.indptr, indices=csr.indices)
        while True:
            counts = pack.read_counters(env.backend)
            if counts.followed == counts.queue:
                return counts.queue
            pack.set_counters(hubs=0)
            # a twin follows what it appends too, so that the list is not cut off
            kernel(counts.queue - counts.followed, pack.queue[counts.followed :], pack)
            hubs(HUB_THREADS, pack)

    def _notify_owners(
        self, part: Part, state: StrongState, env: Environment, values: Array, frontier: int
    ) -> Messages:
        counts = state.pack.read_counters(env.backend)
        ghosts, edges = counts.ghosts, counts.edges
        state.sent = state.pack.ghost_queue[:ghosts].copy()
        score, vertex = -1.0, 0.0
        if state.phase == TRIM_OUT and state.round == 0 and ghosts == 0:
            score, vertex = _best_pivot(part, state)
        votes = (float(ghosts), float(state.left), score, vertex)
        return Messages(state.rows[:0], state.sent, {"value": values}, True, frontier, edges, votes=votes)

    def _notify_ghosts(self, state: StrongState, own: Array, vertex: float) -> Messages:
        votes = (0.0, float(state.left), -1.0, vertex)
        return Messages(own, own[:0], {"value": state.pack.colour}, True, len(own), 0, "ghosts", votes)

    @staticmethod
    def weight_of(part: Part, rows: Array) -> int:
        """Vertices and their out-edges."""
        indptr = part.out.indptr
        return len(rows) + int((indptr[rows + 1] - indptr[rows]).sum())

    def _kernels(self, part: Part, env: Environment) -> Any:
        return env.kernels("strong", index_t=part.vertex_map.dtype)

    def ends(self, state: StrongState, votes: np.ndarray) -> bool:
        if state.phase == CLOSE and state.round == 0:  # the colour of the pivot was no id
            state.pack.label[state.roots] = int(votes[:, VERTEX].min())
        state.total = float(votes[:, LEFT].sum())
        state.supersteps += 1
        return state.total <= (STRONG.few if state.supersteps > STRONG.patience else STRONG.few // AT_ONCE)

    def result(self, part: Part, state: StrongState, env: Environment) -> dict[str, Array]:
        if 0 < state.total <= STRONG.few:
            rows = env.xp.flatnonzero(state.pack.colour[: part.num_owned] >= 0).astype(part.vertex_map.dtype)
            if state.phase == COLLECT:  # components may be half collected: they are among what is left again
                rows = state.rows
            state.pack.label[rows] = components_among(part, rows, state.pack.ids, env)
        return {"label": state.pack.label}


def _both_ways(part: Part, against: bool) -> tuple[Csr, Csr]:
    """The edges along which something goes, and those back; `against` the direction of the graph's."""
    assert part.inward is not None
    return (part.inward, part.out) if against else (part.out, part.inward)


def _best_pivot(part: Part, state: StrongState) -> tuple[float, float]:
    """The largest product of in- and out-degree among own vertices that are left, and the smallest id that has it."""
    rows = state.rows[state.pack.colour[state.rows] >= 0]
    if not len(rows):
        return -1.0, 0.0
    along, back = (csr.indptr[rows + 1] - csr.indptr[rows] for csr in _both_ways(part, False))
    score = along.astype(np.float64) * back
    best = score.max()
    return float(best), float(state.pack.ids[rows[score == best]].min())


@algorithm(
    "strong", ComponentsResult, "Strongly connected components: vertices that reach each other.", summary=components,
    words=component_words, also="scc strong strong_components",
)  # fmt: skip
@documented
def strongly_connected_components(
    G: Graph,
    *,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> ComponentsResult:
    """Strongly connected components: two vertices are in one if a path leads from each to the other.

    Parameters
    ----------
    G : Graph
        In an undirected graph these are the connected components, and are computed as such.
    allocation : {"maximal", "just-enough"}, optional
        Memory reserved for queues. "maximal", the default: for all vertices. "just-enough": for as many as there can be
        in this graph. A fixed share is not supported, because a phase may remove every vertex in one launch. Undirected
        graphs: as in `connected_components`. The answer is the same.

    Returns
    -------
    ComponentsResult
        With `label`, of shape (num_vertices,): the smallest vertex id of the strong component of each vertex, in the
        order of `G.vertex_ids`, identical bit for bit for every number of partitions and on every device.
        `result.num_components` counts the components.

    Raises
    ------
    InputError
        Where `G` is not a Graph, or an argument has no such value.

    Notes
    -----
    A superstep follows a path as long as it stays in one partition, so the number of supersteps depends on the
    partitioner in graphs of large diameter (`by="range"` keeps paths together). Once about a million vertices and edges
    are left, a run of many supersteps is finished without any more.

    References
    ----------
    McLendon, Hendrickson, Plimpton, Rauchwerger: Finding strongly connected components in distributed graphs, J.
    Parallel and Distributed Computing 65 (2005). Orzan: On distributed verification and verified distribution, thesis,
    Vrije Universiteit Amsterdam (2004). Tarjan: Depth-first search and linear graph algorithms (1972).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 2], [1, 2, 1, 3])
    >>> gd.strongly_connected_components(G).label.tolist()
    [0, 1, 1, 3]
    """
    checked_graph(G)
    primitive = StrongComponents() if G.directed else ConnectedComponents()
    return execute.run(
        G,
        primitive,
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
