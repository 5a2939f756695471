"""Buckets of a search by distances: its queues of near and far vertices, and how wide a bucket is.

A slot whose distance falls below the limit of the current bucket is near; one that is first reached beyond the limit
waits among the far ones. A split makes those of the far ones near that are below the next limit. One launch goes
through many steps, so the queues cannot grow and are long enough from the start: for every vertex or, if memory is
allocated just-enough, for every vertex that an edge leads to.

The host reads one row of counters in a superstep, at its end. What a search does with an edge is not decided here. Its
pack is a `BucketSearch` (kernels/common/buckets_pack.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment
from graphdask.engine.queues import Queues, most_reached
from graphdask.engine.targets import DistanceStop
from graphdask.engine.votes import Votes
from graphdask.kernels.common.buckets_pack import COUNTS, BucketSearch
from graphdask.partition.part import Part

VOTES = Votes("BucketVotes", busy=max, nearest=min, edges=sum, far=sum, farthest=max)
"""What each rank votes: whether it has anything to relax or to send, a bound from below on the distances of its far
vertices, the edges that it visited, its far vertices, and how far away its farthest target is (`DistanceStop`)."""
BUCKETS = 64
"""Buckets at most that a graph in one partition goes through between two checks by the host."""
BRIEF = 1 << 14
"""Edges relaxed in a bucket below which a CPU, too, goes through several: a superstep costs as much."""
LIGHT = {"cpu": 1 << 18, "cuda": 0}
"""Edges relaxed in a bucket, by all of several ranks, below which its supersteps cost more than they: where they have
become fewer, the next bucket is twice as wide, and narrower again after one of HEAVY times as many. On a GPU buckets
are wide from the start."""
SORTED = {"cpu": 2, "cuda": 0}
"""The same for each of the far ones, all of which are scanned when a bucket begins."""
HEAVY = 8


@dataclass
class Buckets(Queues):
    """The near vertices of a rank, its far ones, and the ghosts that it reaches; `Buckets.of` makes it."""

    far: tuple[Array, Array]
    """Far slots, after even numbers of splits and after odd ones."""
    control: Array
    """int64: counters, smallest distances and the limit of `search`, in the memory of one copy to the host."""
    search: BucketSearch
    """What the kernels work on."""

    @classmethod
    def of(
        cls, part: Part, env: Environment, name: str, search: BucketSearch, far: Array, nearest: float, starts: int,
        distance: np.dtype,
    ) -> Buckets:  # fmt: skip
        """Return the queues before the first bucket, and give the pack of the search what it needs.

        Parameters
        ----------
        far : array
            Distinct own vertices that have yet to relax their edges.
        nearest : float
            A distance in the first bucket, which has all of them that are not beyond.
        starts : int
            The number of sources.
        distance : numpy.dtype
        """
        xp, dtype, slots, owned = env.xp, part.vertex_map.dtype, part.num_slots, part.num_owned
        control = np.zeros(len(COUNTS) + 4, np.int64)
        control[len(COUNTS) : -1].view(np.float64)[:] = math.inf
        queues = Queues.allocated(part, env, name, starts)
        what, most = f"{name}'s queue of far vertices", queues.unreached + slots - owned
        even_far, odd_far = (env.buffer(what, slots, dtype, most).array for _ in range(2))
        if len(far):
            even_far[: len(far)], control[COUNTS.place.far.start] = far, len(far)
            control[len(COUNTS) : -1].view(np.float64)[0] = nearest
        words = env.backend.from_host(control)
        search.assign(
            stamp=xp.full(slots, -1, np.int32), limit=words[-1:].view(distance)[:1], owned=owned,
            even_near=queues.queues[0].array, odd_near=queues.queues[1].array, even_far=even_far, odd_far=odd_far,
            ghost_queue=queues.ghosts.array, hubs=queues.hubs.array, counters=words[: len(COUNTS)],
            least=words[len(COUNTS) : -1].view(np.float64),
        )  # fmt: skip
        return cls(**vars(queues), far=(even_far, odd_far), control=words, search=search)

    @staticmethod
    def entries(part: Part, allocation: Allocation, starts: int) -> int:
        """Return the entries of the queues of a search from so many vertices."""
        slots = part.num_slots
        far = allocation.first(slots, most_reached(part, allocation, starts) + slots - part.num_owned)
        return Queues.length(part, allocation, starts) + 2 * far


@dataclass(kw_only=True)
class BucketState:
    """What a search by buckets keeps between its supersteps; a subclass adds what it needs."""

    frontier: Buckets | None
    """Needed only while distances still fall."""
    stop: DistanceStop
    """Where the search stops."""
    far: int = 0
    nearest: float = math.inf
    """A bound from below on the distances of the far ones."""
    begun: float = 0.0
    """The smallest distance among the far ones when the current bucket began; the same on all ranks."""
    superstep: int = 0
    step: int = 0
    """The next step of the kernel."""
    split: int = 0
    """How often the bucket has moved on."""
    buckets: int = 1
    """How many began when last one did."""
    widened: float = 1.0
    """By what the current bucket is wider than the first."""
    visited: tuple[float, float] = (-1.0, 0.0)
    """Edges visited by all ranks in the bucket before and in this one, so far; of several the mean; -1 before
    the first."""
    acted: int = 0
    """Vertices whose edges were relaxed."""
    edges: int = 0
    """Edges visited."""
    too_far: bool = False
    """Whether there are vertices beyond the last bucket; the same on all ranks."""

    def begin(self, part: Part, voted: Any, env: Environment) -> int:
        """Return how many buckets begin in this superstep, and set by what they are widened.

        It is the same on all ranks: they know from what was `voted` what is left to do in this bucket, and how much
        work the last one was.
        """
        device, visited = env.backend.name, self.visited[1] + voted.edges / self.buckets
        if part.size > 1 and voted.busy:
            self.visited = self.visited[0], visited
            return 0
        before, self.visited = self.visited[0], (visited, 0.0)
        light = max(LIGHT[device] * (part.size > 1), SORTED[device] * voted.far)
        if visited < light and visited <= before:
            self.widened *= 2.0
        elif visited > HEAVY * light:
            self.widened = max(self.widened / 2.0, 1.0)
        if part.size == 1:
            several = min(2 * self.buckets, BUCKETS) if visited < BRIEF else 1
            self.buckets = BUCKETS if device == "cuda" else several
        return self.buckets
