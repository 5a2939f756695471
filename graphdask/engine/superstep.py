"""What one rank reports: the statistics of each superstep, and its share of the result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array


@dataclass
class Superstep:
    """Statistics of one superstep on one rank, in the BSP terms of Pan et al."""

    number: int
    frontier: int
    """Vertices worked on."""
    edges: int
    """Edges scanned (W)."""
    messages: int
    """Vertices sent to other ranks (H)."""
    bytes_sent: int
    """Payload bytes to other ranks: of these messages, and of what ranks ask each other besides while they compute, in
    the first superstep also before it, and in the last one after it."""
    codes: tuple[str, ...]
    """How the payloads were coded, one for each peer that got any."""
    compute: float
    """Seconds in the primitive."""
    code: float
    """Seconds for splitting, coding and decoding (C). What a GPU codes before the host knows how much it is counts to
    `compute`."""
    exchange: float
    """Seconds on the wire, the wait for slower ranks taken off."""
    wait: float
    """Seconds waited for slower ranks, and of a streamed graph for chunks."""
    done: float = 0.0
    """How many of the `goal` of the primitive are done."""
    ways: tuple[int, int] = (0, 0)
    """Of a program, how often vertices pushed messages and how often they pulled them: several times in one launch."""
    compile: float = 0.0
    """Seconds for which kernels were compiled, here or on a rank that was waited for; in none of the others."""


@dataclass
class RankResult:
    """What one rank hands back."""

    columns: dict[str, Array]
    values: dict[str, Any] = field(default_factory=dict)
    """Numbers of the whole run, the same on every rank."""
    dtypes: dict[str, np.dtype] = field(default_factory=dict)
    """Of the columns."""
    supersteps: list[Superstep] = field(default_factory=list)
    transport: str = ""
    device: str = ""
    memory: int = 0
    """Bytes that the run was announced to need besides the partition."""
    allocated_start: int = 0
    """Bytes of the state before the first superstep."""
    allocated_end: int = 0
    """And after the last one."""
    growths: int = 0
    """How often a queue had to grow."""
    checkpoints: Any = None
    """What is known of the run's checkpoints (`graphdask.engine.checkpoints.Kept`); None if there are none."""

    def taking(self, found: dict[str, Any]) -> RankResult:
        """Take in what a primitive has found, arrays over the own vertices and numbers, and return self."""
        self.columns = {name: value for name, value in found.items() if hasattr(value, "dtype") and value.ndim}
        self.values = {name: value for name, value in found.items() if name not in self.columns}
        self.dtypes = {name: array.dtype for name, array in self.columns.items()}
        return self

    def without_columns(self) -> RankResult:
        """Return the result without its columns: the part that is sent to the client while the columns stay."""
        return replace(self, columns={})


def waited(
    computing: list[int], compilings: list[int], busy: float, compiling: float, exchange: float
) -> tuple[float, float]:
    """Return for how many seconds of an exchange a rank waited for ranks that computed, and that compiled kernels.

    `computing` and `compilings` are nanoseconds of all ranks, and `busy` and `compiling` seconds of this one.
    """
    wait = min(max(max(computing) / 1e9 - busy, 0.0), exchange)
    latest = max(ran + compiled for ran, compiled in zip(computing, compilings, strict=True)) / 1e9
    return wait, min(max(latest - busy - compiling - wait, 0.0), exchange - wait)
