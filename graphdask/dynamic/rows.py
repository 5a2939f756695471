"""Rows that change in place: the part of a dynamic graph that a worker holds.

Every row has free memory behind it, so that a batch rewrites only the rows that it names. A row that outgrows this
memory moves to the end of the pool and gets more. When the pool is used up, all rows are copied into a new one; the
cost is amortized over the edges inserted since the last copy. Entries are in ascending order of ids, so that a sum over
them does not depend on how the graph is divided, nor on the order in which edges came. They are slots, so that the
values that other ranks send are contiguous. The vertices of a rank have their slots, and their rows, in descending
order of the out-edges that they had when the rows were built: then the values that sums read most often lie in few
cache lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from graphdask.comm.protocol import Communicator
from graphdask.device.backend import Array, Backend
from graphdask.engine.row_lists import degrees, most_first
from graphdask.errors import OverBudget
from graphdask.partition.build import BuildPlan, add_inward, build_part, from_cyclic, row_of_each
from graphdask.partition.part import Csr, Part
from graphdask.partition.sources import Piece

WARP = 32
"""Threads that take a row of few entries that changes, and any row where all rows move."""


@dataclass
class DynamicRows:
    """Rows with free memory behind each.

    Row v is indices[begin[v] : begin[v] + length[v]], in ascending order of ids.
    """

    begin: Array
    """int64, shape (num_owned,), as are `length` and `capacity`."""
    length: Array
    capacity: Array
    indices: Array
    """Slots, index dtype."""
    weights: Array | None
    used: int
    """Entries of `indices` that belong to a row, or did."""

    @classmethod
    def of(cls, backend: Backend, csr: Csr, order: Array, memory_share: float = 1.0) -> DynamicRows:
        """Lay out packed rows, row order[v] as row v; OverBudget where there is no memory for it."""
        length = (csr.indptr[1:] - csr.indptr[:-1])[order]
        rows = cls(csr.indptr[:-1][order], length, length.copy(), csr.indices, csr.weights, csr.num_edges)
        rows.lay_out(backend, length, memory_share)
        return rows

    @property
    def nbytes(self) -> int:
        return self.begin.nbytes * 3 + self.indices.nbytes + (0 if self.weights is None else self.weights.nbytes)

    def find(self, backend: Backend, row: Array, ids: Array, names: Array) -> tuple[Array, Array]:
        """Per id how many of its row are less (int64), and whether the row holds it (bool); `names` as a part's."""
        xp = backend.xp
        place, found = xp.empty(len(row), np.int64), xp.empty(len(row), np.uint8)
        kernels = backend.kernels("dynamic", index_t=self.indices.dtype)
        kernels.dynamic_find(len(row), row, ids, self.begin, self.length, self.indices, names, place, found)
        return place, found.astype(bool)

    def lay_out(self, backend: Backend, wanted: Array, memory_share: float) -> None:
        """Move all rows into new memory, each with a capacity for its entries, and for `wanted` ones, and slack."""
        xp = backend.xp
        capacity = _with_slack(xp.maximum(self.length, wanted))
        bounds = _bounds(backend, capacity)
        used = int(bounds[-1])
        memory = used + used // 4 + 1024
        pools = [self.indices] if self.weights is None else [self.indices, self.weights]
        needed, free = memory * sum(pool.itemsize for pool in pools), int(backend.free_memory() * memory_share)
        if needed > free:
            raise OverBudget(
                f"the rows of {len(capacity):,} vertices of a dynamic graph, moved to where they can grow, need "
                f"{needed / 2**30:.1f} GiB beside the {self.nbytes / 2**30:.1f} GiB that they have, and "
                f"{backend.description} may use {free / 2**30:.1f} GiB; use more workers, or raise the setting "
                f"graphdask.memory-fraction"
            )
        moved = []
        for pool in pools:
            moved.append(xp.empty(memory, pool.dtype))
            backend.kernels("dynamic_rows", entry_t=pool.dtype).dynamic_rows_move(
                len(capacity), self.begin, self.length, bounds, pool, moved[-1], per_item=WARP
            )
        self.indices, self.weights = moved[0], None if self.weights is None else moved[1]
        self.begin, self.capacity, self.used = bounds[:-1].copy(), capacity, used

    def looked(self, way: str) -> dict[str, Array]:
        """Return the arrays in which kernels find entries: fields of a pack for a way, "in" or "out"."""
        return {f"{way}_begin": self.begin, f"{way}_length": self.length, f"{way}_indices": self.indices}


