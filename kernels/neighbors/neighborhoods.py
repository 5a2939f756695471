"""Neighbourhoods of minibatches: drawing all hops in one go, and numbering the vertices of each instance.

The draws are those of neighbors.py and successive.py. What only numbers, or counts, has no CUDA kernel.
"""

import numpy as np

from graphdask.kernels.common.hash import GOLDEN, inlined, multiply_high
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighborhoods_pack import NeighborhoodDraws, NumberedVertices
from graphdask.kernels.neighbors.neighbors import neighbors_uniform
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws
from graphdask.kernels.neighbors.successive import successive_draw
from graphdask.kernels.neighbors.successive_pack import SuccessiveDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def neighborhoods_renumber(n, vertices, new_vertices, a: NumberedVertices):
    """Number the vertices of each instance: its seeds, then the others in the order in which edges reach them.

    vertices: of the graph. nodes: an array with a place for each seed, and new_vertices places for each edge.
    node_offsets[i + 1] is set to where the vertices of instance i end, and seeds_of[i] to how many of them are seeds.

    The table says where in `nodes` a vertex is. It is indexed by the vertex if that uses no more memory than indexing
    by a hash. Places only grow, so entries of earlier instances are recognized because they are too small.
    """
    most = 0
    for i in range(n):
        more = a.seed_bounds[i + 1] - a.seed_bounds[i] + new_vertices * (a.edge_bounds[i + 1] - a.edge_bounds[i])
        most = max(most, more)
    hashing = vertices > 2 * most
    table, count = np.full(2 * most if hashing else vertices, -1, np.int64), np.int64(0)
    for i in range(n):
        first = count
        for s in range(a.seed_bounds[i], a.seed_bounds[i + 1]):
            slot = _slot(table, hashing, a.nodes, first, a.seeds[s])
            if table[slot] < first:
                table[slot] = count
                a.nodes[count] = a.seeds[s]
                count += 1
        a.seeds_of[i] = count - first
        for e in range(a.edge_bounds[i], a.edge_bounds[i + 1]):
            if e > a.edge_bounds[i] and a.src[e] == a.src[e - 1]:
                a.row[e] = a.row[e - 1]
            else:
                slot = _slot(table, hashing, a.nodes, first, a.src[e])
                if table[slot] < first:
                    table[slot] = count
                    a.nodes[count] = a.src[e]
                    count += 1
                a.row[e] = table[slot] - first
            slot = _slot(table, hashing, a.nodes, first, a.dst[e])
            if table[slot] < first:
                table[slot] = count
                a.nodes[count] = a.dst[e]
                count += 1
            a.col[e] = table[slot] - first
        a.node_offsets[i + 1] = count


@twin
def _draw(n, first, a: NeighborhoodDraws):
    """One instance after the other. The table is indexed by a hash, and twice as large as an instance gets by a hop;
    it grows from hop to hop."""
    count, made, hashing = np.int64(0), np.int64(0), np.bool_(True)  # Numba compiles again for every literal
    table = np.full(64, -1, np.int64)
    offsets, marks, owners = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    for i in range(a.reported.instances, n):
        base, begin = count, made
        for s in range(a.seed_bounds[i], a.seed_bounds[i + 1]):
            a.nodes[count] = a.seeds[s]
            count += 1
        a.node_sizes[i, 0], here = count - base, base
        for hop in range(a.hops):
            size, total = count - here, 0
            if len(offsets) <= size:
                most = 2 * size + 1
                offsets, marks, owners = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
            for k in range(size):
                vertex = a.nodes[here + k]
                degree = a.indptr[vertex + 1] - a.indptr[vertex]
                offsets[k], marks[k], owners[k] = total, here + k - base, first + i
                drawn = degree
                if a.fanouts[hop] >= 0 and (degree > a.fanouts[hop] or (a.replace and degree)):
                    drawn = a.fanouts[hop]
                total += drawn
            offsets[size] = total
            stop = made + total
            if stop > a.capacity:
                a.reported.instances, a.reported.vertices, a.reported.edges, a.reported.needed = (
                    i,
                    base,
                    begin,
                    stop - begin,
                )
                return
            if a.method is None:
                neighbors_uniform(
                    size, ItemDraws(
                        rows=a.nodes[here:count], vertices=a.nodes[here:count], instances=owners, tags=marks,
                        indptr=a.indptr, offsets=offsets, replace=a.replace, seed=a.seed, src=a.col[made:stop],
                        dst=a.edge[made:stop], tag=a.row[made:stop],
                    ),
                )  # fmt: skip
            else:
                successive_draw(
                    size, SuccessiveDraws(
                        rows=a.nodes[here:count], vertices=a.nodes[here:count], instances=owners, tags=marks,
                        indptr=a.indptr, indices=None, offsets=offsets, sums=a.sums, replace=a.replace, method=a.method,
                        seed=a.seed, scratch_at=offsets, trees=offsets, src=a.col[made:stop], dst=a.edge[made:stop],
                        tag=a.row[made:stop],
                    ),
                )  # fmt: skip
            grown = 2 * (count - base + total) > len(table)
            if grown:
                table = np.full(4 * (count - base + total), -1, np.int64)
            for place in range(base if grown or hop == 0 else count, count):
                table[_slot(table, hashing, a.nodes, base, a.nodes[place])] = place
            here = count
            for e in range(made, stop):
                a.col[e] = a.indices[a.edge[e]]
            for e in range(made, stop):
                vertex = a.col[e]
                slot = _slot(table, hashing, a.nodes, base, vertex)
                if table[slot] < base:
                    table[slot] = count
                    a.nodes[count] = vertex
                    count += 1
                a.col[e] = table[slot] - base
            a.node_sizes[i, hop + 1], a.edge_sizes[i, hop] = count - here, total
            made = stop
    a.reported.instances, a.reported.vertices, a.reported.edges, a.reported.needed = n, count, made, 0


@twin
def neighborhoods_draw(n, first, a: NeighborhoodDraws):
    """Draw all hops of instances and number their vertices in the same pass.

    The edges are those that `neighbors_uniform` draws, and the numbers are those of `neighborhoods_renumber`. Rows are
    those of the vertices, and edge[e] is the place of an edge. The seeds of an instance differ.

    first: instance number of seed_bounds[0]. On a GPU no instance is done before, the buffers must suffice, there are
    at most 8 hops, and no fan-out is -1 or, without replacement, above FEW.
    """
    _draw(
        n, first, NeighborhoodDraws(
            seeds=a.seeds, seed_bounds=a.seed_bounds, indptr=a.indptr, indices=a.indices, fanouts=a.fanouts,
            hops=a.hops, replace=a.replace, seed=a.seed, capacity=a.capacity, nodes=a.nodes, row=a.row,
            col=a.col, edge=a.edge, node_sizes=a.node_sizes, edge_sizes=a.edge_sizes, reported=a.reported,
        ),
    )  # fmt: skip


@twin
def neighborhoods_draw_biased(n, first, a: NeighborhoodDraws):
    """The same of what `successive_draw` draws, of up to FEW neighbours without replacement; sums and method are its
    own."""
    _draw(n, first, a)


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
    capacity = len(table)
    slot = np.int64(multiply_high(np.uint64(vertex) * GOLDEN, np.uint64(capacity)))
    while table[slot] >= first and nodes[table[slot]] != vertex:
        slot = slot + 1 if slot + 1 < capacity else 0
    return slot
