"""From pieces of an edge list to partitions: one exchange, run by every rank in lockstep.

Each rank makes its piece, gives every edge to the rank that owns its source (and, where the graph is undirected, the
reversed edge to the owner of its destination), sorts what it receives into rows, by vertex id, and gives slots to the
vertices that its rows name. So the order of a row does not depend on how the graph is divided. In-edges of a directed
graph come later, on first need, by a second exchange.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.comm.protocol import Communicator
from graphdask.device.ahead import Family, family
from graphdask.device.backend import Array, Backend
from graphdask.device.counting import all_set, any_set, count_set
from graphdask.device.estimates import announce
from graphdask.display.phases import phase
from graphdask.errors import OverBudget
from graphdask.partition.part import Csr, Part, WeightFacts
from graphdask.partition.sources import Piece
from graphdask.partition.tuning import PARTITION
from graphdask.partition.vertex_map import VertexMap, balanced_offsets

BYTES_PER_BUCKET = 40
"""Own counts, sums, those of all ranks as received and together, and what a communicator holds of them."""
BUCKETS = 1 << 16
"""Resolution of the balanced ranges: vertices are weighed in at most this many buckets."""

BYTES_PER_ARC = {4: 56, 8: 72}
"""Peak of the build on a GPU for each stored edge, by the bytes of an id: two index columns sent, two received, a
64-bit key, its order, the row."""


@dataclass(frozen=True)
class BuildPlan:
    """What every rank must know to build its partition."""

    vertex_map: VertexMap
    """Without offsets where they are to be balanced."""
    directed: bool
    ghosts: str
    merge: bool
    """Whether parallel edges become one, with the smallest of their weights."""
    num_edges: int
    """Of the whole graph, for the memory estimate."""
    weighted: bool
    families: tuple[Family, ...] = ()
    """Kernels that are needed when the partitions are built, and are compiled beside."""


def build_part(comm: Communicator, backend: Backend, piece: Piece, plan: BuildPlan, memory_share: float = 1.0) -> Part:
    """Build the partition of this rank, which may plan with a share of the free memory.

    Raises
    ------
    OverBudget
        Where the estimate exceeds the memory that is free.
    """
    _check_memory(comm, backend, plan, memory_share)
    several = [family(name, index_t=plan.vertex_map.dtype) for name in ("tally", "codec")] if comm.size > 1 else []
    backend.ahead([family("sorted_rows", index_t=plan.vertex_map.dtype), *several, *plan.families])
    with phase("partitioning") as report:
        return _built(comm, backend, piece, plan, report)


def _built(
    comm: Communicator, backend: Backend, piece: Piece, plan: BuildPlan, report: Callable[[float], None]
) -> Part:
    """Build the partition; `report` takes the share that is done."""
    xp = backend.xp
    src, dst, weights = piece.edges(backend)
    src, dst = (column.astype(plan.vertex_map.dtype, copy=False) for column in (src, dst))
    facts = None if weights is None else WeightFacts.of(xp, src, dst, weights)
    made = len(src)
    vertex_map = plan.vertex_map
    ends = (3 if plan.directed else 4) * made  # two of each edge now, one of each stored edge in the end
    position_of = vertex_map.lookup(backend, ends)
    at, other_at = position_of(src), position_of(dst)
    report(0.1)
    if vertex_map.size != comm.size:
        vertex_map = vertex_map.with_offsets(balanced_ranges(comm, backend, at, other_at, vertex_map.num_vertices))
    ids = vertex_map.owned_ids(backend, comm.rank)
    if not plan.directed:
        other_way = _other_way(backend, src, dst, weights is not None and weights.dtype.kind == "f")
    if not plan.directed and weights is None and comm.size == 1 and backend.name == "cuda" and src.dtype == np.int32:
        key = _keys_of_both(backend, (at, dst), (other_at, src), other_way)
        del src, dst, at, other_at, other_way
        report(0.2)
        csr, loops = _rows_of_keys(backend, key, None, ids, plan.merge)
    else:
        if not plan.directed:
            at, dst = xp.concatenate([at, other_at[other_way]]), xp.concatenate([dst, src[other_way]])
            if weights is not None:
                weights = xp.concatenate([weights, weights[other_way]])
        del src, other_at
        rows, columns, weights = to_owners(comm, backend, vertex_map.offsets, at, dst, weights)
        del at, dst
        report(0.2)
        if comm.size > 1:
            rows -= rows.dtype.type(int(vertex_map.offsets[comm.rank]))
        csr, loops = _sorted_rows(backend, rows, columns, weights, ids, plan.merge)
        del rows, columns, weights
    report(0.8)
    counts = {"made": made, "arcs": csr.num_edges, "self_loops": loops}
    part = Part(
        rank=comm.rank,
        size=comm.size,
        vertex_map=vertex_map,
        out=csr,
        inward=None if plan.directed else csr,
        ghosts=None,
        ids=ids,
        slot_bounds=cyclic_bounds(vertex_map.offsets, comm.rank),
        counts=counts,
        weights=facts,
    )
    positions = position_of(csr.indices)
    cyclic = positions if comm.size == 1 else to_cyclic(part, positions)
    if plan.ghosts == "1-hop":
        _give_slots(part, backend, _neighbours(part, backend, cyclic), {"out": cyclic})
    else:
        csr.indices = cyclic
    backend.synchronize()
    return part


def add_inward(comm: Communicator, backend: Backend, part: Part) -> Part:
    """Return the partition with the in-edges of its own vertices, made from everyone's out-edges."""
    if part.inward is not None:
        return part
    xp = backend.xp
    part = replace(part, out=replace(part.out), mirrors=None, mirrored=None)
    cyclic = to_cyclic_positions(part, part.out.indices)
    sources = part.ids[row_of_each(backend, part.out, 0)]
    offsets, targets = part.vertex_map.offsets, from_cyclic(part, cyclic)
    rows, columns, weights = to_owners(comm, backend, offsets, targets, sources, part.out.weights)
    del sources, targets
    if comm.size > 1:
        rows -= rows.dtype.type(part.first_position)
    csr, _ = _sorted_rows(backend, rows, columns, weights, part.ids, merge=False)
    del rows, columns, weights
    positions = part.vertex_map.to_position(backend, csr.indices)
    inward = positions if comm.size == 1 else to_cyclic(part, positions)
    part.inward = csr
    if part.ghosts is None:
        csr.indices = inward
    else:
        ghosts = xp.unique(xp.concatenate([part.ghosts, _neighbours(part, backend, inward)]))
        _give_slots(part, backend, ghosts, {"out": cyclic, "inward": inward})
    backend.synchronize()
    return part


