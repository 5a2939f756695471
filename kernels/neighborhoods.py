"""Renumbering the vertices of sampled neighbourhoods, instance by instance, on a CPU. There is no CUDA kernel of it."""

import numpy as np

from graphdask.kernels.hash import GOLDEN, multiply_high
from graphdask.kernels.twin import twin


@twin
def neighborhoods_renumber(n, seeds, seed_bounds, edge_bounds, new_vertices, src, dst, nodes, node_offsets, row, col):
    """Number the vertices of each instance: its seeds, then the others in the order in which edges reach them.

    nodes: room for all seeds, and new_vertices for each edge; node_offsets[i + 1] is set to where the vertices of
    instance i end.
    """
    table, count = np.empty(0, np.int64), 0
    for i in range(n):
        first = count
        edges = edge_bounds[i + 1] - edge_bounds[i]
        room = 2 * (seed_bounds[i + 1] - seed_bounds[i] + new_vertices * edges)
        if len(table) < room:
            table = np.empty(2 * room, np.int64)
        table[:room] = -1
        for s in range(seed_bounds[i], seed_bounds[i + 1]):
            slot = _slot(table, room, nodes, seeds[s])
            if table[slot] < 0:
                table[slot] = count
                nodes[count] = seeds[s]
                count += 1
        for e in range(edge_bounds[i], edge_bounds[i + 1]):
            for vertex, out in ((src[e], row), (dst[e], col)):
                slot = _slot(table, room, nodes, vertex)
                if table[slot] < 0:
                    table[slot] = count
                    nodes[count] = vertex
                    count += 1
                out[e] = table[slot] - first
        node_offsets[i + 1] = count


@twin
def _slot(table, room, nodes, vertex):
    """Where in the table the number of a vertex is, or is to be."""
    slot = np.int64(multiply_high(np.uint64(vertex) * GOLDEN, np.uint64(room)))
    while table[slot] >= 0 and nodes[table[slot]] != vertex:
        slot = slot + 1 if slot + 1 < room else 0
    return slot
