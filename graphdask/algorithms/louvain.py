"""Communities of high modularity by the method of Louvain, which are the same on any number of ranks.

A pass lets the vertices of the graph move, join to communities, and go on as the vertices of the next level, up to the
highest one (_communities_together). The next pass begins with the vertices of the graph in the communities that were
found, until a pass gains less than LEAST_OF_PASS. A superstep is a sweep over a level. All ranks know the modularity,
which is exact, and so decide alike. Passes after the first one refine communities before they join, as Leiden does:
without that, communities that have joined never part again.

A small level is left to the first rank, whatever the number of ranks and the device: its host moves one vertex after
the other, up to the highest level (sequential_moves). A superstep is then a pass. A pass of a small graph
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
from graphdask.algorithms._communities_found import (
    OPTIONS,
    LouvainResult,
    checked_arguments,
    of_communities,
    summary,
    words,
)
from graphdask.algorithms._communities_resumed import ResumableCommunities
from graphdask.algorithms._communities_together import Ascent
from graphdask.algorithms._community_levels import looked_up
from graphdask.algorithms.communities import Arcs, total_of
from graphdask.algorithms.modularity import checked_weights, measured
from graphdask.algorithms.sequential_moves import FirstRank
from graphdask.algorithms.tuning import COMMUNITIES
from graphdask.device.ahead import Family, family
from graphdask.device.counting import count_set
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.registry import algorithm
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap

LEAST_OF_PASS, LEAST_ALONE = 1e-3, 2e-5
"""The gain of a pass that another one follows: as a share of the modularity; of one rank by itself, as modularity."""


@dataclass
class LouvainState:
    ascent: Ascent
    of_pass: float = -np.inf
    """Modularity before the pass; the first one always gains."""
    passes: int = 1
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

    def __init__(self, resolution: float, seed: int, passes: int | None):
        self.resolution, self.seed, self.passes = resolution, seed, passes

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (family("communities", index_t=np.dtype(np.int32)), family("counting"))

    def memory(self, part: Part, allocation: Allocation) -> int:
        ranks = len(part.vertex_map.offsets) - 1
        gathered = min(COMMUNITIES.few_of_graph, ranks * part.out.num_edges) if ranks > 1 else 0
        edges = part.out.num_edges
        as_given = ranks == 1 and type(part.vertex_map) is VertexMap
        levels = 80 * (edges + min(COMMUNITIES.block, edges)) if as_given else Arcs.memory(part) + 192 * edges
        return levels + 160 * part.num_slots + 128 * gathered

    def init(self, part: Part, env: Environment) -> tuple[LouvainState, Messages]:
        state = self.before_levels(part, env)
        state.ascent.begin(state.ascent.base.numbers, self.refined)
        return state, self._messages(part, state)

    def before_levels(self, part: Part, env: Environment) -> LouvainState:
        """The state in which each vertex of the graph is on its own. Every rank calls it."""
        ascent = Ascent.of(part, env, FirstRank(self.resolution, self.seed, self.refined))
        return LouvainState(ascent, done=not ascent.base.total)

    def superstep(self, part: Part, state: LouvainState, inbox: Inbox, env: Environment) -> Messages:
        messages, ascent = self._messages(part, state), state.ascent
        if not ascent.top:
            ascent.step()
        if not ascent.top:
            return messages
        alone = ascent.first.rows is not None
        least = LEAST_ALONE if alone else LEAST_OF_PASS * abs(ascent.quality)
        if ascent.quality - state.of_pass < least or state.passes == self.passes:
            state.done, messages.active = True, False
        else:
            state.of_pass, state.passes = ascent.quality, state.passes + 1
            ascent.begin(ascent.base.numbers if alone else ascent.smallest(), refined=True)
        return messages

    def _messages(self, part: Part, state: LouvainState) -> Messages:
        """Say that the run goes on; what a sweep works on is the active vertices of its beginning."""
        none, indptr, active = part.ids[:0], state.ascent.level.csr.indptr, state.ascent.active
        worked, edges = count_set(active), total_of((indptr[1:] - indptr[:-1])[active])
        return Messages(none, none, {}, not state.done, worked, edges)

    def result(self, part: Part, state: LouvainState, env: Environment) -> dict[str, Any]:
        ascent = state.ascent
        label = looked_up(env, ascent.base.bounds, part.ids.astype(np.int64), ascent.smallest())
        label = label.astype(part.vertex_map.dtype)
        found = measured(part, env, Arcs.of(part, env), label, self.resolution)
        return {"label": label, "passes": state.passes, "levels": ascent.levels} | found


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
    found so far have together; of a graph of up to 2**11 stored edges it does so four times. These climbs, and passes
    after the first one, refine communities before they join, as `leiden` does.

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
