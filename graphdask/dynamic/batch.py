"""Applying a batch of edges to the rows of a rank: looked up, sorted, and rewritten where the rows are.

Every rank is sent a share of the batch and gives it to the others, which are nearer to it than the caller is. Each then
finds the entries of its own rows; both directions go through the same launches. The host waits for the device once,
when all is done. Where the rows of a direction have outgrown the memory, nothing has been done to them: they are laid
out anew then, and rewritten after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.comm.protocol import Communicator
from graphdask.device.backend import Array, Backend
from graphdask.dynamic.rows import DynamicPart, DynamicRows
from graphdask.dynamic.tuning import DYNAMIC
from graphdask.errors import OverBudget
from graphdask.kernels.dynamic.dynamic_batch_pack import COUNTS, BatchEntries
from graphdask.kernels.dynamic.dynamic_rows_pack import ChangedRows

FEW = 2048
"""Entries of a row at most that a warp takes; a block takes one of more. So a batch of 1e-4 of R-MAT 22 is rewritten in
78 us on an H200; with 256 in 130."""
BLOCK = 512
"""Threads of the kernels that find what is to be done with rows, and that rewrite them."""
PER_PROCESSOR = 4
"""Blocks of these."""
PIECE = 8 * BLOCK
MOST_MADE = 1 << 23
"""Entries at most of the workspace for long rows that stay where they are (`DYNAMIC.hub`)."""
AT_ONCE = 1 << 16
"""Entries of a batch at most for which a GPU finds in one launch what is to be done; of more it takes several."""
COUNTERS = 8 * len(COUNTS)
"""Bytes of the counters, which come to the host with what was found of the edges."""


NAME = "workspace of batches"
"""Of what a part keeps."""


@dataclass
class _Workspace:
    """Memory for batches of so many entries."""

    n: int
    keys: Array
    slot: Array
    place: Array
    sums: Array
    """First what each entry is counted as, and then the running sums of that."""
    order: Array
    listed: Array
    plan: Array
    pieces: Array
    longest: int
    """Entries that fit into `made`, where the longest rows are put together."""
    made: Array
    """uint8: memory for `longest` entries of the widest pool."""

    @classmethod
    def of(cls, backend: Backend, part: DynamicPart, n: int) -> _Workspace:
        """Return the workspace that the part keeps for batches a GPU applies at once, or a new one for n entries."""
        at_once = _at_once(backend, n)
        longest = min(max(part.outward.used, part.backward.used) // DYNAMIC.share_made, MOST_MADE)
        longest = longest if longest >= DYNAMIC.hub and backend.name != "cpu" else 0
        workspace: _Workspace | None = part.tables.get(NAME) if at_once else None
        if workspace is None or workspace.n < n or workspace.longest < longest // 2:
            xp, size = backend.xp, n + n // 4 if at_once else n
            widest = max(pool.itemsize for pool in (part.outward.indices, part.outward.weights) if pool is not None)
            place, order, listed = (xp.empty(size, np.int64) for _ in range(3))
            sums, plan = xp.empty(size + 1, np.int64), xp.empty(3 * size, np.int64)
            keys, slot = xp.empty(size, np.uint64), xp.empty(size, part.vertex_map.dtype)
            pieces, made = xp.empty(8 * (longest // PIECE + 1), np.int64), xp.empty(longest * widest, np.uint8)
            workspace = cls(size, keys, slot, place, sums, order, listed, plan, pieces, longest, made)
            if at_once:
                part.tables.keep(NAME, workspace, sum(getattr(each, "nbytes", 0) for each in vars(workspace).values()))
        return workspace


@dataclass
class _Entries:
    """Entries of a batch, sorted by row and then by column, and what is planned for their rows; arrays as
    kernels/dynamic/dynamic_batch.py has them, or longer ones."""

    n: int
    keys: Array
    row: Array
    slot: Array
    place: Array
    sums: Array
    listed: Array
    plan: Array
    counters: Array
    weights: Array | None = None

    def only(self, xp: Any, span: slice, counters: Array) -> _Entries:
        """Those of one direction, nothing planned."""
        n = span.stop - span.start
        parts = {name: getattr(self, name)[span] for name in ("keys", "row", "slot", "place")}
        parts["sums"] = self.sums[span.start : span.stop + 1]
        weights = None if self.weights is None else self.weights[span]
        return _Entries(
            n, **parts, weights=weights, listed=xp.empty(n, np.int64), plan=xp.empty(3 * n, np.int64), counters=counters
        )


def _at_once(backend: Backend, n: int) -> bool:
    return backend.name != "cpu" and n <= AT_ONCE


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
    """Apply a batch to the rows of this rank. A mask in the returned part says which of its edges existed before.

    Parameters
    ----------
    edges : array
        As `Batch.edges`, of vertices below `alive`, on the device.
    weights : array or None
        Weights of the edges if the graph has weights.

    Raises
    ------
    OverBudget
        If there is no memory for the batch, or for rows that have to move.
    """
    part.alive, part.reported = alive, np.zeros(0, np.uint8)
    if len(edges):
        part.audience, part.batches = None, part.batches + 1
        _apply(backend, part, edges, weights, memory_share)
    return part


def _check_memory(backend: Backend, part: DynamicPart, edges: Array, weights: Array | None, share: float) -> None:
    """OverBudget where there is no memory for what a large batch takes while it is applied."""
    each = 9 * 8 + 2 * part.vertex_map.dtype.itemsize + (0 if weights is None else 3 * 8 + weights.itemsize)
    n = 2 * len(edges)
    if n <= AT_ONCE:  # less than it takes to ask
        return
    needed, free = n * each + len(edges), int(backend.free_memory() * share)
    if needed > free:
        raise OverBudget(
            f"a batch of {len(edges):,} edges needs {needed / 2**30:.3g} GiB beside a dynamic graph, and "
            f"{backend.description} may use {free / 2**30:.3g} GiB; divide it, or raise the setting "
            f"graphdask.memory-fraction"
        )


def _apply(backend: Backend, part: DynamicPart, edges: Array, weights: Array | None, memory_share: float) -> None:
    _check_memory(backend, part, edges, weights, memory_share)
    report = backend.xp.zeros(COUNTERS + len(edges), np.uint8)
    workspace = _Workspace.of(backend, part, 2 * len(edges))  # all there is before anything is changed
    entries, directed = _found(backend, part, edges, weights, report, workspace), int(part.backward is not part.outward)
    _rewrite(backend, part, entries, workspace)
    on_host = backend.to_host(report)
    part.reported = on_host[COUNTERS:]
    counts = COUNTS.of(on_host[:COUNTERS].view(np.uint64))
    outward, claimed = counts.outward, (counts.out_claimed, counts.in_claimed)
    lost = counts.in_deleted if directed else counts.out_deleted
    spans = slice(0, outward), slice(outward, counts.needed)
    for k, rows in enumerate((part.outward, part.backward)):
        if rows.used + claimed[k] <= len(rows.indices):
            rows.used += claimed[k]
            continue
        rows.lay_out(backend, _wanted(backend, rows, entries, spans[k]), memory_share)
        size = spans[k].stop - spans[k].start
        anew = np.zeros(len(COUNTS), np.uint64)
        anew[COUNTS.place.outward], anew[COUNTS.place.needed] = 0 if k else size, size
        again = entries.only(backend.xp, spans[k], backend.from_host(anew))
        _plan(backend, part, again, workspace)
        _rewrite(backend, part, again, workspace)
    row, sums = entries.row, entries.sums
    if outward:
        part.sources.append(row[:outward])
        if part.degrees is not None:
            part.stale.append(row[:outward])
    span = spans[directed]
    if part.in_edges >= 0:
        part.in_edges += span.stop - span.start - 2 * lost
    if lost:
        changes = sums[span.start + 1 : span.stop + 1] - sums[span]
        part.targets.append(row[span][changes != 1])


def _found(
    backend: Backend, part: DynamicPart, edges: Array, weights: Array | None, report: Array, workspace: _Workspace
) -> _Entries:
    """The entries of the rank's rows, sorted, and what is to be done with those."""
    xp, dtype, n = backend.xp, part.vertex_map.dtype, 2 * len(edges)
    weighted, directed = int(weights is not None), int(part.backward is not part.outward)
    entries = _Entries(
        n, workspace.keys, xp.empty(n, dtype), workspace.slot, workspace.place, workspace.sums, workspace.listed,
        workspace.plan,
        report[:COUNTERS].view(np.uint64),
    )  # fmt: skip
    found, where = report[COUNTERS:], xp.empty(n, np.int64) if weighted else workspace.listed
    keeps_sent, sent = int(part.sent is not None), xp.empty(0) if part.sent is None else part.sent
    out, back, order = part.outward, part.backward, workspace.order
    pack = BatchEntries(
        edges=edges, num_vertices=part.alive, slots=part.slots, owned=part.num_owned,
        capacity=part.vertex_map.num_vertices, directed=directed, weighted=weighted, **out.looked("out"),
        **back.looked("in"), names=part.names, found=found, again=where, keys=workspace.keys, row=entries.row,
        slot=entries.slot, place=entries.place, steps=entries.sums, counters=entries.counters,
        bounds=_bounds(backend, part), size=part.size, rank=part.rank, keeps_sent=keeps_sent, held=part.held,
        sent=sent,
    )  # fmt: skip
    if _at_once(backend, n):
        pack.order, pack.sums, pack.listed, pack.plan = order, entries.sums, entries.listed, entries.plan
        pack.most, pack.hub, pack.most_made, pack.pieces = FEW, DYNAMIC.hub, workspace.longest, workspace.pieces
        pack.out_capacity, pack.out_used = out.capacity, out.used
        pack.in_capacity, pack.in_used = back.capacity, back.used
        kernels = backend.kernels("dynamic_batch", cooperative=True, index_t=dtype)
        kernels.dynamic_batch_prepare(n, pack, threads=BLOCK, per_processor=1)
    else:
        kernels = backend.kernels("dynamic_batch", index_t=dtype)
        kernels.dynamic_batch_look(n, pack)
        if weighted:
            order = xp.argsort(workspace.keys)
            entries.keys = pack.keys = workspace.keys[order]
        else:
            workspace.keys.sort()
        kernels.dynamic_batch_place(n, pack)
        entries.sums = xp.cumsum(entries.sums)
        if part.size > 1:
            kernels.dynamic_batch_note(n, pack)
        _plan(backend, part, entries, workspace)
    if weights is not None:
        entries.weights = xp.empty(n, weights.dtype)
        backend.kernels("dynamic_rows", entry_t=weights.dtype).dynamic_rows_weigh(
            n, where, directed, order, weights, entries.weights, part.outward.weights, part.backward.weights
        )
    return entries


