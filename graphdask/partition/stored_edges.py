"""The edges that partitions store, in blocks: what graphs are read back from whose edges are merged when built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphdask.partition.part import Part
from graphdask.partition.queries import backend_of, numbers_at
from graphdask.partition.sources import Edges

COUNTED = 1 << 22
"""Entries that are processed together when edges are counted."""


@dataclass(frozen=True)
class StoredBlock:
    """Picks the stored edges first .. last-1 of a partition, as NumPy arrays in vertex numbers.

    An undirected edge is stored at both of its ends; it is given at the smaller number.
    """

    directed: bool
    first: int = 0
    last: int = 1 << 62

    def __call__(self, part: Part) -> Edges:
        backend = backend_of(part)
        xp, csr = backend.xp, part.out
        with backend.activate():
            last = min(self.last, csr.num_edges)
            slots = csr.indices[self.first : last]
            if backend.name == "cuda":
                entries = xp.arange(self.first, last, dtype=np.int64)
                rows = xp.searchsorted(csr.indptr, entries, side="right") - 1
            else:
                begin = int(np.searchsorted(csr.indptr, self.first, side="right")) - 1
                end = int(np.searchsorted(csr.indptr, last, side="left"))
                lengths = np.diff(np.clip(csr.indptr[begin : end + 1], self.first, last))
                rows = np.repeat(np.arange(begin, end), lengths)
            src = part.ids[rows]
            dst = numbers_at(backend, part, slots)
            weights = None if csr.weights is None else csr.weights[self.first : last]
            if not self.directed:
                once = src <= dst
                src, dst, weights = src[once], dst[once], None if weights is None else weights[once]
            host = backend.to_host
            return host(src), host(dst), None if weights is None else host(weights)


def stored_blocks(part: Part, directed: bool, max_edges: int) -> Iterator[Edges]:
    """The edges of one partition in blocks."""
    for first in range(0, part.out.num_edges, max_edges):
        yield StoredBlock(directed, first, first + max_edges)(part)


@dataclass(frozen=True)
class StoredCount:
    """Counts the edges that StoredBlock gives of a partition."""

    directed: bool

    def __call__(self, part: Part) -> int:
        if self.directed:
            return part.out.num_edges
        pieces = range(0, part.out.num_edges, COUNTED)
        return sum(len(StoredBlock(False, first, first + COUNTED)(part)[0]) for first in pieces)


def stored_count(part: Part) -> int:
    """How many stored entries a partition has; an undirected edge has two, a self-loop one."""
    return part.out.num_edges
