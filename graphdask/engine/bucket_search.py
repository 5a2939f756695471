"""Searches by buckets of distances, near-far: one bucket after the other, many steps in a superstep.

Near vertices relax their edges in steps without any exchange; ghosts whose labels fall are sent to their owners. When
no rank has any near vertex left and no message is on its way, all ranks move to the bucket of the smallest distance
among the far ones of all ranks. Votes carry that distance and the width of the bucket. If there is only one rank, a
superstep goes through many buckets: on a CPU if they hold few edges, on a GPU in one launch.

Far ghosts wait too, so that most ghosts are sent once (graphdask.engine.buckets).

Sources: Davidson, Baxter, Garland, Owens: Work-efficient parallel GPU methods for single-source shortest paths (2014),
Section 4.3 (near-far); Meyer, Sanders: Delta-stepping (2003); Zhang et al.: Optimizing ordered graph algorithms with
GraphIt (2020), Section 3.3 (several rounds in a bucket without synchronisation).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from graphdask.engine.buckets import VOTES, BucketState
from graphdask.engine.loop import Counted, Environment, Inbox, Messages
from graphdask.engine.source_search import SourceSearch, nothing
from graphdask.kernels.common.buckets_pack import COUNTS
from graphdask.partition.part import Part

AT = COUNTS.place
ENOUGH = {"cpu": 1 << 10, "cuda": 1 << 16}
"""Near vertices from which a rank of several sends what it has before it goes on: with all it could do by itself done
first, the others would wait, and do much of it again."""

S = TypeVar("S", bound=BucketState)


class Bucket(NamedTuple):
    """What the steps of a superstep go through."""

    splits: int
    """How many buckets begin; 0 to go on with the last one."""
    enough: int
    """Near vertices from which the rank stops to send what it has."""
    nearest: float
    """The smallest distance among the far vertices of all ranks, with which the first of them begins."""
    width: float
    most: float
    """Where the last bucket of the search ends."""


class BucketSearch(SourceSearch[S]):
    """A primitive whose frontier is a bucket. A subclass says, by its kernels, how an edge relaxes."""

    votes = len(VOTES)

    def __init__(self, sources: Sequence[int], delta: float | None, most: float, cutoff: float, targets: Sequence[int]):
        """`delta` is the width of a bucket, None for `width`; `most` is where the last one ends; `cutoff` is the
        largest distance of interest."""
        super().__init__(sources, targets)
        self.delta, self.most, self.cutoff = delta, most, cutoff

    @property
    def stops(self) -> bool:
        return self.cutoff < math.inf or bool(self.targets)

    @abstractmethod
    def width(self, part: Part, env: Environment) -> float:
        """Return the width of the first bucket, where none is given."""

    @abstractmethod
    def arrive(self, part: Part, state: S, inbox: Inbox, env: Environment) -> None:
        """Lower the labels of the vertices of messages, and queue those that fell."""

    @abstractmethod
    def relax(self, part: Part, state: S, bucket: Bucket, env: Environment) -> np.ndarray | None:
        """Relax the edges of near vertices, step by step; return `Buckets.control` if the host has read it."""

    @abstractmethod
    def farthest(self, state: S) -> float:
        """Return how far away the farthest own target is so far (`DistanceStop.farthest`)."""

    def superstep(self, part: Part, state: S, inbox: Inbox, env: Environment) -> Messages | Counted:
        frontier, voted = state.frontier, VOTES.of(inbox.votes)
        assert frontier is not None
        nearest, idle = voted.nearest, not voted.busy
        state.stop.take(voted.farthest)
        most = min(self.most, state.stop.above)
        state.begun = nearest if idle and nearest < math.inf else state.begun
        if idle and most <= nearest < math.inf:
            state.too_far = self.most < state.stop.above
            return nothing(part)
        if len(inbox):
            self.arrive(part, state, inbox, env)
        splits = state.begin(part, voted, env)
        width = self.delta or self.width(part, env) * state.widened
        enough = ENOUGH[env.backend.name] if part.size > 1 else 2**62
        found = self.relax(part, state, Bucket(splits, enough, nearest, width, most), env)
        if found is not None:
            return self._relaxed(state, found)
        place = AT.ghosts.start + state.superstep % 2
        return Counted(
            frontier.ghosts.array, frontier.control, place, self.values(state), partial(self._relaxed, state)
        )

    def _relaxed(self, state: S, found: np.ndarray) -> Messages:
        """Take in the words of `Buckets.control`, and send the ghosts whose labels fell."""
        assert state.frontier is not None
        counts = found.tolist()
        acted, edges = counts[AT.acted] - state.acted, counts[AT.edges] - state.edges
        ghosts = counts[AT.ghosts.start + state.superstep % 2]
        state.step, state.split, state.acted, state.edges = (counts[i] for i in (AT.step, AT.split, AT.acted, AT.edges))
        state.far, state.superstep = counts[AT.far.start + state.split % 3], state.superstep + 1
        state.nearest = float(found[len(COUNTS) + state.split % 3 :][:1].view(np.float64)[0])
        return self.send(state, ghosts, acted, edges, counts[AT.near.start + state.step % 3])

    def begin(self, part: Part, state: S, env: Environment) -> Messages:
        return self.send(state)

    def send(self, state: S, ghosts: int = 0, acted: int = 0, edges: int = 0, near: int = 0) -> Messages:
        """Send so many ghosts of the queue to their owners, and vote."""
        assert state.frontier is not None
        listed, busy = state.frontier.ghosts.array[:ghosts], ghosts > 0 or near > 0
        return Messages(
            listed[:0], listed, self.values(state), busy or state.far > 0, acted, edges,
            votes=(float(busy), state.nearest, float(edges), float(state.far), self.farthest(state)),
        )  # fmt: skip
