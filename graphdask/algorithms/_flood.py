"""Most of the largest component of a graph at once, by a search from a vertex of very many edges.

Where one component has most of the edges, as in graphs of which a few vertices have very many, a search that changes
its direction looks at few of these: all that it reaches is one component, and only the rest is left to be looked at
edge by edge. It stops after some levels: in a graph of a large diameter it is then not worth going on.

Source: Dhulipala, Hong, Shun, ConnectIt: a framework for static and incremental parallel graph connectivity (VLDB
2020), its sampling by breadth-first search.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms._bfs_state import COUNTERS, WEIGHT
from graphdask.algorithms._bfs_team import TeamSearch, most_aside, search_arrays
from graphdask.algorithms._direction import Direction
from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.kernels import bfs_team as at
from graphdask.part import Part
from graphdask.team import peers_of

LEVELS = 12
"""After which it stops; of a scale-free graph hardly any vertex is as far away."""


def widest(part: Part) -> tuple[int, int]:
    """The most out-edges of an own vertex, and the vertex; kept with the partition. -1 where there is none."""
    kept = part.tables.get("widest")
    if kept is None:
        kept = -1, -1
        if part.num_owned:
            degree = part.out.indptr[1:] - part.out.indptr[:-1]
            slot = int(degree.argmax())
            kept = int(degree[slot]), slot
        part.tables.keep("widest", kept, 16)
    return kept


def flood(part: Part, env: Environment) -> Array | None:
    """Search from a vertex of the most edges, where GPUs can together; every rank calls it, from `init`.

    Returns
    -------
    uint32 array or None
        A bit per slot for what it has reached; of ghosts some may be missing. None, on all ranks alike, where it cannot
        be, or has reached vertices of less than half of the edges.
    """
    peers = peers_of(env, alone=True)
    if peers is None:
        return None
    assert part.inward is not None
    xp, dtype, owned, slots = env.xp, part.vertex_map.dtype, part.num_owned, part.num_slots
    memory = TeamSearch.memory(peers, part, env, (*widest(part), part.out.num_edges))
    degree, slot = memory.heard[:, 0], memory.heard[:, 1]
    if degree.max() < 1:
        return None
    starts = int(degree.argmax()) == part.rank
    seen = xp.empty((slots + 31) // 32, np.uint32)
    depth, parent = xp.empty(owned, dtype), xp.empty(slots, dtype)
    queues, waiting = ((xp.empty(owned, dtype), xp.empty(owned, dtype)) for _ in range(2))
    kernels, counters = env.kernels("bfs", index_t=dtype), xp.zeros((2, COUNTERS), np.int64)
    kernels.bfs_init(slots, owned, depth, parent, seen)
    if starts:
        source = env.backend.from_host(slot[part.rank : part.rank + 1].astype(dtype))
        kernels.bfs_start(1, source, part.out.indptr, part.ids, depth, parent, seen, queues[0], *counters)
    arrays = search_arrays(
        part, depth, parent, seen, queues, waiting, xp.empty(slots - owned, dtype),
        xp.empty(most_aside(part), dtype),
    )  # fmt: skip
    weight = counters[0, WEIGHT : WEIGHT + 1]
    team = TeamSearch(memory, part, env, int(starts), weight, Direction("auto", part.num_vertices), arrays, LEVELS)
    team.run()
    left = float(team.ends[at.END_UNEXPLORED : at.END_UNEXPLORED + 1].view(np.float64)[0])
    return None if 2 * left > memory.heard[:, 2].sum() else seen
