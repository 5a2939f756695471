"""Sizes of readers and writers that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class FilesTuning(Tuning):
    """What is read at a time."""

    python_bytes: int = 200_000
    """Bytes (decompressed) up to which plain Python parses: compiling or loading the kernels takes longer."""
    least_block: int = 1 << 16
    """Bytes of a block of text at least."""
    text_at_once: int = 4 << 20
    """Bytes of the blocks that are parsed at the same time, at most; twice as many wait."""
    values: int = 1 << 20
    """Values of a column that are gone through at a time."""
    parquet_rows: int = 1 << 14
    """Rows of a Parquet file that are made at a time."""
    range_rows: int = 4 << 20
    """Rows of a native file that are a range; so many that columns fill whole pages at least."""
    stream_checked: int = 64 << 20
    """Bytes of a stream from which it is checked whether it fits in memory, and again whenever it has doubled."""


FILES = FilesTuning()
"""The sizes that readers and writers use now."""
