"""Breadth-first search by the GPUs of a host together.

A rank's `RankSearch` (bfs_pack.py) follows the words that every team has (team.py).
Areas: lists of ghosts and their parents, or bits of those that are claimed; and bits of what is settled.
"""

MACROS = [{"index_t": i, "team_alone": a} for i in ("int", "long long") for a in ("1", "0")]
GPU_ONLY = ("bfs_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""
