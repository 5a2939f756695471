"""Where a search over a store stops: at a limit, or at the distance of the farthest target.

Labels only fall, so that the farthest target is never farther away than its label says. Rows whose labels are beyond
that, or beyond the limit, are not scanned. What lies beyond has a label that need not be final; it is taken back at the
end. Of targets of other ranks a rank knows the labels that it has seen, and owners vote how far away theirs are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.shortest_tree import unreached
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.targets import stopped_at
from graphdask.stream.shared_store import StreamedPart


def limit_of(primitive: Any) -> float | None:
    """Return the largest distance that a search may reach; None for any."""
    if isinstance(primitive, BreadthFirstSearch):
        return primitive.depth_limit
    cutoff: float = primitive.cutoff
    return cutoff if cutoff < math.inf else None


class Stop:
    """What one rank knows of it.

    Parameters
    ----------
    primitive : BreadthFirstSearch or ShortestPaths
    dtype : numpy.dtype
        Of the labels.
    packed : bool
        Whether a label is a distance times 2^32 plus the number of the parent.
    weighted : bool
        Whether edges have weights, which may be 0.
    """

    def __init__(self, part: StreamedPart, primitive: Any, dtype: Any, packed: bool, weighted: bool):
        self._dtype, self._packed, self._unit = np.dtype(dtype), packed, packed and not weighted
        self.targets, self.limit = primitive.targets, limit_of(primitive)
        own, places = part.own, part.store.positions(np.array(self.targets, np.int64))
        self._mine: Any = places[(places >= own.begin) & (places < own.end)]
        self._places: Any = places
        self._bound = None if self.limit is None else self._of_distance(self.limit)

    @property
    def votes(self) -> int:
        """How many numbers each rank votes."""
        return int(bool(self.targets))

    def _of_distance(self, distance: float) -> Any:
        """Return the largest label of a row that is to be scanned; no row farther away than `distance` is."""
        if self._dtype.kind == "f":
            return self._dtype.type(distance)
        most = np.iinfo(np.int32 if self._packed else np.int64).max
        whole = most if distance >= most else int(distance)
        return np.int64(self._of_label(whole << 32) if self._packed else whole)

    def _of_label(self, label: Any) -> Any:
        """Return the largest label of a row that is to be scanned, if no target has a larger label than this."""
        if not self._packed:
            return label
        return (label >> 32 << 32) - 1 if self._unit else label | 0xFFFFFFFF  # an edge of length 1 leads farther

    def vote(self, labels: Array, env: Environment) -> tuple[float, ...]:
        """Return how far away the farthest own target is so far, not less; -1 if there is none."""
        if not self.targets:
            return ()
        if not len(self._mine):
            return (-1.0,)
        most = env.backend.to_host(labels[env.backend.from_host(self._mine)].max()[None])[0]
        if most == unreached(self._dtype):
            return (math.inf,)
        return (math.nextafter(float(most >> 32 if self._packed else most), math.inf),)

    def take(self, votes: np.ndarray) -> None:
        """Take in the votes of all ranks."""
        if not self.targets or votes.max() == math.inf:
            return
        bound = self._of_distance(float(votes.max()))
        self._bound = bound if self._bound is None else min(self._bound, bound)

    def clear(self, part: StreamedPart, labels: Array, marks: Array, env: Environment) -> None:
        """Clear the marks of own rows that are not to be scanned."""
        own, bound = slice(part.own.begin, part.own.end), self._bound
        if self.targets:  # those of other ranks have labels that were seen here
            farthest = self._of_label(labels[self._on(env)].max())
            bound = farthest if bound is None else env.xp.minimum(farthest, bound)
        if bound is None:
            return
        here, marked = labels[own], marks[own]
        if env.backend.name == "cpu":
            rows = np.flatnonzero(marked)
            marked[rows[here[rows] > bound]] = 0
        else:
            marked *= here <= bound

    def _on(self, env: Environment) -> Array:
        """The positions of the targets on the device of the run."""
        if isinstance(self._places, np.ndarray) and env.backend.name != "cpu":
            self._places = env.backend.from_host(self._places)
        return self._places

    def take_back(self, part: StreamedPart, distance: Array, parent: Array, env: Environment) -> None:
        """Change the answers beyond the distance at which the search stops to those of vertices that are not reached.

        Every rank calls it.
        """
        assert env.comm is not None
        beyond = distance > stopped_at(env.comm, env.backend, part, distance, self.targets, self.limit)
        distance[beyond], parent[beyond] = np.inf if distance.dtype.kind == "f" else -1, -1


class Unsent:
    """A base of primitives that send a limited number of values in a superstep, and may stop at a distance.

    The first vote of a rank is whether it has values left to send, the others are those of `stop`.
    """

    votes = 1
    stop: Stop | None = None

    def ends(self, state: Any, votes: np.ndarray) -> bool:
        """Take in the votes of all ranks; the run goes on."""
        state.unsent = bool(votes[:, 0].any())
        if self.stop is not None:
            self.stop.take(votes[:, 1:])
        return False
