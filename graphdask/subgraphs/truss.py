"""The k-truss by peeling: remove, round by round, the edges that are in fewer than k - 2 triangles of what is left.

Each pair of neighbours is two arcs, one at the owner of each end. Vertices are ordered by degree, equal ones by number;
the arc from the higher end counts the triangles of the pair. At first, each triangle is found once, at its highest
vertex b, for its middle vertex a, as a w that is a lower neighbour of both. In a round, the triangles of the pairs
that go are found in the row of the lower end, which its owner sends. A triangle that loses several pairs at once is
taken off by one of them, that which is opposite to the largest vertex. What goes in a round depends on the graph alone.

Sources: Cohen, Trusses: cohesive subgraphs for social network analysis (2008); Wang, Cheng, Truss decomposition in
massive networks (2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.algorithms.triangles import other_order
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.kinds import whole
from graphdask.interface.parameters import documented
from graphdask.partition.build import row_of_each
from graphdask.partition.neighbours import PIECE, distinct_blocks
from graphdask.partition.part import Part
from graphdask.sample._remote_lookup import RemoteLookup, ragged
from graphdask.sample.sampler import numbered, sampled
from graphdask.sample.traversal import ids_of_slots
from graphdask.subgraphs._rows import places_in
from graphdask.subgraphs.result import SubgraphResult
from graphdask.subgraphs.selected import Selected, set_keys, with_edge_columns

BATCH = 1 << 20
"""Entries of rows that are searched together."""


@dataclass
class Arcs:
    """Each neighbour of the own vertices once, in the order of these and of the numbers of the neighbours."""

    n: int
    keys: Array
    """int64: own vertex * n + number of the neighbour."""
    indptr: Array
    """Where the arcs of each own vertex begin."""
    lower: Array
    """Whether the neighbour is lower in the order."""
    degree: Array
    """int64: stored edges of the neighbour."""
    removed: Array
    """int64: the round in which the pair went; 0 if it is left."""

    @classmethod
    def of(cls, part: Part, env: Environment, again: bool = False) -> Arcs:
        """Return the arcs of a partition; `again`: in another order. Every rank calls it."""
        xp, n = env.xp, max(part.num_vertices, 1)
        degrees = part.out.indptr[1:] - part.out.indptr[:-1]
        degrees, ids = env.fetch_ghosts(part, [degrees, part.ids])
        order = xp.minimum(degrees, np.iinfo(np.int64).max // n - 1)
        order = (other_order(xp, degrees, ids) if again else order) * n + ids
        keys, lower, degree = [xp.zeros(0, np.int64)], [xp.zeros(0, bool)], [degrees[:0]]
        for block in distinct_blocks(env.backend, part):
            key = set_keys(part, block.rows.astype(np.int64), ids[block.slots])
            turn = xp.argsort(key)
            keys.append(key[turn])
            lower.append((order[block.slots] < order[block.rows])[turn])
            degree.append(degrees[block.slots][turn])
        joined = xp.concatenate(keys)
        indptr = xp.searchsorted(joined, xp.arange(part.num_owned + 1, dtype=np.int64) * n)
        return cls(n, joined, indptr, xp.concatenate(lower), xp.concatenate(degree), xp.zeros(len(joined), np.int64))

    def ends(self, part: Part, places: Array) -> tuple[Array, Array]:
        """Numbers of the own vertex and of the neighbour, index dtype."""
        rows = self.keys[places] // self.n
        return part.ids[rows], (self.keys[places] - rows * self.n).astype(part.ids.dtype)

    def at_owners(
        self, part: Part, env: Environment, vertices: Array, others: Array, values: Array | None = None
    ) -> tuple[Array, Array | None]:
        """The places of arcs from `vertices` to `others`, at the owners of these, with a value that is sent along.

        Every rank calls it.
        """
        lookup = RemoteLookup(part, env, vertices)
        keys = lookup.rows.astype(np.int64) * self.n + lookup.send(others)
        came = None if values is None else lookup.send(values)
        return env.xp.searchsorted(self.keys, keys), came

    def triangles(
        self, part: Part, env: Environment, arcs: Array, kept: Callable[[Array], Array]
    ) -> Iterator[tuple[Array, Array, Array, Array]]:
        """The triangles b, a, w of some arcs from b to a lower a, for arcs a to w that are `kept`; a batch at a time.

        The place of b to a, the number of w, the place of b to w; and of a to w twice the round in which it went, plus
        1 if w is the lower one. Every rank calls it, and takes all batches.
        """
        xp = env.xp
        ends = xp.cumsum(self.degree[arcs])
        total = int(ends[-1]) if len(arcs) else 0
        cuts = env.backend.to_host(xp.searchsorted(ends, xp.arange(0, total, BATCH))).tolist()
        batches = -env.least(-max(len(cuts), 1))
        for first, last in pairwise([*cuts, *[len(arcs)] * (batches + 1 - len(cuts))]):
            some = arcs[first:last]
            wanted, of_each = xp.unique(self.ends(part, some)[1], return_inverse=True)
            lookup = RemoteLookup(part, env, wanted)
            begins, bounds = self.indptr[lookup.rows], xp.zeros(len(lookup.rows) + 1, np.int64)
            xp.cumsum(self.indptr[1:][lookup.rows] - begins, out=bounds[1:])
            places = ragged(env, begins, bounds)
            chosen = kept(places)
            bounds = xp.concatenate([bounds[:1], xp.cumsum(chosen)])[bounds]
            places = places[chosen]
            third, _ = lookup.answer_each(self.ends(part, places)[1], bounds)
            codes, bounds = lookup.answer_each(2 * self.removed[places] + self.lower[places], bounds)
            begins, lengths = bounds[:-1][of_each], (bounds[1:] - bounds[:-1])[of_each]
            at = ragged(env, begins, xp.concatenate([bounds[:1], xp.cumsum(lengths)]))
            arc = xp.repeat(some, lengths)
            keys = self.keys[arc] // self.n * self.n + third[at]
            places, there = places_in(xp, self.keys, keys)
            yield arc[there], third[at][there], places[there], codes[at][there]


@dataclass
class TrussState:
    arcs: Arcs
    support: Array
    """int64, per arc to a lower neighbour: triangles of the pair that are left."""
    going: Array
    """Places of the arcs to lower neighbours that go in the next round."""
    rounds: int = 0


class TrussResult(SubgraphResult):
    """The k-truss."""


class Truss(Selected):
    """The sampler. Its result `removed` says of each arc in which round it went, which proves the truss largest."""

    name = "k-truss"
    result_type = TrussResult
    undivided = "is one subgraph; call it as a whole"

    def __init__(self, k: int):
        self.k, self.members, self.bounds, self.first, self.last = k, None, None, 0, 1  # type: ignore[assignment]

    def memory(self, part: Part, allocation: Allocation) -> int:
        arcs = part.out.num_edges
        return 90 * arcs + 60 * min(PIECE, arcs) + 100 * min(BATCH, arcs) + 16 * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[Any, Messages]:
        xp, arcs = env.xp, Arcs.of(part, env)
        support = xp.zeros(len(arcs.keys), np.int64)
        for arc, w, place, _ in arcs.triangles(part, env, xp.flatnonzero(arcs.lower), lambda some: arcs.lower[some]):
            other, _ = arcs.at_owners(part, env, arcs.ends(part, arc)[1], w)
            for places in (arc, place, other):
                changed, counts = xp.unique(places, return_counts=True)
                support[changed] += counts
        going = xp.flatnonzero(arcs.lower & (support < self.k - 2))
        return TrussState(arcs, support, going), self._next(part, going)

    def _next(self, part: Part, going: Array) -> Messages:
        return Messages.of_records({}, np.zeros(part.size + 1, np.int64), active=len(going) > 0, frontier=len(going))

    def superstep(self, part: Part, state: Any, inbox: Inbox, env: Environment) -> Messages:
        xp, arcs = env.xp, state.arcs
        state.rounds += 1
        now, removed = state.rounds, arcs.removed
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
