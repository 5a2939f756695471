"""Sizes of messages that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class CommTuning(Tuning):
    """How messages are coded and sent."""

    first_buffer: int = 1 << 18
    """Bytes of the first buffer of what is sent."""
    bitmap_saves: int = 1 << 20
    """Bytes: on a GPU ids with columns are a bitmap only where it saves more. Listing its ids takes two launches and
    memory more than reading a list, 20 to 40 us for all messages; InfiniBand moves 1 MB (25 to 50 GB/s) in that time,
    NVLink several (100 to 200 GB/s)."""
    counted: int = 1024
    """Numbers that are ranked by counting, each against all, in one launch."""
    searched: int = 64
    """Numbers are looked up in the mirrors where these hold at least this many times as many entries; else every entry
    is looked up in a bitmap of the numbers. A search reads about 25 entries in places of its own, a look-up one in a
    row."""
    head: int = 4096
    """Bytes of a GPU's payloads that the host reads with their lengths. A message of UCX holds 8,000 bytes: these, the
    header, and the control integers of up to some hundred ranks."""
    riding: int = 1 << 21
    """Bytes of a payload up to which NCCL's control communicator takes it along. Between two H100 over NVLink an
    exchange of 1 MiB takes 74 us over UCX, and 127 us with control over UCX and the payload over NCCL; one of 16 MiB
    112 and 187 us."""
    bulky: int = 1 << 25
    """Bytes of payloads outside the outbox of shared memory, above which the control communicator takes them."""


COMM = CommTuning()
"""The sizes that are used now."""
