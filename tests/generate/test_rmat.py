"""Blocks, self-loops, parallel edges, id widths and bad input of R-MAT graphs."""

import pickle
from collections import Counter

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, OverBudget
from graphdask.generate.rmat import RMat, edges
from graphdask.generate.tuning import GENERATE
from graphdask.partition.sources import GeneratedSource

GRAPHS = [
    RMat(12, 8, 1),
    RMat(10, 3, 2, 0.45, 0.15, 0.15, permute=False),
    RMat(9, 16, 3, drops_self_loops=True),
    RMat(1, 5, 4, drops_self_loops=True),
    RMat(2, 1, 5, 0.0, 1.0, 0.0),
    RMat(3, 2, 6, 1.0, 0.0, 0.0, permute=False, drops_self_loops=True),
]


def all_edges(backend, graph, size):
    blocks = [graph.block(backend, rank, size) for rank in range(size)]
    return [np.concatenate([backend.to_host(block[i]) for block in blocks]) for i in (0, 1)]


def pairs(graph):
    src, dst = graph.block(get_backend("cpu"), 0, 1)
    return list(zip(src.tolist(), dst.tolist(), strict=True))


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_any_number_of_blocks_makes_the_same_graph(backend, graph):
    whole = all_edges(get_backend("cpu"), graph, 1)
    for size in (1, 2, 3, 4, 7, 16):
        np.testing.assert_array_equal(all_edges(backend, graph, size), whole)
        lengths = [len(graph.block(backend, rank, size)[0]) for rank in range(size)]
        known = [None] * size if graph.drops_self_loops else lengths
        assert [graph.block_edges(rank, size) for rank in range(size)] == known


@pytest.mark.parametrize("piece", [1, 100, 1 << 24])
def test_dropped_self_loops_leave_the_other_edges_in_their_order(backend, tuned, piece):
    tuned(GENERATE, rmat_edges=piece)
    kept, dropped = RMat(5, 30, 7), RMat(5, 30, 7, drops_self_loops=True)
    src, dst = (backend.to_host(column) for column in edges(backend, kept, 100, 700))
    assert 0 < (src != dst).sum() < 600
    for column, other in zip((src, dst), edges(backend, dropped, 100, 700), strict=True):
        np.testing.assert_array_equal(column[src != dst], backend.to_host(other))


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5, 8, 9, 10, 11, 12])
def test_shuffled_ids_are_a_permutation_of_the_ids(scale):
    plain, shuffled = (RMat(scale, 32, 8, 0.25, 0.25, 0.25, permute) for permute in (False, True))
    images = dict(zip(np.ravel(pairs(plain)).tolist(), np.ravel(pairs(shuffled)).tolist(), strict=True))
    assert np.array_equal(np.ravel(pairs(shuffled)), [images[v] for v in np.ravel(pairs(plain))])
    assert sorted(images) == sorted(images.values()) == list(range(2**scale))


@pytest.mark.parametrize(("scale", "dtype"), [(30, np.int32), (31, np.int64), (62, np.int64)])
def test_ids_are_64_bits_wide_from_scale_31_on(backend, scale, dtype):
    graph = RMat(scale, 1, 9, 0.25, 0.25, 0.25)
    src, dst = (backend.to_host(column) for column in edges(backend, graph, graph.num_edges - 4000, graph.num_edges))
    for column in (src, dst):
        assert column.dtype == dtype == graph.dtype
        assert 0 <= column.min() < 2 ** (scale - 8)
        assert 2**scale - 2 ** (scale - 8) < column.max() < 2**scale


@pytest.mark.parametrize("directed", [False, True])
def test_the_number_of_edges_is_known_before_or_when_they_are_built(directed):
    drawn = pairs(RMat(6, 8, 10))
    proper = [(u, v) for u, v in drawn if u != v]
    distinct = set(proper) if directed else {frozenset(pair) for pair in proper}
    for parts in (1, 2, 3, 7):
        G = gd.generate.rmat(6, 8, 10, directed=directed)
        assert G.num_edges == G.partition(parts, device="cpu").persist().built.num_edges == len(drawn) == 512
        G = gd.generate.rmat(6, 8, 10, directed=directed, self_loops="drop").partition(parts, device="cpu")
        assert "counted on the workers" in repr(G)
        assert G.num_edges == len(proper)
        assert G.report["self_loops_dropped"] == len(drawn) - len(proper) > 0
        assert f"{len(proper)} edges" in repr(G)
        G = gd.generate.rmat(6, 8, 10, directed=directed, self_loops="drop", multi_edges="merge")
        G = G.partition(parts, device="cpu")
        assert G.num_edges == len(distinct)
        assert G.report["parallel_edges_merged"] == len(proper) - len(distinct) > 0
        assert G.report["self_loops_dropped"] == len(drawn) - len(proper)
        G.verify()


