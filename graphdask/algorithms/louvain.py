"""Communities of high modularity by the method of Louvain, which are the same on any number of ranks.

A sweep lets each vertex of a level move once to the neighbouring community of the largest gain (_community_moves). It
has several rounds, each for the vertices of one value of a hash of seed, sweep and vertex; after the first sweep only
vertices move whose neighbours have moved. A sweep that lowers the modularity is undone. When a sweep gains less than
LEAST_OF_SWEEP, the communities become the vertices of the next level. When no vertices of a level can join, a pass is
over, and the next one begins with the vertices of the graph in the communities that were found, until a pass gains less
than LEAST_OF_PASS. A superstep is a sweep. Ranks exchange labels and sums of communities within it; all of them know
the modularity, which is exact, and so decide alike. Passes after the first one refine communities before they join, as
Leiden does: without that, communities that have joined never part again.

A small level is left to the first rank, whatever the number of ranks and the device: its host moves one vertex after
the other, up to the highest level (_communities_sequential). A superstep is then a pass. A pass of a small graph
begins several times, and joins what the communities found agree on.

Sources: Blondel, Guillaume, Lambiotte, Lefebvre, Fast unfolding of communities in large networks (2008); Ghosh et al.,
Distributed Louvain algorithm for graph community detection (2018); Rotta, Noack, Multilevel local search algorithms for
modularity clustering (2011), for passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._communities import Arcs, add_up, modularity_of, total_of
from graphdask.algorithms._communities_found import (
    OPTIONS,
    LouvainResult,
    checked_arguments,
    of_communities,
    summary,
    words,
)
from graphdask.algorithms._communities_resumed import ResumableCommunities
from graphdask.algorithms._communities_sequential import FirstRank
from graphdask.algorithms._community_levels import Level, least_of, looked_up
from graphdask.algorithms._community_moves import Mover, mixed
from graphdask.algorithms.modularity import checked_weights, measured
from graphdask.algorithms.tuning import COMMUNITIES
from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.registry import algorithm
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap

LEAST_OF_PASS, LEAST_ALONE, LEAST_OF_SWEEP = 1e-3, 2e-5, 1e-4
"""What a pass must gain for another one to follow, as a share of the modularity; the modularity that a pass of one rank
by itself, and a sweep, must gain."""


@dataclass
class LouvainState:
    base: Level
    """The vertices of the graph."""
    level: Level
    at: Array
    """int64: the vertex of `level` that each own vertex of `base` is in."""
    label: Array
    """int64 over slots of `level`: the communities."""
    sums: Array
    """int64 over own vertices of `level`: the sum of degrees of the community of this number."""
    active: Array
    """Which own vertices of `level` move in the next sweep."""
    first: FirstRank
    """What the first rank does by itself."""
    mover: Mover | None = None
    """Moves of `level`."""
    quality: float = 0.0
    """Modularity."""
    of_pass: float = -np.inf
    """Modularity before the pass; the first one always gains."""
    sweeps: int = 0
    levels: int = 1
    passes: int = 1
    size: int = 0
    """Vertices of the highest level."""
    top: bool = False
    """Whether no vertices of the highest level join."""
    done: bool = False


class Louvain(ResumableCommunities, Primitive[LouvainState]):
    """The primitive."""

    name = "louvain"
    columns: ClassVar[Mapping[str, Any]] = {"label": INDEX}
    result_type = LouvainResult
    queues = False
    needs_memory = (
        "communities become vertices of smaller graphs in memory; gd.label_propagation(S) finds communities, and "
        "gd.modularity(S, labels) measures them"
    )
    refined = False
    """Whether communities are refined before they join in the first pass, too, as they are in later ones."""
    rounds = 8
    """Of a sweep."""

    def __init__(self, resolution: float, seed: int, passes: int | None):
        self.resolution, self.seed, self.passes = resolution, seed, passes

    def memory(self, part: Part, allocation: Allocation) -> int:
        ranks = len(part.vertex_map.offsets) - 1
        gathered = min(COMMUNITIES.few_of_graph, ranks * part.out.num_edges) if ranks > 1 else 0
        edges = part.out.num_edges
        as_given = ranks == 1 and type(part.vertex_map) is VertexMap
        levels = 80 * (edges + min(COMMUNITIES.block, edges)) if as_given else Arcs.memory(part) + 192 * edges
        return levels + 160 * part.num_slots + 128 * gathered

    def init(self, part: Part, env: Environment) -> tuple[LouvainState, Messages]:
        state = self.before_levels(part, env)
        self._enter(env, state, state.base, state.base.numbers)
        return state, self._messages(part, state)

    def before_levels(self, part: Part, env: Environment) -> LouvainState:
        """The state in which each vertex of the graph is on its own. Every rank calls it."""
        base = Level.first(part, env, Arcs.of(part, env))
        first = FirstRank(self.resolution, self.seed, self.refined)
        state = LouvainState(base, base, base.numbers, base.numbers, base.degree, base.numbers, first)
        state.done = not base.total
        return state

    def _enter(self, env: Environment, state: LouvainState, level: Level, label: Array) -> None:
        """Begin with the communities of a level; a small one is left to the first rank."""
        state.level, state.size = level, level.size
        state.active = env.xp.ones(len(label), bool)
        few = COMMUNITIES.few_of_graph if level is state.base else COMMUNITIES.few
        if level.total and add_up(env, [level.csr.num_edges])[0] <= few:
            given = None if level is state.base else label
            up = state.first.up(env, level, given, state.sweeps, self.refined or state.passes > 1)
            state.quality, state.size, state.sweeps = up.quality, up.size, up.sweeps
            state.at, state.levels = looked_up(env, level.bounds, state.at, up.at), state.levels + up.levels - 1
            state.top = True
            return
        self.settle(env, state, level, label)

    def settle(self, env: Environment, state: LouvainState, level: Level, label: Array) -> None:
        """Begin to move vertices of a level from these communities."""
        state.label, state.sums = level.over_slots(label), level.sums_of(env, label, level.degree)
        state.mover = Mover.of(env, level, self.resolution)
        inside, *_ = state.mover.settle(state.label)
        state.quality = modularity_of(env, level.total, inside, state.sums, self.resolution)

    def superstep(self, part: Part, state: LouvainState, inbox: Inbox, env: Environment) -> Messages:
        messages = self._messages(part, state)
        if not state.top:
            self._step(env, state)
        if not state.top:
            return messages
        alone = state.first.rows is not None
        least = LEAST_ALONE if alone else LEAST_OF_PASS * abs(state.quality)
        if state.quality - state.of_pass < least or state.passes == self.passes:
            state.done, messages.active = True, False
        else:
            label = state.base.numbers if alone else self._smallest(env, state)
            state.at, state.levels, state.top = state.base.numbers, 1, False
            state.of_pass, state.passes = state.quality, state.passes + 1
            self._enter(env, state, state.base, label)
        return messages

    def _step(self, env: Environment, state: LouvainState) -> None:
        """Do a sweep; after the last one of a level go on with the level above, if there is one."""
        level, before, quality = state.level, (state.label.copy(), state.sums.copy()), state.quality
        moved = self._sweep(env, state)
        if state.quality < quality:
            state.quality, (state.label, state.sums) = quality, before
        if moved and state.quality - quality >= LEAST_OF_SWEEP:
            return
        above, number, label = self._above(env, state)
        if above.size == level.size:
            state.top = True
            return
        state.at, state.levels = looked_up(env, level.bounds, state.at, number), state.levels + 1
        self._enter(env, state, above, label)

    def _sweep(self, env: Environment, state: LouvainState) -> int:
        """Let the active vertices move, and return how many of all ranks did."""
        assert state.mover is not None
        state.sweeps += 1
        state.mover.sweep(state.label, state.sums, state.active, mixed(self.seed) + state.sweeps, self.rounds)
        inside, state.active, moved = state.mover.settle(state.label)
        state.quality = modularity_of(env, state.level.total, inside, state.sums, self.resolution)
        return add_up(env, [moved])[0]

    def _smallest(self, env: Environment, state: LouvainState) -> Array:
        """For each own vertex of `base` the smallest one in the same vertex of `level`."""
        bounds = np.arange(env.size + 1) * state.size // env.size
        return least_of(env, bounds, state.at, state.base.numbers)

    def _above(self, env: Environment, state: LouvainState) -> tuple[Level, Array, Array]:
        """The next level, the number there of each own vertex's, and the communities to begin with there.

        Its vertices are the communities, or, in refined passes, their connected groups.
        """
        level, mover, own = state.level, state.mover, state.label[: len(state.active)]
        assert mover is not None
        if self.refined or state.passes > 1:
            groups = mover.groups(state.label, mixed(self.seed) - state.sweeps, self.rounds)
            mover.free_tables()
            above, number, first = level.contracted(env, groups)
            if above.size < level.size:
                return above, number, least_of(env, level.bounds, own[first], above.numbers)
        mover.free_tables()
        above, number, _ = level.contracted(env, own)
        return above, number, above.numbers

    def _messages(self, part: Part, state: LouvainState) -> Messages:
        """Say that the run goes on; what a sweep works on is the active vertices of its beginning."""
        none, indptr, active = part.ids[:0], state.level.csr.indptr, state.active
        worked, edges = count_set(active), total_of((indptr[1:] - indptr[:-1])[active])
        return Messages(none, none, {}, not state.done, worked, edges)

    def result(self, part: Part, state: LouvainState, env: Environment) -> dict[str, Any]:
        label = self._smallest(env, state)
        label = looked_up(env, state.base.bounds, part.ids.astype(np.int64), label).astype(part.vertex_map.dtype)
        found = measured(part, env, Arcs.of(part, env), label, self.resolution)
        return {"label": label, "passes": state.passes, "levels": state.levels} | found


@algorithm(
    "louvain", LouvainResult, "Communities of high modularity (Louvain).", summary=summary, words=words,
    undirected=True, weights=True, options=OPTIONS, example=lambda G: {"passes": 2},
    also="louvain louvain_communities communities community_multilevel multilevel best_partition plm",
)  # fmt: skip
@of_communities
def louvain(
    G: Graph,
    resolution: float = 1.0,
    seed: int = 0,
    *,
    passes: int | None = None,
    exchange: str | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> LouvainResult:
    """Find communities of high modularity in an undirected graph by the method of Louvain.

    Vertices move to the community of a neighbour while that raises the modularity (`modularity` defines it). Then the
    communities move in the same way, as vertices of a smaller graph, and so on. Further passes begin with the vertices
    and the communities that were found. Weights count if the graph has any.

    Returns
    -------
    LouvainResult
        `label`, the smallest vertex id of each vertex's community, in the order of `G.vertex_ids`; `modularity`,
        `num_communities`, `passes`, and `levels` up to these communities. All are identical for every number of
        partitions and on every device.

    Notes
    -----
    A community need not be connected; those of `leiden` are. Weights are rounded as `modularity` says. A vertex without
    edges is a community of its own. One worker processes a graph of up to 2**20 edges by itself, on its CPU. There a
    pass begins twice with vertices on their own, and once more with the groups of vertices that all the communities
    found so far have together. These climbs, and passes after the first one, refine communities before they join, as
    `leiden` does.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre: Fast unfolding of communities in large networks, J. Statistical Mechanics
    P10008 (2008). Ghosh et al.: Distributed Louvain algorithm for graph community detection, IPDPS 2018. Ovelgönne,
    Geyer-Schulz: An ensemble learning strategy for graph clustering, Graph Partitioning and Graph Clustering (2013),
    on the groups that several partitions agree on.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], directed=False)
    >>> r = gd.louvain(G)
    >>> r.label.tolist(), round(r.modularity, 4)
    ([0, 0, 0, 3, 3, 3], 0.3571)
    """
    checked_undirected(G, "louvain")
    primitive = Louvain(*checked_arguments(resolution, seed, passes))
    checked_weights(G, client, progress)
    return execute.run(
        G, primitive, exchange=exchange, checkpoint=checkpoint, every=every, client=client, progress=progress
    )