def _bounds(backend: Backend, part: DynamicPart) -> Array:
    """Where the slots of each rank begin, which on a device are kept there."""
    kept = part.tables.get("slot bounds")
    return part.tables.keep("slot bounds", backend.from_host(part.slot_bounds), 0) if kept is None else kept


def _wanted(backend: Backend, rows: DynamicRows, entries: _Entries, span: slice) -> Array:
    """The lengths that the rows of one direction are to have."""
    plan = entries.plan
    first = backend.xp.flatnonzero(plan[span]) + span.start
    of = plan[2 * entries.n + first]
    step = entries.sums[plan[first]] - entries.sums[first]
    wanted = rows.length.copy()
    wanted[of] = wanted[of] + (step & 0xFFFFFFFF) - (step >> 32)
    return wanted


def _plan(backend: Backend, part: DynamicPart, entries: _Entries, workspace: _Workspace) -> None:
    """Find what is to be done with the rows of the entries."""
    out, back = part.outward, part.backward
    backend.kernels("dynamic_batch", index_t=part.vertex_map.dtype).dynamic_batch_plan(
        entries.n, BatchEntries(
            keys=entries.keys, owned=part.num_owned, capacity=part.vertex_map.num_vertices, sums=entries.sums,
            most=FEW, out_begin=out.begin, out_length=out.length, out_capacity=out.capacity, out_used=out.used,
            in_begin=back.begin, in_length=back.length, in_capacity=back.capacity, in_used=back.used, hub=DYNAMIC.hub,
            most_made=workspace.longest, pieces=workspace.pieces, listed=entries.listed, plan=entries.plan,
            counters=entries.counters,
        ),
    )  # fmt: skip


