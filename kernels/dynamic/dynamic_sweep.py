"""Lists of the rows of a dynamic graph for sums over all of them: twins of dynamic_sweep.cu.

begin, length  int64 per row, as in dynamic.py
counts         uint64: rows of 1 to 8 edges; chunks of eight kinds by their lengths, 256 to 225 edges, 224 to 193, and
               so on; rows of more than 256 edges; and how many chunks those have
next           uint64, ten: the same, where the next one goes, and of long rows 2**36 for each row plus its chunks
few            index dtype: the rows of 1 to 8 edges
chunks, targets, many, first_chunk
               as in pagerank.py, of all other rows, `many` being those of more than 256 edges; the longest kind first

Rows are listed in no order, but near ones near each other.
"""

import numpy as np

from graphdask.kernels.common.lanes import CHUNK, u64
from graphdask.kernels.common.tuning import ROW_FEW as FEW
from graphdask.kernels.common.tuning import ROW_SPAN as SPAN
from graphdask.kernels.common.tuning import SWEEP_KINDS as KINDS
from graphdask.kernels.common.twin import twin, within

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
LONG, ROW_BIT = 9, 36


@within
def _kind(size):
    return 8 - (size - 1) // 32


@twin
def dynamic_sweep_count(n, length, counts):
    for v in range(n):
        size = length[v]
        if size > CHUNK:
            counts[1] += u64(size // CHUNK)
            if size % CHUNK:
                counts[_kind(size % CHUNK)] += u64(1)
            counts[LONG] += u64(1)
            counts[KINDS] += u64((size + CHUNK - 1) // CHUNK)
        elif size:
            counts[0 if size <= FEW else _kind(size)] += u64(1)


@twin
def dynamic_sweep_list(n, begin, length, counts, next, few, chunks, targets, many, first_chunk):
    first_chunk[np.int64(counts[LONG])] = counts[KINDS]
    chunks[np.int64(counts[1:LONG].sum()) :] = 0
    targets[np.int64(counts[1:LONG].sum()) :] = 0
    many[np.int64(counts[LONG]) :] = -1
    for v in range(n):
        first, size = begin[v], length[v]
        if 0 < size <= FEW:
            few[np.int64(next[0])] = v
            next[0] += u64(1)
        if size <= FEW:
            continue
        row = np.int64(next[LONG] >> u64(ROW_BIT))
        partial = np.int64(next[LONG] & u64((1 << ROW_BIT) - 1))
        if size > CHUNK:
            many[row], first_chunk[row] = v, partial
            next[LONG] += u64((1 << ROW_BIT) + (size + CHUNK - 1) // CHUNK)
        for k in range(0, size, CHUNK):
            some = min(size - k, CHUNK)
            kind = _kind(some)
            at = np.int64(next[kind] + counts[1:kind].sum())
            chunks[at] = (first + k) * SPAN + some
            targets[at] = -1 - partial - k // CHUNK if size > CHUNK else v
            next[kind] += u64(1)
