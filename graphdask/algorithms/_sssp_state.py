"""What a search for shortest paths keeps between its supersteps; what it does with it is in `sssp`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms._shortest_tree import weights_of
from graphdask.algorithms._sssp_stop import Stop
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.queues import Queues
from graphdask.engine.votes import Votes
from graphdask.kernels.sssp.sssp_pack import COUNTS, Relaxing
from graphdask.partition.part import Part

VOTES = Votes("PathVotes", busy=max, nearest=min, edges=sum, far=sum, farthest=max)
"""What each rank votes: whether it has anything to relax or to send, a bound from below on the distances of its far
vertices, the edges that it visited, its far vertices, and how far away its farthest target is (`Stop.farthest`)."""


@dataclass
class Work(Queues):
    """What is needed only while distances still fall: queues of near vertices, and these."""

    far: tuple[Array, Array]
    control: Array
    """int64: counters, smallest distances and the limit of `relaxing`, in the memory of one copy to the host."""
    relaxing: Relaxing
    """What the kernels work on."""


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
    parent: Array | None = None
    """Per slot: its parent, where the search finds these as it goes on (kernels/sssp/sssp.py)."""
    level: Array | None = None
    """int64, shape (1,), with `parent`: whether that is of no use."""
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

    def find_parents(self, part: Part, sources: Array) -> None:
        """Let a search that begins on a CPU with the whole graph find parents."""
        assert self.work is not None
        dtype = part.vertex_map.dtype
        self.parent, self.level = np.full(part.num_slots, np.iinfo(dtype).max, dtype), np.zeros(1, np.int64)
        self.parent[sources] = part.ids[sources]
        self.work.relaxing.parent, self.work.relaxing.level = self.parent, self.level

    @property
    def parents(self) -> Array | None:
        """The parents of all slots; None where they are to be found from the distances."""
        return None if self.level is None or self.level[0] else self.parent


def finds_parents(primitive: Any, part: Part) -> bool:
    """Whether a search for paths finds parents as it relaxes edges: of floats, by a CPU that has the whole graph, if it
    goes on to the end."""
    whole = part.size == 1 and isinstance(part.out.indptr, np.ndarray)
    return whole and primitive.finds_parents and primitive.distance.kind == "f" and not primitive.stops


def before_buckets(
    part: Part, env: Environment, labels: Array, far: Array, nearest: float, starts: int, stop: Stop,
    distance: np.dtype,
) -> SsspState:  # fmt: skip
    """Return the state of a search before its first bucket.

    Parameters
    ----------
    labels : array
        Per slot.
    far : array
        Distinct own vertices that have yet to relax their edges.
    nearest : float
        A distance in the first bucket, which has all of them that are not beyond.
    starts : int
        The number of sources.
    stop : Stop
    distance : numpy.dtype
    """
    xp, dtype, slots, owned = env.xp, part.vertex_map.dtype, part.num_slots, part.num_owned
    control = np.zeros(len(COUNTS) + 4, np.int64)
    control[len(COUNTS) : -1].view(np.float64)[:] = math.inf
    queues = Queues.allocated(part, env, "SSSP", starts)
    what, most = "SSSP's queue of far vertices", queues.unreached + slots - owned
    even_far, odd_far = (env.buffer(what, slots, dtype, most).array for _ in range(2))
    state = SsspState(labels, *weights_of(part.out, xp), None, stop)
    if len(far):
        state.far, state.nearest = len(far), nearest
        even_far[: state.far], control[COUNTS.place.far.start] = far, state.far
        control[len(COUNTS) : -1].view(np.float64)[0] = nearest
    words = env.backend.from_host(control)
    relaxing = Relaxing(
        indptr=part.out.indptr, indices=part.out.indices, weights=state.weights, each=state.each, ids=part.ids,
        labels=labels, stamp=xp.full(slots, -1, np.int32), limit=words[-1:].view(distance)[:1], owned=owned,
        even_near=queues.queues[0].array, odd_near=queues.queues[1].array, even_far=even_far, odd_far=odd_far,
        ghost_queue=queues.ghosts.array, hubs=queues.hubs.array, counters=words[: len(COUNTS)],
        least=words[len(COUNTS) : -1].view(np.float64),
    )  # fmt: skip
    state.work = Work(**vars(queues), far=(even_far, odd_far), control=words, relaxing=relaxing)
    return state
