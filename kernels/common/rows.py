"""Sorting edges into rows on a CPU: a counting sort by row, then a sort within each row.

There is no CUDA kernel of it: on a GPU a radix sort of 64-bit keys is faster than this is here.
"""

from graphdask.kernels.common.bitmap import u64
from graphdask.kernels.common.sorting import sort_part
from graphdask.kernels.common.twin import twin

FEW = 24
"""Entries of a row with weights that are sorted by insertion at a time."""


@twin
def rows_ends(n, src, dst, directed, begins):
    """Add the number of the n edges of each row r to begins[r + 2]; the row of an edge is one of its ends."""
    for i in range(n):
        begins[(src[i] if directed else min(src[i], dst[i])) + 2] += 1


@twin
def rows_gather(n, src, dst, directed, first, last, begins, base, columns):
    """Put the other ends of the n edges of the rows `first` to `last` together, in `columns` from `base` on.

    begins[r + 1] is where the next end of row r goes.
    """
    for i in range(n):
        row = src[i] if directed else min(src[i], dst[i])
        if first <= row < last:
            columns[begins[row + 1] - base] = dst[i] if directed else max(src[i], dst[i])
            begins[row + 1] += 1


@twin
def rows_repeats(n, first, start, begins, base, columns, seen):
    """Return how many ends of the n rows from `first` on, whose ends begin at `start`, stand in their row before.

    begins[r + 1] is where row r ends. Ends are marked in `seen` with the number of the row: no row is sorted.
    """
    repeats = 0
    for r in range(first, first + n):
        end = begins[r + 1] - base
        for k in range(start, end):
            repeats += seen[columns[k]] == r + 1
            seen[columns[k]] = r + 1
        start = end
    return repeats


@twin
def rows_repeats_of(n, src, dst, directed, row, seen):
    """Return how many of the n edges that are of this row are parallel to one before them; without workspace."""
    repeats = 0
    for i in range(n):
        if (src[i] if directed else min(src[i], dst[i])) == row:
            column = dst[i] if directed else max(src[i], dst[i])
            repeats += seen[column] == row + 1
            seen[column] = row + 1
    return repeats


@twin
def rows_count(n, rows, indptr):
    """Add the number of entries of each row r to indptr[r + 1]."""
    for i in range(n):
        indptr[rows[i] + 1] += 1


@twin
def rows_loops(n, indptr, columns, ids):
    """Return how many entries of the n rows are the row's own id."""
    loops = 0
    for r in range(n):
        for k in range(indptr[r], indptr[r + 1]):
            loops += columns[k] == ids[r]
    return loops


@twin
def rows_fill(n, rows, columns, weights, indptr, out, out_weights):
    """Put the columns of each row together, and their weights, in the order in which they come; without weights, both
    arrays of them are None. indptr[1:] must hold the number of entries of each row."""
    num_rows = len(indptr) - 1
    for r in range(num_rows):
        indptr[r + 1] += indptr[r]
    for i in range(n - 1, -1, -1):  # each row from its end on, so that what is its end becomes its start
        k = indptr[rows[i] + 1] - 1
        indptr[rows[i] + 1] = k
        out[k] = columns[i]
        if weights is not None:
            out_weights[k] = weights[i]
    for r in range(num_rows):
        indptr[r] = indptr[r + 1]
    indptr[num_rows] = n


@twin
def rows_sort(n, indptr, out):
    """Sort each of the n rows."""
    for r in range(n):
        sort_part(out, indptr[r], indptr[r + 1])


@twin
def rows_sort_weighted(n, indptr, out, weights, spare, spare_weights):
    """Sort each of the n rows, equal columns by weight and of the same weight as they come: runs of a few are sorted by
    insertion, and merged. `spare` and `spare_weights` have the length of the longest row."""
    one, few = u64(1), u64(FEW)
    for r in range(n):
        first, last = u64(indptr[r]), u64(indptr[r + 1])
        for start in range(first, last, few):
            for i in range(start + one, min(start + few, last)):
                value, weight = out[i], weights[i]
                j = i
                while j > start and (out[j - one] > value or (out[j - one] == value and weights[j - one] > weight)):
                    out[j] = out[j - one]
                    weights[j] = weights[j - one]
                    j -= one
                out[j] = value
                weights[j] = weight
        width = few
        while width < last - first:
            for start in range(first, last - width, width + width):
                for i in range(width):  # the first of two runs makes way
                    spare[i] = out[start + i]
                    spare_weights[i] = weights[start + i]
                i, j, k = u64(0), start + width, start
                end = min(j + width, last)
                while i < width and j < end:
                    if spare[i] > out[j] or (spare[i] == out[j] and spare_weights[i] > weights[j]):
                        out[k] = out[j]
                        weights[k] = weights[j]
                        j += one
                    else:
                        out[k] = spare[i]
                        weights[k] = spare_weights[i]
                        i += one
                    k += one
                while i < width:
                    out[k] = spare[i]
                    weights[k] = spare_weights[i]
                    i += one
                    k += one
            width += width


@twin
def rows_merge(n, indptr, out, weights):
    """Keep the first of equal columns of each of the n sorted rows, in their place, and its weight; `weights` may be
    None. Return how many are left."""
    kept = 0
    first = indptr[0]
    for r in range(n):
        begin, last = kept, indptr[r + 1]
        for k in range(first, last):
            if kept == begin or out[k] != out[kept - 1]:
                out[kept] = out[k]
                if weights is not None:
                    weights[kept] = weights[k]
                kept += 1
        indptr[r + 1] = kept
        first = last
    return kept
