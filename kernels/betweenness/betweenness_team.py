"""Betweenness by the GPUs of a host together: the arguments of betweenness_team.cu besides those in team.py.

INDPTR .. IN_INDICES  out-edges and in-edges; in an undirected graph the same
SEEN            mask per own vertex, as in betweenness.py; the sources have theirs
BITS            two bitmaps over slots, by level modulo 2, empty
FRONT, VALUE    as in betweenness.py, in memory that the peers write to
SIGMA .. SCORE  as in betweenness.py; sources have one path
ROWS, MASKS     buffers for the own vertices of all levels, one level after the other, and for their lanes; they begin
                with the sources
LEVELS          LEVEL_WORDS words for each level that may come in this launch: where it ends in ROWS, edges out of it,
                and how many vertices are left to look for the next, all of this rank; and the lanes of all ranks. Those
                of level 0 are filled in
LEFTS           own vertices that have in-edges; and two buffers for as many
HUB_ROWS .. PARTIAL  hubs, chunks and partial of betweenness.py
CHOSEN .. LONG_ROWS  the lists of graphdask.engine.candidates, empty
COUNTERS        two rows of BC_ROW zeros
VOTES, REPORTED TEAM_WORDS zeros
VALUES_OUT, FIRST_OUT, FRONTIERS_OUT  by step: the peer's `value`; its first slot of ghosts of this rank; its
                `frontier` there
Areas: lists of ghosts, and bits.
"""

from graphdask.kernels.betweenness.betweenness_pack import COUNTS
from graphdask.kernels.common.team import END_OWN, OWN, TEAM_RANKS

MACROS = [
    {"index_t": i, "mask_t": m, "team_alone": a}
    for i in ("int", "long long")
    for m in ("unsigned char", "unsigned long long")
    for a in ("1", "0")
]
GPU_ONLY = ("betweenness_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

INDPTR, INDICES, IN_INDPTR, IN_INDICES, SEEN, BITS = range(OWN, OWN + 6)
FRONTIER, VALUE, SIGMA, DELTA, SCORE, ROWS, MASKS, LEVELS, LEFTS = range(BITS + 2, BITS + 11)
HUB_ROWS, CHUNKS, PARTIAL, CHOSEN, CANDIDATES, GHOST_QUEUE, LONG_ROWS = range(LEFTS + 3, LEFTS + 10)
COUNTERS, VOTES, REPORTED, VALUES_OUT = range(LONG_ROWS + 1, LONG_ROWS + 5)
FIRST_OUT, FRONTIERS_OUT, ROW = (VALUES_OUT + k * TEAM_RANKS for k in (1, 2, 3))
LEVEL_WORDS = 4
BC_ROW = len(COUNTS) + 4
"""Words of a row of counters: those of a level, and four of the push and of what is sent."""
END_LEVEL, END_BACK, END_PULLS = END_OWN, END_OWN + 1, END_OWN + 2
