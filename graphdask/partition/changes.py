"""Batches of edges to insert and to delete, and the lineage of a graph that has seen some.

In a batch deletions come first: an edge that it deletes and inserts is there afterwards. Between batches nothing is
kept but, for every edge that a batch has named, whether it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import InputError
from graphdask.partition.sources import EdgeSource, Piece
from graphdask.partition.tuning import PARTITION
from graphdask.partition.vertex_map import even_offsets, index_dtype

_ONE = np.uint64(1)
MOST_VERTICES = 2_400_000_000
"""Two numbers below this, and twice the capacity of rows for more vertices, fit one of 64 bits."""


@dataclass(frozen=True)
class Batch:
    """Distinct edges, by source and then by destination, and what is to become of them."""

    edges: np.ndarray
    """uint64, shape (k,): (source * num_vertices + destination) * 2, and 1 where the edge is there afterwards."""
    num_vertices: int
    twice: np.ndarray
    """bool, shape (k,): whether the edge is deleted before it is inserted."""
    weights: np.ndarray | None
    """Of the edges to insert, shape (k,)."""
    repeated_insertions: int = 0
    """Insertions that another one of the batch makes needless; the last one's weight counts."""
    repeated_deletions: int = 0
    given: np.ndarray | None = None
    """uint64: the edges to insert as `edges` has them, in the order in which they were given."""

    def __len__(self) -> int:
        return len(self.edges)

    @cached_property
    def insert(self) -> np.ndarray:
        """bool: whether the edge is there afterwards."""
        return (self.edges & _ONE).astype(bool)

    def ends(self, which: np.ndarray | slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Sources and destinations of some of the edges, int64."""
        pairs = (self.edges[which] >> _ONE).astype(np.int64)
        src = pairs // max(self.num_vertices, 1)
        return src, pairs - src * self.num_vertices

    def shares(self, size: int) -> list[np.ndarray]:
        """Cut into so many pieces, which differ by an edge at most, as bytes: edges, and then their weights."""
        cuts = even_offsets(len(self), size).tolist()
        columns = [self.edges] if self.weights is None else [self.edges, self.weights]
        pieces = ([column[first:last].view(np.uint8) for column in columns] for first, last in pairwise(cuts))
        return [piece[0] if len(piece) == 1 else np.concatenate(piece) for piece in pieces]

    @classmethod
    def of(
        cls,
        insert: tuple[np.ndarray, np.ndarray],
        delete: tuple[np.ndarray, np.ndarray],
        weights: np.ndarray | None,
        directed: bool,
        num_vertices: int,
    ) -> Batch:
        """Join deletions and then insertions, given in vertex numbers below `num_vertices`.

        Raises
        ------
        InputError
            For more edges than a batch may have.
        """
        inserted, deleted = (_packed(*ends, directed, num_vertices) for ends in (insert, delete))
        inserted |= _ONE
        every = np.concatenate([deleted, inserted]) if len(deleted) else inserted.copy()
        if len(every) > PARTITION.batch_edges:
            raise InputError(f"a batch of {len(every):,} edges; {PARTITION.batch_edges:,} at most, so divide it")
        order = None
        if weights is None:  # among equals deletions stand first
            every.sort()
        else:  # stable, so that the last insertion stands last
            order = np.argsort(every, kind="stable")
            every = every[order]
            weights = weights if not len(deleted) else np.concatenate([np.zeros(len(deleted), weights.dtype), weights])
        pairs = every >> _ONE
        first = np.ones(len(every), bool)
        np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
        if first.all():
            given = None if weights is None or order is None else weights[order]
            return cls(every, num_vertices, np.zeros(len(every), bool), given, given=inserted)
        last = np.append(first[1:], True)
        ends, begins = every[last], every[first]
        given = None if weights is None or order is None else weights[order][last]
        twice, insertions = begins < ends, len(ends)
        deletions = 0
        if len(deleted):
            insertions = int(np.count_nonzero(ends & _ONE))
            deletions = len(begins) - int(np.count_nonzero(begins & _ONE))
        return cls(ends, num_vertices, twice, given, len(inserted) - insertions, len(deleted) - deletions, inserted)

    def then(self, later: Batch) -> Batch:
        """Of the edges that either names, what the later one says, or else this one."""
        n = later.num_vertices
        older = self.edges
        if n != self.num_vertices:
            older = _packed(*self.ends(), True, n) | self.edges & _ONE
        edges = np.concatenate([older, later.edges])
        order = np.argsort(edges >> _ONE, kind="stable")
        pairs = edges[order] >> _ONE
        last = np.ones(len(pairs), bool)
        np.not_equal(pairs[1:], pairs[:-1], out=last[:-1])
        kept = order[last]
        weights = None
        if self.weights is not None and later.weights is not None:
            weights = np.concatenate([self.weights, later.weights])[kept]
        return Batch(edges[kept], n, np.zeros(len(kept), bool), weights)


def _packed(src: np.ndarray, dst: np.ndarray, directed: bool, num_vertices: int) -> np.ndarray:
    """Edges as `Batch.edges` has them, of those that are deleted."""
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    packed = src.astype(np.uint64)
    packed *= np.uint64(num_vertices)
    packed += dst.astype(np.uint64)
    packed <<= _ONE
    return packed


def no_batch(weight_dtype: Any, num_vertices: int) -> Batch:
    """A batch of nothing."""
    weights = None if weight_dtype is None else np.zeros(0, weight_dtype)
    return Batch(np.zeros(0, np.uint64), num_vertices, np.zeros(0, bool), weights)


class Log:
    """The batches up to one version; joined only where somebody asks for their edges."""

    def __init__(self, batch: Batch, previous: Log | None = None):
        self._batch, self._previous = batch, previous
        self._joined = batch if previous is None else None

    @property
    def joined(self) -> Batch:
        """Every edge that a batch has named, in vertex numbers, by source and then by destination; and whether it is
        there."""
        node, later = self, []
        while node._joined is None:
            later.append(node._batch)
            assert node._previous is not None
            node = node._previous
        batches = [node._joined, *reversed(later)]
        while len(batches) > 1:
            pairs = [one.then(next_) for one, next_ in zip(batches[::2], batches[1::2], strict=False)]
            batches = pairs + batches[2 * len(pairs) :]
        self._joined, self._previous = batches[0], None
        return batches[0]

    def __getstate__(self) -> dict[str, Any]:
        return {"_batch": self._batch, "_previous": None, "_joined": self.joined}


@dataclass(frozen=True)
class ChangedPiece:
    """A piece of the edges that there were at first without those that batches named, and a share of the latter."""

    base: Piece
    changed: Batch
    share: slice
    num_vertices: int
    directed: bool
    renumbered: np.ndarray | None

    def edges(self, backend: Backend) -> Any:
        return self.after(backend, *self.base.edges(backend))[:3]

    def after(
        self, backend: Backend, src: Array, dst: Array, weights: Array | None, numbers: Array | None = None,
        inserted: np.ndarray | None = None,
    ) -> tuple[Any, ...]:  # fmt: skip
        """The edges after the batches, of those before; and their numbers, with those of the share of insertions."""
        xp, dtype, n = backend.xp, index_dtype(self.num_vertices), np.int64(self.num_vertices)
        low, high = (src, dst) if self.directed else (xp.minimum(src, dst), xp.maximum(src, dst))
        named = self.changed.ends()
        if len(self.changed):
            keys = backend.from_host(named[0] * n + named[1])
            key = low.astype(np.int64) * n + high.astype(np.int64)
            place = xp.minimum(xp.searchsorted(keys, key), len(keys) - 1)
            kept = keys[place] != key
            src, dst = src[kept], dst[kept]
            weights = None if weights is None else weights[kept]
            numbers = None if numbers is None else numbers[kept]
        there = np.flatnonzero(self.changed.insert)[self.share]
        src, dst = (
            xp.concatenate([old.astype(dtype), backend.from_host(new[there].astype(dtype))])
            for old, new in zip((src, dst), named, strict=True)
        )
        if weights is not None and self.changed.weights is not None:
            weights = xp.concatenate([weights, backend.from_host(self.changed.weights[there])])
        if self.renumbered is not None:
            table = backend.from_host(self.renumbered)
            src, dst = table[src], table[dst]
        if numbers is not None and inserted is not None:
            numbers = xp.concatenate([numbers, backend.from_host(inserted[self.share].astype(numbers.dtype))])
        return src, dst, weights, numbers


@dataclass(frozen=True)
class Insertions:
    """What the batches up to one version inserted, entry by entry."""

    batches: list[np.ndarray]
    """Edges as `Batch.given` has them; later versions append theirs."""
    sizes: list[int]
    """Numbers of vertices that they are packed with."""
    count: int
    """How many of the batches there are in this version."""
    exact: bool = True
    """Whether all that was given is there."""

    def with_batch(self, batch: Batch, exact: bool) -> Insertions:
        """Those of the next version."""
        if len(self.batches) > self.count:  # of a version that was never reached
            del self.batches[self.count :], self.sizes[self.count :]
        assert batch.given is not None
        self.batches.append(batch.given)
        self.sizes.append(batch.num_vertices)
        return Insertions(self.batches, self.sizes, self.count + 1, self.exact and exact)

    def __len__(self) -> int:
        return sum(map(len, self.batches[: self.count]))

    def places(self, joined: Batch) -> np.ndarray:
        """int64: of each edge that batches have inserted and that is there, the place of the last entry that did."""
        n, pairs = np.uint64(joined.num_vertices), [np.zeros(0, np.uint64)]
        for edges, size in zip(self.batches[: self.count], self.sizes, strict=False):
            src = (edges >> _ONE) // np.uint64(max(size, 1))
            pairs.append(src * n + ((edges >> _ONE) - src * np.uint64(size)))
        every = np.concatenate(pairs)
        order = np.argsort(every, kind="stable")
        wanted = joined.edges[joined.insert] >> _ONE
        return order[np.searchsorted(every[order], wanted, side="right") - 1]


class ChangedSource:
    """The edges of another source after batches.

    Parameters
    ----------
    base : EdgeSource
    num_vertices : int
        Afterwards.
    num_edges : int or None
        Afterwards; None where the base has parallel edges, which then are to be merged, or does not know its number.
    log : Log
    directed : bool
    renumbered : numpy.ndarray, optional
        New numbers of the vertices, index dtype.
    insertions : Insertions, optional
        Gives the row numbers of edges that were inserted.
    """

    drops_self_loops = False

    def __init__(
        self,
        base: EdgeSource,
        num_vertices: int,
        num_edges: int | None,
        log: Log,
        directed: bool,
        renumbered: np.ndarray | None = None,
        insertions: Insertions | None = None,
    ):
        self.insertions = insertions
        self.base, self.num_vertices, self.log = base, num_vertices, log
        self.directed, self.renumbered, self._num_edges = directed, renumbered, num_edges
        self.weight_dtype, self.skewed = base.weight_dtype, base.skewed

    @cached_property
    def num_edges(self) -> int:
        """Of all pieces together; where parallel edges are to be merged, the most there may be."""
        if self._num_edges is None:
            return self.base.num_edges + int(self.log.joined.insert.sum())
        return self._num_edges

    def piece(self, rank: int, size: int) -> ChangedPiece:
        base = self.base.piece(rank, size)
        share = slice(rank, None, size)
        return ChangedPiece(base, self.log.joined, share, self.num_vertices, self.directed, self.renumbered)
