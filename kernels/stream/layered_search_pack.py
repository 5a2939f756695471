"""What layered_search.py and layered_search.cu work on."""

from graphdask.kernels.common.packs import Counters
from graphdask.kernels.stream.in_place_pack import RowsThere

COUNTS = Counters(
    "SearchCounts", "arrived", "depth", "listed", "left", "worked", "looked", "sectors", "found[3]", "edges[3]",
    "hubs[3]", "missing[3]",
)  # fmt: skip
"""Arrivals of blocks at the barrier, 0 at first; the next level; whether the positions of that level are in their
queue; edges of the vertices that are not at an earlier level; rows processed, edges scanned, sectors of 32 bytes read.
By level modulo 3: the number of vertices found and of their edges; the number of rows that are listed, and whether a
chunk was not in memory, both 0 at first."""


class SearchThere(RowsThere):
    ids = "const index_t *", "per position: the vertex number; None if positions are vertex numbers"
    pulls = (
        "long long",
        "whether rows are those of in-edges too, so that an unreached vertex can find its parent",
    )
    labels = "long long *", "per position: a distance times 2^32 plus the predecessor; the largest value if unreached"
    queues = "index_t *", "two queues of `capacity` entries, for the positions of a level, by level modulo 2"
    capacity = "long long", "entries of a queue"
    hubs = "index_t *", "one entry per row of more than 4,096 edges"
    counters = COUNTS, "where the search is, and what was done"
