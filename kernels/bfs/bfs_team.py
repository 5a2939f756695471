"""Breadth-first search by the GPUs of a host together: the arguments of bfs_team.cu besides those in team.py.

INDPTR .. IDS   out-edges, in-edges (0 where it neither pulls nor claims), ids of the own vertices
DEPTH .. SEEN   as in bfs.py; bfs_init has filled them
QUEUES          by level modulo 2, buffers for all own vertices; the frontier is in one
GHOST_QUEUE     a buffer for all ghosts
WAITING         by level modulo 2, own vertices that a pull looks for; 0 where it never pulls
CLAIMED         a buffer for the bits of all slots; 0 where no push claims
LONG_ROWS       a buffer for deferred rows
COUNTERS        rows of BFS_ROW counters, of which three are used in turn; in that of this level, modulo 3, FOUND is the
                frontier's length and WEIGHT its out-edges (as in bfs.py), in that of level 0 EDGES the rank's edges
SOURCES         where the search begins: as many own vertices as FOUND says of level 0, distinct
TARGETS         the number of own vertices after which it stops, and these; 0 where it stops after none
Areas: lists of ghosts and their parents, or bits of those that are claimed; and bits of what is settled.
"""

from graphdask.kernels.common.team import END_OWN, OWN, TEAM_VOTES

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
GPU_ONLY = ("bfs_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

INDPTR, INDICES, IN_INDPTR, IN_INDICES, IDS, DEPTH, PARENT, SEEN, QUEUES = range(OWN, OWN + 9)
GHOST_QUEUE, WAITING, LONG_ROWS = QUEUES + 2, QUEUES + 3, QUEUES + 5
CLAIMED, COUNTERS, SOURCES, TARGETS = range(LONG_ROWS + 1, LONG_ROWS + 5)
FOUND, WEIGHT, EDGES, BFS_ROW = 0, 1, 2, TEAM_VOTES + 4
END_WAYS, END_UNEXPLORED, END_FOUND = END_OWN, END_OWN + 1, END_OWN + 2
PUSHES, PULLS, CLAIMS = 0, 1, 2
"""Ways a level goes; END_WAYS is that of the next one, and four times that of the last."""