def test_the_degrees_of_the_built_graph_are_those_of_the_edges():
    drawn = Counter(u for u, _ in pairs(RMat(7, 4, 11)))
    part = gd.generate.rmat(7, 4, 11, directed=True).partition(1, device="cpu").persist().built.parts.values[0]
    degrees = np.diff(part.out.indptr)
    assert {int(v): int(d) for v, d in zip(part.ids, degrees, strict=True) if d} == drawn


def test_only_ids_that_were_not_shuffled_are_called_skewed():
    assert gd.generate.rmat(5, permute=False).source.skewed
    assert not gd.generate.rmat(5).source.skewed


def test_a_source_travels_by_pickle():
    graph = RMat(np.int64(9), np.uint8(3), np.uint64(2**64 - 1), np.float64(0.5))
    assert pickle.loads(pickle.dumps(graph)) == graph == RMat(9, 3, 2**64 - 1, 0.5)
    assert GeneratedSource(graph, skewed=True).num_edges == 3 * 512


def test_decimal_probabilities_that_sum_to_one_are_taken_as_written():
    assert [float(q) for q in RMat(4, a=0.7, b=0.2, c=0.1).quadrants] == [0.7, 0.2, 0.1, 0.0]
    assert RMat(4, a=0.6, b=0.3, c=0.1).quadrants[3] == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"scale": 0}, "scale=0"),
        ({"scale": -3}, "scale=-3"),
        ({"scale": 63}, "scale=63"),
        ({"scale": 4.0}, r"scale=4\.0"),
        ({"scale": True}, "scale=True"),
        ({"edge_factor": 0}, "edge_factor=0"),
        ({"edge_factor": -1}, "edge_factor=-1"),
        ({"edge_factor": 1.5}, r"edge_factor=1\.5"),
        ({"scale": 62, "edge_factor": 2}, r"2 \* 2\^62 must be below 2\^63"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64}, "seed=18446744073709551616"),
        ({"seed": "x"}, "seed='x'"),
        ({"a": -0.1}, r"a=-0\.1"),
        ({"b": 1.5}, r"b=1\.5"),
        ({"c": float("nan")}, "c=nan"),
        ({"a": float("inf")}, "a=inf"),
        ({"a": "half"}, "a='half'"),
        ({"b": None}, "b=None"),
        ({"a": 0.5, "b": 0.3, "c": 0.3}, r"a \+ b \+ c = 0\.5 \+ 0\.3 \+ 0\.3"),
        ({"permute": 1}, "permute=1"),
        ({"directed": "no"}, "directed='no'"),
        ({"self_loops": "merge"}, "self_loops='merge' is not one of keep, drop"),
        ({"multi_edges": None}, "multi_edges=None is not one of keep, merge"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(InputError, match=named):
        gd.generate.rmat(**({"scale": 5} | arguments))


def test_bad_ranges_are_named():
    cpu, graph = get_backend("cpu"), RMat(4, 1)
    for start, stop in ((-1, 5), (5, 4), (0, 17)):
        with pytest.raises(InputError, match=f"edges {start} .. {stop}"):
            edges(cpu, graph, start, stop)
    for rank, size in ((0, 0), (2, 2), (-1, 2)):
        with pytest.raises(InputError, match=f"block rank={rank} of size={size}"):
            graph.block(cpu, rank, size)


@pytest.mark.parametrize("drops", [False, True])
def test_a_block_larger_than_the_memory_is_refused(backend, drops):
    with pytest.raises(OverBudget, match=r"edges 0 \.\. 18014398509481984 need .* smaller blocks"):
        RMat(50, 16, drops_self_loops=drops).block(backend, 0, 1)
