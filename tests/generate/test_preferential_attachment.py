"""Blocks, shapes and bad input of the preferential attachment source."""

import hashlib
import itertools
import pickle

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graphdask.device.backend import get_backend
from graphdask.errors import InputError, OverBudget
from graphdask.generate.preferential_attachment import (
    PreferentialAttachment,
    edges,
    first_edge,
    num_edges,
    targets,
)
from graphdask.partition.sources import GeneratedSource
from graphdask.partition.vertex_map import index_dtype

GRAPHS = [
    PreferentialAttachment(20_011, 4, 0.5, 1),
    PreferentialAttachment(5_000, 1, 0.0, 2),
    PreferentialAttachment(3_000, 7, 1.0, 3),
    PreferentialAttachment(300, 128, 0.3, 4),
    PreferentialAttachment(2, 1, 0.5, 5),
    PreferentialAttachment(6, 5, 0.5, 6),
    PreferentialAttachment(20_011, 4, 0.5, 1, "redraw"),
    PreferentialAttachment(2_003, 5, 0.0, 1, "redraw"),
    PreferentialAttachment(300, 128, 0.3, 4, "redraw"),
]
MERGED = [
    PreferentialAttachment(20_011, 4, 0.5, 1, "merge"),
    PreferentialAttachment(2_003, 5, 0.0, 1, "merge"),
    PreferentialAttachment(300, 128, 0.3, 4, "merge"),
    PreferentialAttachment(2, 1, 0.3, 4, "merge"),
]


def digest(backend, graph, size):
    blocks = [graph.block(backend, rank, size) for rank in range(size)]
    src, dst = (np.concatenate([backend.to_host(block[i]) for block in blocks]) for i in (0, 1))
    order = np.lexsort((dst, src))
    return hashlib.sha256(np.stack((src, dst))[:, order].astype("<i8").tobytes()).hexdigest()


@pytest.mark.parametrize("graph", GRAPHS + MERGED, ids=str)
def test_any_number_of_blocks_makes_the_same_graph(backend, graph):
    sizes = (1, 2, 3, 4, 7, graph.n + 3 if graph.n <= 300 else 16)
    assert {digest(backend, graph, size) for size in sizes} == {digest(get_backend("cpu"), graph, 1)}


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_blocks_cover_the_vertices_and_are_balanced(graph, size):
    ranges = [graph.vertices(rank, size) for rank in range(size)]
    assert ranges[0][0] == 0
    assert ranges[-1][1] == graph.n
    assert all(left[1] == right[0] for left, right in itertools.pairwise(ranges))
    loads = [first_edge(stop, graph.degree) - first_edge(start, graph.degree) for start, stop in ranges]
    assert sum(loads) == graph.num_edges
    assert max(loads) - min(loads) <= 2 * graph.degree


def test_the_first_vertices_are_a_clique(backend):
    src, dst = edges(backend, 10, 4, 0.5, 0, 0, 4)
    assert backend.to_host(src).tolist() == [1, 2, 2, 3, 3, 3]
    assert backend.to_host(dst).tolist() == [0, 0, 1, 0, 1, 2]
    rows = backend.to_host(targets(backend, 10, 4, 0.5, 0, 1, 3)).reshape(2, 4)
    assert rows.tolist() == [[0, -1, -1, -1], [0, 1, -1, -1]]


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_edges_point_back_and_connect_the_graph(graph):
    src, dst = graph.block(get_backend("cpu"), 0, 1)
    assert len(src) == len(dst) == graph.num_edges == num_edges(graph.n, graph.degree)
    assert src.dtype == dst.dtype == graph.dtype == np.int32
    assert (dst >= 0).all()
    assert (dst < src).all()
    out_degree = np.minimum(np.arange(graph.n), graph.degree)
    np.testing.assert_array_equal(src, np.repeat(np.arange(graph.n), out_degree))
    matrix = coo_array((np.ones(len(src)), (src, dst)), shape=(graph.n, graph.n))
    assert connected_components(matrix, directed=False)[0] == 1


def test_targets_and_edges_agree(backend):
    _, dst = edges(backend, 5000, 3, 0.4, 9, 1, 4000)
    wide = backend.to_host(targets(backend, 5000, 3, 0.4, 9, 1, 4000, np.int64))
    assert wide.dtype == np.int64
    np.testing.assert_array_equal(backend.to_host(dst), wide[wide >= 0])


