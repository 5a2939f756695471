"""CPU kernel that removes self-loops and all but the lightest of parallel edges from the rows of a chunk, in place."""

from graphdask.kernels.common.twin import twin


@twin
def layered_simple(n, first, degrees, targets, weights):
    """Move the edges that are kept to the beginning of the arrays, and count them in `degrees`.

    Parallel edges are adjacent, in the order of their weights. Edges that are already in place are not written.
    """
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
