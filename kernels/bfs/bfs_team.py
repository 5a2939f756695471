"""Breadth-first search by the GPUs of a host together: what bfs_team.cu works on besides `RankSearch` (bfs_pack.py).

A rank's `RankSearch` follows the words that every team has (team.py). Of its rows, of BFS_ROW counters each, three are
used in turn. In that of this level, modulo 3, FOUND is the frontier's length and WEIGHT its out-edges (as in bfs.py),
in that of level 0 EDGES the rank's edges.
Areas: lists of ghosts and their parents, or bits of those that are claimed; and bits of what is settled.
"""

from graphdask.kernels.common.team import END_OWN, TEAM_VOTES

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
GPU_ONLY = ("bfs_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

FOUND, WEIGHT, EDGES, BFS_ROW = 0, 1, 2, TEAM_VOTES + 4
END_WAYS, END_UNEXPLORED, END_FOUND = END_OWN, END_OWN + 1, END_OWN + 2
PUSHES, PULLS, CLAIMS = 0, 1, 2
"""Ways a level goes; END_WAYS is that of the next one, and four times that of the last."""
