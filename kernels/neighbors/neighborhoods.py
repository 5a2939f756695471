"""Neighbourhoods of minibatches: drawing all hops in one go, and numbering the vertices of each instance.

The draws are those of neighbors.py and successive.py. What only numbers, or counts, has no CUDA kernel.
"""

import numpy as np

from graphdask.kernels.common.hash import GOLDEN, inlined, multiply_high
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors import neighbors_uniform
from graphdask.kernels.neighbors.successive import successive_draw
from graphdask.kernels.neighbors.successive_pack import SuccessiveDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def neighborhoods_renumber(
    n, vertices, seeds, seed_bounds, edge_bounds, new_vertices, src, dst, nodes, node_offsets, seeds_of, row, col
):
    """Number the vertices of each instance: its seeds, then the others in the order in which edges reach them.

    vertices: of the graph. nodes: an array with a place for each seed, and new_vertices places for each edge.
    node_offsets[i + 1] is set to where the vertices of instance i end, and seeds_of[i] to how many of them are seeds.

    The table says where in `nodes` a vertex is. It is indexed by the vertex if that uses no more memory than indexing
    by a hash. Places only grow, so entries of earlier instances are recognized because they are too small.
    """
    most = 0
    for i in range(n):
        more = seed_bounds[i + 1] - seed_bounds[i] + new_vertices * (edge_bounds[i + 1] - edge_bounds[i])
        most = max(most, more)
    hashing = vertices > 2 * most
    table, count = np.full(2 * most if hashing else vertices, -1, np.int64), np.int64(0)
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
def neighborhoods_draw(
    n, first, seeds, seed_bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, room, nodes, row, col,
    edge, node_sizes, edge_sizes, told, each, vertices, owners, sources, drawn, slots, entries, node_starts,
    edge_starts, shifts, state,
):  # fmt: skip
    """Draw all hops of instances and number their vertices in the same pass.

    The edges are those that `neighbors_uniform` draws, and the numbers are those of `neighborhoods_renumber`. Rows are
    those of the vertices, and edge[e] is the place of an edge. The seeds of an instance differ.

    first: instance number of seed_bounds[0]. room: the number of edges that row, col and edge can hold; nodes holds so
    many vertices and all seeds. told: int64, shape (4,): the number of instances that are done, where the kernel
    begins; the vertices and the edges that they have here; and the edges that the next instance needs at least, if the
    buffers cannot hold it. On a GPU no instance is done before, the buffers must suffice, there are at most 8 hops, and
    no fan-out is -1 or, without replacement, above FEW.

    The following are for a GPU only. They need no initial values unless one is named. For each vertex of nodes:
    `vertices` (index dtype) and `owners` (int32). For each edge: `sources` (int32), `drawn` (int64) and `slots` (index
    dtype). `entries` (index dtype) is a table of two words for each of `each` slots for every seed, full of -1. The
    last four are int64: for each instance and one more, `node_starts` (hops + 1) and `edge_starts` (hops); for each
    instance `shifts`, 3 (hops + 1); and `state`, 1 and one more for each block, of which the first is 0.
    """
    _draw(
        n, first, seeds, seed_bounds, indptr, indices, None, fanouts, hops, replace, None, seed, room, nodes, row, col,
        edge, node_sizes, edge_sizes, told,
    )  # fmt: skip


@twin
def neighborhoods_draw_biased(
    n, first, seeds, seed_bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, room, nodes, row, col,
    edge, node_sizes, edge_sizes, told, each, vertices, owners, sources, drawn, slots, entries, node_starts,
    edge_starts, shifts, state,
):  # fmt: skip
    """The same of what `successive_draw` draws, of up to FEW neighbours without replacement; sums and method are its
    own."""
    _draw(
        n, first, seeds, seed_bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, room, nodes, row,
        col, edge, node_sizes, edge_sizes, told,
    )  # fmt: skip


@twin
def _draw(
    n, first, seeds, seed_bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, room, nodes, row, col,
    edge, node_sizes, edge_sizes, told,
):  # fmt: skip
    """One instance after the other. The table is indexed by a hash, and twice as large as an instance gets by a hop;
    it grows from hop to hop."""
    count, made = 0, 0
    table = np.full(64, -1, np.int64)
    offsets, marks, owners = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    for i in range(told[0], n):
        base, begin = count, made
        for s in range(seed_bounds[i], seed_bounds[i + 1]):
            nodes[count] = seeds[s]
            count += 1
        node_sizes[i, 0], here = count - base, base
        for hop in range(hops):
            size, total = count - here, 0
            if len(offsets) <= size:
                most = 2 * size + 1
                offsets, marks, owners = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
            for k in range(size):
                vertex = nodes[here + k]
                degree = indptr[vertex + 1] - indptr[vertex]
                offsets[k], marks[k], owners[k] = total, here + k - base, first + i
                drawn = degree
                if fanouts[hop] >= 0 and (degree > fanouts[hop] or (replace and degree)):
                    drawn = fanouts[hop]
                total += drawn
            offsets[size] = total
            stop = made + total
            if stop > room:
                told[0], told[1], told[2], told[3] = i, base, begin, stop - begin
                return
            if method is None:
                neighbors_uniform(
                    size, nodes[here:count], nodes[here:count], owners, marks, indptr, None, offsets, replace, seed,
                    col[made:stop], edge[made:stop], row[made:stop],
                )  # fmt: skip
            else:
                successive_draw(
                    size, SuccessiveDraws(
                        rows=nodes[here:count], vertices=nodes[here:count], instances=owners, tags=marks,
                        indptr=indptr, indices=None, offsets=offsets, sums=sums, replace=replace, method=method,
                        seed=seed, rooms=offsets, trees=offsets, src=col[made:stop], dst=edge[made:stop],
                        tag=row[made:stop],
                    ),
                )  # fmt: skip
            grown = 2 * (count - base + total) > len(table)
            if grown:
                table = np.full(4 * (count - base + total), -1, np.int64)
            for place in range(base if grown or hop == 0 else count, count):
                table[_slot(table, True, nodes, base, nodes[place])] = place
            here = count
            for e in range(made, stop):
                col[e] = indices[edge[e]]
            for e in range(made, stop):
                vertex = col[e]
                slot = _slot(table, True, nodes, base, vertex)
                if table[slot] < base:
                    table[slot] = count
                    nodes[count] = vertex
                    count += 1
                col[e] = table[slot] - base
            node_sizes[i, hop + 1], edge_sizes[i, hop] = count - here, total
            made = stop
    told[0], told[1], told[2], told[3] = n, count, made, 0


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
