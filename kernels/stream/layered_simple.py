"""Rows of a chunk without self-loops and, of parallel edges, with the lightest only: what a CPU does in place."""

from graphdask.kernels.common.twin import twin


@twin
def layered_simple(n, first, degrees, targets, weights):
    """Move the edges that are kept to the front, and count them in `degrees`. Parallel edges stand beside each other by
    weight. What is in order already stays as it is."""
    e, to = 0, 0
    for row in range(n):
        kept, before = 0, -1
        for _ in range(degrees[row]):
            v = targets[e]
            if v != first + row and v != before:
                if to < e:
                    targets[to], weights[to] = v, weights[e]
                to += 1
                kept += 1
            before = v
            e += 1
        degrees[row] = kept
