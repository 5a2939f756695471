"""Renumbering the vertices of sampled neighbourhoods, instance by instance, on a CPU. There is no CUDA kernel of it."""

import numpy as np

from graphdask.kernels.hash import GOLDEN, inlined, multiply_high
from graphdask.kernels.twin import twin


@twin
def neighborhoods_renumber(
    n, vertices, seeds, seed_bounds, edge_bounds, new_vertices, src, dst, nodes, node_offsets, seeds_of, row, col
):
    """Number the vertices of each instance: its seeds, then the others in the order in which edges reach them.

    vertices: of the graph. nodes: room for all seeds, and new_vertices for each edge; node_offsets[i + 1] is set to
    where the vertices of instance i end, and seeds_of[i] to how many of them are seeds.

    The table says where in `nodes` a vertex is. It is indexed by the vertex where that takes no more memory than by a
    hash. Places only grow, so what it says of the instances before is known by being too small.
    """
    most = 0
    for i in range(n):
        more = seed_bounds[i + 1] - seed_bounds[i] + new_vertices * (edge_bounds[i + 1] - edge_bounds[i])
        most = max(most, more)
    hashing = vertices > 2 * most
    table, count = np.full(2 * most if hashing else vertices, -1, np.int64), 0
    for i in range(n):
        first = count
        for s in range(seed_bounds[i], seed_bounds[i + 1]):
            slot = _slot(table, hashing, nodes, first, seeds[s])
            if table[slot] < first:
                table[slot] = count
                nodes[count] = seeds[s]
                count += 1
        seeds_of[i] = count - first
        for e in range(edge_bounds[i], edge_bounds[i + 1]):
            if e > edge_bounds[i] and src[e] == src[e - 1]:
                row[e] = row[e - 1]
            else:
                slot = _slot(table, hashing, nodes, first, src[e])
                if table[slot] < first:
                    table[slot] = count
                    nodes[count] = src[e]
                    count += 1
                row[e] = table[slot] - first
            slot = _slot(table, hashing, nodes, first, dst[e])
            if table[slot] < first:
                table[slot] = count
                nodes[count] = dst[e]
                count += 1
            col[e] = table[slot] - first
        node_offsets[i + 1] = count


@twin
def neighborhoods_sizes(n, edge_bounds, hop, row, col, nodes_of, edges_of):
    """Of each instance, how many vertices each hop reaches first, and how many edges it has.

    nodes_of[i, 0], given, says how many vertices are seeds; what hop h reaches is put in nodes_of[i, h + 1].
    """
    for i in range(n):
        known = nodes_of[i, 0]
        for e in range(edge_bounds[i], edge_bounds[i + 1]):
            edges_of[i, hop[e]] += 1
            more = max(known, row[e] + 1, col[e] + 1)
            nodes_of[i, hop[e] + 1] += more - known
            known = more


@inlined
def _slot(table, hashing, nodes, first, vertex):
    """Where in the table the place of a vertex is, or is to be."""
    if not hashing:
        return np.int64(vertex)
    room = len(table)
    slot = np.int64(multiply_high(np.uint64(vertex) * GOLDEN, np.uint64(room)))
    while table[slot] >= first and nodes[table[slot]] != vertex:
        slot = slot + 1 if slot + 1 < room else 0
    return slot
