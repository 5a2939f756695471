"""What a search for shortest paths keeps between its supersteps; what it does with it is in `sssp`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graphdask.algorithms._sssp_stop import Stop
from graphdask.device.backend import Array
from graphdask.kernels.sssp.sssp_pack import Relaxing


@dataclass
class Work:
    """What is needed only while distances still fall."""

    stamp: Array
    """int32 per slot: when it was queued last."""
    near: tuple[Array, Array]
    far: tuple[Array, Array]
    ghost_queue: Array
    hubs: Array
    control: Array
    """int64: what follows, in the memory of one copy to the host."""
    counters: Array
    least: Array
    """Three smallest distances of far ones."""
    limit: Array
    """Where the current bucket ends; the distances' dtype, shape (1,)."""
    relaxing: Relaxing
    """All of this, for the kernels."""


@dataclass
class SsspState:
    labels: Array
    """Per slot, see kernels/sssp/sssp.py; the largest integer or infinity where not reached."""
    weights: Array
    each: int
    """-1 where each edge has its own weight, 0 where all have one."""
    work: Work | None
    stop: Stop
    """Where the search stops."""
    far: int = 0
    nearest: float = math.inf
    """A bound from below on the distances of the far ones."""
    superstep: int = 0
    step: int = 0
    """The next step of the kernel."""
    split: int = 0
    """How often the bucket has moved on."""
    buckets: int = 1
    """How many began when last one did."""
    widened: float = 1.0
    """By what the current bucket is wider than the first."""
    looked: tuple[float, float] = (-1.0, 0.0)
    """Edges visited by all ranks in the bucket before and in this one, so far; of several the mean; -1 before
    the first."""
    acted: int = 0
    """Vertices whose edges were relaxed."""
    edges: int = 0
    """Edges visited."""
    too_far: bool = False
    """Whether there are vertices beyond the last bucket; the same on all ranks."""
