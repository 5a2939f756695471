"""Queues of a search on one rank, their growth and their memory: vertices to be scanned, ghosts, and deferred rows.

A step reads the queue of the step before and fills its own, so there are two queues of own vertices in turn; ghosts
that it reaches have a third. Rows of very many edges are listed, and all blocks of a GPU share them afterwards
(kernels/common/rows.cuh).

Queues are long enough for all vertices. If memory is allocated just-enough or in part, they are long enough for what
a launch may find at most. Where a launch is one step, they grow before it. Where it goes through many steps, they are
long enough from the start for every vertex that an edge leads to.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.engine.buffers import Allocation, Buffer, most_deferred, reachable
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part


@dataclass
class Queues:
    """The queues of a search; `Queues.allocated` makes them."""

    name: str
    """What errors call the search."""
    queues: tuple[Buffer, Buffer]
    """Own vertices of the current step and the next, in turn."""
    ghosts: Buffer
    hubs: Buffer
    """Deferred rows."""
    unreached: int
    """Own vertices that may yet be found, at most; counted if memory is allocated in part."""

    @classmethod
    def allocated(cls, part: Part, env: Environment, name: str, starts: int | None = None) -> Queues:
        """Return the queues of a search.

        Parameters
        ----------
        starts : int, optional
            Where a launch goes through many steps: from how many vertices the search starts. Default: a launch is one
            step, and queues grow before it.
        """
        dtype, owned, ghosts = part.vertex_map.dtype, part.num_owned, part.num_slots - part.num_owned
        most = most_reached(part, env.allocation, starts or 0)
        expected, of_ghosts = None if starts is None else most, f"{name}'s queue of ghosts"
        one, other = (env.buffer(f"{name}'s queue of vertices", owned, dtype, expected) for _ in range(2))
        grows = starts is None
        ghost_queue = env.buffer(of_ghosts, ghosts, dtype) if grows else env.scratch(of_ghosts, ghosts, dtype, ghosts)
        deferred = most_deferred(part.out)
        hubs = env.scratch(f"{name}'s list of long rows", owned if grows else deferred, dtype, deferred)
        return cls(name, (one, other), ghost_queue, hubs, most)

    @staticmethod
    def length(part: Part, allocation: Allocation, starts: int | None = None) -> int:
        """Return how many entries the queues of `allocated` have together before they grow."""
        owned, ghosts = part.num_owned, part.num_slots - part.num_owned
        if starts is None:
            own, listed, grows = allocation.first(owned), allocation.first(ghosts), True
        else:
            own, listed, grows = allocation.first(owned, most_reached(part, allocation, starts)), ghosts, False
        return 2 * own + listed + (owned if grows and not allocation.partial else most_deferred(part.out))


def most_reached(part: Part, allocation: Allocation, starts: int) -> int:
    """Return how many own vertices a search from so many may reach; all, unless memory is allocated in part."""
    return min(reachable(part) + starts, part.num_owned) if allocation.partial else part.num_owned
