"""What candidates.py and candidates.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("CandidateCounts", "own", "hubs", "edges", "ghosts")
"""Own candidates, deferred rows, edges visited, candidates that are ghosts."""


class CandidateLists(Pack):
    indptr = "const long long *", "where the out-edges of each own vertex begin"
    indices = "const index_t *", "the slots that they lead to"
    frontier = "const mask_t *", "per slot: lanes in which the vertex is in the frontier (betweenness.py)"
    seen = "const mask_t *", "per slot: lanes that have reached it"
    owned = "long long", "the number of own vertices"
    slots = "long long", "the number of slots; there are ghosts if it is larger"
    chosen = "unsigned int *", "a bit per slot: whether it is a candidate"
    own = "index_t *", "own candidates"
    ghosts = "index_t *", "candidates that are ghosts"
    hubs = "index_t *", "rows of very many edges"
    counters = COUNTS, "lengths of the lists"
