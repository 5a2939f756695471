"""Sizes that kernels share with the Python code that calls them: each is defined here alone, without Numba.

The twins and the callers import them. The `.cu` files have macros of the same values; the table `MACROS_OF` names them,
and a test compares them.
"""

HUB = 4096
"""Edges of a row; all blocks of a GPU share a row of more."""
SHORT = 32
"""Neighbours up to which label propagation gives a row to a warp, one for each thread."""
LABEL_CHUNK = 1024
"""Neighbours of a longer row that a block counts at a time."""

ROW_FEW = 8
"""Most edges of a row that one thread adds."""
ROW_CHUNK = 256
"""Edges of a longer row that are added by themselves, on a CPU too: sums in this order have the same bits."""
ROW_SPAN = 512
"""Edges; the part of the rows that a block adds has fewer."""
SWEEP_KINDS = 10
"""Kinds of rows and chunks of a dynamic graph, by their lengths."""
ROW_PIECE = 4096
"""Edges of a long row of a dynamic graph that one block takes: 8 for each of 512 threads."""
MASS = 2.0**60
"""Fixed point of sums of ranks: integers that are added in any order give the same bits."""

MOST_PEERS = 128
"""Ranks up to which numbers of segments are ranked by counting: each compares with all others in one launch."""
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
    "label_propagation/label_propagation.cu": {"CHUNK": LABEL_CHUNK},
    "common/lanes.cuh": {"GD_CHUNK": ROW_CHUNK},
    "common/row_sums.cuh": {"GD_FEW": ROW_FEW, "GD_SPAN": ROW_SPAN},
    "pagerank/pagerank.cu": {"GD_FEW": ROW_FEW, "GD_SPAN": ROW_SPAN},
    "pagerank/slices.cu": {"GD_FEW": ROW_FEW},
    "pagerank/sliced.cuh": {"GD_SPAN": ROW_SPAN},
    "dynamic/dynamic_sweep.cu": {"GD_FEW": ROW_FEW, "GD_SPAN": ROW_SPAN, "GD_KINDS": SWEEP_KINDS},
    "dynamic/dynamic.cu": {"GD_FEW": ROW_FEW, "GD_HUB": HUB, "GD_MASS": MASS, "GD_PIECE": ROW_PIECE},
    "dynamic/dynamic_rows.cu": {"GD_PIECE": ROW_PIECE},
    "dynamic/dynamic_batch.cu": {"GD_PIECE": ROW_PIECE},
    "exchange/segments.cu": {"GD_MOST_PEERS": MOST_PEERS},
    "choice/selection.cu": {"GD_FEW": FEW_CHOSEN},
    "choice/biases.cu": {"GD_TILE": BIAS_TILE},
    "choice/pick.cuh": {"GD_SPARSE": SPARSE},
    "neighbors/neighbors.cuh": {"GD_FEW": FEW_DRAWN},
    "functions/functions_asking.cuh": {"GD_LOOKED_AT": LOOKED_AT},
}
"""For each file of CUDA its macros."""
