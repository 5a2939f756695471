"""Sampled edges as matrices and as the layers of a network."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

import graphdask as gd

G = gd.generate.preferential_attachment(200, 3, seed=4)


def dense(rows, cols, n):
    matrix = np.zeros((n, n), np.int64)
    np.add.at(matrix, (rows, cols), 1)
    return matrix


def test_all_instances_are_one_matrix_with_a_block_for_each():
    found = gd.sample.neighbors(G, [[5, 190], [], [190], [7, 8, 9]], [4, 3], seed=1)
    c = found.coo()
    n = len(c.nodes)
    assert c.node_offsets[-1] == n
    assert c.nodes[c.row].tolist() == found.src.tolist()
    assert c.nodes[c.col].tolist() == found.dst.tolist()
    indptr, indices = found.csr()
    matrix = csr_array((np.ones(len(indices), np.int64), indices, indptr), shape=(n, n)).toarray()
    assert (matrix == dense(c.row, c.col, n)).all()
    for i in range(4):
        here = slice(c.node_offsets[i], c.node_offsets[i + 1])
        one = found.subgraph(i)
        assert c.nodes[here].tolist() == one.nodes.tolist()
        assert (matrix[here, here] == dense(one.row, one.col, len(one.nodes))).all()
        matrix[here, here] = 0
    assert not matrix.any()


def test_blocks_compute_what_the_next_one_reads():
    # Summing over two hops: seeds from their neighbours, these from theirs.
    found = gd.sample.neighbors(G, [[5, 190, 77]], [-1, -1], direction="out")
    one = found.subgraph(0)
    values = np.arange(len(one.nodes)) + 1.0
    outer, inner = one.blocks()
    assert (outer.num_src, inner.num_dst) == (len(one.nodes), 3)
    assert outer.num_dst == inner.num_src == 3 + one.sizes[1]
    for block in (outer, inner):
        assert len(values) == block.num_src
        values = np.bincount(block.row, values[block.col], minlength=block.num_dst)
    assert len(values) == 3
    adjacency = dense(*(np.searchsorted(np.arange(200), end) for end in whole_edges()), 200)
    all_values = np.zeros(200)
    all_values[one.nodes] = np.arange(len(one.nodes)) + 1.0
    assert values.tolist() == (adjacency @ (adjacency @ all_values))[[5, 190, 77]].tolist()


def whole_edges():
    src, dst, _ = G.edges()
    return np.concatenate([src, dst[src != dst]]), np.concatenate([dst, src[src != dst]])


def test_sizes_say_what_each_hop_reaches_first():
    H = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    found = gd.sample.neighbors(H, [[0], [3], [0, 1]], [-1, -1])
    assert found.sizes.tolist() == [[1, 2, 1], [1, 0, 0], [2, 2, 0]]
    spec = gd.sample.Spec(neighbor_size=-1, depth=2)
    assert gd.sample.run(H, spec, [[0, 0], [3]]).sizes.tolist() == [[1, 2, 1], [1, 0, 0]]
