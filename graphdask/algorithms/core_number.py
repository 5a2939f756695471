"""Core numbers by peeling, several levels in a superstep, and by correction of what was peeled too late.

A rank peels level k: it removes, again and again, the vertices that have at most k neighbours left; then the next
level, and so on for as many levels as a superstep has. The level at which a vertex is removed is a bound of its core
number. It is too large where a neighbour on another rank goes at a lower level, of which the rank does not know yet. So
owners send bounds that fell to the ghosts of their vertices. A rank that receives some lowers the bounds that no longer
hold: a bound is the largest k for which k neighbours have bounds of k or more. Bounds never fall below the core
numbers, because every vertex of a k-core has k neighbours in it. When all vertices are removed and no bound falls any
more, the vertices with bounds of k or more are a k-core, so the answer does not depend on the order of events.

Few bounds have to be corrected where a superstep has few levels, and few supersteps are needed where it has many. The
first level of a superstep is the least degree that is left on any rank, by a vote that travels with the bounds. Bounds
may have to fall one after the other, as along a path whose vertices are on many ranks. After many supersteps, every
rank therefore peels the whole graph by itself, if it is small (`_all_cores`); on CPUs every rank of a very small graph
does so before the first superstep.

Its queue is not one of `engine.Queues`, which are emptied step by step: it ends with every vertex in it, in the order
of removal, and one launch peels many levels of it without the host.

Sources: Seidman, Network structure and minimum degree (1983); Batagelj, Zaversnik, An O(m) algorithm for cores
decomposition of networks (2003); Montresor, De Pellegrini, Miorandi, Distributed k-core decomposition (2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms import _all_cores, _ghost_rows
from graphdask.algorithms.tuning import CORES
from graphdask.device.ahead import Family, family
from graphdask.device.backend import BLOCK, Array, Backend
from graphdask.display import terminal
from graphdask.engine.advance import advance
from graphdask.engine.buffers import Allocation, most_deferred
from graphdask.engine.checkpoints import Resumable, Saved
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.engine.votes import Votes
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
from graphdask.kernels.core_number.core_number_pack import COUNTS, KEPT, ROUNDS, Peeling
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result

VOTES = Votes("CoreVotes", least=min, corrected=sum, fell=sum, left=sum, degrees=sum, stored=sum)
"""The least degree that is left, infinite if no vertex is; edges that corrections scanned; bounds that fell; vertices
that are left; the sum of their degrees; and the edges of the graph."""
PLACES = 36
"""Bits of `order` for the place among the falls of a superstep; those above are the superstep."""
LEVELS_ALONE = 64
"""Levels of a superstep of a rank by itself at most, where no bound is ever corrected."""
LEAST_THREADS = 1 << 18
"""Threads of a launch at least, which share the edges of few vertices too."""
PER_PROCESSOR = 4
"""Blocks on each processor of a GPU at most, of those that meet after each round."""


@dataclass
class CoresState:
    rows: Csr
    """The neighbours of the own vertices."""
    peeling: Peeling
    """What the kernels work on: degrees, bounds, queues and their lengths."""
    step: int = 0
    levels: int = 1
    """Levels of the next superstep; the same on all ranks."""
    corrected: int = 0
    """Edges that the corrections of this superstep scanned."""
    left: int = 0
    """Vertices that were left when a level was peeled last,"""
    least: int = 0
    """the least degree among them,"""
    degrees: int = 0
    """and the sum of their degrees."""
    supersteps: int = 0
    stored: int = 0
    """Edges of this rank."""
    at_once: int = 0
    """Edges of all ranks up to which every rank gathers the graph at once."""
    gathers: bool = False
    """Whether every rank peels the whole graph by itself in the end."""


class CoreResult(Result):
    """What `core_number` returns."""

    columns = ("core",)

    @property
    def core(self) -> np.ndarray:
        """The largest k for which the vertex is in the k-core; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("core")


