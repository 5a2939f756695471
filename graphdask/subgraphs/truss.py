"""The k-truss by peeling: remove, round by round, the edges that are in fewer than k - 2 triangles of what is left.

Each pair of neighbours is two arcs, one at the owner of each end; that from the higher end counts the triangles of the
pair. At first, a kernel counts all (`_support`). In a round, another finds the triangles of the pairs that go in the
row of the lower end, which its owner sends (kernels/subgraphs/truss.py). A triangle that loses several pairs at once is
taken off by one of them, that which is opposite to the largest vertex. What goes in a round depends on the graph alone.

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
from graphdask.subgraphs._support import supports
from graphdask.subgraphs.arcs import BATCH, Arcs
from graphdask.subgraphs.result import SubgraphResult
from graphdask.subgraphs.rows import places_in
from graphdask.subgraphs.selected import Selected, with_edge_columns


@dataclass
class TrussState:
    arcs: Arcs
    pack: TrussArcs
    """What the kernels work on; its queue has the arcs of the pairs that went, and last of those that go."""
    going: Array
    """Arcs to lower neighbours of the pairs that go in the next round."""
    listed: int
    """Pairs in the queue."""
    rounds: int = 0


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
        queue = xp.empty(int(arcs.lower.sum()), np.int64)  # a pair goes once
        queue[: len(going)] = going
        pack = TrussArcs(
            keys=arcs.keys, indptr=arcs.indptr, slot=arcs.slot, lower=arcs.lower.view(np.uint8), number=arcs.numbers,
            removed=arcs.removed, support=support, queue=queue, owned=part.num_owned, n=arcs.n, least=self.k - 2,
            whole=int(part.size == 1), counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        pack.set_counters(listed=len(going))
        state = TrussState(arcs, pack, going, len(going))
        return state, self._next(part, state)

    def _next(self, part: Part, state: TrussState) -> Messages:
        return Messages.none(part.size, active=len(state.going) > 0, frontier=len(state.going))

    def superstep(self, part: Part, state: Any, inbox: Inbox, env: Environment) -> Messages:
        xp, arcs, pack, going, end = env.xp, state.arcs, state.pack, state.going, state.listed
        state.rounds, removed = state.rounds + 1, arcs.removed
        now = pack.now = state.rounds
        kernels, several = env.kernels("truss", index_t=part.vertex_map.dtype), part.size > 1
        if several:
            removed[going] = now
            removed[arcs.at_owners(part, env, *arcs.ends(part, going)[::-1])[0]] = now
        else:
            pack.assign(first=end - len(going), row=xp.empty(len(going), np.int64))
            kernels.truss_mark(len(going), pack)

        def left(some: Array) -> Array:
            return (removed[some] == 0) | (removed[some] == now)

        for rows in arcs.lower_rows(part, env, going, left) if several else [arcs.own_rows(pack.row)]:
            holder, other = (xp.empty(2 * int(rows.lengths.sum()) if several else 0, part.ids.dtype) for _ in range(2))
            pack.assign(row=rows.row, ptr=rows.ptr, third=rows.third, went=rows.went, below=rows.below)
            pack.assign(first=end - len(going) + rows.first, holder=holder, other=other)
            kernels.truss_peel(len(rows.row), pack, per_item=32)
            if several:
                sent = pack.read_counters(env.backend).sent
                pack.lost, _ = arcs.at_owners(part, env, holder[:sent], other[:sent])
                kernels.truss_lose(len(pack.lost), pack)
                pack.set_counters(sent=0)
        state.listed = pack.read_counters(env.backend).listed
        state.going = pack.queue[end : state.listed]
        return self._next(part, state)

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
