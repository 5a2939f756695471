"""Edges in time: twins of temporal.cu.

rows      where the item's row is, index dtype
instances its instance, int64
indptr    rows of edges, which stand in the order of their times
times     of each edge
limits    of each instance, int64 or float64: the latest time of its edges
most      edges of an item, the latest ones; -1 for all of them
windows   int64, shape (2 n,): where the edges of each item begin, and where they end
"""

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int", "bias_t": time, "limit_t": "long long"} for time in ("int", "long long")]
MACROS += [{"index_t": "int", "bias_t": time, "limit_t": "double"} for time in ("float", "double")]
MACROS += [{"index_t": "long long", "bias_t": time, "limit_t": time} for time in ("long long", "double")]


@twin
def temporal_windows(n, rows, instances, indptr, times, limits, most, windows):
    """The edges of each item that are not later than its instance's limit."""
    for i in range(n):
        begin, limit = indptr[rows[i]], limits[instances[i]]
        first, last = begin, indptr[rows[i] + 1]
        while first < last:
            middle = (first + last) >> 1
            if times[middle] <= limit:
                first = middle + 1
            else:
                last = middle
        windows[2 * i] = first - most if most >= 0 and first - begin > most else begin
        windows[2 * i + 1] = first
