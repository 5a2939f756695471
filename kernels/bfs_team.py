"""Breadth-first search by the GPUs of a host together: the places in what bfs_team.cu is given, and gives back.

A rank is described by a row of int64: ROW words, numbers and addresses. Of places that stand for several, the first is
named; those by peer are counted by step, peer = (rank + step) % size, and begin with the one of step 0, which stays 0.

RANK, SIZE       of the team
LOCAL            TEAM_LOCAL words of the rank's own, 0 but for MEETING, the number of the last meeting
LIMIT, ABORT     nanoseconds that a rank waits for the others; an int32 that the host sets to end all waiting, or 0
BOARD, BOARDS    the rank's board, and by rank those of all, as far as this device maps them
OWNED, SLOTS     vertices of its own, and all that it has a slot for
INDPTR .. IDS    out-edges, in-edges (0 where it never pulls), ids of the own vertices
DEPTH .. SEEN    as in bfs.py; bfs_init has filled them, and the sources are reached
QUEUES           by level modulo 2, room for all own vertices; the frontier is in one
GHOST_QUEUE      room for all ghosts
WAITING          by level modulo 2, own vertices that a pull looks for; 0 where it never pulls
LONG_ROWS        room for rows that are put aside
COUNTERS         three rows of BFS_ROW counters; in that of this level, modulo 3, FOUND is the frontier's length, in
                 that of level 0 WEIGHT its out-edges (as in bfs.py) and EDGES the rank's edges
LOG              END_WORDS words, then LOG_WORDS for each level
BOUNDS           the rank's slot bounds
MIRRORS, HELD    by step: the own vertices that the peer has ghosts of, ascending, 0 if these are all; and their number
LISTS, BITS      by step: where in the memory of the peer a push writes what it is told, and a pull
IN_LISTS, IN_BITS  by step: where in the memory of this rank the peer writes
"""

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
GPU_ONLY = ("bfs_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

TEAM_RANKS, TEAM_VOTES, TEAM_WORDS = 8, 12, 16
RANK, SIZE, LOCAL, LIMIT, ABORT, BOARD, BOARDS = 0, 1, 2, 3, 4, 5, 6
OWNED = BOARDS + TEAM_RANKS
SLOTS, INDPTR, INDICES, IN_INDPTR, IN_INDICES, IDS, DEPTH, PARENT, SEEN, QUEUES = range(OWNED + 1, OWNED + 11)
GHOST_QUEUE = QUEUES + 2
WAITING = GHOST_QUEUE + 1
LONG_ROWS = WAITING + 2
COUNTERS, LOG, BOUNDS = LONG_ROWS + 1, LONG_ROWS + 2, LONG_ROWS + 3
MIRRORS = BOUNDS + TEAM_RANKS + 1
HELD, LISTS, BITS, IN_LISTS, IN_BITS, ROW = range(MIRRORS + TEAM_RANKS, MIRRORS + 7 * TEAM_RANKS, TEAM_RANKS)

MEETING, TEAM_LOCAL = 3, 4 + 2 * TEAM_VOTES
FOUND, WEIGHT, EDGES, BFS_ROW = 0, 1, 2, TEAM_VOTES + 3
END_LEVELS, END_PULLS, END_UNEXPLORED, END_FOUND, END_DONE, END_PULLED, END_WORDS = range(7)
LOG_PULLS, LOG_FRONTIER, LOG_EDGES, LOG_SENT, LOG_BYTES, LOG_COMPUTE, LOG_EXCHANGE, LOG_WAIT, LOG_WORDS = range(9)
