"""Entries of many items as one list, a tile at a time: for twins. Twin of flat.cuh."""

from graphdask.kernels.common.twin import inlined


@inlined
def flat_item(ends, items, entry):
    """The item of an entry: the first i with ends[i] > entry."""
    low, high = 0, items
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] <= entry:
            low = middle + 1
        else:
            high = middle
    return low
