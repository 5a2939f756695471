"""Edge rows: of every edge that a partition stores, which row of the caller's arrays or file it is.

They are no part of a build. Where a sampler asks for them, each rank makes its piece of the edges again from their
lineage, with a number for each, and sends these the way that the edges went: so they stand in the order of the rows
that are there, whatever the partitioner. Of parallel edges of one weight the first row stands first; of merged ones,
which are one, the first of those of the smallest weight stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.comm.protocol import Communicator
from graphdask.device.backend import Array, Backend
from graphdask.device.counting import any_set
from graphdask.errors import OverBudget, Unsupported, VerificationError
from graphdask.partition.build import BYTES_PER_ARC, to_owners
from graphdask.partition.changes import ChangedPiece, ChangedSource
from graphdask.partition.part import Part
from graphdask.partition.reversed import ReversedPiece, ReversedSource
from graphdask.partition.sources import ArraySource, ChunkPiece, ChunkSource, EdgeSource, GeneratedSource, Piece
from graphdask.partition.tuning import PARTITION

MORE_PER_ARC = 24
"""Bytes that the number of an edge takes at most while it is sent and sorted, beside what a build takes."""


@dataclass(frozen=True)
class NumberedPiece:
    """The share of one rank, and what is known here of its edges' numbers."""

    piece: Piece
    first: int | None = None
    """The number of its first edge, those after it being numbered on; None where ranks must count."""
    numbers: np.ndarray | None = None
    """int64: of every edge, where some that the caller gave are left out."""
    inserted: np.ndarray | None = None
    """int64: of all edges that batches inserted into a dynamic graph."""


@dataclass(frozen=True)
class RowsPlan:
    """What every rank must know."""

    directed: bool
    merge: bool
    inward: bool
    """Whether the numbers are those of in-edges."""
    count: int
    """One more than the largest number, at most."""
    num_edges: int
    weighted: bool

    @property
    def dtype(self) -> np.dtype:
        """Of the numbers."""
        return np.dtype(np.int32 if self.count <= PARTITION.narrow_ids else np.int64)


SAMPLE_WITHOUT = "sample without edge rows (edge_rows=False)"
LEAVE_COLUMNS = (
    "leave out columns of edges, which are found by these rows, as gd.from_edges(*G.edges(), directed=G.directed) does"
)
"""What to do without rows, of samples and of columns."""


