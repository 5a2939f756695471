"""Arcs of equal ends become one, on a CPU: a counting sort by source, sums in a table, then a sort within each row.

There is no CUDA kernel of it: a GPU sorts keys of both ends.
"""

from graphdask.kernels.common.sorting import sort_part
from graphdask.kernels.common.twin import twin


@twin
def merging_arcs(n, src, dst, weights, begin, total, sources, targets, sums):
    """Write the n arcs to `sources`, `targets` and `sums`, in order, those of equal ends as one; return their number.

    `begin` has where the arcs of each source go, and is changed; `total` has -1 for each vertex, before and after.
    """
    for i in range(n):
        k = begin[src[i]]
        begin[src[i]] = k + 1
        targets[k] = dst[i]
        sums[k] = weights[i]
    kept = first = 0
    for row in range(len(begin)):
        start, end = kept, begin[row]
        for k in range(first, end):
            target = targets[k]
            if total[target] < 0:
                total[target] = 0
                targets[kept] = target
                kept += 1
            total[target] += sums[k]
        first = end
        sort_part(targets, start, kept)
        for k in range(start, kept):
            sources[k] = row
            sums[k] = total[targets[k]]
            total[targets[k]] = -1
    return kept