def _rewrite(backend: Backend, part: DynamicPart, entries: _Entries, workspace: _Workspace) -> None:
    """Rewrite the rows as it is planned, but for those of a direction that needs a larger pool."""
    n, out, back = entries.n, part.outward, part.backward
    pools = [(entries.slot, out.indices, back.indices)]
    if entries.weights is not None:
        pools.insert(0, (entries.weights, out.weights, back.weights))
    blocks = {"per_item": BLOCK, "threads": BLOCK, "per_processor": PER_PROCESSOR}
    pack = ChangedRows(
        counters=entries.counters, pieces=workspace.pieces, listed=entries.listed, plan=entries.plan,
        place=entries.place, sums=entries.sums, out_used=out.used, out_size=len(out.indices), in_used=back.used,
        in_size=len(back.indices), out_begin=out.begin, out_length=out.length, out_capacity=out.capacity,
        in_begin=back.begin, in_length=back.length, in_capacity=back.capacity,
    )  # fmt: skip
    for k, (pack.values, pack.out_pool, pack.in_pool) in enumerate(pools):
        dtype = pack.values.dtype
        kernels, pack.commits = backend.kernels("dynamic_rows", entry_t=dtype), int(k == len(pools) - 1)
        pack.made = workspace.made[: workspace.longest * dtype.itemsize].view(dtype)
        kernels.dynamic_rows_change(n, pack, **blocks)
        if workspace.longest:
            kernels.dynamic_rows_settle(n, pack, **blocks)
