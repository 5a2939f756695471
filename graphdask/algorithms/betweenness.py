"""Betweenness centrality: how many shortest paths pass through a vertex.

Up to 64 sources are searched at once, each a lane: bit b of a mask, column b of a table. A batch goes forward level by
level: every own vertex that some lane has not reached looks for neighbours in the front, and adds up their numbers of
shortest paths. Then it goes back over the same levels and adds up dependencies. In both directions a vertex only reads
its neighbours, and owners tell their ghosts the front with its values; so there are no atomics, every sum has one
order, and the answer has the same bits for every number of partitions on a CPU.

Sources: Pan et al., Multi-GPU Graph Analytics, Section IV (BC); Brandes, A faster algorithm for betweenness centrality
(2001); Then et al., The more the merrier: efficient multi-source graph traversal (2014).
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import HUB_THREADS, Environment, Inbox, Messages, Primitive
from graphdask.errors import InputError
from graphdask.graph import Graph, checked_graph
from graphdask.part import Part
from graphdask.result import Result
from graphdask.runtime import runtime

LANES = 64
"""Sources that are searched at once, at most."""
TABLE_BYTES = 1 << 34
"""Most that the three tables of all ranks together may take, if one lane does not take more."""


@dataclass
class State:
    seen: Array
    """uint64 per own vertex: lanes that have reached it."""
    front: Array
    """uint64 per slot: lanes in which the vertex is of the level that is looked at."""
    value: Array
    """float64 (slots, lanes): what a vertex of the front gives its neighbours."""
    sigma: Array
    """float64 (own, lanes): numbers of shortest paths from the source."""
    delta: Array
    """float64 (own, lanes): sums over successors, then unused."""
    score: Array
    """float64 per own vertex, over the sources so far."""
    fresh: Array
    """uint64 per own vertex: lanes that reach it now."""
    counters: Array
    hubs: Array
    shown: list[Array] = field(default_factory=list)
    """Slots that are in the front."""
    levels: list[tuple[Array, Array]] = field(default_factory=list)
    """Own vertices of each level of the batch, and their lanes."""
    left: Array | None = None
    """Own vertices that some lane has not reached."""
    batch: int = 0
    back: int = -1
    """Level whose dependencies come next; negative while the search goes forward."""


class BetweennessResult(Result):
    """What `betweenness` returns."""

    columns = ("score",)

    @property
    def score(self) -> np.ndarray:
        """Betweenness centrality, float64 of shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("score")


