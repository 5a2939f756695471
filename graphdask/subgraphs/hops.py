"""Vertices within some hops of each source: searches from many sources at once, over pairs of source and vertex.

State: the pairs that the owner of each vertex has reached, as sorted numbers, one array for each hop. A superstep takes
in the pairs that arrived, leaves out those that were reached before (`reached`), and sends the neighbours of the
others to their owners. A pair is reached at the first hop that can reach it, whatever the order of messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice, whole
from graphdask.interface.parameters import documented
from graphdask.partition.build import from_cyclic, to_cyclic_positions
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample.sampler import Sampler, owners, routed, sampled
from graphdask.subgraphs.given import given_sets
from graphdask.subgraphs.reached import MarkedPairs, SortedPairs, fits, neighbours_of, reached_pairs, split
from graphdask.subgraphs.result import HopsResult
from graphdask.subgraphs.selected import own_rows, refuse_keys_beyond, words_of

DIRECTIONS = ("out", "in", "both")


@dataclass
class HopsState:
    hops: list[Array]
    """The pairs of each hop, source * num_owned + own vertex, int64, sorted."""
    reached: MarkedPairs | SortedPairs
    """All of these."""
    fresh: Sequence[Array] = ()
    """Pairs of the next hop that this rank found itself."""


class Hops(Sampler[HopsState]):
    """The sampler: instance i begins at the vertices `seeds[bounds[i]:bounds[i + 1]]`."""

    name = "k-hop neighbors"
    ghosts = "1-hop"
    placed, on_disk = False, True
    remedy = "give fewer sources at a time, use more workers"
    undivided = "is of all its sources together; call it for some of them"
    result_type = HopsResult
    record_columns: ClassVar[Mapping[str, Any]] = {"instance": np.int64, "vertex": INDEX}

    def __init__(self, seeds: np.ndarray, bounds: np.ndarray, hops: int, direction: str):
        self.seeds, self.bounds, self.hops, self.direction = seeds, bounds, hops, direction
        self.first, self.last = 0, len(bounds) - 1

    @classmethod
    def searches(cls, seeds: np.ndarray, bounds: np.ndarray | None, hops: int, direction: str) -> Hops:
        """Without `bounds`, every seed is an instance."""
        return cls(seeds, np.arange(len(seeds) + 1) if bounds is None else bounds, hops, direction)

    @property
    def inward(self) -> bool:
        return self.direction != "out"

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes of the sources, and of marks; pairs that are reached are checked when they are."""
        marks = 4 * self.instances * words_of(part) if fits(part, self.instances) else 0
        return 64 * len(self.seeds) + marks

    def csrs(self, part: Part) -> list[Csr]:
        """The rows that are followed."""
        if self.direction == "both":
            return part.directions
        csr = part.out if self.direction == "out" else part.inward
        assert csr is not None
        return [csr]

    def started(self, part: Part, env: Environment) -> Array:
        """The pairs of this rank at hop 0."""
        refuse_keys_beyond(part, self.instances)
        instances = np.repeat(np.arange(self.instances), np.diff(self.bounds))
        if part.size == 1 and type(part.vertex_map) is VertexMap:
            return env.backend.from_host(np.unique(instances * part.num_owned + self.seeds))
        seeds = env.backend.from_host(self.seeds.astype(part.vertex_map.dtype))
        rows, own = own_rows(part, env, part.vertex_map.to_position(env.backend, seeds))
        return env.xp.unique(env.backend.from_host(instances)[own] * part.num_owned + rows)

    def init(self, part: Part, env: Environment) -> tuple[HopsState, Messages]:
        first = self.started(part, env)
        state = HopsState([first], reached_pairs(part, env, self.instances, self.name))
        state.reached.begin(first)
        return state, self._sent(part, state, env)

    def superstep(self, part: Part, state: HopsState, inbox: Inbox, env: Environment) -> Messages:
        pairs, vertices = inbox.records["instance"], inbox.records["vertex"]
        if len(pairs):
            pairs = pairs * part.num_owned + (vertices - part.vertex_map.dtype.type(part.first_position))
        fresh = env.xp.concatenate([*state.fresh, state.reached.take(pairs)])
        if len(fresh):
            fresh.sort()
        state.hops.append(fresh)
        return self._sent(part, state, env)

    def _sent(self, part: Part, state: HopsState, env: Environment) -> Messages:
        """The neighbours of the last hop to their owners; none after the last hop."""
        frontier = state.hops[-1] if len(state.hops) <= self.hops else state.hops[-1][:0]
        found = [state.reached.visit(csr, frontier) for csr in self.csrs(part)]
        state.fresh, edges = [each.own for each in found], sum(each.edges for each in found)
        instances, slots = split(part, env.xp.concatenate([each.remote for each in found]))
        positions = positions_of(part, slots)
        to = owners(env, part, positions) if part.size > 1 else slots
        records = routed(env, to, {"instance": instances, "vertex": positions})
        active = len(slots) > 0 or any(map(len, state.fresh))
        return Messages.of_records(*records, active=active, frontier=len(frontier), edges=edges)

    def neighbours(self, part: Part, env: Environment, pairs: Array) -> tuple[Array, Array, int]:
        """Distinct pairs that an edge leads to from some pairs: sources, positions; and how many edges there are."""
        instances, slots, edges = neighbours_of(part, env, self.csrs(part), pairs, self.name)
        return instances, positions_of(part, slots), edges

    def result(self, part: Part, state: HopsState, env: Environment) -> dict[str, Array]:
        xp, owned = env.xp, max(part.num_owned, 1)
        pairs = xp.concatenate(state.hops)
        hop = xp.concatenate([xp.full(len(each), hop, np.int32) for hop, each in enumerate(state.hops)])
        instance = pairs // owned
        return {"vertex": part.ids[pairs - instance * owned], "hop": hop, "instance": instance}


