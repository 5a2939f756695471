"""A sort of a part of an array in place, for other twins. NumPy's within Numba takes several times as long to compile.

Quicksort with the median of three as the pivot, of which the larger part waits, and insertion for few values.

Sources: Hoare, Quicksort, The Computer Journal 5 (1962); Sedgewick, Implementing quicksort programs (1978).
"""

import numpy as np

from graphdask.kernels.common.bitmap import u64
from graphdask.kernels.common.twin import twin, within

FEW = 24
"""Values up to which they are sorted by insertion."""


@within
def sort_part(values, begin, end):
    """Sort the values, whole numbers, from `begin` to `end`."""
    one, first, last = u64(1), u64(begin), u64(end)
    if last - first > u64(FEW):
        _sort_many(values, first, last)
        return
    for i in range(first + one, last):
        value = values[i]
        j = i
        while j > first and values[j - one] > value:
            values[j] = values[j - one]
            j -= one
        values[j] = value


@twin
def _sort_many(values, first, last):
    one, few, waiting = u64(1), u64(FEW), 0
    parts = np.empty((64, 2), np.uint64)  # each at most half as long as the one before
    while True:
        if last - first > few:
            low, pivot, high = values[first], values[first + (last - first) // u64(2)], values[last - one]
            pivot = max(min(low, high), min(max(low, high), pivot))
            i, j = first, last - one
            while True:
                while values[i] < pivot:
                    i += one
                while values[j] > pivot:
                    j -= one
                if i >= j:
                    break
                values[i], values[j] = values[j], values[i]
                i += one
                j -= one
            middle = i + one if i == j else i
            left = middle - first < last - middle
            parts[waiting, 0] = middle if left else first
            parts[waiting, 1] = last if left else middle
            waiting += 1
            if left:
                last = middle
            else:
                first = middle
            continue
        for i in range(first + one, last):
            value = values[i]
            j = i
            while j > first and values[j - one] > value:
                values[j] = values[j - one]
                j -= one
            values[j] = value
        if waiting == 0:
            return
        waiting -= 1
        first, last = parts[waiting, 0], parts[waiting, 1]
