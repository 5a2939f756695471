"""Targets of a search: vertices after which it stops, as soon as all of them are reached.

A rank sees that a target is reached if it owns the target or has a ghost of it. So at the end of a level all ranks
together have seen every target that the level reached, even if its owner learns of it only from the next messages. Each
rank votes a bit for each target that it has seen, and the search stops if every bit is set on some rank.

A search by distances stops at a cutoff, or at the distance of the farthest target. Labels only fall, so the farthest
target is never farther away than its label says, and the search need not go beyond the largest label of all targets.
Owners vote it. When no label up to there can fall any more, the search stops. What lies beyond has a label that need
not be final; it is taken back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.bitmap import has_bits
from graphdask.engine.loop import Environment
from graphdask.partition.ghosts import known_slots
from graphdask.partition.part import Part
from graphdask.partition.queries import own_places

BITS = 48
"""Bits of a vote, which is a float64 and holds whole numbers of 53 bits exactly."""
VALUES = 2.0 ** np.arange(BITS)


def target_votes(targets: Sequence[int]) -> int:
    """Return how many numbers each rank votes for so many targets."""
    return -(-len(targets) // BITS)


def stopped_at(
    comm: Any, backend: Backend, part: Part, distance: Array, targets: Sequence[int], limit: float | None
) -> Any:
    """Return the distance up to which a search went, as its distances imply. Every rank calls it.

    It is the largest distance of the targets if all of them are reached, and not above the limit. The largest number
    of the dtype, or infinity, stands for no limit.

    Parameters
    ----------
    distance : array
        Of the own vertices; negative, infinite or the largest number where not reached.
    """
    floats = distance.dtype.kind == "f"
    none = np.inf if floats else np.iinfo(distance.dtype).max
    most = none if limit is None else min(none, limit if floats or limit == np.inf else int(limit))
    if not targets:
        return most
    own = backend.to_host(distance[backend.from_host(own_places(part, targets))])
    lost = ~((own >= 0) & (own < none))
    farthest = own[~lost].max(initial=0).astype(np.float64 if floats else np.int64)
    said = comm.allreduce(np.array([lost.any(), farthest.view(np.int64)], np.int64), "max")
    return most if said[0] else min(most, said[1:].view(farthest.dtype)[0].item())


@dataclass
class Targets:
    """The targets of a search as one rank knows them."""

    count: int
    """How many there are on all ranks."""
    places: np.ndarray
    """Those that have a slot on this rank, as places among all."""
    slots: Array
    """Their slots."""
    own: Array
    """Slots of those that this rank owns."""

    @classmethod
    def of(cls, part: Part, env: Environment, targets: Sequence[int]) -> Targets | None:
        """Return the targets, given by their vertex numbers; None if there are none."""
        if not targets:
            return None
        backend, map_ = env.backend, part.vertex_map
        slots, known = known_slots(
            backend, part, map_.to_position(backend, backend.from_host(np.array(targets, map_.dtype)))
        )
        places = np.flatnonzero(backend.to_host(known))
        slots = slots[known]
        return cls(len(targets), places, slots, slots[slots < part.num_owned])

    def votes(self, seen: Array, env: Environment) -> tuple[float, ...]:
        """Return this rank's vote, from the bits of the slots that are reached."""
        bits = np.zeros(-(-self.count // BITS) * BITS)
        if len(self.places):
            bits[self.places] = env.backend.to_host(has_bits(self.slots, seen))
        return tuple((bits.reshape(-1, BITS) @ VALUES).tolist())

    def reached(self, votes: np.ndarray) -> bool:
        """Return whether some rank has seen each target, from the votes of all ranks."""
        seen = np.bitwise_or.reduce(votes.astype(np.int64), axis=0)
        return sum(word.bit_count() for word in seen.tolist()) == self.count


class DistanceStop:
    """Where a search by distances stops, as one rank knows it.

    Parameters
    ----------
    cutoff : float
        Infinity for none.
    targets : tuple of int
        Their vertex numbers.
    distance : numpy.dtype
        A wider label has the distance in its upper half.
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
        if most == (math.inf if labels.dtype.kind == "f" else np.iinfo(labels.dtype).max):
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