class CoreNumber(Primitive[CoresState], Resumable):
    """The primitive. Its result `order`, when each bound fell last, proves that no core number is too small."""

    name = "core number"
    columns: ClassVar[Mapping[str, Any]] = {"bound": INDEX}
    result_type = CoreResult
    notifies_ghosts = True
    votes = len(VOTES)
    needs_all = "its queue ends with every vertex in it"

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (family("core_number", cooperative=True, index_t=index),)

    def memory(self, part: Part, allocation: Allocation) -> int:
        item, ghosts = part.vertex_map.dtype.itemsize, part.num_slots - part.num_owned
        deferred = self._deferred(part, allocation)
        return (
            _all_cores.memory(part)
            + part.num_owned * (11 * item + 21)
            + ghosts * 8 * item
            + deferred * item
            + _ghost_rows.memory(part)
        )

    def _deferred(self, part: Part, allocation: Allocation) -> int:
        """Entries of the list of deferred rows."""
        return most_deferred(part.out) if allocation.partial else max(part.num_owned, most_deferred(part.out))

    def facts(self) -> dict[str, Any]:
        return {}

    def saved(self, part: Part, state: CoresState, inbox: Inbox, env: Environment) -> Saved:
        peeling = state.peeling
        columns = {"bound": peeling.bound[: part.num_owned], "order": peeling.order}
        numbers = {"step": state.step, "level": peeling.level, "levels": state.levels, "supersteps": state.supersteps}
        return columns, numbers

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[CoresState, Messages]:
        """Let all bounds of own vertices fall at once, some of which had not arrived at neighbours that now are on the
        same rank, and send all of them to the ghosts."""
        state = self._begun(part, env)
        peeling, kernels = state.peeling, env.kernels("core_number", cooperative=True, index_t=part.vertex_map.dtype)
        state.step, state.levels, state.supersteps = (numbers[name] for name in ("step", "levels", "supersteps"))
        state.step += 1
        peeling.now, peeling.level, peeling.order = state.step << PLACES, numbers["level"], columns["order"].copy()
        own = peeling.bound[: part.num_owned]
        own[:] = columns["bound"]
        removed = places_of(env.xp, own != peeling.none).astype(part.vertex_map.dtype)
        peeling.before.fill(peeling.none)
        peeling.fell[: len(removed)] = removed
        peeling.counters.fill(0)
        advance(kernels.core_fall, kernels.core_fall_hubs, state.rows, len(removed), peeling, cleared=True)
        self._settle(state, kernels, env)
        removed = places_of(env.xp, own != peeling.none).astype(part.vertex_map.dtype)
        _find(state, places_of(env.xp, own == peeling.none).astype(part.vertex_map.dtype), kernels, env.backend)
        peeling.queue[: len(removed)] = removed
        peeling.set_counters(queue=len(removed))
        return state, self._messages(state, env)

    def init(self, part: Part, env: Environment) -> tuple[CoresState, Messages]:
        state = self._begun(part, env)
        return state, self._messages(state, env)

    def _begun(self, part: Part, env: Environment) -> CoresState:
        """The state before the first superstep."""
        deferred = self._deferred(part, env.allocation)
        state = _state(part.out, _ghost_rows.ghost_rows(part, env), part.num_slots, deferred, env.backend)
        state.stored, state.at_once = part.out.num_edges, CORES.at_once[env.backend.name]
        return state

    def superstep(self, part: Part, state: CoresState, inbox: Inbox, env: Environment) -> Messages:
        kernels, peeling = env.kernels("core_number", cooperative=True, index_t=part.vertex_map.dtype), state.peeling
        state.step += 1
        peeling.now = state.step << PLACES
        peeling.counters.fill(0)
        state.corrected = self._correct(inbox, state, kernels, env) if len(inbox) else 0
        votes = VOTES.of(inbox.votes)
        if np.isfinite(votes.least):
            state.levels = self._levels(state, votes, env)
            if state.levels:
                _peel(state, int(votes.least) + state.levels - 1, kernels, env.backend)
        return self._messages(state, env)

    @staticmethod
    def _levels(state: CoresState, votes: Any, env: Environment) -> int:
        """How many levels to peel in this superstep, from the least degree on; the same on all ranks."""
        if env.size == 1:
            return LEVELS_ALONE
        if env.backend.name == "cpu" and votes.degrees < CORES.crowded * votes.least * votes.left:
            return 0 if votes.fell else 1
        return 0 if votes.corrected > CORES.worth[env.backend.name] else min(max(2 * state.levels, 1), CORES.levels)

    def _correct(self, inbox: Inbox, state: CoresState, kernels: Any, env: Environment) -> int:
        """Take in the bounds of ghosts, and lower what no longer holds; return the number of edges scanned."""
        slots, peeling = inbox.slots, state.peeling
        kernels.core_arrive(len(inbox), slots, inbox.columns["bound"], peeling)
        rows = kernels.core_arrive_rows, kernels.core_arrive_rows_hubs  # those of ghosts, which the pack has besides
        advance(*rows, state.rows, slots, peeling, cleared=True)
        return self._settle(state, kernels, env)

    @staticmethod
    def _settle(state: CoresState, kernels: Any, env: Environment) -> int:
        """Lower what no longer holds, and what holds no longer because of that; return the edges scanned so far."""
        peeling = state.peeling
        counts = peeling.read_counters(env.backend)
        while counts.again:
            peeling.set_counters(again=0, fell=0, hubs=0)
            kernels.core_settle(counts.again, peeling, per_item=BLOCK)
            counts = peeling.read_counters(env.backend)
            if counts.fell:
                advance(kernels.core_fall, kernels.core_fall_hubs, state.rows, counts.fell, peeling, cleared=True)
                counts = peeling.read_counters(env.backend)
        return int(counts.edges)

    def _messages(self, state: CoresState, env: Environment) -> Messages:
        peeling = state.peeling
        counts = peeling.read_counters(env.backend)
        changed = peeling.queue[: counts.queue]
        least = float(state.least) if state.left else np.inf
        return Messages(
            changed, changed[:0], {"bound": peeling.bound}, state.left > 0, len(changed), counts.edges, to="ghosts",
            votes=(least, state.corrected, len(changed), state.left, state.degrees, state.stored),
        )  # fmt: skip

    def ends(self, state: CoresState, votes: np.ndarray) -> bool:
        """Whether every rank gathers the graph, and peels it by itself."""
        state.supersteps += 1
        total = VOTES.of(votes)
        goes_on = total.fell > 0 or total.left > 0
        waits = state.supersteps <= CORES.patience and total.stored > state.at_once
        state.gathers = bool(len(votes) > 1 and goes_on and not waits and total.stored <= CORES.gathered)
        return state.gathers

    def result(self, part: Part, state: CoresState, env: Environment) -> dict[str, Array]:
        if state.gathers:
            core, order = _all_cores.cores_of_all(part, env, _peeled)
            return {"core": core.astype(part.vertex_map.dtype), "order": order}
        return {"core": state.peeling.bound[: part.num_owned].copy(), "order": state.peeling.order}


