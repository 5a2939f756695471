"""Rows that change in place: what a worker holds of a dynamic graph, and how a batch is applied to it.

Every row has room behind it, so that a batch rewrites the rows that it names and no others; a row that outgrows its
room moves to the end of the memory with more of it. Where that is used up all rows are laid out anew, which the edges
inserted since the last time have paid for. Rows hold ids in ascending order, so that whatever is summed over them does
not depend on how the graph is divided, nor on the order in which edges came.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from graphdask.backend import Array, Backend
from graphdask.build import BuildPlan, add_inward, build_part, from_cyclic, row_of_each
from graphdask.comm.protocol import Communicator
from graphdask.errors import OverBudget
from graphdask.part import Csr, Part
from graphdask.sources import Piece

BLOCK = 256
"""Threads of a block, which takes a row that changes."""
WARP = 32
"""Threads that take a row where all rows move."""


@dataclass
class RowChanges:
    """Entries of the own rows that are to be there, or not to be there; distinct, by row and then by column. On the
    host."""

    row: np.ndarray
    """Index dtype: local numbers."""
    column: np.ndarray
    """Index dtype: ids."""
    insert: np.ndarray
    """bool: whether the entry is there afterwards."""
    weights: np.ndarray | None


@dataclass
class DynamicRows:
    """Rows with room behind them: row v is indices[begin[v] : begin[v] + length[v]], ids in ascending order."""

    begin: Array
    """int64, shape (num_owned,), as are `length` and `room`."""
    length: Array
    room: Array
    indices: Array
    """Index dtype."""
    weights: Array | None
    used: int
    """Entries of `indices` that belong to a row, or did."""

    @classmethod
    def of(cls, backend: Backend, csr: Csr, memory_share: float = 1.0) -> DynamicRows:
        """Lay out packed rows, whose indices are ids; OverBudget where there is no memory for it."""
        length = csr.indptr[1:] - csr.indptr[:-1]
        rows = cls(csr.indptr[:-1].copy(), length, length.copy(), csr.indices, csr.weights, csr.num_edges)
        rows._lay_out(backend, length, memory_share)
        return rows

    @property
    def nbytes(self) -> int:
        return self.begin.nbytes * 3 + self.indices.nbytes + (0 if self.weights is None else self.weights.nbytes)

    def find(self, backend: Backend, row: Array, column: Array) -> tuple[Array, Array]:
        """Per entry how many of its row are less (int64), and whether the row holds it (bool)."""
        xp = backend.xp
        place, found = xp.empty(len(row), np.int64), xp.empty(len(row), np.uint8)
        kernels = backend.kernels("dynamic", index_t=self.indices.dtype)
        kernels.dynamic_find(len(row), row, column, self.begin, self.length, self.indices, place, found)
        return place, found.astype(bool)

    def apply(self, backend: Backend, changes: RowChanges, memory_share: float = 1.0) -> np.ndarray:
        """Make the changes; say of each entry whether it was there before, on the host. OverBudget where the rows have
        to move and there is no memory for it.

        The device is asked once: what is to be done is worked out on the host, which has sorted the batch too.
        """
        count = len(changes.row)
        if not count:
            return np.zeros(0, bool)
        looked = backend.xp.empty(5 * count, np.int64)
        row, column = backend.from_host(changes.row), backend.from_host(changes.column)
        backend.kernels("dynamic", index_t=self.indices.dtype).dynamic_look(
            count, row, column, self.begin, self.length, self.room, self.indices, looked
        )
        place, there, begin, length, room = backend.to_host(looked).reshape(5, count)
        found = there.astype(bool)
        if changes.weights is not None and self.weights is not None:
            again = np.flatnonzero(found & changes.insert)
            if len(again):
                at = backend.from_host(begin[again] + place[again])
                self.weights[at] = backend.from_host(changes.weights[again])
        at = np.flatnonzero(found != changes.insert)
        if len(at):
            weights = None if changes.weights is None else changes.weights[at]
            named = RowChanges(changes.row[at], changes.column[at], changes.insert[at], weights)
            self._merge(backend, named, memory_share, place[at], begin[at], length[at], room[at])
        return found

    def _merge(
        self, backend: Backend, changes: RowChanges, memory_share: float, place: np.ndarray, begin: np.ndarray,
        length: np.ndarray, room: np.ndarray,
    ) -> None:  # fmt: skip
        """Rewrite the rows that are named, by entries to be inserted that are absent and to be deleted that are not.

        Of each entry `place` is how many of its row are less, and the others tell of the row.
        """
        xp = backend.xp
        new_row = np.ones(len(place), bool)
        new_row[1:] = changes.row[1:] != changes.row[:-1]
        first = np.flatnonzero(new_row)
        begin, before, room = begin[first], length[first], room[first]
        rows, first = changes.row[first].astype(np.int64), np.append(first, len(place))
        inserted, deleted = (np.concatenate([[0], np.cumsum(each)]) for each in (changes.insert, ~changes.insert))
        after = before + np.diff(inserted[first]) - np.diff(deleted[first])
        new = np.concatenate([[0], np.cumsum(after)])
        outgrown = np.flatnonzero(after > room)
        goes, room[outgrown] = begin.copy(), _with_slack(after[outgrown])
        ends = self.used + np.cumsum(room[outgrown])
        goes[outgrown] = ends - room[outgrown]
        sent = [rows, begin, before, first, place, inserted, deleted, new, after, goes, room]
        cuts = np.cumsum([len(each) for each in sent])[:-1]
        on = xp.split(backend.from_host(np.concatenate(sent, dtype=np.int64)), cuts.tolist())
        named, begin_on, before_on, first_on, place_on, inserted_on, deleted_on, new_on, after_on, goes_on, room_on = on
        insert = backend.from_host(changes.insert.astype(np.uint8))
        merged = []
        for pool, values in ((self.indices, changes.column), (self.weights, changes.weights)):
            if pool is None or values is None:
                continue
            merged.append(xp.empty(int(new[-1]), pool.dtype))
            backend.kernels("dynamic_rows", entry_t=pool.dtype).dynamic_rows_merge(
                len(rows), begin_on, before_on, first_on, place_on, insert, inserted_on, deleted_on, new_on,
                backend.from_host(values), pool, merged[-1], per_item=BLOCK,
            )  # fmt: skip
        if len(outgrown) and int(ends[-1]) > len(self.indices):
            every = self.length.copy()
            every[named] = after_on
            self._lay_out(backend, every, memory_share)
            goes_on = self.begin[named]
        elif len(outgrown):
            self.begin[named], self.room[named] = goes_on, room_on
            self.used = int(ends[-1])
        self.length[named] = after_on
        for pool, values in zip((self.indices, self.weights), merged, strict=False):
            kernels = backend.kernels("dynamic_rows", entry_t=values.dtype)
            kernels.dynamic_rows_put(len(rows), goes_on, new_on, values, pool, per_item=BLOCK)

    def _lay_out(self, backend: Backend, wanted: Array, memory_share: float) -> None:
        """Move all rows into new memory, with room for as many entries and more; entries beyond those are left."""
        xp = backend.xp
        kept = xp.minimum(self.length, wanted)
        room = _with_slack(wanted)
        bounds = _bounds(backend, room)
        used = int(bounds[-1])
        memory = used + used // 4 + 1024
        pools = [self.indices] if self.weights is None else [self.indices, self.weights]
        needed, free = memory * sum(pool.itemsize for pool in pools), int(backend.free_memory() * memory_share)
        if needed > free:
            raise OverBudget(
                f"the rows of {len(kept):,} vertices of a dynamic graph, moved to where they can grow, need "
                f"{needed / 2**30:.1f} GiB beside the {self.nbytes / 2**30:.1f} GiB that they have, and "
                f"{backend.description} may use {free / 2**30:.1f} GiB; use more workers, or raise the setting "
                f"graphdask.memory-fraction"
            )
        moved = []
        for pool in pools:
            moved.append(xp.empty(memory, pool.dtype))
            backend.kernels("dynamic_rows", entry_t=pool.dtype).dynamic_rows_move(
                len(kept), self.begin, kept, bounds, pool, moved[-1], per_item=WARP
            )
        self.indices, self.weights = moved[0], None if self.weights is None else moved[1]
        self.begin, self.room, self.used = bounds[:-1].copy(), room, used


def _with_slack(length: Array) -> Array:
    return length + length // 4 + 2


def _bounds(backend: Backend, lengths: Array) -> Array:
    """Where pieces of these lengths begin, and where the last one ends; int64."""
    bounds = backend.xp.zeros(len(lengths) + 1, np.int64)
    backend.xp.cumsum(lengths, out=bounds[1:])
    return bounds


@dataclass(kw_only=True)
class DynamicPart(Part):
    """One rank's part of a dynamic graph: rows that change in the place of packed ones, which are empty.

    Ids below `alive` are vertices; those from there to the vertex map's number are kept for vertices to come. Every
    vertex has a slot on every rank, and arrays that hold something per vertex are indexed by id.
    """

    outward: DynamicRows
    backward: DynamicRows
    """In-edges; the same object as `outward` where the graph is undirected."""
    alive: int
    held: Array
    """uint8, shape (size, num_owned), of one rank (0, 0): whether a rank has, or has had, an out-neighbour of the
    vertex, and so needs what is new of it."""
    sources: list[Array] = field(default_factory=list)
    """Own vertices whose out-edges changed since the ranks were computed, batch by batch."""
    targets: list[Array] = field(default_factory=list)
    """Own vertices that lost an in-edge since then."""
    pagerank: Array | None = None
    """PageRank as it was computed last, float64, shape (num_owned,)."""
    ranked: int = 0
    """How many vertices there were then."""
    pending: tuple[Array, Array] | None = None
    """The flags of affected vertices, and of those whose out-neighbours are, that a run to an error left to the next,
    uint8 by id; those of other ranks' vertices are to be told to their owners."""
    degrees: tuple[Array, Array] | None = None
    """What PageRank knows of the rows but of those of `stale`: 1 / out-degree, float64, and whether the self-loop is
    stored, uint8, shape (num_owned,)."""
    stale: list[Array] = field(default_factory=list)
    """Own vertices whose out-edges changed since, batch by batch."""
    contributions: Array | None = None
    """What the last PageRank of several ranks knew of contributions, float64, shape (num_vertices,), by id."""
    said: Array | None = None
    """Those of own vertices, as the ranks that need them were told, shape (num_owned,); -1 where one was not."""
    told: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    """Which entries of the last changes to the out-edges were there before, on the host."""

    @property
    def nbytes(self) -> int:
        inward = 0 if self.backward is self.outward else self.backward.nbytes
        return self.outward.nbytes + inward + self.ids.nbytes + self.held.nbytes


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
    for csr in part.directions:
        csr.indices = part.vertex_map.to_id(backend, from_cyclic(part, csr.indices))
    held = backend.xp.zeros((comm.size, part.num_owned) if comm.size > 1 else (0, 0), np.uint8)
    outward = DynamicRows.of(backend, part.out, memory_share)
    backward = outward if part.inward is part.out else DynamicRows.of(backend, part.inward, memory_share)
    _hold(backend, part, held, row_of_each(backend, part.out, 0), part.out.indices)
    empty = Csr(backend.xp.zeros(part.num_owned + 1, np.int64), part.ids[:0])
    known = {each.name: getattr(part, each.name) for each in fields(Part)} | {"out": empty, "inward": empty}
    return DynamicPart(**known, outward=outward, backward=backward, alive=alive, held=held)


