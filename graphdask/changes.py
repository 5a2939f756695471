"""Batches of edges to insert and to delete, and the lineage of a graph that has seen some.

In a batch deletions come first: an edge that it deletes and inserts is there afterwards. Between batches nothing is
kept but, for every edge that a batch has named, whether it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.backend import Backend
from graphdask.partition import index_dtype
from graphdask.sources import EdgeSource, Piece

MOST_VERTICES = 3_000_000_000
"""Two numbers below this fit one of 64 bits."""


@dataclass(frozen=True)
class Batch:
    """Distinct edges, and what is to become of them; all arrays int64 or bool of shape (k,)."""

    src: np.ndarray
    dst: np.ndarray
    insert: np.ndarray
    """Whether the edge is there afterwards."""
    twice: np.ndarray
    """Whether it is deleted before it is inserted."""
    weights: np.ndarray | None
    """Of the edges to insert."""
    repeated_insertions: int = 0
    """Insertions that another one of the batch makes needless; the last one's weight counts."""
    repeated_deletions: int = 0

    def __len__(self) -> int:
        return len(self.src)

    @classmethod
    def of(
        cls,
        insert: tuple[np.ndarray, np.ndarray],
        delete: tuple[np.ndarray, np.ndarray],
        weights: np.ndarray | None,
        directed: bool,
    ) -> Batch:
        """Join deletions and then insertions, given in vertex numbers."""
        src, dst = (np.concatenate([delete[end], insert[end]]) for end in (0, 1))
        if not directed:
            src, dst = np.minimum(src, dst), np.maximum(src, dst)
        inserts = np.arange(len(src)) >= len(delete[0])
        order = np.lexsort((dst, src))  # stable: among equals deletions stand first, and the last insertion last
        src, dst, inserts = src[order], dst[order], inserts[order]
        first = np.ones(len(src), bool)
        first[1:] = (src[1:] != src[:-1]) | (dst[1:] != dst[:-1])
        starts = np.flatnonzero(first)
        last = np.append(starts[1:], len(src))[: len(starts)] - 1
        ends = inserts[last] if len(last) else np.zeros(0, bool)
        given = None
        if weights is not None:
            every = np.concatenate([np.zeros(len(delete[0]), weights.dtype), weights])
            given = every[order][last]
        begins = ~inserts[starts]
        return cls(
            src[starts], dst[starts], ends, begins & ends, given,
            len(insert[0]) - int(ends.sum()), len(delete[0]) - int(begins.sum()),
        )  # fmt: skip

    def then(self, later: Batch) -> Batch:
        """Of the edges that either names, what the later one says, or else this one."""
        insert, src, dst = (
            np.concatenate([getattr(self, name), getattr(later, name)]) for name in ("insert", "src", "dst")
        )
        order = np.lexsort((dst, src))
        last = np.ones(len(src), bool)
        s, d = src[order], dst[order]
        last[:-1] = (s[1:] != s[:-1]) | (d[1:] != d[:-1])
        kept = order[last]
        weights = None
        if self.weights is not None and later.weights is not None:
            weights = np.concatenate([self.weights, later.weights])[kept]
        return Batch(src[kept], dst[kept], insert[kept], np.zeros(len(kept), bool), weights)


def no_batch(weight_dtype: Any) -> Batch:
    """A batch of nothing."""
    ends, flags = np.zeros(0, np.int64), np.zeros(0, bool)
    return Batch(ends, ends, flags, flags, None if weight_dtype is None else np.zeros(0, weight_dtype))


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
        xp, dtype, n = backend.xp, index_dtype(self.num_vertices), np.int64(self.num_vertices)
        src, dst, weights = self.base.edges(backend)
        low, high = (src, dst) if self.directed else (xp.minimum(src, dst), xp.maximum(src, dst))
        if len(self.changed):
            keys = backend.from_host(self.changed.src * n + self.changed.dst)
            key = low.astype(np.int64) * n + high.astype(np.int64)
            place = xp.minimum(xp.searchsorted(keys, key), len(keys) - 1)
            kept = keys[place] != key
            src, dst = src[kept], dst[kept]
            weights = None if weights is None else weights[kept]
        there = np.flatnonzero(self.changed.insert)[self.share]
        src, dst = (
            xp.concatenate([old.astype(dtype), backend.from_host(new[there].astype(dtype))])
            for old, new in ((src, self.changed.src), (dst, self.changed.dst))
        )
        if weights is not None and self.changed.weights is not None:
            weights = xp.concatenate([weights, backend.from_host(self.changed.weights[there])])
        if self.renumbered is not None:
            table = backend.from_host(self.renumbered)
            src, dst = table[src], table[dst]
        return src, dst, weights


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
    ):
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