class Betweenness(Primitive[State]):
    """The primitive: dependencies on the given sources, summed and scaled."""

    name = "betweenness"
    votes = 1
    tells_ghosts = True
    verifier = "graphdask.verify.betweenness"
    result_type = BetweennessResult

    def __init__(self, sources: Sequence[int], lanes: int, scale: float):
        self.sources, self.lanes, self.scale = tuple(sources), lanes, scale

    @property
    def inward(self) -> bool:
        return True

    @property
    def columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"mask": np.uint64, "value": (np.float64, (self.lanes,))}

    def memory(self, part: Part) -> int:
        tables = 8 * self.lanes * (part.num_slots + 2 * part.num_owned)
        return tables + 8 * part.num_slots + 64 * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        xp, slots, owned, lanes = env.xp, part.num_slots, part.num_owned, self.lanes
        state = State(
            seen=xp.zeros(owned, np.uint64),
            front=xp.zeros(slots, np.uint64),
            value=xp.zeros((slots, lanes)),
            sigma=xp.zeros((owned, lanes)),
            delta=xp.zeros((owned, lanes)),
            score=xp.zeros(owned),
            fresh=xp.zeros(owned, np.uint64),
            counters=xp.zeros(4, np.int64),
            hubs=xp.empty(owned, part.vertex_map.dtype),
        )
        return state, self._begin(part, state, env)

    def _begin(self, part: Part, state: State, env: Environment) -> Messages:
        """Start the next batch, or end."""
        xp, dtype = env.xp, part.vertex_map.dtype
        sources = self.sources[state.batch * self.lanes : (state.batch + 1) * self.lanes]
        state.back, state.levels = -1, []
        if not sources:
            return self._tell(part, state, state.hubs[:0], False, 0)
        lanes: dict[int, int] = {}
        for lane, source in enumerate(sources):
            rank, local = part.vertex_map.locate(source)
            if rank == part.rank:
                lanes[local] = lanes.get(local, 0) | 1 << lane
        rows = env.backend.from_host(np.array(list(lanes), dtype))
        masks = env.backend.from_host(np.array(list(lanes.values()), np.uint64))
        state.seen.fill(0)
        state.seen[rows] = masks
        for local, mask in lanes.items():
            state.sigma[local, [lane for lane in range(self.lanes) if mask >> lane & 1]] = 1.0
        state.left = xp.arange(part.num_owned, dtype=dtype)
        return self._show_paths(part, state, rows, masks, env, 0)

    def _show_paths(
        self, part: Part, state: State, rows: Array, masks: Array, env: Environment, edges: int
    ) -> Messages:
        self._kernels(part, env).bc_show_paths(
            len(rows), rows, masks, state.sigma, self.lanes, state.front, state.value, per_item=32
        )
        state.levels.append((rows, masks))
        return self._tell(part, state, rows, True, edges)

    def _tell(self, part: Part, state: State, rows: Array, active: bool, edges: int) -> Messages:
        state.shown = [rows]
        values = {"mask": state.front, "value": state.value}
        votes = (float(len(rows)),)
        return Messages(rows, rows[:0], values, active, len(rows), edges, to="ghosts", votes=votes)

    def _kernels(self, part: Part, env: Environment) -> Any:
        return env.kernels("betweenness", index_t=part.vertex_map.dtype)

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        if len(inbox):
            inbox.put("mask", state.front)
            inbox.put("value", state.value)
            state.shown.append(inbox.slots)
        if state.back < 0:
            if inbox.votes.sum() > 0:
                return self._forward(part, state, env)
            state.levels.pop()  # the last level of all ranks is empty
            state.back = len(state.levels) - 1
            return self._show_dependencies(part, state, env, 0)
        return self._backward(part, state, env)

    def _forward(self, part: Part, state: State, env: Environment) -> Messages:
        """Find the next level, and its numbers of paths."""
        kernels, csr = self._kernels(part, env), part.inward
        assert csr is not None
        assert state.left is not None
        queue, left = env.xp.empty_like(state.left), env.xp.empty_like(state.left)
        full = np.uint64((1 << min(self.lanes, len(self.sources) - state.batch * self.lanes)) - 1)
        state.counters.fill(0)
        kernels.bc_reach(
            len(state.left), state.left, csr.indptr, csr.indices, state.front, full, state.seen, state.fresh, queue,
            left, state.counters, per_item=32,
        )  # fmt: skip
        found, remaining, _, edges = (int(count) for count in env.backend.to_host(state.counters))
        rows, state.left = queue[:found].copy(), left[:remaining]
        masks = state.fresh[rows]
        edges += self._gather(part, state, rows, masks, csr, state.sigma, env)
        self._clear(part, state, env)
        return self._show_paths(part, state, rows, masks, env, edges)

    def _backward(self, part: Part, state: State, env: Environment) -> Messages:
        """Sum what the level behind gives to the next one."""
        state.back -= 1
        if state.back < 0:
            self._clear(part, state, env)
            state.batch += 1
            return self._begin(part, state, env)
        rows, masks = state.levels[state.back]
        edges = self._gather(part, state, rows, masks, part.out, state.delta, env)
        return self._show_dependencies(part, state, env, edges)

    def _show_dependencies(self, part: Part, state: State, env: Environment, edges: int) -> Messages:
        self._clear(part, state, env)
        rows, masks = state.levels[state.back]
        last = state.back == len(state.levels) - 1
        self._kernels(part, env).bc_show_dependencies(
            len(rows), rows, masks, state.sigma, state.delta, self.lanes, int(last), int(state.back == 0), state.score,
            state.front, state.value,
        )  # fmt: skip
        return self._tell(part, state, rows, True, edges)

    def _gather(
        self, part: Part, state: State, rows: Array, masks: Array, csr: Any, out: Array, env: Environment
    ) -> int:
        kernels = self._kernels(part, env)
        state.counters.fill(0)
        shared = (
            rows, masks, csr.indptr, csr.indices, state.front, state.value, self.lanes, out, state.hubs, state.counters,
        )  # fmt: skip
        kernels.bc_gather(len(rows), *shared, per_item=32)
        kernels.bc_gather_hubs(HUB_THREADS, *shared)
        return int(state.counters[3])

    def _clear(self, part: Part, state: State, env: Environment) -> None:
        for slots in state.shown:
            self._kernels(part, env).bc_clear(len(slots), slots, state.front)
        state.shown = []

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Array]:
        return {"score": state.score * self.scale}