def _with_slack(length: Array) -> Array:
    return length + length // 4 + 2


def _bounds(backend: Backend, lengths: Array) -> Array:
    """Where pieces of these lengths begin, and where the last one ends; int64."""
    bounds = backend.xp.zeros(len(lengths) + 1, np.int64)
    backend.xp.cumsum(lengths, out=bounds[1:])
    return bounds


@dataclass(frozen=True)
class Audience:
    """Who needs to know of whom, so that contributions of all vertices travel without saying of which ones they are."""

    own: Array
    """Own vertices that other ranks need to know of, those for rank 0 first, index dtype."""
    bounds: np.ndarray
    """int64 on the host, shape (size + 1,): own[bounds[k] : bounds[k + 1]] are for rank k."""
    received: Array
    """Slots of the values that other ranks send, in the order in which they come."""


@dataclass(kw_only=True)
class DynamicPart(Part):
    """One rank's part of a dynamic graph: rows that change in the place of packed ones, which are empty.

    Ids below `alive` are vertices; those from there to the vertex map's number are kept for vertices to come. Every
    vertex has a slot on every rank, also those to come, which on their own rank stand behind the others. So own
    vertices are not numbered as their positions are: their numbers are their slots, here and for other ranks.
    """

    outward: DynamicRows
    backward: DynamicRows
    """In-edges; the same object as `outward` where the graph is undirected."""
    alive: int
    names: Array
    """The id of every slot, index dtype."""
    slots: Array
    """The slot of every id, index dtype."""
    shown: Array
    """Numbers of the own vertices in the order of their positions, which is that of their ids, index dtype."""
    held: Array
    """uint8, shape (size, num_owned), of one rank (0, 0): whether a rank has, or has had, an out-neighbour of the
    vertex, and so needs what is new of it."""
    batches: int = 0
    """How many batches have changed edges, or may have."""
    sources: list[Array] = field(default_factory=list)
    """Own vertices whose out-edges changed since the ranks were computed, batch by batch."""
    targets: list[Array] = field(default_factory=list)
    """Own vertices that lost an in-edge since then."""
    pagerank: Array | None = None
    """PageRank as it was computed last, float64, shape (num_owned,)."""
    ranked: int = 0
    """How many vertices there were then."""
    pending: tuple[Array, Array] | None = None
    """The flags of affected vertices, uint8 by slot, and of own ones whose out-neighbours are, that a run to an error
    left to the next; those of other ranks' vertices are to be sent to their owners."""
    degrees: tuple[Array, Array] | None = None
    """What PageRank knows of the rows but of those of `stale`: 1 / out-degree, float64, and whether the self-loop is
    stored, uint8, shape (num_owned,)."""
    stale: list[Array] = field(default_factory=list)
    """Own vertices whose out-edges changed since, batch by batch."""
    contributions: Array | None = None
    """What the last PageRank of several ranks knew of contributions, float64, shape (num_vertices,), by slot."""
    sent: Array | None = None
    """Those of own vertices, as sent to the ranks that need them, shape (num_owned,); -1 for those not sent."""
    audience: Audience | None = None
    """Who needs to know of all vertices; None where edges have changed since it was found out, on all ranks alike."""
    counted: tuple[int, int] = (-1, 0)
    """`alive`, and how many of the own vertices are below."""
    in_edges: int = -1
    """Entries of `backward`; -1 where they have not been counted."""
    reported: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    """Of each edge of the last batch whether an own row of out-edges held it, uint8, on the host."""

    @property
    def nbytes(self) -> int:
        inward = 0 if self.backward is self.outward else self.backward.nbytes
        tables = [self.ids, self.names, self.slots, self.held]
        if self.shown is not self.slots:
            tables.append(self.shown)
        return self.outward.nbytes + inward + sum(table.nbytes for table in tables)

    @property
    def num_alive(self) -> int:
        """How many of the own vertices there are: the first ones. Where they are not all, the host waits for the device
        to say so, once."""
        if self.alive >= self.num_vertices:
            return self.num_owned
        if self.counted[0] != self.alive:
            self.counted = self.alive, int((self.ids < self.alive).sum())
        return self.counted[1]

    @property
    def num_in_edges(self) -> int:
        """Stored in-edges of the own vertices."""
        if self.in_edges < 0:
            self.in_edges = int(self.backward.length.sum())
        return self.in_edges

    @property
    def present(self) -> Array:
        """The own vertices that there are, in the order in which results have them."""
        return self.shown[: self.num_alive]