def _state(rows: Csr, ghosts: Csr, slots: int, deferred: int, backend: Backend) -> CoresState:
    """Degrees without self-loops and repeated neighbours, and nothing removed."""
    xp, owned, dtype = backend.xp, rows.num_rows, rows.indices.dtype
    none = int(np.iinfo(dtype).max)
    peeling = Peeling(
        ghost_ptr=ghosts.indptr, ghost_rows=ghosts.indices,
        degree=(rows.indptr[1:] - rows.indptr[:-1]).astype(dtype), none=none, now=0, level=-1, owned=owned,
        bound=xp.full(slots, none, dtype), before=xp.empty(slots, dtype), order=xp.zeros(owned, np.int64),
        queue=xp.empty(owned, dtype), again=xp.empty(owned, dtype), fell=xp.empty(owned, dtype),
        support=xp.zeros(owned, dtype), marked=xp.zeros(owned, np.uint32), hubs=xp.empty(deferred, dtype),
        alive=xp.empty(owned, dtype), spare=xp.empty(owned if backend.name == "cuda" else 0, dtype),
        kept=xp.zeros(len(KEPT), np.int64), counters=xp.zeros(len(COUNTS), np.int64),
        rounds=xp.zeros(len(ROUNDS), np.int64),
    )  # fmt: skip
    kernels = backend.kernels("core_number", cooperative=True, index_t=dtype)
    advance(kernels.core_degrees, kernels.core_degrees_hubs, rows, owned, peeling, cleared=True)
    state = CoresState(rows, peeling)
    _find(state, xp.arange(owned, dtype=dtype), kernels, backend)
    return state