def test_ids_beyond_32_bits_are_64_bits_wide(backend):
    start = 1 << 33
    src, dst = map(backend.to_host, edges(backend, 1 << 40, 4, 0.5, 0, start, start + 5000))
    assert src.dtype == dst.dtype == np.int64
    np.testing.assert_array_equal(src, np.repeat(np.arange(start, start + 5000), 4))
    assert (dst >= 0).all()
    assert (dst < src).all()
    assert (dst > 1 << 31).any()


@pytest.mark.parametrize(("n", "dtype"), [(2**31 - 2, np.int32), (2**31 - 1, np.int64)])
def test_ids_are_as_wide_as_those_of_the_graph(backend, n, dtype):
    src, dst = map(backend.to_host, edges(backend, n, 2, 1.0, 0, n - 2000, n))
    assert src.dtype == dst.dtype == dtype
    assert src[-1] == n - 1
    assert dst.min() >= 0


def test_a_graph_takes_its_edges_from_it(backend):
    source = GeneratedSource(GRAPHS[0], skewed=True)
    pieces = [source.piece(rank, 3).edges(backend) for rank in range(3)]
    assert sum(len(src) for src, _, _ in pieces) == source.num_edges
    assert {array.dtype for piece in pieces for array in piece[:2]} == {index_dtype(source.num_vertices)}
    assert all(weights is None for _, _, weights in pieces)


def test_a_source_travels_by_pickle():
    graph = PreferentialAttachment(np.int64(1000), np.int32(3), np.float32(0.5), np.uint64(2**64 - 1))
    assert pickle.loads(pickle.dumps(graph)) == graph == PreferentialAttachment(1000, 3, 0.5, 2**64 - 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n": 0}, "n=0"),
        ({"n": -5}, "n=-5"),
        ({"n": 4}, "at least 5"),
        ({"n": 10.5}, "n=10.5"),
        ({"n": "many"}, "n='many'"),
        ({"n": 1 << 62}, "below 2\\^63"),
        ({"degree": 0}, "degree=0"),
        ({"degree": -1}, "degree=-1"),
        ({"degree": 2.0}, "degree=2.0"),
        ({"n": 1 << 31, "degree": 1 << 31}, "degree=2147483648"),
        ({"p": -0.1}, "p=-0.1"),
        ({"p": 1.5}, "p=1.5"),
        ({"p": float("nan")}, "p=nan"),
        ({"p": "half"}, "p='half'"),
        ({"p": None}, "p=None"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1 << 64}, "seed=18446744073709551616"),
        ({"seed": 0.5}, "seed=0.5"),
        ({"seed": 10**30}, "seed=10{30}"),
        ({"n": 1 << 63, "degree": 1}, "below 2\\^63"),
        ({"n": True}, "n=True"),
        ({"n": float("nan")}, "n=nan"),
        ({"p": float("inf")}, "p=inf"),
        ({"multi_edges": "error"}, "multi_edges='error' is not one of keep, merge, redraw"),
        ({"multi_edges": None}, "multi_edges=None"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(InputError, match=named):
        PreferentialAttachment(**({"n": 100} | arguments))


def test_bad_ranges_are_named():
    cpu, graph = get_backend("cpu"), PreferentialAttachment(100)
    for start, stop in ((-1, 5), (5, 4), (0, 101)):
        with pytest.raises(InputError, match=f"{start} .. {stop}"):
            edges(cpu, 100, 4, 0.5, 0, start, stop)
    for rank, size in ((0, 0), (2, 2), (-1, 2)):
        with pytest.raises(InputError, match=f"block rank={rank} of size={size}"):
            graph.vertices(rank, size)
    with pytest.raises(InputError, match="do not fit int32"):
        targets(cpu, 1 << 32, 4, 0.5, 0, 0, 8, np.int32)
    with pytest.raises(InputError, match="float32"):
        targets(cpu, 100, 4, 0.5, 0, 0, 8, np.float32)


def test_a_block_larger_than_the_memory_is_refused(backend):
    graph = PreferentialAttachment(1 << 44, 4)
    with pytest.raises(OverBudget, match="smaller blocks"):
        graph.block(backend, 0, 1)
    with pytest.raises(OverBudget, match="GiB"):
        targets(backend, graph.n, 4, 0.5, 0, 0, graph.n)