def memory(plan: BuildPlan, size: int, counting: bool = False) -> int:
    """Bytes that each of `size` ranks takes at most while it builds its partition; `counting`, as CPUs do."""
    arcs = plan.num_edges * (1 if plan.directed else 2) / size
    slots = plan.vertex_map.num_vertices / (1 if plan.ghosts == "all" else size)
    item = plan.vertex_map.dtype.itemsize
    each = BYTES_PER_ARC[item] + (32 if plan.weighted else 0)
    if counting:
        columns = 2 + 2 * (not plan.directed) + 2 * (type(plan.vertex_map) is not VertexMap)  # rows, ends, positions
        columns += 2 * (size > 1)  # received
        weights = 1 + (not plan.directed) + 2 * (size > 1)
        each = columns * item + (10 if size > 1 else 0) + (8 * weights if plan.weighted else 0)  # order by owner
    return int(arcs * each + slots * 32 + min(plan.vertex_map.num_vertices, BUCKETS) * BYTES_PER_BUCKET * (size > 1))


def _check_memory(comm: Communicator, backend: Backend, plan: BuildPlan, memory_share: float) -> None:
    needed = memory(plan, comm.size, backend.name == "cpu")
    free = int(backend.free_memory() * memory_share)
    if needed > free:
        raise OverBudget(
            f"the partitions need about {needed / 2**30:.1f} GiB on each of {comm.size} ranks while they are built, "
            f"and rank {comm.rank} ({backend.description}) may use {free / 2**30:.1f} GiB; "
            f"use more workers, or raise the setting graphdask.memory-fraction"
        )
    announce(comm.rank, comm.size, "partitioning", needed)


