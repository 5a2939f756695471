"""Sizes that kernels share with the Python code that calls them: each is defined here alone, without Numba.

The twins and the callers import them. The `.cu` files have macros of the same values; the table `MACROS_OF` names them,
and a test compares them.
"""

HUB = 4096
"""Edges of a row; all blocks of a GPU share a row of more."""
LONG_ROW = 1024
"""Edges of a row; a level with a row of more is not one of the small levels that one launch processes, because one warp
of a GPU would scan the row alone while all others wait."""
LONG_ROW_MARK = 1 << 40
"""What each such row adds to the number of edges of a level: more than any limit for small levels, and more than the
edges of a level on one rank, so that the remainder is that number."""
PULL_FEW = 64
"""Edges of a row that one thread scans in a pull before a warp takes the rest: most rows find a parent sooner."""
ALPHA = 15.0
"""A search pulls if its frontier has more than 1/ALPHA of the edges that no level has visited."""
BETA = 18.0
"""A search that pulls goes on if its frontier has at least 1/BETA of the vertices."""
FAR_VERTEX = 1 << 31
"""A vertex; generators that copy edges draw for it and later ones with a second hash, because choosing among so many
vertices leaves too few bits of the first."""
PLAIN_DEGREE = 256
"""Edges of a new vertex; for more, 32 bits are too coarse for an edge and a coin, and a second hash is drawn."""
PLAIN_SHARE = 1 << 47
"""Of 2**63, per edge of a new vertex: a second hash is drawn too if direct edges, or copied ones, are rarer."""
SHORT = 32
"""Neighbours up to which label propagation gives a row to a warp, one for each thread."""
LABEL_MIDDLE = 256
"""Neighbours up to which a warp counts the labels of a row in shared memory."""
LABEL_CHUNK = 2048
"""Neighbours of a longer row that a block counts at a time."""
COMMUNITY_ROW = 126
"""Neighbours of a row that a warp adds up by community; with two more, half the places of its table."""
COMMUNITY_CHUNK = 1022
"""Neighbours of a longer row that a block adds up at a time, in the same way."""
COMMUNITY_WARPS = 8
"""Warps of such a block."""

ROW_FEW = 8
"""Most edges of a row that one thread adds."""
ROW_CHUNK = 256
"""Edges of a longer row that are added by themselves, on a CPU too: sums in this order have the same bits."""
ROW_SPAN = 512
"""Edges; the part of the rows that a block adds has fewer."""
ROW_EACH = 8
"""Rows that each thread of a block lists at a time."""
SWEEP_KINDS = 10
"""Kinds of rows and chunks of a dynamic graph, by their lengths."""
ROW_PIECE = 4096
"""Edges of a long row of a dynamic graph that one block takes: 8 for each of 512 threads."""
MASS = 2.0**60
"""Fixed point of sums of ranks: integers that are added in any order give the same bits."""

MOST_PEERS = 128
"""Ranks up to which numbers of segments are ranked by counting: each compares with all others in one launch."""
FLAT_TILE = 256
"""Entries of many items, one item after the other, that a warp of a GPU takes at a time (kernels/common/flat.cuh)."""
BITMAP_TILE = 256
"""Words of a bitmap that a block of a GPU takes at once (kernels/common/scan.cuh)."""

FEW_CHOSEN = 32
"""Candidates that are chosen without a table of those before."""
FEW_DRAWN = 32
"""Neighbours of a vertex that one thread draws and keeps."""
BIAS_TILE = 1024
"""Edges whose biases are added at a time."""
SPARSE = 32
"""Edges for each entry of sparse prefix sums."""
LOOKED_AT = 256
"""Edges of a row, at most, that one thread scans if trials did not suffice."""
KEYS_AT_ONCE = 256
"""Edges whose random numbers a CPU makes before it compares them; even, because numbers are made in pairs."""
GROUP = 64
"""Walkers that a CPU moves in turn, so that it waits for the memory of many at the same time."""
ONE = 1 << 63
"""What stands for the probability 1 of a step of a walk; an integer, so that all devices decide alike."""

MACROS_OF = {
    "common/rows.cuh": {"GD_HUB": HUB},
    "common/direction.cuh": {"GD_ALPHA": ALPHA, "GD_BETA": BETA},
    "common/levels.cuh": {"GD_LONG_ROW": LONG_ROW, "GD_LONG_ROW_MARK": LONG_ROW_MARK},
    "common/pull.cuh": {"GD_PULL_FEW": PULL_FEW},
    "generate/cuppa.cu": {"CUPPA_FAR": FAR_VERTEX},
    "generate/pa_walk.cuh": {"PA_FAR": FAR_VERTEX, "PA_PLAIN_DEGREE": PLAIN_DEGREE, "PA_PLAIN_SHARE": PLAIN_SHARE},
    "label_propagation/label_propagation.cu": {"CHUNK": LABEL_CHUNK, "MIDDLE": LABEL_MIDDLE},
    "communities/communities.cu": {"MIDDLE": COMMUNITY_ROW, "CHUNK": COMMUNITY_CHUNK, "WARPS": COMMUNITY_WARPS},
    "common/flat.cuh": {"GD_FLAT_TILE": FLAT_TILE},
    "common/lanes.cuh": {"GD_CHUNK": ROW_CHUNK},
    "common/row_sums.cuh": {"GD_FEW": ROW_FEW, "GD_SPAN": ROW_SPAN},
    "pagerank/pagerank.cu": {"GD_FEW": ROW_FEW, "GD_SPAN": ROW_SPAN},
    "pagerank/slices.cu": {"GD_FEW": ROW_FEW},
    "pagerank/row_lists.cu": {"GD_FEW": ROW_FEW, "GD_CHUNK": ROW_CHUNK, "GD_SPAN": ROW_SPAN, "GD_EACH": ROW_EACH},
    "pagerank/sliced.cuh": {"GD_SPAN": ROW_SPAN},
    "dynamic/dynamic_sweep.cu": {"GD_FEW": ROW_FEW, "GD_SPAN": ROW_SPAN, "GD_KINDS": SWEEP_KINDS},
    "dynamic/dynamic.cu": {"GD_FEW": ROW_FEW, "GD_HUB": HUB, "GD_MASS": MASS, "GD_PIECE": ROW_PIECE},
    "dynamic/dynamic_rows.cu": {"GD_PIECE": ROW_PIECE},
    "dynamic/dynamic_batch.cu": {"GD_PIECE": ROW_PIECE},
    "program/program.cu": {"GD_HUB": HUB},
    "exchange/segments.cu": {"GD_MOST_PEERS": MOST_PEERS},
    "choice/selection.cu": {"GD_FEW": FEW_CHOSEN},
    "choice/biases.cu": {"GD_TILE": BIAS_TILE},
    "choice/pick.cuh": {"GD_SPARSE": SPARSE},
    "neighbors/neighbors.cuh": {"GD_FEW": FEW_DRAWN},
    "functions/functions_asking.cuh": {"GD_LOOKED_AT": LOOKED_AT},
}
"""For each file of CUDA its macros."""
