"""What kernels of GPUs that work together are given of a rank, and give back: the places in team.cuh.

A rank is described by a row of int64: numbers and addresses. Of places that stand for several, the first is named;
those by peer are counted by step, peer = (rank + step) % size, and begin with the one of step 0, which stays 0. What a
kernel wants besides begins at OWN.

RANK, SIZE     of the team
LOCAL          TEAM_LOCAL words of the rank's own, 0 but for MEETING, the number of the last meeting; and as many for a
               kernel that is launched behind the first with the same rows
LIMIT, ABORT   nanoseconds that a rank waits for the others; an int32 that the host sets to end all waiting, or 0
BOARD, BOARDS  the rank's board, and by rank those of all, as far as this device maps them
OWNED          vertices of its own
LOG            END_WORDS words, then LOG_WORDS for each superstep of a launch
BOUNDS         its slot bounds
MIRRORS, HELD  by step: the own vertices that the peer has ghosts of, ascending, 0 if these are all; and their number
OUT, IN        by area (2) and step: where in the peer's memory this rank writes, and where in its own the peer does
SHORT          if hosts carry messages (graphdask.comm.relay), page-locked memory for short ones, TEAM_SHORT bytes a
               step; else 0
COMMON         for these hosts: bytes of words that each rank writes for all others in a meeting; by the meeting's
               number modulo 2 and by rank, they stand where the others of a host's memory would
"""

TEAM_RANKS = 8
TEAM_VOTES, TEAM_WORDS = 4 + 1 + TEAM_RANKS, 16
TEAM_MESSAGE, TEAM_AT, TEAM_FLAG = TEAM_VOTES, TEAM_VOTES + 1, TEAM_WORDS - 1
TEAM_SUMS, TEAM_TO, TEAM_GROUP = 4, 5, 32
SENT_NOTHING, SENT_BITS, SENT_OWNER_BITS, SENT_LISTS = range(4)
MEETING, TEAM_LOCAL = 3, 4 + TEAM_RANKS + 2 * TEAM_VOTES
RANK, SIZE, LOCAL, LIMIT, ABORT, BOARD, BOARDS = range(7)
OWNED, LOG, BOUNDS = BOARDS + TEAM_RANKS, BOARDS + TEAM_RANKS + 1, BOARDS + TEAM_RANKS + 2
MIRRORS = BOUNDS + TEAM_RANKS + 1
HELD, OUT, IN, SHORT = (MIRRORS + k * TEAM_RANKS for k in (1, 2, 4, 6))
COMMON, OWN, TEAM_SHORT = SHORT + 1, SHORT + 2, 4096
LOG_KIND, LOG_FRONTIER, LOG_EDGES, LOG_SENT, LOG_BYTES, LOG_COMPUTE, LOG_EXCHANGE, LOG_WAIT, LOG_WORDS = range(9)
END_STEPS, END_DONE, END_MEETING, END_OWN, END_WORDS = 0, 1, 2, 3, 16
GAVE_UP = 2
"""END_DONE of a launch in which a meeting failed; 1 says that all is done, 0 that another launch is to go on."""
