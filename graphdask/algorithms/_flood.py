"""Components by a search from a vertex of very many edges, for graphs that have most of their edges in one component.

A search that changes its direction visits few of these edges. All vertices that it reaches are one component, so only
the rows outside are left to be scanned edge by edge. The search stops after a few levels (`COMPONENTS.levels`), because
in a graph of a large diameter it does not pay to go on. A second kernel, launched behind the search, finds the labels
(kernels/components/components_team.cu). The host waits for both at once.

Source: Dhulipala, Hong, Shun, ConnectIt: a framework for static and incremental parallel graph connectivity (VLDB
2020), its sampling by breadth-first search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.bfs import team_kernel
from graphdask.algorithms.tuning import COMPONENTS
from graphdask.device.arrays import minus_ones
from graphdask.device.backend import Array
from graphdask.engine.frontier import LevelState
from graphdask.engine.loop import Environment
from graphdask.engine.team import THREADS, TeamMemory
from graphdask.engine.team_levels import TeamLevels
from graphdask.kernels.bfs.bfs_pack import RankSearch, Search
from graphdask.kernels.common.levels_pack import COUNTS
from graphdask.kernels.components import components_team as at
from graphdask.partition.part import Part


class Flood(TeamLevels):
    """The share of one rank in the search and in the labelling that follows. Every rank makes one, in `init`.

    Parameters
    ----------
    edges : int
        The number of edges of all ranks.
    memory, part, env, state
        As for TeamLevels.
    """

    def __init__(self, memory: TeamMemory, part: Part, env: Environment, state: LevelState, edges: int):
        self.edges = edges
        rank = RankSearch(**state.frontier.search.as_dict())
        super().__init__(memory, part, env, team_kernel(part, env), rank, state, levels=COMPONENTS.levels)
        types = {"index_t": part.vertex_map.dtype, "team_alone": int(part.size == 1)}
        kernels = env.kernels("components_team", cooperative=True, **types)
        self.finish = kernels.components_team

    def launch(self, numbers: tuple[Any, ...], rows: Array, teams: int) -> None:
        super().launch(numbers, rows, teams)
        self.finish(THREADS, rows, rows.shape[1], float(self.edges), COMPONENTS.rounds, teams=teams)


def widest(part: Part) -> tuple[int, int]:
    """Return the largest out-degree of an own vertex, and its slot; -1 and -1 if there is none.

    The answer is kept with the partition.
    """
    kept = part.tables.get("widest")
    if kept is None:
        kept = -1, -1
        if part.num_owned:
            degree = part.out.indptr[1:] - part.out.indptr[:-1]
            slot = int(degree.argmax())
            kept = int(degree[slot]), slot
        part.tables.keep("widest", kept, 16)
    return kept


def flood_memory(part: Part, env: Environment) -> int | None:
    """Return the bytes that the search takes besides the memory for finding components without it; None if there is no
    search.

    The memory for finding components without it is more than the own arrays of the search. Every rank calls it.
    """
    peers = env.peers(alone=True)
    return None if peers is None else Flood.nbytes(peers, part, env)


def flood(part: Part, env: Environment) -> Array | None:
    """Return labels of the own vertices, by a search from a vertex of the most edges. Every rank calls it, in `init`.

    Returns
    -------
    array or None
        The smallest id of each vertex's component. None on all ranks if GPUs cannot search together, if less than
        half of the edges are reached, or if the rest takes too many rounds.
    """
    peers = env.peers(alone=True)
    if peers is None:
        return None
    assert part.inward is not None
    memory = TeamLevels.memory(peers, part, env, (*widest(part), part.out.num_edges))
    degree, slot = memory.announced[:, 0], memory.announced[:, 1]
    if degree.max() < 1:
        return None
    rows = np.zeros((at.ROWS, len(COUNTS)), np.int64)
    rows[at.VOTES : at.COUNTED, at.LEAST] = -1
    sources = slot[part.rank :][: int(degree.argmax() == part.rank)].astype(part.vertex_map.dtype)
    depth, parent = (minus_ones(env.xp, length, sources.dtype) for length in (part.num_owned, part.num_slots + 1))
    search = Search(depth=depth, parent=parent)
    state = LevelState.before(part, env, "components", search, sources, "auto", counters=rows)
    team = Flood(memory, part, env, state, int(memory.announced[:, 2].sum()))
    team.run()
    return depth if team.ends[at.END_FINISHED] else None
