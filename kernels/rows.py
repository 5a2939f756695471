"""Sorting edges into rows on a CPU: a counting sort by row, then a sort within each row.

There is no CUDA kernel of it: on a GPU a radix sort of 64-bit keys is faster than this is here.
"""

from graphdask.kernels.twin import twin

FEW = 24
"""Entries up to which a row is sorted by insertion."""


@twin
def rows_fill(n, rows, columns, indptr, out):
    """Put the columns of each row together; indptr[1:] must hold the number of entries of each row."""
    num_rows = len(indptr) - 1
    for r in range(num_rows):
        indptr[r + 1] += indptr[r]
    place = indptr.copy()
    for i in range(n):
        row = rows[i]
        out[place[row]] = columns[i]
        place[row] += 1


@twin
def rows_sort(n, indptr, out):
    """Sort each of the n rows."""
    for r in range(n):
        first, last = indptr[r], indptr[r + 1]
        if last - first > FEW:
            out[first:last].sort()  # assigned to a slice, Numba would compile texts of errors for seconds
            continue
        for i in range(first + 1, last):
            value = out[i]
            j = i
            while j > first and out[j - 1] > value:
                out[j] = out[j - 1]
                j -= 1
            out[j] = value
