"""Numbering the ids of edges on a CPU: which ids there are, their numbers, and degrees.

There is no CUDA kernel of it: ids are numbered on the host, before edges go to a device.
"""

from graphdask.kernels.twin import twin


@twin
def numbering_mark(n, ends, low, present):
    """Set present[end - low] for each of the n ends."""
    for i in range(n):
        present[ends[i] - low] = 1


@twin
def numbering_replace(n, ends, low, number_of, out):
    """Put the numbers of n ends into `out`, which may be the memory of `ends`."""
    for i in range(n):
        out[i] = number_of[ends[i] - low]


@twin
def numbering_degrees(n, src, dst, degree):
    """Add 1 to the degree of both ends of each of the n edges."""
    for i in range(n):
        degree[src[i]] += 1
        degree[dst[i]] += 1