def _hold(backend: Backend, part: Part, held: Array, row: Array, column: Array) -> None:
    """Note that the ranks of the columns need to know of the rows."""
    if held.size and len(row):
        held[owners(backend, part, column), row] = 1


def owners(backend: Backend, part: Part, ids: Array) -> Array:
    """The rank that owns each of the ids."""
    inner = backend.from_host(part.vertex_map.offsets[1:-1])
    return backend.xp.searchsorted(inner, part.vertex_map.to_position(backend, ids), side="right")


def apply_batch(
    backend: Backend, part: DynamicPart, outward: RowChanges, backward: RowChanges | None, alive: int,
    memory_share: float = 1.0,
) -> DynamicPart:  # fmt: skip
    """Apply a batch to the rows of this rank; `told` says which of the entries of `outward` were there before.

    `backward` holds what changes of the in-edges; None where the graph is undirected.
    """
    found = part.outward.apply(backend, outward, memory_share)
    changed = np.flatnonzero(found != outward.insert)
    row, column = (backend.from_host(each[changed]) for each in (outward.row, outward.column))
    part.sources.append(row)
    if part.degrees is not None:
        part.stale.append(row)
    if part.said is not None:
        part.said[row] = -1.0  # a rank may need them that did not before
    _hold(backend, part, part.held, row, column)
    lost, of = ~outward.insert & found, outward.row
    if backward is not None:
        lost, of = part.backward.apply(backend, backward, memory_share) & ~backward.insert, backward.row
    part.targets.append(backend.from_host(of[lost]))
    part.alive = alive
    part.told = found
    backend.synchronize()
    return part
