"""Where a search for shortest paths stops: at a cutoff, or at the distance of the farthest target.

Labels only fall, so the farthest target is never farther away than its label says, and the search need not go beyond
the largest label of all targets. Owners vote it. When no label up to there can fall any more, the search stops. What
lies beyond has a label that need not be final; it is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.targets import stopped_at
from graphdask.partition.part import Part
from graphdask.partition.queries import own_places


class Stop:
    """What one rank knows of it.

    Parameters
    ----------
    cutoff : float
        Infinity for none.
    targets : tuple of int
        Their vertex numbers.
    distance : numpy.dtype
    """

    def __init__(self, part: Part, env: Environment, cutoff: float, targets: tuple[int, ...], distance: np.dtype):
        self._env, self._cutoff, self._targets, self._distance = env, cutoff, targets, distance
        self._slots = env.backend.from_host(own_places(part, targets))
        self.above = self._next(cutoff)
        """No distance from here on is searched; the same on all ranks."""

    def _next(self, distance: float) -> float:
        """Return a number above a distance, such that no other distance lies between."""
        return math.nextafter(distance if self._distance.kind == "f" else distance + 1, math.inf)

    def farthest(self, labels: Array) -> float:
        """Return this rank's vote: how far away the farthest own target is so far, inf if one is not reached or there
        are no targets at all, -1 if there is no own one."""
        if not self._targets:
            return math.inf
        own: np.ndarray = self._env.backend.to_host(labels[self._slots])
        if not len(own):
            return -1.0
        most = own.max()
        if most == unreached(labels.dtype):
            return math.inf
        return float(most if labels.dtype == self._distance else most >> 32)

    def take(self, farthest: float) -> None:
        """Take in the largest vote of all ranks."""
        self.above = min(self.above, self._next(farthest))

    def ask(self, labels: Array) -> float:
        """Vote between launches of a team; return `above`. Every rank calls it."""
        if self._targets:
            assert self._env.comm is not None
            self.take(float(self._env.comm.allreduce(np.array([self.farthest(labels)]), "max")[0]))
        return self.above

    def beyond(self, part: Part, distance: Array) -> Array:
        """Return which own vertices have a distance beyond that at which the search stopped. Every rank calls it."""
        env = self._env
        assert env.comm is not None
        return distance > stopped_at(env.comm, env.backend, part, distance, self._targets, self._cutoff)