def balanced_ranges(comm: Communicator, backend: Backend, src: Array, dst: Array, n: int) -> np.ndarray:
    """Offsets of contiguous ranges of about equal numbers of edge ends."""
    width = max(1, -(-n // BUCKETS))
    buckets = -(-n // width)
    if comm.size == 1 or n == 0:
        return np.array([0] * comm.size + [n], np.int64)
    weight = tally(backend, src // width, buckets)
    weight += tally(backend, dst // width, buckets)
    bounds = [buckets * rank // comm.size for rank in range(comm.size + 1)]
    of_ranks = comm.alltoallv([weight[low:high] for low, high in pairwise(bounds)])
    sums = of_ranks[0]
    for more in of_ranks[1:]:
        sums += more
    total = np.concatenate([backend.to_host(part) for part in comm.alltoallv([sums] * comm.size)]) + width
    return balanced_offsets(total, width, n, comm.size)


def tally(backend: Backend, numbers: Array, size: int) -> Array:
    """How often each of 0 to size - 1 stands among the numbers, int32 or int64; int64.

    CuPy's bincount takes a table of all of them for each block of its launch: 3 GiB for a million.
    """
    counts = backend.xp.zeros(size, np.int64)
    backend.kernels("tally", index_t=numbers.dtype).tally_count(len(numbers), numbers, counts)
    return counts


def to_owners(
    comm: Communicator, backend: Backend, offsets: np.ndarray, at: Array, *others: Array | None
) -> tuple[Any, ...]:
    """Send what stands at each place of some columns to the rank that owns position `at`; return what arrived.

    Of one rank these are the given arrays.
    """
    xp = backend.xp
    if comm.size == 1:
        return at, *others
    bounds = backend.from_host(offsets[1:-1].astype(at.dtype))  # of another type, all numbers would be converted
    owner = xp.searchsorted(bounds, at, side="right").astype(np.uint16)
    order = xp.argsort(owner, kind="stable")
    cuts = np.zeros(comm.size + 1, np.int64)
    if len(owner):  # CuPy's bincount refuses an empty array
        np.cumsum(backend.to_host(xp.bincount(owner, minlength=comm.size)), out=cuts[1:])

    def sent(column: Array) -> Array:
        column = column[order]
        return xp.concatenate(comm.alltoallv([column[cuts[q] : cuts[q + 1]] for q in range(comm.size)]))

    return sent(at), *(None if column is None else sent(column) for column in others)


def _other_way(backend: Backend, src: Array, dst: Array, in_order: bool) -> Any:
    """Which edges are no self-loops, in any order unless `in_order`: an undirected graph stores them both ways.

    Parallel edges of equal weight stay in the order given. That shows only in floats, of which -0 and 0 are equal.
    """
    if backend.name == "cpu":
        found: Any = src != dst
        return slice(None) if all_set(found) else found
    places, count = backend.xp.empty(len(src), np.int64), backend.xp.zeros(1, np.uint64)
    backend.kernels("sorted_rows", index_t=src.dtype).sorted_rows_others(len(src), src, dst, places, count)
    found = int(backend.to_host(count)[0])
    if found == len(src):
        return slice(None)
    places = places[:found]
    if in_order:
        places.sort()
    return places


def _sorted_rows(
    backend: Backend, rows: Array, columns: Array, weights: Array | None, ids: Array, merge: bool
) -> tuple[Csr, int]:
    """Build the rows of the vertices `ids`, with ascending columns, equal ones by weight.

    `rows` counts from 0, `columns` are ids. With `merge`, the first of equal entries stays. Also returns the number of
    self-loops.
    """
    xp = backend.xp
    if backend.name == "cpu":
        return _counted_rows(backend, rows, columns, weights, ids, merge)
    if columns.dtype == np.int32:
        return _keyed_rows(backend, rows, columns, weights, ids, merge)
    order = xp.arange(len(columns))
    for column in ([] if weights is None else [weights]) + [columns, rows]:
        order = order[xp.argsort(column[order], kind="stable")]
    rows, columns = rows[order], columns[order]
    weights = None if weights is None else weights[order]
    if merge and len(rows):
        differs = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        keep = xp.concatenate([xp.ones(1, bool), differs])
        rows, columns = rows[keep], columns[keep]
        weights = None if weights is None else weights[keep]
    indptr = xp.zeros(len(ids) + 1, np.int64)
    xp.cumsum(tally(backend, rows, len(ids)), out=indptr[1:])
    return Csr(indptr, columns, weights), count_set(ids[rows] == columns)


def _keyed_rows(
    backend: Backend, rows: Array, columns: Array, weights: Array | None, ids: Array, merge: bool
) -> tuple[Csr, int]:
    """As `_sorted_rows`, on a GPU for ids of 32 bits: one sort by both in one number, among which rows are found."""
    key = backend.xp.empty(len(rows), np.int64)
    backend.kernels("sorted_rows", index_t=columns.dtype).sorted_rows_keys(len(key), None, rows, columns, key)
    return _rows_of_keys(backend, key, weights, ids, merge)


def _keys_of_both(backend: Backend, one: tuple[Array, Array], other: tuple[Array, Array], other_way: Any) -> Array:
    """The numbers of the rows and columns of all edges one way, and of some of them the other way."""
    count, places = len(one[0]), None if isinstance(other_way, slice) else other_way
    more = count if places is None else len(places)
    keys = backend.kernels("sorted_rows", index_t=one[1].dtype).sorted_rows_keys
    key = backend.xp.empty(count + more, np.int64)
    keys(count, None, *one, key)
    keys(more, places, *other, key[count:])
    return key


def _rows_of_keys(backend: Backend, key: Array, weights: Array | None, ids: Array, merge: bool) -> tuple[Csr, int]:
    """The rows of edges whose row and column are in one number, in any order; `key` is overwritten."""
    xp, dtype, n = backend.xp, ids.dtype, len(ids)
    kernels = backend.kernels("sorted_rows", index_t=dtype)
    if weights is None:
        key.sort()
    else:
        order = xp.argsort(key, kind="stable")
        in_order = key[order]
        if len(key) and any_set(in_order[1:] == in_order[:-1]):
            order = xp.argsort(weights, kind="stable")
            order = order[xp.argsort(key[order], kind="stable")]
        key, weights = in_order, weights[order]
        del order, in_order
    if merge and len(key):
        keep = xp.ones(len(key), bool)
        keep[1:] = key[1:] != key[:-1]
        key, weights = key[keep], None if weights is None else weights[keep]
        del keep
    indptr, loops, columns = xp.empty(n + 1, np.int64), xp.zeros(1, np.uint64), xp.empty(len(key), dtype)
    kernels.sorted_rows_begins(n + 1, key, len(key), ids, indptr, loops)
    kernels.sorted_rows_columns(len(key), key, columns)
    return Csr(indptr, columns, weights), int(backend.to_host(loops)[0])


def _counted_rows(
    backend: Backend, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray | None, ids: np.ndarray, merge: bool
) -> tuple[Csr, int]:
    """As `_sorted_rows`, on a CPU: a counting sort by row, which keeps the order, and a stable sort of each row."""
    kernels, n = backend.kernels("rows"), len(ids)
    indptr = np.zeros(n + 1, np.int64)
    out, out_weights = np.empty_like(columns), None if weights is None else np.empty_like(weights)
    kernels.rows_count(len(rows), rows, indptr)
    longest = int(indptr.max())
    kernels.rows_fill(len(rows), rows, columns, weights, indptr, out, out_weights)
    if out_weights is None:
        kernels.rows_sort(n, indptr, out)
    else:
        spare = np.empty(longest, out.dtype), np.empty(longest, out_weights.dtype)
        kernels.rows_sort_weighted(n, indptr, out, out_weights, *spare)
        del spare
    if merge:
        kept = kernels.rows_merge(n, indptr, out, out_weights)
        if kept < len(out):
            out, out_weights = out[:kept].copy(), None if out_weights is None else out_weights[:kept].copy()
    return Csr(indptr, out, out_weights), int(kernels.rows_loops(n, indptr, out, ids))


def row_of_each(backend: Backend, csr: Csr, first: int) -> Array:
    """The source of each stored edge, as `first` + its row."""
    if csr.num_edges == 0:
        return csr.indices.copy()
    if backend.name == "cpu":
        rows = np.arange(first, first + csr.num_rows, dtype=csr.indices.dtype)
        return np.repeat(rows, np.diff(csr.indptr))
    dtype = csr.indices.dtype
    sources = backend.xp.empty(csr.num_edges, dtype)
    kernels = backend.kernels("sorted_rows", index_t=dtype)
    kernels.sorted_rows_sources(csr.num_edges, csr.num_rows, first, csr.indptr, sources)
    return sources


def cyclic_bounds(offsets: np.ndarray, rank: int) -> np.ndarray:
    """Where the vertices of rank (rank + k) % size begin in cyclic positions, int64 of shape (size + 1,)."""
    lengths = np.diff(offsets)
    return np.concatenate(([0], np.cumsum(np.roll(lengths, -rank)))).astype(np.int64)


def to_cyclic(part: Part, positions: Array) -> Array:
    """Positions counted from this rank's first one, around the end."""
    first, n = part.first_position, part.num_vertices
    shifted = positions - positions.dtype.type(first)
    shifted[shifted < 0] += positions.dtype.type(n)
    return shifted


def from_cyclic(part: Part, cyclic: Array) -> Array:
    """Positions of an array of cyclic positions."""
    first, n = part.first_position, part.num_vertices
    positions = cyclic - cyclic.dtype.type(n - first)
    positions[positions < 0] += cyclic.dtype.type(n)
    return positions


def to_cyclic_positions(part: Part, slots: Array) -> Array:
    """Cyclic positions of an array of slots."""
    if part.ghosts is None:
        return slots.copy()
    out = slots.copy()
    remote = slots >= part.num_owned
    out[remote] = part.ghosts[slots[remote] - part.num_owned]
    return out


def local_at_owner(part: Part, slots: Array, step: int) -> Array:
    """Numbers that the owner, rank (part.rank + step) % size, has for ghosts of its own."""
    first = cyclic_bounds(part.vertex_map.offsets, part.rank)[step]
    return to_cyclic_positions(part, slots) - slots.dtype.type(int(first))


def _fits_a_table(part: Part, entries: int) -> bool:
    """Whether a table of all vertices is little beside so many entries, which else are sorted and searched for."""
    return part.num_vertices <= PARTITION.table_vertices * entries


def _neighbours(part: Part, backend: Backend, cyclic: Array) -> Array:
    """Sorted cyclic positions of the remote vertices among the given ones."""
    xp, owned = backend.xp, part.num_owned
    if owned == part.num_vertices:
        return cyclic[:0].copy()
    if not _fits_a_table(part, len(cyclic)):
        return xp.unique(cyclic[cyclic >= owned])
    named = xp.zeros(part.num_vertices, bool)
    named[cyclic] = True
    named[:owned] = False
    return xp.flatnonzero(named).astype(cyclic.dtype)


def _give_slots(part: Part, backend: Backend, ghosts: Array, cyclic: dict[str, Array]) -> None:
    """Make `ghosts` the partition's ghosts and rewrite the rows, given in cyclic positions, to slots."""
    xp, owned = backend.xp, part.num_owned
    bounds = cyclic_bounds(part.vertex_map.offsets, part.rank)
    part.ghosts = ghosts
    part.slot_bounds = owned + np.searchsorted(backend.to_host(ghosts), bounds) if len(bounds) else bounds
    part.slot_bounds[0], part.slot_bounds[1] = 0, owned
    slots = None
    if len(ghosts) and _fits_a_table(part, sum(len(values) for values in cyclic.values())):
        slots = xp.arange(part.num_vertices, dtype=ghosts.dtype)
        slots[ghosts] = xp.arange(owned, owned + len(ghosts), dtype=ghosts.dtype)
    for name, values in cyclic.items():
        if slots is not None:
            values = slots[values]
        elif len(ghosts):
            remote = values >= owned
            values[remote] = xp.searchsorted(ghosts, values[remote]).astype(values.dtype) + values.dtype.type(owned)
        getattr(part, name).indices = values
