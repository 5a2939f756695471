"""Connected components by the GPUs of a host together: the arguments of components_team.cu, which follows bfs_team.cu.

It takes what describes a rank to the search (`RankSearch`, bfs_pack.py), whose arrays get another meaning:

depth        the labels, in the end
parent       links of trees of slots, one slot longer; before, -1 where not reached
even_queue   rows outside what was reached
ghost_queue  ghosts that these have edges to
rows         from row VOTES on three rows that ranks vote from, LEAST of them all ones, and a row of counters

END_FINISHED says whether all vertices have their labels. They do not if the search has reached too little, or if a
component of the rows outside leads from rank to rank more often than there are rounds.
"""

from graphdask.kernels.common.levels_pack import END_FOUND

MACROS = [{"index_t": i, "team_alone": a} for i in ("int", "long long") for a in ("1", "0")]
GPU_ONLY = ("components_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

VOTES, COUNTED, ROWS = 3, 6, 7
LEAST = 4
END_FINISHED = END_FOUND + 1
