"""Applying a batch of edges to the rows of a rank: looked up, sorted, and rewritten where the rows are.

Every rank is sent a share of the batch and gives it to the others, which are nearer to it than the caller is. Each then
finds the entries of its own rows; both directions go through the same launches. The host waits for the device once,
when all is done. Where the rows of a direction have outgrown the memory, nothing has been done to them: they are laid
out anew then, and rewritten after that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.backend import Array, Backend
from graphdask.comm.protocol import Communicator
from graphdask.dynamic_rows import WARP, DynamicPart, DynamicRows

FEW = 256
"""Entries that a row of few has at most: what a warp holds in its registers."""
BLOCK = 512
"""Threads that take a row of more."""
PER_PROCESSOR = 4
"""Blocks of these."""
PIECE = 8 * BLOCK
HUB = 4 * PIECE
"""Entries from which on a row that stays where it is is shared out among blocks of a GPU, PIECE of them each."""
MOST_MADE, SHARE_MADE = 1 << 23, 8
"""Entries that there is room for to put such rows together, and their share of all."""
COUNTERS = 80
"""Bytes, which come to the host with what is said of the edges."""


@dataclass
class _Entries:
    """Entries that change their rows, by row and then by column; arrays as kernels/dynamic_batch.py has them."""

    keys: Array
    place: Array
    sums: Array
    columns: Array
    weights: Array | None
    counters: Array

    def only(self, span: slice, counters: Array) -> _Entries:
        weights = None if self.weights is None else self.weights[span]
        sums = self.sums[span.start : span.stop + 1]
        return _Entries(self.keys[span], self.place[span], sums, self.columns[span], weights, counters)


def whole_batch(
    comm: Communicator, backend: Backend, part: DynamicPart, share: np.ndarray
) -> tuple[Array, Array | None]:
    """Edges and weights of a batch of which each rank has a share, as `Batch.shares` has it; all must call it."""
    xp, dtype = backend.xp, None if part.outward.weights is None else part.outward.weights.dtype
    pieces = [backend.from_host(share)]
    if comm.size > 1:
        sent = comm.outgoing(backend, len(share))[: len(share)]
        sent[:] = pieces[0]
        payloads = comm.exchange([sent if len(share) else None] * comm.size).payloads
        pieces = [piece for piece in payloads if piece is not None] or pieces
    width = 8 if dtype is None else 8 + dtype.itemsize
    ends = [len(piece) // width * 8 for piece in pieces]
    columns = [[piece[:end].view(np.uint64) for piece, end in zip(pieces, ends, strict=True)]]
    if dtype is not None:
        columns.append([piece[end:].view(dtype) for piece, end in zip(pieces, ends, strict=True)])
    edges, *weights = (column[0] if len(column) == 1 else xp.concatenate(column) for column in columns)
    return edges, weights[0] if weights else None


def apply_batch(
    backend: Backend, part: DynamicPart, edges: Array, weights: Array | None, alive: int, memory_share: float = 1.0
) -> DynamicPart:
    """Apply a batch to the rows of this rank; `told` says of its edges which ones were there before.

    Parameters
    ----------
    edges : array
        As `Batch.edges`, of vertices below `alive`, on the device.
    weights : array or None
        Of the edges, where the graph has weights.

    Raises
    ------
    OverBudget
        Where the rows have to move and there is no memory for it.
    """
    part.alive, part.told = alive, np.zeros(0, np.uint8)
    if len(edges):
        part.audience, part.batches = None, part.batches + 1
        _apply(backend, part, edges, weights, memory_share)
    return part


def _apply(backend: Backend, part: DynamicPart, edges: Array, weights: Array | None, memory_share: float) -> None:
    xp, dtype, count, n = backend.xp, part.vertex_map.dtype, len(edges), 2 * len(edges)
    kernels, ids, at = backend.kernels("dynamic_batch", index_t=dtype), xp.empty(n, dtype), xp.empty(n, dtype)
    report, keys = xp.empty(COUNTERS + count, np.uint8), xp.empty(n, np.uint64)
    counters = report[:COUNTERS].view(np.uint64)
    kernels.dynamic_batch_ends(count, edges, part.alive, part.slots, ids, at, counters)
    where = xp.empty(0 if weights is None else n, np.int64)
    directed, numbers = int(part.backward is not part.outward), (part.num_owned, part.vertex_map.num_vertices)
    looked = *part.outward.looked, *part.backward.looked, part.names
    kernels.dynamic_batch_look(
        n, edges, ids, at, *numbers, directed, int(weights is not None), *looked, report[COUNTERS:],
        where, keys,
    )  # fmt: skip
    values = None
    if weights is None:
        keys.sort()
    else:
        backend.kernels("dynamic_rows", entry_t=weights.dtype).dynamic_rows_weigh(
            n, where, directed, weights, part.outward.weights, part.backward.weights
        )
        order = xp.argsort(keys)
        keys, values = keys[order], weights[order % count]
    row, slot = ids, at  # nobody needs these any more
    place, steps = xp.empty(n, np.int64), xp.empty(n + 1, np.int64)
    kernels.dynamic_batch_place(n, keys, *numbers, *looked, part.slots, row, slot, place, steps, counters)
    if part.size > 1:
        says, said = int(part.said is not None), xp.empty(0) if part.said is None else part.said
        kernels.dynamic_batch_note(
            n, counters, row, slot, _bounds(backend, part), part.size, part.rank, part.num_owned, says, part.held, said
        )
    entries = _Entries(keys, place, xp.cumsum(steps), slot, values, counters)
    plan = _rewrite(backend, part, entries)
    from graphdask.kernels.dynamic_batch import CLAIMED  # with Numba, which takes long to import

    on_host = backend.to_host(report)
    part.told = on_host[COUNTERS:]
    outward, needed, *lost_of_both = on_host[:COUNTERS].view(np.uint64).tolist()[:CLAIMED]
    claimed = on_host[:COUNTERS].view(np.uint64).tolist()[CLAIMED:]
    spans = slice(0, outward), slice(outward, needed)
    for k, rows in enumerate((part.outward, part.backward)):
        if rows.used + claimed[k] <= len(rows.indices):
            rows.used += claimed[k]
            continue
        rows.lay_out(backend, _wanted(backend, rows, entries, plan, spans[k]), memory_share)
        size = spans[k].stop - spans[k].start
        counts = np.array([0 if k else size, size, *[0] * (COUNTERS // 8 - 2)], np.uint64)
        _rewrite(backend, part, entries.only(spans[k], backend.from_host(counts)))
    if outward:
        part.sources.append(row[:outward])
        if part.degrees is not None:
            part.stale.append(row[:outward])
    span = spans[directed]
    if part.in_edges >= 0:
        part.in_edges += span.stop - span.start - 2 * lost_of_both[directed]
    if lost_of_both[directed]:
        part.targets.append(row[span][steps[span.start + 1 : span.stop + 1] != 1])


def _bounds(backend: Backend, part: DynamicPart) -> Array:
    """Where the slots of each rank begin, which on a device are kept there."""
    kept = part.tables.get("slot bounds")
    return part.tables.keep("slot bounds", backend.from_host(part.slot_bounds), 0) if kept is None else kept


def _wanted(backend: Backend, rows: DynamicRows, entries: _Entries, plan: Array, span: slice) -> Array:
    """The lengths that the rows of one direction are to have."""
    first = backend.xp.flatnonzero(plan[span]) + span.start
    of = plan[2 * len(entries.keys) + first]
    step = entries.sums[plan[first]] - entries.sums[first]
    wanted = rows.length.copy()
    wanted[of] = wanted[of] + (step & 0xFFFFFFFF) - (step >> 32)
    return wanted


def _rewrite(backend: Backend, part: DynamicPart, entries: _Entries) -> Array:
    """Rewrite the rows that the entries are of, but for those of a direction that needs a larger pool; the plan."""
    n, out, back = len(entries.keys), part.outward, part.backward
    listed, plan = backend.xp.empty(n, np.int64), backend.xp.empty(3 * n, np.int64)
    room = 0 if backend.name == "cpu" else min(max(out.used, back.used) // SHARE_MADE, MOST_MADE)
    room = room if room >= HUB else 0
    pieces = backend.xp.empty(8 * (room // PIECE + 1), np.int64)
    pools = [(entries.columns, out.indices, back.indices)]
    if entries.weights is not None:
        pools.insert(0, (entries.weights, out.weights, back.weights))
    made_of_all = backend.xp.empty(room * max(values.itemsize for values, *_ in pools), np.uint8)  # or nothing is done
    backend.kernels("dynamic_batch", index_t=part.vertex_map.dtype).dynamic_batch_plan(
        n, entries.keys, part.num_owned, part.vertex_map.num_vertices, entries.sums, FEW, out.begin, out.length,
        out.room, out.used, back.begin, back.length, back.room, back.used, HUB, room, pieces, listed, plan,
        entries.counters,
    )  # fmt: skip
    blocks = {"per_item": BLOCK, "threads": BLOCK, "per_processor": PER_PROCESSOR}
    for k, (values, out_pool, back_pool) in enumerate(pools):
        kernels = backend.kernels("dynamic_rows", entry_t=values.dtype)
        arguments = (
            n, entries.counters, listed, plan, entries.place, entries.sums, values, out.used, len(out.indices),
            back.used, len(back.indices), out.begin, out.length, out.room, out_pool, back.begin, back.length,
            back.room, back_pool, int(k == len(pools) - 1),
        )  # fmt: skip
        if room:
            made, sizes = made_of_all[: room * values.itemsize].view(values.dtype), arguments[7:11]
            rows = out.begin, out.length, out_pool, back.begin, back.length, back_pool
            given = n, entries.counters, pieces, plan, entries.place
            kernels.dynamic_rows_merge(*given, entries.sums, values, *sizes, *rows, made, **blocks)
            kernels.dynamic_rows_settle(*given, *sizes, *rows, made, int(k == len(pools) - 1), **blocks)
        kernels.dynamic_rows_change(*arguments, per_item=WARP)
        kernels.dynamic_rows_change_high(*arguments, **blocks)
    return plan
