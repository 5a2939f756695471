"""Sizes of streams that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class StreamTuning(Tuning):
    """How work on chunks is divided, and how they are read."""

    one_core: int = 1 << 16
    """Edges, or rows, below which one core does it all."""
    counted_edges: int = 1 << 14
    """Edges of rows that the proof of label propagation sorts at a time."""
    block_edges: int = 1 << 22
    """Edges of a block of a file of which a store is built."""
    kept_tables: float = 2
    """Launches that sum a chunk with others, one for each way to go over them, whose tables are kept."""
    reported: int = 1 << 14
    """Vertices whose values a rank sends in a superstep, if there are so many."""
    direct_bytes: int = 1 << 18
    """Bytes of a chunk from which the blocks that it shares with others do not matter."""
    direct_rate: float = 6e8
    """Bytes per second that one of the first reads past the cache must reach, beside others that are under way, so that
    more follow."""


STREAM = StreamTuning()
"""The sizes that streams use now."""
