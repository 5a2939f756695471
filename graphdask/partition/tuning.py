"""Sizes of partitions that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class PartitionTuning(Tuning):
    """How partitions hold vertices and edges."""

    narrow_ids: int = 2**31 - 1
    """Vertices of a graph from which on their numbers are of 64 bits: numbers, and one more, fit 32 bits below.
    Rows of edges are of 64 bits where there are more than so many."""
    block_edges: int = 1 << 22
    """Edges of a block of neighbours, more only by a row."""
    block_rows: int = 1 << 24
    """Rows of a block at most, so that keys of a row and a slot fit 64 bits."""
    batch_edges: int = 2**31 - 1
    """Edges of a batch of changes at most; they are numbered in 32 bits."""
    table_vertices: int = 2
    """Vertices for each entry of rows up to which ghosts are found in a table of all vertices; for more, entries are
    sorted and searched for."""
    table_uses: float = 1.5
    """Ids for each vertex from which on a CPU permutes all vertices into a table, instead of each id."""


PARTITION = PartitionTuning()
"""The sizes that partitions use now."""
