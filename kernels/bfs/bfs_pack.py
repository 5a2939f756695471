"""What bfs.py and bfs.cu work on, and by what bfs_team.cu chooses how to go on."""

from graphdask.kernels.common.packs import Pack


class Search(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that edges lead to, or, in a pull, come from"
    out_indptr = "const long long *", "in a pull: where the row of out-edges begins"
    ids = "const index_t *", "the id of each own vertex"
    seen = "unsigned int *", "a bit per slot: whether it is settled (bfs.py)"
    depth = "index_t *", "per slot: the level, -1 where it is not reached yet"
    parent = "index_t *", "per slot: the smallest id of the vertices that reach it (bfs.py)"
    owned = "long long", "the number of own vertices"
    slots = "long long", "the number of slots; there are ghosts if it is larger"
    own_queue = "index_t *", "own vertices that are reached"
    ghost_queue = "index_t *", "ghosts that are reached"
    hubs = "index_t *", "deferred rows"
    counters = "unsigned long long *", "those of this superstep (bfs.py)"
    after = "unsigned long long *", "those of the next superstep"
    arrived = "unsigned long long *", "of the barrier in `bfs_levels`"


class Levels(Pack):
    level = "long long", "the level of the frontier"
    most = "long long", "the number of levels after which the launch ends"
    ways = "long long", "the way that the next level goes, and four times that of the last (bfs_team.py)"
    may_pull = "long long", "0: never, 1: by the rule of graphdask.engine.direction, 2: always"
    unexplored = "double", "edges that no level has visited; negative before the first launch"
    before = "double", "the size of the last frontier"
    vertices = "double", "the number of vertices"
    alpha = "double", "see graphdask.engine.direction"
    beta = "double", "see graphdask.engine.direction"
    claims = "double", "a push of more edges claims"