def numbered_pieces(source: EdgeSource, size: int, otherwise: str = SAMPLE_WITHOUT) -> list[NumberedPiece]:
    """The pieces of so many ranks, with the numbers of their edges as far as they are known.

    Parameters
    ----------
    otherwise : str
        What the caller may do if rows are not known.

    Raises
    ------
    Unsupported
        If the row of an edge is not known.
    """
    if isinstance(source, ReversedSource):
        return [
            replace(given, piece=ReversedPiece(given.piece)) for given in numbered_pieces(source.base, size, otherwise)
        ]
    if isinstance(source, ChangedSource):
        return _after_batches(source, size, otherwise)
    if hasattr(source, "check_edge_rows"):
        source.check_edge_rows()
    elif not isinstance(source, ArraySource | ChunkSource | GeneratedSource):
        raise Unsupported(
            f"edge rows are supported for graphs made from arrays, files and data frames, and for generated graphs; "
            f"{otherwise}"
        )
    pieces = [source.piece(rank, size) for rank in range(size)]
    if not isinstance(source, ArraySource):
        return [NumberedPiece(piece) for piece in pieces]
    bounds = [source.num_edges * rank // size for rank in range(size + 1)]
    rows = source.rows
    if rows is None:
        return [NumberedPiece(piece, first) for piece, first in zip(pieces, bounds, strict=False)]
    return [NumberedPiece(piece, None, rows[bounds[r] : bounds[r + 1]]) for r, piece in enumerate(pieces)]


def _after_batches(source: ChangedSource, size: int, otherwise: str) -> list[NumberedPiece]:
    """The same of a graph that batches have changed; edges that they inserted follow on those that there were."""
    insertions = source.insertions
    if insertions is None or not insertions.exact:
        raise Unsupported(
            f"rows of this dynamic graph's edges are not known: a Dask data frame of a batch had edges that stand more "
            f"than once, which its workers dropped; give arrays, or {otherwise}"
        )
    inserted = rows_given(source.base) + insertions.places(source.log.joined)
    before = numbered_pieces(source.base, size, otherwise)
    return [
        NumberedPiece(source.piece(rank, size), old.first, old.numbers, inserted) for rank, old in enumerate(before)
    ]


def rows_given(source: EdgeSource) -> int:
    """How many edges the caller gave, those among them that are left out."""
    if isinstance(source, ReversedSource):
        return rows_given(source.base)
    if isinstance(source, ChangedSource):
        return rows_given(source.base) + (0 if source.insertions is None else len(source.insertions))
    return getattr(source, "rows_given", source.num_edges)


def add_edge_rows(
    comm: Communicator, backend: Backend, part: Part, given: NumberedPiece, plan: RowsPlan, memory_share: float = 1.0
) -> Part:
    """Return the partition with the rows of its out-edges, or of its in-edges. Every rank calls it.

    Raises
    ------
    OverBudget
        Where the estimate exceeds the memory that is free.
    VerificationError
        Where the edges are made again from their lineage and come out as others.
    """
    csr = part.inward if plan.inward else part.out
    assert csr is not None
    _check_memory(comm, backend, part, plan, memory_share)
    rows = _rows(comm, backend, part, given, plan)
    if len(rows) != csr.num_edges:
        raise VerificationError(
            f"rank {comm.rank} stores {csr.num_edges:,} edges, and their lineage now gives {len(rows):,}: what the "
            f"graph was made of has changed, so the rows of its edges are unknown; make the graph again"
        )
    csr = replace(csr, rows=rows)
    if part.inward is part.out:
        part = replace(part, out=csr, inward=csr)
    else:
        part = replace(part, inward=csr) if plan.inward else replace(part, out=csr)
    backend.synchronize()
    return part


def _rows(comm: Communicator, backend: Backend, part: Part, given: NumberedPiece, plan: RowsPlan) -> Array:
    xp, vertex_map = backend.xp, part.vertex_map
    src, dst, weights, numbers = numbered_edges(comm, backend, given, plan.dtype)
    src, dst = (column.astype(vertex_map.dtype, copy=False) for column in (src, dst))
    if plan.inward and plan.directed:
        src, dst = dst, src
    position_of = vertex_map.lookup(backend, (1 if plan.directed else 2) * len(src))
    at = position_of(src)
    if not plan.directed:
        other_way = src != dst
        at = xp.concatenate([at, position_of(dst[other_way])])
        dst, numbers = xp.concatenate([dst, src[other_way]]), xp.concatenate([numbers, numbers[other_way]])
        weights = None if weights is None else xp.concatenate([weights, weights[other_way]])
    del src
    at, dst, weights, numbers = to_owners(comm, backend, vertex_map.offsets, at, dst, weights, numbers)
    if comm.size > 1:
        at -= at.dtype.type(part.first_position)
    return _in_order(xp, at, dst, weights, numbers, plan.merge)


def numbered_edges(
    comm: Communicator, backend: Backend, given: NumberedPiece, dtype: np.dtype
) -> tuple[Array, Array, Array | None, Array]:
    """Ends and weights of the edges of a piece, and the number of each. Every rank calls it."""
    xp, piece = backend.xp, given.piece
    if isinstance(piece, ReversedPiece):
        dst, src, weights, numbers = numbered_edges(comm, backend, replace(given, piece=piece.base), dtype)
        return src, dst, weights, numbers
    if isinstance(piece, ChangedPiece):
        before = numbered_edges(comm, backend, NumberedPiece(piece.base, given.first, given.numbers), dtype)
        src, dst, weights, numbers = piece.after(backend, *before, given.inserted)
        return src, dst, weights, numbers
    if hasattr(piece, "numbered_edges"):
        return piece.numbered_edges(backend, dtype)
    if given.numbers is not None:
        return *piece.edges(backend), backend.from_host(given.numbers.astype(dtype))
    if isinstance(piece, ChunkPiece):
        edges, lengths = piece.edges_and_lengths(backend)
        begins = _begins_of_chunks(comm, lengths)
        spans = [np.arange(begin, begin + length) for begin, length in zip(begins, lengths, strict=True)]
        return *edges, backend.from_host(np.concatenate([np.zeros(0, dtype), *spans]).astype(dtype, copy=False))
    edges = piece.edges(backend)
    count, first = len(edges[0]), given.first
    if first is None:
        first = int(_everyones(comm, [count])[: comm.rank].sum())
    return *edges, xp.arange(first, first + count, dtype=dtype)


def _everyones(comm: Communicator, values: Sequence[int]) -> np.ndarray:
    """The numbers of all ranks, which have as many each, int64 of shape (ranks, numbers)."""
    mine = np.array(values, np.int64)
    return mine[None] if comm.size == 1 else comm.allgather(mine).reshape(comm.size, -1)


def _begins_of_chunks(comm: Communicator, lengths: Sequence[int]) -> list[int]:
    """Where each chunk of this rank begins among all; chunks are dealt, one to each rank in turn."""
    most = int(_everyones(comm, [len(lengths)]).max())
    dealt = _everyones(comm, [*lengths, *[0] * (most - len(lengths))])
    in_turn = dealt.T.reshape(-1)
    begins = (np.cumsum(in_turn) - in_turn).reshape(most, comm.size)
    return begins[: len(lengths), comm.rank].tolist()


def _in_order(xp: Any, rows: Array, columns: Array, weights: Array | None, numbers: Array, merge: bool) -> Array:
    """Numbers in the order of rows, columns, weights, and then their own; of a merged row and column the first."""
    narrow = columns.dtype == np.int32
    keys = [(rows.astype(np.int64) << 32) | columns.astype(np.int64)] if narrow else [columns, rows]
    del rows, columns

    def repeats(order: Array) -> Array:
        same = xp.ones(max(len(order) - 1, 0), bool)
        for key in keys:
            in_turn = key[order]
            same &= in_turn[1:] == in_turn[:-1]
        return same

    def sorted_by(columns: Sequence[Array]) -> Array:
        order = xp.argsort(columns[0], kind="stable")
        for column in columns[1:]:
            order = order[xp.argsort(column[order], kind="stable")]
        return order

    order = sorted_by(keys)
    same = repeats(order)
    if any_set(same):
        order = sorted_by([numbers, *([] if weights is None else [weights]), *keys])
        if merge:
            order = order[xp.concatenate([xp.ones(1, bool), ~repeats(order)])]
    return numbers[order]


def memory(part: Part, plan: RowsPlan, size: int) -> int:
    """Bytes that each of `size` ranks takes at most while it finds the rows, and for them."""
    arcs = plan.num_edges * (1 if plan.directed else 2) / size
    each = BYTES_PER_ARC[part.vertex_map.dtype.itemsize] + MORE_PER_ARC + (32 if plan.weighted else 0)
    return int(arcs * each)


def _check_memory(comm: Communicator, backend: Backend, part: Part, plan: RowsPlan, memory_share: float) -> None:
    needed, free = memory(part, plan, comm.size), int(backend.free_memory() * memory_share)
    if needed > free:
        raise OverBudget(
            f"the rows of the edges need about {needed / 2**30:.3g} GiB on each of {comm.size} ranks while they are "
            f"found, of which {plan.dtype.itemsize} bytes an edge stay, and rank {comm.rank} ({backend.description}) "
            f"may use {free / 2**30:.3g} GiB; sample without edge rows, use more workers, or raise the setting "
            f"graphdask.memory-fraction"
        )
