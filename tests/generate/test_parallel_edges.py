"""Parallel edges of preferential attachment: merged or drawn again, the same law, the same bits everywhere."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import stats

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.generate.preferential_attachment import PreferentialAttachment, edges, targets
from graphdask.verify.preferential_attachment import recompute

FAR = 1 << 31
CPU = get_backend("cpu")

# n, degree, p, seed, start, stop
CASES = [
    (2_000, 1, 0.5, 0, 1, 200),
    (3_000, 2, 0.5, 1, 2, 900),
    (3_000, 3, 0.0, 2, 3, 700),
    (9_000, 4, 0.01, 3, 4, 500),
    (9_000, 4, 1.0, 4, 4, 500),
    (9_000, 5, 0.5, 5, 8_000, 8_333),
    (400, 16, 0.5, 6, 16, 200),
    (400, 17, 0.0, 7, 17, 60),
    (400, 31, 0.5, 8, 31, 100),
    (400, 32, 0.5, 9, 32, 100),
    (400, 33, 0.3, 10, 33, 100),
    (400, 128, 0.01, 11, 128, 160),
    (900, 128, 0.0, 12, 800, 806),
    (700, 512, 0.5, 13, 512, 520),
    (800, 600, 0.5, 14, 600, 604),
]
WIDE = [
    (FAR + 500, 4, 0.1, 15, FAR - 200, FAR + 200),
    (1 << 40, 3, 0.0, 16, (1 << 40) - 100, 1 << 40),
    (1 << 40, 40, 0.0, 17, (1 << 40) - 5, 1 << 40),
]


def padded(graph, start, stop):
    """Rows of `degree` targets from the definition, -1 where merging dropped one, for vertices after the clique."""
    raw = recompute(PreferentialAttachment(graph.n, graph.degree, graph.p, graph.seed), range(start, stop))
    if graph.multi_edges == "merge":
        rows = [[-1 if row.index(t) < j else t for j, t in enumerate(row)] for row in raw]
        assert [[t for t in row if t >= 0] for row in rows] == recompute(graph, range(start, stop))
        return np.array(rows, np.int64).ravel()
    return np.array(recompute(graph, range(start, stop)), np.int64).ravel()


@pytest.mark.parametrize("multi_edges", ["merge", "redraw"])
@pytest.mark.parametrize("case", CASES + WIDE, ids=str)
def test_targets_follow_the_definition(backend, case, multi_edges):
    n, degree, p, seed, start, stop = case
    expected = padded(PreferentialAttachment(n, degree, p, seed, multi_edges), start, stop)
    for dtype in (np.int32, np.int64) if n < FAR - 1 else (np.int64,):
        found = targets(backend, n, degree, p, seed, start, stop, dtype, multi_edges)
        np.testing.assert_array_equal(backend.to_host(found), expected)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("n", "degree", "p"), [(1_000_000, 4, 0.5), (300_000, 3, 0.0), (60_001, 17, 0.01), (9_000, 128, 0.5)]
)
@pytest.mark.parametrize("multi_edges", ["merge", "redraw"])
def test_a_large_graph_is_the_same_on_both_devices(n, degree, p, multi_edges):
    cuda = get_backend("cuda")
    on_gpu = edges(cuda, n, degree, p, 1, 0, n, multi_edges)
    for found, expected in zip(on_gpu, edges(CPU, n, degree, p, 1, 0, n, multi_edges), strict=True):
        np.testing.assert_array_equal(cuda.to_host(found), expected)


@pytest.mark.parametrize(("n", "degree", "p"), [(3_000, 4, 0.5), (900, 3, 0.0), (300, 128, 0.2), (400, 20, 1.0)])
def test_redrawn_targets_are_distinct_and_contain_the_merged_ones(n, degree, p):
    kept, merged, redrawn = (
        targets(CPU, n, degree, p, 5, degree, n, multi_edges=name).reshape(-1, degree)
        for name in ("keep", "merge", "redraw")
    )
    vertices = np.arange(degree, n)[:, None]
    assert (kept[merged < 0] >= 0).any()
    np.testing.assert_array_equal(merged[merged >= 0], kept[merged >= 0])
    np.testing.assert_array_equal(merged[merged >= 0], redrawn[merged >= 0])
    assert ((redrawn >= 0) & (redrawn < vertices)).all()
    assert (np.diff(np.sort(redrawn, axis=1), axis=1) > 0).all()
    for raw, left in zip(kept, merged, strict=True):
        assert sorted(left[left >= 0]) == np.unique(raw).tolist()


def test_without_direct_edges_every_vertex_is_joined_to_the_clique():
    rows = targets(CPU, 5_000, 7, 0.0, 1, 7, 5_000, multi_edges="redraw").reshape(-1, 7)
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.broadcast_to(np.arange(7), rows.shape))


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.5, 0.2])
def test_redrawn_edges_of_a_small_graph_have_their_exact_probabilities(p):
    """n = 4, degree = 2: vertex 3 draws two distinct targets, each by the law of F_l(3) given F(2)."""
    seeds, degree = 20_000, 2
    found = np.empty((seeds, 2), np.int32)
    raw = np.empty((seeds, 2), np.int32)
    for seed in range(seeds):
        found[seed] = targets(CPU, 4, degree, p, seed, 3, 4, multi_edges="redraw")
        raw[seed] = targets(CPU, 4, degree, p, seed, 2, 3)
    observed, expected = [], []
    for ones in range(3):  # how many of F_0(2), F_1(2) are 1
        law = np.array([1 + (1 - p) * (2 - ones) / 2, 1 + (1 - p) * ones / 2, p]) / 3
        given = raw.sum(axis=1) == ones
        for a, b in itertools.permutations(range(3), 2):
            observed.append((given & (found[:, 0] == a) & (found[:, 1] == b)).sum())
            expected.append(given.sum() * law[a] * law[b] / (1 - law[a]))
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    assert 1e-5 < stats.chi2.sf(statistic, 15) < 1 - 1e-5


@pytest.mark.parametrize("multi_edges", ["keep", "merge", "redraw"])
def test_edges_are_counted_without_being_kept(multi_edges):
    graph = PreferentialAttachment(20_000, 4, 0.3, 3, multi_edges)
    blocks = [graph.block(CPU, rank, 5) for rank in range(5)]
    counts = [graph.count(CPU, *graph.vertices(rank, 5)) for rank in range(5)]
    assert [len(src) for src, _ in blocks] == [len(dst) for _, dst in blocks] == counts
    assert sum(counts) == graph.count(CPU)
    assert (graph.count(CPU) < graph.num_edges) == (multi_edges == "merge")
    pairs = np.concatenate([src * np.int64(graph.n) + dst for src, dst in blocks])
    assert (len(np.unique(pairs)) == len(pairs)) == (multi_edges != "keep")


@pytest.mark.parametrize("multi_edges", ["keep", "merge", "redraw"])
@pytest.mark.parametrize(("n", "degree", "p"), [(4_000_000, 1, 0.5), (1_000_000, 4, 0.5), (1_000_000, 4, 0.0)])
@pytest.mark.usefixtures("alone")
def test_the_peak_of_memory_is_that_of_the_edges(n, degree, p, multi_edges):
    edges(CPU, 1000, degree, p, 0, 0, 1000, multi_edges)
    tracemalloc.start()
    try:
        src, dst = edges(CPU, n, degree, p, 0, 0, n, multi_edges)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.1 * (src.nbytes + dst.nbytes)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_graph_has_as_many_edges_as_its_generator(parts):
    for multi_edges in ("keep", "merge", "redraw"):
        graph = gd.generate.preferential_attachment(700, degree=3, seed=4, multi_edges=multi_edges)
        graph = graph.partition(parts, device="cpu")
        assert graph.num_edges == graph.source.generator.count(CPU)
        graph.verify()
