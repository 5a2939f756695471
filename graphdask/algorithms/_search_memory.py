"""Bytes that a breadth-first search takes, by the scheme of allocation; the search itself is in `bfs`."""

from __future__ import annotations

from graphdask.engine.buffers import Allocation, put_aside, reachable
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap

FEW = 64
"""Edges of a row after which a pull defers it."""


def search_memory(part: Part, allocation: Allocation, pulls: bool) -> int:
    """Return the bytes of the state and of what a selective exchange allocates.

    They are those of the largest level that there can be or, if memory is allocated in part, of as many vertices as
    buffers hold at first.
    """
    slots, owned = part.num_slots, part.num_owned
    ghosts = slots - owned
    if allocation.partial:
        own, told = allocation.first(owned), allocation.first(ghosts)
        most = 2 * own + put_aside(part.out) + told + max(7 * told // 2, 0 if part.size == 1 else 2 * owned)
        if pulls:
            assert part.inward is not None
            left = allocation.first(owned, reachable(part))
            most += 2 * left + min(left, part.inward.num_edges // FEW)
            most += owned if part.size > 1 and type(part.vertex_map) is not VertexMap else 0
    else:
        push, pull = 3 * owned + 7 * ghosts // 2, 5 * owned + 2 * ghosts
        most = ghosts + (max(push, pull) if pulls else push)
    return part.vertex_map.dtype.itemsize * (2 * slots + most) + slots // 8


def team_search_memory(part: Part, pulls: bool) -> int:
    """Return the bytes of the state of a search by a team, which needs no memory for an exchange.

    At the end of the search, the parents of the own vertices are copied if ghosts are behind them.
    """
    slots, owned = part.num_slots, part.num_owned
    entries = 4 * owned + slots + (slots - owned) + (2 if pulls else int(slots > owned)) * owned
    return part.vertex_map.dtype.itemsize * entries + (slots + 31) // 32 * 4