def positions_of(part: Part, slots: Array) -> Array:
    """Positions of an array of slots."""
    return from_cyclic(part, to_cyclic_positions(part, slots))


@documented
def k_hop_neighbors(
    G: Graph,
    sources: Any,
    k: int,
    *,
    direction: str = "out",
    client: Any = None,
    progress: bool | None = None,
) -> HopsResult:
    """Return the vertices within k hops of each source.

    Parameters
    ----------
    G : Graph
    sources : int, str, array of vertex ids, or sequence of arrays
        Every vertex is a source of its own. With a sequence of arrays, each array is the sources of one search, which
        finds the vertices within k hops of any of them.
    k : int
        Hops, 0 or more.
    direction : {"out", "in", "both"}
        "out": along the direction of the edges. "in": against it. "both": ignoring it.

    Returns
    -------
    HopsResult
        `vertex`, `hop`, `instance`, a row for each vertex that a source reaches, the source itself at hop 0 included;
        those of source i are rows `offsets[i]` to `offsets[i + 1]`. Identical for every number of partitions and on
        every device.

    Raises
    ------
    VertexNotFound
        If a source is not a vertex.
    InputError
        If `G` is not a Graph, or an argument has no such value.

    See Also
    --------
    bfs : with `depth_limit`, one search over the whole graph, also from several sources.

    Examples
    --------
    >>> import graphdask as gd
    >>> r = gd.k_hop_neighbors(gd.from_edges([0, 1, 2], [1, 2, 3]), [0, 2], 2)
    >>> r.vertex.tolist(), r.hop.tolist(), r.offsets.tolist()
    ([0, 1, 2, 2, 3], [0, 1, 2, 0, 1], [0, 3, 5])
    """
    checked_graph(G)
    sets = given_sets(G, "sources", sources)
    search = Hops.searches(*sets, whole("k", k, 0), choice("direction", direction, DIRECTIONS))
    found: HopsResult = sampled(G, search, "partitioned", client, progress)
    return found