def build_dynamic(
    comm: Communicator, backend: Backend, piece: Piece, plan: BuildPlan, alive: int, memory_share: float = 1.0
) -> DynamicPart:
    """Build the part of this rank from its piece of the edges; every rank must call it.

    Raises
    ------
    OverBudget
        Where the estimate exceeds the memory that is free.
    """
    part = build_part(comm, backend, piece, plan, memory_share)
    part = add_inward(comm, backend, part)
    assert part.inward is not None
    xp, dtype = backend.xp, part.vertex_map.dtype
    shown, order = most_first(backend, degrees(backend, part.out, dtype))
    slots, place = _renumbered(comm, backend, part, shown)
    names = xp.empty_like(slots)
    names[slots] = xp.arange(len(slots), dtype=dtype)
    for csr in part.directions:
        csr.indices = place[csr.indices]
    held = xp.zeros((comm.size, part.num_owned) if comm.size > 1 else (0, 0), np.uint8)
    hold(backend, part, held, shown[row_of_each(backend, part.out, 0)], part.out.indices)
    outward = DynamicRows.of(backend, part.out, order, memory_share)
    backward = outward if part.inward is part.out else DynamicRows.of(backend, part.inward, order, memory_share)
    empty = Csr(xp.zeros(part.num_owned + 1, np.int64), part.ids[:0])
    known = {each.name: getattr(part, each.name) for each in fields(Part)}
    known |= {"out": empty, "inward": empty, "ids": part.ids[order]}
    return DynamicPart(
        **known, outward=outward, backward=backward, alive=alive, names=names, slots=slots, shown=shown, held=held
    )


def _renumbered(comm: Communicator, backend: Backend, part: Part, shown: Array) -> tuple[Array, Array]:
    """The slot of every id and of every cyclic position, where each rank has new numbers for its own vertices."""
    if comm.size == 1:  # where positions are ids
        return shown, shown
    every = comm.alltoallv([shown] * comm.size)
    place = backend.xp.concatenate(
        [every[(part.rank + k) % comm.size] + shown.dtype.type(int(part.slot_bounds[k])) for k in range(comm.size)]
    )
    ids = part.vertex_map.to_id(backend, from_cyclic(part, backend.xp.arange(len(place), dtype=shown.dtype)))
    slots = backend.xp.empty_like(place)
    slots[ids] = place
    return slots, place


def hold(backend: Backend, part: Part, held: Array, row: Array, column: Array) -> None:
    """Note that the ranks of the columns, which are slots, need to know of the rows."""
    if held.size and len(row):
        step = backend.xp.searchsorted(backend.from_host(part.slot_bounds[1:-1]), column, side="right")
        held[(step + part.rank) % part.size, row] = 1
