"""Induced subgraphs that stay divided: each rank lists the edges of its own vertices between vertices of a set.

Nothing is sent. A rank marks the slots of the vertices of each set, scans the rows of its own ones, and keeps the edges
that lead to marked slots. Where a mark for each set and slot would need too much memory, a slot has one mark for all
sets, and its vertex is searched for among those of the set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.errors import OverBudget
from graphdask.kernels.common.tuning import FLAT_TILE
from graphdask.kernels.subgraphs.selected_pack import SelectedEdges
from graphdask.partition.ghosts import known_slots
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.sampler import Sampler
from graphdask.sample.taken import Taken
from graphdask.sample.traversal import ids_of_slots
from graphdask.subgraphs.result import SubgraphResult
from graphdask.subgraphs.tuning import SUBGRAPHS


class Selected(WithoutSupersteps[dict[str, Array]], Sampler[dict[str, Array]]):
    """The sampler: subgraph i has the vertices `members[bounds[i]:bounds[i + 1]]`, vertex numbers that ascend."""

    name = "subgraph"
    ghosts = "1-hop"
    placed, on_disk = False, True
    remedy = "take fewer subgraphs at a time, use more workers"
    gives_edges = True
    undivided = "is of all its subgraphs together; call it for some of them"
    result_type = SubgraphResult
    record_columns: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, members: np.ndarray, bounds: np.ndarray):
        self.members, self.bounds, self.first, self.last = members, bounds, 0, len(bounds) - 1

    @property
    def num_members(self) -> int:
        """Vertices of all subgraphs."""
        return len(self.members)

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        steps = xp.zeros(len(columns["src"]), np.int64)
        return Taken(columns["src"], columns["dst"], columns["instance"], steps, again=False)

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes before edges are counted; those that are found are checked then."""
        marks = words_of(part) * (self.instances if self._apart(part) else 1)
        tiles = min(SUBGRAPHS.tiles, self.num_members * part.out.num_edges // FLAT_TILE + 1)
        return 64 * self.num_members + 4 * marks + (FLAT_TILE // 8 + 12) * tiles + 16 * part.num_slots

    def _apart(self, part: Part) -> bool:
        """Whether each set has marks of its own."""
        return self.instances * words_of(part) <= SUBGRAPHS.marks

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        pack = self._rows(part, env)
        columns, entries = self._edges(part, env, pack)
        return with_edge_columns(part.out, columns, self.numbered), Messages.none(part.size, edges=entries)

    def _rows(self, part: Part, env: Environment) -> SelectedEdges:
        """Mark the members, and find which entries of the rows of own ones are checked."""
        xp, dtype = env.xp, part.vertex_map.dtype
        members, sets, bounds = self.on_device(env, dtype)
        positions = part.vertex_map.to_position(env.backend, members)
        rows, ids, own_sets, marked = positions, members, sets, positions
        if part.size > 1:
            rows, own = own_rows(part, env, positions)
            ids, own_sets = members[own], sets[own]
            slots, known = known_slots(env.backend, part, positions)
            marked = xp.where(known, slots, dtype.type(-1))
        plain = part.size == 1 and type(part.vertex_map) is VertexMap
        names = rows[:0] if plain else ids_of_slots(part, env, xp.arange(part.num_slots, dtype=dtype))
        words, apart = words_of(part), self._apart(part)
        pack = SelectedEdges(
            indptr=part.out.indptr, indices=part.out.indices, named=int(not plain), names=names,
            undirected=int(not self.directed(part)), marked=marked, marked_set=sets,
            marks=xp.zeros(words * (self.instances if apart else 1), np.uint32), stride=words if apart else 0,
            searched=int(not apart), members=members, bounds=bounds,
            items=len(rows), rows=rows, ids=ids, sets=own_sets, begins=xp.empty(len(rows), np.int64),
            ends=xp.empty(len(rows), np.int64),
        )  # fmt: skip
        kernels = env.kernels("selected", index_t=dtype)
        kernels.selected_mark(len(marked), pack)
        kernels.selected_rows(len(rows), pack)
        if len(rows):
            pack.ends = xp.cumsum(pack.ends)
        return pack

    def _edges(self, part: Part, env: Environment, pack: SelectedEdges) -> tuple[dict[str, Array], int]:
        """Edges that lead to marked slots, and how many entries were checked for them."""
        xp, csr, dtype = env.xp, part.out, part.vertex_map.dtype
        kernels = env.kernels("selected", index_t=dtype)
        pack.placed = int(csr.weights is not None or self.numbered)
        entries = int(pack.ends[-1]) if pack.items else 0
        last, kept, found = -(-entries // FLAT_TILE), 0, []
        for first in range(0, max(last, 1), SUBGRAPHS.tiles):
            tiles, here = min(SUBGRAPHS.tiles, last - first), 0
            if tiles:
                masks, counts = xp.empty(tiles * FLAT_TILE // 32, np.uint32), xp.empty(tiles, np.int32)
                pack.assign(first=first, masks=masks, counts=counts)
                kernels.selected_count(tiles, pack, per_item=32)
                pack.upto = xp.cumsum(counts, dtype=np.int64)
                here = int(pack.upto[-1])
            kept += here
            refuse_beyond_memory(env, self.name, "edges found", kept, 2 * (2 * dtype.itemsize + 32))
            columns = {"src": xp.empty(here, dtype), "dst": xp.empty(here, dtype), "instance": xp.empty(here, np.int64)}
            pack.assign(places=xp.empty(here if pack.placed else 0, np.int64), **columns)
            if here:
                kernels.selected_write(tiles, pack, per_item=32)
            found.append({**columns, "place": pack.places})
        if len(found) == 1:
            return found[0], entries
        return {name: xp.concatenate([each[name] for each in found]) for name in found[0]}, entries

    def pairs(self, env: Environment, dtype: np.dtype) -> tuple[Array, Array]:
        """The vertices of all sets, and the set of each."""
        of_each = np.repeat(np.arange(self.instances), np.diff(self.bounds))
        return env.backend.from_host(self.members.astype(dtype)), env.backend.from_host(of_each)

    def on_device(self, env: Environment, dtype: np.dtype) -> tuple[Array, Array, Array]:
        """The vertices of all sets, the set of each, and where those of each set begin, and their number."""
        return *self.pairs(env, dtype), env.backend.from_host(self.bounds.astype(np.int64))

    def directed(self, part: Part) -> bool:
        """Whether each stored edge is one of the graph's, not a direction of one."""
        return part.inward is not part.out


def words_of(part: Part) -> int:
    """Words of a bit for each slot."""
    return (part.num_slots + 31) // 32


def own_rows(part: Part, env: Environment, positions: Array) -> tuple[Array, Array]:
    """Own vertices among those at some positions, index dtype, and where they stand among these."""
    at = positions - positions.dtype.type(part.first_position)
    own = env.xp.flatnonzero((at >= 0) & (at < part.num_owned)) if len(at) else env.xp.zeros(0, np.int64)
    return at[own].astype(part.vertex_map.dtype), own


def refuse_keys_beyond(part: Part, sets: int) -> None:
    """Raise OverBudget if pairs of so many sets and the vertices of the graph need more than 64 bits."""
    if sets > (2**63 - 1) // max(part.num_vertices, 1):
        raise OverBudget("so many sets of vertices of so large a graph need more than 64 bits; give fewer at a time")


def set_keys(part: Part, instances: Array, vertices: Array) -> Array:
    """A number for each pair of a set and a vertex, int64, in the order of these.

    Raises
    ------
    OverBudget
        If there are too many sets for 64 bits.
    """
    if len(instances):
        refuse_keys_beyond(part, int(instances.max()) + 1)
    return instances * part.num_vertices + vertices


def with_edge_columns(csr: Any, columns: dict[str, Array], numbered: bool) -> dict[str, Array]:
    """Columns whose `place`, of each edge among those stored here, becomes its weight and its row, where it has any."""
    places = columns.pop("place")
    if csr.weights is not None:
        columns["weight"] = csr.weights[places]
    if numbered:
        columns["edge"] = csr.rows[places].astype(np.int64)
    return columns
