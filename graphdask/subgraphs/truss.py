"""The k-truss by peeling: remove, round by round, the edges that are in fewer than k - 2 triangles of what is left.

Each pair of neighbours is two arcs, one at the owner of each end; that from the higher end counts the triangles of the
pair. At first, a kernel counts all (`_support`). In a round, the triangles of the pairs that go are found in the row of
the lower end, which its owner sends. A triangle that loses several pairs at once is taken off by one of them, that
which is opposite to the largest vertex. What goes in a round depends on the graph alone. If a rank has the whole graph,
two kernels do a round (kernels/subgraphs/truss.py).

Sources: Cohen, Trusses: cohesive subgraphs for social network analysis (2008); Wang, Cheng, Truss decomposition in
massive networks (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.kinds import whole
from graphdask.interface.parameters import documented
from graphdask.kernels.subgraphs.truss_pack import COUNTS, TrussArcs
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Part
from graphdask.partition.tuning import PARTITION
from graphdask.sample.sampler import numbered, sampled
from graphdask.sample.traversal import ids_of_slots
from graphdask.subgraphs._rows import places_in
from graphdask.subgraphs._support import supports
from graphdask.subgraphs.arcs import BATCH, Arcs
from graphdask.subgraphs.result import SubgraphResult
from graphdask.subgraphs.selected import Selected, with_edge_columns


@dataclass
class TrussState:
    arcs: Arcs
    support: Array
    """int64, per arc to a lower neighbour: triangles of the pair that are left."""
    going: Array
    """Places of the arcs to lower neighbours that go in the next round."""
    rounds: int = 0
    peeling: Peeling | None = None
    """How a rank that has the whole graph does a round."""


@dataclass
class Peeling:
    """Rounds by kernels."""

    kernels: Any
    pack: TrussArcs
    listed: int
    """Pairs in the queue, of all rounds."""

    @classmethod
    def of(cls, part: Part, env: Environment, state: TrussState, k: int) -> Peeling:
        xp, arcs, listed = env.xp, state.arcs, len(state.going)
        queue = xp.empty(len(arcs.keys) // 2, np.int64)  # a pair goes once
        queue[:listed] = state.going
        pack = TrussArcs(
            keys=arcs.keys, indptr=arcs.indptr, slot=arcs.slot, lower=arcs.lower.view(np.uint8), number=arcs.numbers,
            removed=arcs.removed, support=state.support, queue=queue, n=arcs.n, least=k - 2,
            counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        pack.set_counters(listed=listed)
        return cls(env.kernels("truss", index_t=part.vertex_map.dtype), pack, listed)

    def do(self, going: Array, now: int, env: Environment) -> Array:
        """Do a round; return which go in the next one."""
        pack, count = self.pack, len(going)
        pack.assign(first=self.listed - count, now=now)
        self.kernels.truss_mark(count, pack)
        self.kernels.truss_peel(count, pack, per_item=32)
        before, self.listed = self.listed, pack.read_counters(env.backend).listed
        return pack.queue[before : self.listed]


class TrussResult(SubgraphResult):
    """The k-truss."""


class Truss(Selected):
    """The sampler. Its result `removed` says of each arc in which round it went, which proves the truss largest."""

    name = "k-truss"
    result_type = TrussResult
    undivided = "is one subgraph; call it as a whole"
    on_disk = False
    needs_memory = (
        "each round removes edges; gd.k_core(S, k - 1).to_graph() has the k-truss in it, and may be small enough"
    )

    def __init__(self, k: int):
        self.k, self.members, self.bounds, self.first, self.last = k, None, None, 0, 1  # type: ignore[assignment]

    def memory(self, part: Part, allocation: Allocation) -> int:
        arcs = part.out.num_edges
        return 90 * arcs + 60 * min(PARTITION.block_edges, arcs) + 100 * min(BATCH, arcs) + 16 * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[Any, Messages]:
        xp, arcs = env.xp, Arcs.of(part, env)
        support = supports(part, env, arcs)
        going = xp.flatnonzero(arcs.lower & (support < self.k - 2))
        state = TrussState(arcs, support, going)
        if part.size == 1:
            state.peeling = Peeling.of(part, env, state, self.k)
        return state, self._next(part, going)

    def _next(self, part: Part, going: Array) -> Messages:
        return Messages.none(part.size, active=len(going) > 0, frontier=len(going))

    def superstep(self, part: Part, state: Any, inbox: Inbox, env: Environment) -> Messages:
        xp, arcs = env.xp, state.arcs
        state.rounds += 1
        now, removed = state.rounds, arcs.removed
        if state.peeling is not None:
            state.going = state.peeling.do(state.going, now, env)
            return self._next(part, state.going)
        removed[state.going] = now
        high, low = arcs.ends(part, state.going)
        removed[arcs.at_owners(part, env, low, high)[0]] = now
        lost = [state.going[:0]]

        def was_there(some: Array) -> Array:
            return (removed[some] == 0) | (removed[some] == now)

        for arc, w, place, code in arcs.triangles(part, env, state.going, was_there):
            b, a = arcs.ends(part, arc)
            ways = removed[place]
            mine = (ways == 0) | ((ways == now) & (a < w))  # that of b and w goes too, opposite to a
            mine &= (code >> 1 != now) | (b < w)
            left = mine & (ways == 0)
            local = left & arcs.lower[place]
            lost.append(place[local])
            sent = [(w, b, left & ~local)]
            left, is_lower = mine & (code < 2), code & 1 == 1
            sent += [(a, w, left & is_lower), (w, a, left & ~is_lower)]
            holders, others = (xp.concatenate([each[end][each[2]] for each in sent]) for end in (0, 1))
            lost.append(arcs.at_owners(part, env, holders, others)[0])
        changed, counts = xp.unique(xp.concatenate(lost), return_counts=True)
        state.support[changed] -= counts
        state.going = changed[(removed[changed] == 0) & (state.support[changed] < self.k - 2)]
        return self._next(part, state.going)

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Array]:
        csr = part.out
        places = self.chosen(part, env, state.arcs)
        rows = row_of_each(env.backend, csr, 0)[places]
        columns = {"src": part.ids[rows], "dst": ids_of_slots(part, env, csr.indices[places])}
        columns |= {"instance": env.xp.zeros(len(places), np.int64), "place": places}
        return with_edge_columns(csr, columns, self.numbered) | {"removed": state.arcs.removed}

    def chosen(self, part: Part, env: Environment, arcs: Arcs) -> Array:
        """Places of the stored edges whose pair is left, each edge once, at its end of the smaller number."""
        rows, ends = row_of_each(env.backend, part.out, 0), ids_of_slots(part, env, part.out.indices)
        places = env.xp.flatnonzero(part.ids[rows] < ends) if len(ends) else arcs.indptr[:0]
        found, _ = places_in(env.xp, arcs.keys, rows[places].astype(np.int64) * arcs.n + ends[places])
        return places[arcs.removed[found] == 0]


@documented
def k_truss(
    G: Graph,
    k: int,
    *,
    edge_rows: bool = False,
    client: Any = None,
    progress: bool | None = None,
) -> TrussResult:
    """Return the k-truss of an undirected graph: the most edges that are in k - 2 triangles each, among themselves.

    Parameters
    ----------
    G : Graph
        Undirected; `G.to_undirected()` makes one of a directed graph.
    k : int
        0 or more; with 2 or less, every edge is in it. Some authors, as Burkhardt, call it the (k - 2)-truss.

    Returns
    -------
    TrussResult
        As `subgraph` returns; `vertices` are the ends of the edges. Parallel edges count once in triangles, and are in
        the subgraph together; self-loops are not in it. Identical for every number of partitions and on every device.

    Raises
    ------
    InputError
        If `G` is not a Graph or is directed, or an argument has no such value.

    References
    ----------
    Cohen: Trusses: cohesive subgraphs for social network analysis, 2008.

    Examples
    --------
    >>> import graphdask as gd
    >>> s = gd.k_truss(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False), 3)
    >>> s.vertices.tolist(), s.src.tolist(), s.dst.tolist()
    ([0, 1, 2], [0, 0, 1], [1, 2, 2])
    """
    checked_undirected(G, "k_truss")
    found: TrussResult = sampled(G, numbered(Truss(whole("k", k, 0)), edge_rows), "partitioned", client, progress)
    return found