def betweenness(
    G: Graph,
    sources: Any = None,
    *,
    normalized: bool = False,
    seed: int = 0,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> BetweennessResult:
    """Betweenness centrality: the sum over pairs of the share of shortest paths that pass through a vertex.

    Paths are counted in hops; weights are not looked at, and parallel edges count once.

    Parameters
    ----------
    G : Graph
        A path in a directed graph follows its edges; in an undirected graph each pair of ends counts once.
    sources : int or array-like of vertex ids, optional
        Paths from all vertices (default, exact); from that many vertices, drawn without replacement, with the score
        scaled up to all; or from the given vertices, not scaled up.
    normalized : bool
        Divide by the number of pairs of other vertices, as NetworkX does with ``normalized=True``.
    seed : int
        For the drawing of sources.
    exchange : {"selective", "broadcast"}, optional
        Tell a vertex to the ranks that know it only, or to everyone. Default: selective. The answer is the same.
    client : distributed.Client, optional
        Where to run. Default: the active client, or this process if there is none.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    BetweennessResult
        With `score`, float64 of shape (num_vertices,), in the order of `G.vertex_ids`. On CPUs the same bits for every
        number of partitions; a GPU differs in the last bits, within 1e-12 relative.

    Raises
    ------
    VertexNotFound
        Where a source is not a vertex.
    InputError
        For a number of sources below 1 or above that of the vertices, or a source that is given twice.
    OverBudget
        Where it would need more memory than there is.
    PeerLost
        Where a worker died and could not be replaced in time.

    Notes
    -----
    Numbers of shortest paths are float64: exact up to 2**53, beyond that rounded; above 1e308 they overflow.

    References
    ----------
    Brandes: A faster algorithm for betweenness centrality, J. Mathematical Sociology 25 (2001). Pan, Wang, Wu, Yang,
    Owens: Multi-GPU Graph Analytics, IPDPS 2017, Section IV. Then et al.: The more the merrier, VLDB 2014.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.betweenness(G).score.tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    checked_graph(G)
    n = G.num_vertices
    chosen, share = _sources(G, sources, seed)
    scale = share * (1.0 if G.directed else 0.5)
    if normalized and n > 2:
        scale = share / ((n - 1) * (n - 2))
    lanes = 1
    while lanes < min(LANES, len(chosen)) and 24 * n * 2 * lanes <= TABLE_BYTES:
        lanes *= 2
    return runtime().run(G, Betweenness(chosen, lanes, scale), exchange=exchange, client=client, progress=progress)


def _sources(G: Graph, sources: Any, seed: int) -> tuple[list[int], float]:
    """Numbers of the sources, and what their scores are to be multiplied by."""
    n = G.num_vertices
    if sources is None:
        return list(range(n)), 1.0
    if np.ndim(sources) == 0:
        try:
            count = operator.index(sources)
        except TypeError:
            raise InputError(f"sources={sources!r} is neither a number of vertices nor an array of them") from None
        if not 1 <= count <= n:
            raise InputError(f"sources={count} is not a number of vertices between 1 and {n:,}")
        drawn = np.random.Generator(np.random.Philox(key=seed)).choice(n, count, replace=False)
        return np.sort(drawn).tolist(), n / count
    numbers = [int(G.ids.to_internal(source, "source")) for source in sources]
    if len(set(numbers)) < len(numbers):
        twice = next(source for k, source in enumerate(sources) if numbers[k] in numbers[:k])
        raise InputError(f"source {twice} is given twice")
    if not numbers:
        raise InputError("sources is empty; give at least one vertex, or None for all")
    return numbers, 1.0
