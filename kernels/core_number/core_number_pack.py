"""What core_number.py and core_number.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("PeelingCounts", "queue", "again", "fell", "hubs", "edges", "clock", "left", "least", "degrees")
"""Vertices in the queue, in `again` and in `fell`; deferred rows; edges visited; how often bounds fell in this
superstep; vertices that are left, the least degree among these, and the sum of degrees."""
KEPT = Counters("KeptList", "length", "side")
"""Length of the list of vertices that may be left; 1 if it is in `spare`, 0 if in `alive`."""
ROUNDS = Counters("PeelingRounds", "arrived", "ignored", "pushed[3]", "hubs[3]", "left[3]", "nearest[3]", "degrees[3]")
"""On a GPU: blocks that came to the barrier; edges of rows that were not deferred; and of three rounds in turn what was
queued, rows deferred, vertices left, `none` minus the least degree among these, and the sum of degrees."""


class Peeling(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "their neighbours, sorted within a row"
    ghost_ptr = "const long long *", "where the row of each ghost begins"
    ghost_rows = "const index_t *", "the own neighbours of each ghost, each once"
    degree = "index_t *", "neighbours left of each own vertex; of one that is removed at most the level, and stale"
    bound = "index_t *", "per slot: the core number is at most this; `none` of a vertex that is left"
    support = "index_t *", "neighbours that count for the bound of each own vertex; 0 while this is not known"
    before = "index_t *", "per slot: the bound before it fell last"
    order = "long long *", "per own vertex: when its bound fell last"
    none = "long long", "the bound of vertices that are left, larger than any degree"
    now = "long long", "what `order` is at least in this superstep"
    level = "long long", "the degree up to which vertices have been removed"
    owned = "long long", "the number of own vertices"
    queue = "index_t *", "own vertices whose bounds fell in this superstep, each once"
    again = "index_t *", "own vertices whose bounds must be checked"
    marked = "unsigned *", "per own vertex: 1 if it is in `again`"
    fell = "index_t *", "own vertices whose bounds fell in this round, of which their neighbours do not know yet"
    hubs = "index_t *", "rows of very many edges"
    alive = "index_t *", "own vertices that may be left"
    spare = "index_t *", "the same list, once it was shortened, and again `alive` after that"
    kept = KEPT, "how long the list is, and where"
    rounds = ROUNDS, "what the rounds of a launch did"
    counters = COUNTS, "lengths of the lists, and what was done"
