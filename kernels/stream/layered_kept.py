"""Sums of the rows of some chunks of a layered edge list that stay on the device: twins of layered_kept.cu.

n is the number of threads; a launch of kept_sum must be cooperative. A tile has up to 32 rows; those of the first chunk
come first, then those of the next. `kept_tiles` stores the number of edges of each tile.

table    int64, shape (8, chunks), for each chunk: where its degrees and where its targets begin in `words`; where its
         weights begin in `weights`; its number of rows; the rows that are summed, from the fifth line to the
         sixth - 1; where the sum of the first of these is stored in `sums`; its first tile
real_t   the type of ranks. Products use weights converted to it; sums are float64

The order of additions in a row is that of lanes.py. The CPU twin has no load to balance, so it lists nothing.
"""

import numpy as np

from graphdask.kernels.common.twin import by_python
from graphdask.kernels.pagerank.pagerank import pagerank_sum
from graphdask.kernels.stream.layered_kept_pack import KeptSums
from graphdask.kernels.stream.layered_sums import MACROS, UNWEIGHTED

__all__ = ["COLUMN", "MACROS", "TILE", "kept_sum", "kept_tiles"]

TILE = 32
"""Rows of a tile."""
COLUMN = 8
"""Words of `table` for each chunk."""


def kept_tiles(n, tiles, table, chunks, words, edges):
    for degrees, _, _, rows, *_, first in table.T.tolist():
        for tile, begin in enumerate(range(0, rows, TILE), first):
            edges[tile] = words[degrees + begin : degrees + min(begin + TILE, rows)].sum(dtype=np.int64)


@by_python
def kept_sum(n, a: KeptSums):
    a.cleared[:] = 0
    for degrees, targets, heavy, _, low, high, to, _ in a.table.T.tolist():
        indptr = np.concatenate([[0], np.cumsum(a.words[degrees : degrees + high], dtype=np.int64)])
        mine, own = a.words[targets : targets + indptr[-1]].view(np.int32), UNWEIGHTED
        if a.weighted:
            own = a.weights[heavy : heavy + indptr[-1]].astype(np.float32 if a.x.dtype == np.float32 else np.float64)
        pagerank_sum(high - low, indptr[low:], mine, own, a.weighted, a.x, mine[:0], 0, a.sums[to : to + high - low])