def _find(state: CoresState, alive: Array, kernels: Any, backend: Backend) -> None:
    """Count the vertices that are left, which are among `alive`, and of which none goes at the level."""
    peeling = state.peeling
    peeling.alive[: len(alive)] = alive
    peeling.kept[KEPT.place.length], peeling.kept[KEPT.place.side] = len(alive), 0
    peeling.counters.fill(0)
    peeling.set_counters(least=peeling.none)
    kernels.core_find(len(alive), alive, peeling)
    counts = peeling.read_counters(backend)
    state.left, state.least, state.degrees = counts.left, counts.least, counts.degrees


def _peel(state: CoresState, last: int, kernels: Any, backend: Backend) -> None:
    """Remove the vertices of the levels up to `last`, and count those that are left.

    The first of these levels is the one after the last level of the superstep before, not the least degree of the
    vote, below which degrees may be since bounds of ghosts arrived.
    """
    peeling = state.peeling
    peeling.rounds.fill(0)
    kernels.core_levels(max(state.left, LEAST_THREADS), last, peeling, per_processor=PER_PROCESSOR)
    counts = peeling.read_counters(backend)
    peeling.level = last
    state.left, state.least, state.degrees = counts.left, counts.least, counts.degrees


def _peeled(indptr: np.ndarray, indices: np.ndarray, backend: Backend) -> tuple[np.ndarray, np.ndarray]:
    """Core numbers of a whole graph, and the order in which its vertices were removed."""
    rows, owned = Csr(indptr, indices), len(indptr) - 1
    state = _state(rows, Csr(np.zeros(1, np.int64), indices[:0]), owned, owned, backend)
    kernels = backend.kernels("core_number", cooperative=True, index_t=indices.dtype)
    while state.left:
        state.peeling.now += 1 << PLACES
        state.peeling.counters.fill(0)
        _peel(state, state.least + LEVELS_ALONE - 1, kernels, backend)
    return state.peeling.bound, state.peeling.order


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
@of_undirected
def core_number(
    G: Graph,
    *,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> CoreResult:
    """Core number of each vertex of an undirected graph (k-core decomposition).

    The k-core is the largest part of the graph in which every vertex has at least k neighbours; a vertex has core
    number k if it is in the k-core and not in the (k+1)-core. Parallel edges count once and self-loops not at all
    (NetworkX refuses self-loops; on graphs without, its numbers are the same).

    Parameters
    ----------
    allocation : {"maximal", "just-enough"}, optional
        Length of lists. "maximal" allocates them for all vertices, "just-enough" for as many entries as there can be
        in this graph. A fixed share is not supported, because every vertex ends in the queue. Default: maximal. The
        answer is the same.

    Returns
    -------
    CoreResult
        With `core`, int32 of shape (num_vertices,) (int64 above 2**31 - 2 vertices), in the order of `G.vertex_ids`;
        identical for every number of partitions and on every device.

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
    return execute.run(
        G,
        CoreNumber(),
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
