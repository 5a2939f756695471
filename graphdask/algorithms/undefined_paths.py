"""What leaves scores over shortest paths by weight undefined: cycles that add nothing to a path, and paths too long."""

from __future__ import annotations

import numpy as np

from graphdask.algorithms._weighted_searches import raise_too_far
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX
from graphdask.algorithms.weighted_paths import NEVER, Rows
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import InputError
from graphdask.graph.graph import Graph
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result


class NamedRows(Rows):
    """Rows, among which the edges are found that leave scores undefined."""

    def first_flat(self, part: Part, env: Environment) -> tuple[int, int] | None:
        """The first edge of weight 0."""
        assert self.inward.weights is not None
        return _first_edge(part, env, self.inward, self.inward.weights == 0)

    def flat_edge(self, part: Part, env: Environment, distance: Array, waiting: Array) -> tuple[int, int] | None:
        """An edge between equal distances, at the end of which a vertex waits in vain."""
        ends = row_of_each(env.backend, self.inward, 0)
        return _first_edge(part, env, self.inward, waits_in_vain(env, self.inward, ends, distance, waiting))

    def too_far(self, part: Part, env: Environment, distance: Array) -> int:
        """The smallest vertex that was not reached, though an edge leads to it from one that was."""
        ends = row_of_each(env.backend, self.inward, 0)
        beyond = part.ids[lies_beyond(self.inward, ends, distance)]
        return env.least(int(beyond.min()) if len(beyond) else NO_VERTEX)


def _first_edge(part: Part, env: Environment, inward: Csr, wanted: Array) -> tuple[int, int] | None:
    """Of the wanted edges the first, by the ids of its ends; of all ranks. Every rank calls it."""
    if env.least(0 if bool(wanted.any()) else 1):
        return None
    (ids,) = env.fetch_ghosts(part, [part.ids])
    src, dst = ids[inward.indices[wanted]], part.ids[row_of_each(env.backend, inward, 0)[wanted]]
    u = env.least(int(src.min()) if len(src) else NO_VERTEX)
    ends = dst[src == u]
    return u, env.least(int(ends.min()) if len(ends) else NO_VERTEX)


def waits_in_vain(env: Environment, inward: Csr, ends: Array, distance: Array, waiting: Array) -> Array:
    """Which of some edges add nothing to the distance of a vertex that waits; they end at the vertices `ends`."""
    wanted = env.xp.zeros(len(ends), bool)
    starts = inward.indices
    for lane in range(distance.shape[1]):
        d, column = distance[:, lane], waiting[:, lane]
        here = d[ends]
        waits = ((column > 0) & (column < NEVER // 2))[ends] & (here != unreached(distance.dtype))
        wanted |= waits & (d[starts] == here) & (here + inward.weights == here)
    return wanted


def lies_beyond(inward: Csr, ends: Array, distance: Array) -> Array:
    """Of the vertices at which some edges end, those that were not reached from one that was, in some lane."""
    none, wanted = unreached(distance.dtype), ends != ends
    for lane in range(distance.shape[1]):
        d = distance[:, lane]
        wanted |= (d[ends] == none) & (d[inward.indices] != none)
    return ends[wanted]


def raise_undefined(G: Graph, result: Result) -> None:
    """Refuse a graph whose shortest paths are infinitely many, or too long."""
    raise_too_far(G, result)
    u, v = (result._value(name) for name in ("flat_from", "flat_to"))
    if u != NO_VERTEX:
        a, b = G.ids.to_caller(np.array([u, v]))
        raise InputError(
            f"edges that add nothing to the length of a path, such as that from {a} to {b} (its weight is 0, or lost "
            f"in rounding), form a cycle, so that the number of shortest paths is not defined; merge the vertices that "
            f"they join, give them larger weights, or use weight=None to count hops"
        )
