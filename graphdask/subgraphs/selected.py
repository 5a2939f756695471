"""Induced subgraphs that stay divided: each rank lists the edges of its own vertices between vertices of a set.

Nothing is sent. A rank marks the slots of the vertices that are in any set, visits the rows of its own ones, and keeps
the edges that lead to marked slots; with several sets, those that lead to a vertex of the same set, which it finds
among the sorted pairs of set and vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.errors import OverBudget
from graphdask.partition.ghosts import known_slots
from graphdask.partition.neighbours import PIECE
from graphdask.partition.part import Part
from graphdask.sample._beyond_memory import refuse_beyond_memory
from graphdask.sample._taken import Taken
from graphdask.sample.sampler import Sampler
from graphdask.sample.traversal import ids_of_slots
from graphdask.subgraphs._rows import places_in, row_blocks
from graphdask.subgraphs.result import SubgraphResult


class Selected(Sampler[dict[str, Array]]):
    """The sampler: subgraph i has the vertices `members[bounds[i]:bounds[i + 1]]`, vertex numbers that ascend."""

    name = "subgraph"
    ghosts = "1-hop"
    placed, on_disk = False, True
    remedy = "take fewer subgraphs at a time, use more workers"
    tells_edges = True
    undivided = "is of all its subgraphs together; call it for some of them"
    result_type = SubgraphResult
    record_columns: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, members: np.ndarray, bounds: np.ndarray):
        self.members, self.bounds, self.first, self.last = members, bounds, 0, len(bounds) - 1

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        steps = xp.zeros(len(columns["src"]), np.int64)
        return Taken(columns["src"], columns["dst"], columns["instance"], steps, again=False)

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes before edges are counted; those that are found are checked then."""
        return 48 * len(self.members) + part.num_slots + 80 * min(PIECE, part.out.num_edges)

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        xp, csr, dtype = env.xp, part.out, part.vertex_map.dtype
        members, instances = self.pairs(env, dtype)
        positions = part.vertex_map.to_position(env.backend, members)
        rows, own = own_rows(part, env, positions)
        slots, known = known_slots(env.backend, part, positions)
        inside = xp.zeros(part.num_slots, bool)
        inside[slots[known]] = True
        keys = set_keys(part, instances, members) if self.instances > 1 else None

        def numbers(slots: Array) -> Array:
            return ids_of_slots(part, env, slots)

        columns = self.edges(part, env, rows, instances[own], inside.__getitem__, keys, self.directed(part), numbers)
        return columns, nothing(part, csr.num_edges)

    def edges(
        self, part: Part, env: Environment, rows: Array, instances: Array,
        inside: Callable[[Array], Array], keys: Array | None, directed: bool, numbers: Callable[[Array], Array],
        before: int = 0,
    ) -> dict[str, Array]:  # fmt: skip
        """Columns of the edges of some own rows, each of a set, to vertices of the same set.

        `inside` says of slots whether they are in a set, `keys` are the pairs of all sets, if there are several, and
        `numbers` gives the vertex numbers of slots. So many edges were found `before`.
        """
        xp, csr, item = env.xp, part.out, part.vertex_map.dtype.itemsize
        ids = part.ids[rows]
        found = {"src": [ids[:0]], "dst": [ids[:0]], "instance": [instances[:0]], "place": [xp.zeros(0, np.int64)]}
        total = before
        for of_each, places in row_blocks(env, csr, rows):
            kept = inside(csr.indices[places])
            of_each, places = of_each[kept], places[kept]
            dst = numbers(csr.indices[places])
            src, instance = ids[of_each], instances[of_each]
            kept = xp.ones(len(src), bool) if directed else src <= dst
            if keys is not None:
                kept &= places_in(xp, keys, set_keys(part, instance, dst))[1]
            total += int(kept.sum())
            refuse_beyond_memory(env, self.name, "edges found", total, 2 * (2 * item + 32))
            for name, values in (("src", src), ("dst", dst), ("instance", instance), ("place", places)):
                found[name].append(values[kept])
        columns = {name: xp.concatenate(values) for name, values in found.items()}
        return with_edge_columns(csr, columns, self.numbered)

    def pairs(self, env: Environment, dtype: np.dtype) -> tuple[Array, Array]:
        """The vertices of all sets, and the set of each."""
        of_each = np.repeat(np.arange(self.instances), np.diff(self.bounds))
        return env.backend.from_host(self.members.astype(dtype)), env.backend.from_host(of_each)

    def directed(self, part: Part) -> bool:
        """Whether each stored edge is one of the graph's, not a direction of one."""
        return part.inward is not part.out

    def superstep(self, part: Part, state: dict[str, Array], inbox: Inbox, env: Environment) -> Messages:
        raise AssertionError("a subgraph is taken before the first superstep")

    def result(self, part: Part, state: dict[str, Array], env: Environment) -> dict[str, Array]:
        return state


def nothing(part: Part, edges: int) -> Messages:
    """No messages, and the end of the run."""
    return Messages.of_records({}, np.zeros(part.size + 1, np.int64), active=False, edges=edges)


def own_rows(part: Part, env: Environment, positions: Array) -> tuple[Array, Array]:
    """Own vertices among those at some positions, index dtype, and where they stand among these."""
    at = positions - positions.dtype.type(part.first_position)
    own = env.xp.flatnonzero((at >= 0) & (at < part.num_owned)) if len(at) else env.xp.zeros(0, np.int64)
    return at[own].astype(part.vertex_map.dtype), own


def set_keys(part: Part, instances: Array, vertices: Array) -> Array:
    """A number for each pair of a set and a vertex, int64, in the order of these.

    Raises
    ------
    OverBudget
        If there are too many sets for 64 bits.
    """
    if len(instances) and int(instances.max()) > (2**63 - 1) // max(part.num_vertices, 1) - 1:
        raise OverBudget("so many sets of vertices of so large a graph need more than 64 bits; give fewer at a time")
    return instances * part.num_vertices + vertices


def with_edge_columns(csr: Any, columns: dict[str, Array], numbered: bool) -> dict[str, Array]:
    """Columns whose `place`, of each edge among those stored here, becomes its weight and its row, where it has any."""
    places = columns.pop("place")
    if csr.weights is not None:
        columns["weight"] = csr.weights[places]
    if numbered:
        columns["edge"] = csr.rows[places].astype(np.int64)
    return columns
