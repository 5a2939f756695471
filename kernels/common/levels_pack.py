"""What a search by levels works on, whatever it does with an edge: queues, their lengths, and how a team goes on."""

from graphdask.kernels.common.packs import Counters, Numbers, Pack
from graphdask.kernels.common.team import END_OWN, TEAM_RANKS

COUNTS = Counters(
    "LevelCounts", "found", "weight", "edges", "sent", "least", f"to[{TEAM_RANKS}]", "ghosts", "left", "hubs",
    "in_hubs", "visited", "levels", "cycle[6]",
)  # fmt: skip
"""Counters of a level. A level reads those of the level before and fills its own; its last kernel clears the former.

found      length of the queue of own vertices
weight     their out-edges, and LONG_ROW_MARK for each that has more than LONG_ROW
edges      scanned edges
sent, least, to   what the ranks of a team vote besides (team.cuh), all of which come first
ghosts     length of the queue of ghosts
left       vertices that a pull did not find, or that the next one has to look for
hubs       deferred rows of out-edges; in_hubs: of in-edges
visited    length of the frontier; of several levels in one launch: of all frontiers
levels     levels that such a launch has gone through
cycle      of such a launch: length and weight of what three levels find, one after the other
"""
PUSHES, PULLS, CLAIMS = WAYS = Numbers("Ways", "PUSHES", "PULLS", "CLAIMS")
"""Ways in which a team processes a level (team_levels.cuh)."""
END_WAYS, END_UNEXPLORED, END_FOUND = range(END_OWN, END_OWN + 3)
"""What a launch of a team leaves for the next one, besides what each does (team.py)."""


class LevelRows(Pack):
    """What small levels read most: first, because the first arguments of a twin are passed in registers."""

    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that edges lead to, or, in a pull, come from"
    out_indptr = "const long long *", "where the row of out-edges begins"
    ids = "const index_t *", "the id of each own vertex"
    seen = "unsigned int *", "a bit per slot: whether it is settled"
    depth = "index_t *", "per slot: the level, -1 where it is not reached yet"


class Slots(Pack):
    """From a slot to the id of its vertex."""

    ids = "const index_t *", "the id of each own vertex"
    owned = "long long", "the number of own vertices"
    slots = "long long", "the number of slots; there are ghosts if it is larger"
    ghosts = "const index_t *", "if there are `few` ghosts, the cyclic position of each; else these are the slots"
    few = "long long", "1 if there are ghosts of few vertices, 0 if of all"
    first = "long long", "the position of the first own vertex"
    vertices = "long long", "the number of vertices, and of positions"
    plain = "long long", "1 if positions are ids"


class LevelSearch(LevelRows, Slots):
    own_queue = "index_t *", "own vertices that this level reaches"
    ghost_queue = "index_t *", "ghosts that this level reaches"
    left = "index_t *", "own vertices with in-edges that are not reached"
    hubs = "index_t *", "deferred rows"
    here = COUNTS, "of the level before, which is the frontier"
    next = COUNTS, "of this level; zeros at first"
    arrived = "unsigned long long *", "of the barrier of a launch that goes through several levels"
    targets = "const index_t *", "own vertices after which it stops"
    num_targets = "long long", "their number; 0 where it stops after none"


class LevelTeam(Pack):
    """The fields of a rank of a team, behind those of its search."""

    in_indptr = "const long long *", "where the row of in-edges begins, if it pulls or claims"
    in_indices = "const index_t *", "the slots that they come from"
    even_queue = "index_t *", "a buffer for all own vertices: the frontier of even levels; first the sources"
    odd_queue = "index_t *", "a buffer for all own vertices: the frontier of odd levels"
    even_waiting = "index_t *", "if it pulls, a buffer for all own vertices: those to be searched for in even levels"
    odd_waiting = "index_t *", "if it pulls, a buffer for all own vertices: those to be searched for in odd levels"
    claimed = "unsigned int *", "if it claims, a buffer for a bit per slot"
    rows = COUNTS, "counters of three levels in turn; at first those of the frontier, with the rank's edges"


class Levels(Pack):
    level = "long long", "the level of the frontier"
    shift = "long long", "the counters of a level are in row (level + shift) % 3"
    most = "long long", "the number of levels after which the launch ends"
    ways = "long long", "the way of the next level, and four times that of the last"
    may_pull = "long long", "0: never, 1: by the rule of graphdask.engine.direction, 2: always"
    unexplored = "double", "edges that no level has visited; negative before the first launch"
    before = "double", "the size of the last frontier"
    claims = "double", "a push of more edges claims"
    deepest = "long long", "the level at which the search stops"
    has_targets = "long long", "1 where it stops when all targets are reached"
