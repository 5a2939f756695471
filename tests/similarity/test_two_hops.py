"""Pairs within two hops: the kernels against plain Python, batches and pieces of sources, and memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from common_checks import PARTS
from emulated import emulated, stand_in
from two_hop_rows import NAMES, POISON, packed, random_sets

import graphdask as gd
from graphdask.similarity.tuning import SIMILARITY


def score(measure, common, both, a, b):
    by = {"jaccard": a + b - both, "overlap": min(a, b), "cosine": np.sqrt(float(a) * b), "sorensen": (a + b) / 2}
    return common / max(by[NAMES[measure]], 1)


def counted(rows, back, u):
    """For each v within two hops of u: the shared neighbours, without u and v themselves, and with them."""
    both, common = Counter(), Counter()
    for w in rows[u]:
        for v in back[w]:
            if v != u:
                both[v] += 1
                common[v] += w not in (u, v)
    return both, common


@pytest.mark.parametrize(
    ("measure", "options"),
    [(0, {"onward": 1}), (1, {}), (1, {"keep": 40}), (2, {"keep": 3}), (3, {"keep": 1}),
     (0, {"least": 0.0})],
)  # fmt: skip
def test_pairs_of_sources(backend, dtype, rng, options, measure):
    count_t = np.uint32 if dtype == np.int32 else np.uint64
    n = 500
    rows, back = random_sets(rng, n, hub=400)
    sources = [3, *rng.choice(np.arange(4, n), 15, replace=False).tolist()]
    expected = []
    for u in sources:
        both, common = counted(rows, back, u)
        pairs = [
            (u, v, score(measure, common[v], both[v], len(rows[u]), len(rows[v])), common[v])
            for v in sorted(both) if common[v] and not (options.get("onward") and v < u)
        ]  # fmt: skip
        if "keep" in options:
            pairs = sorted(sorted(pairs, key=lambda pair: (-pair[2], pair[1]))[: options["keep"]])
        expected += pairs
    if "least" in options:  # the pair in the middle
        order = sorted(expected, key=lambda pair: (-pair[2], *pair[:2]))[: len(expected) // 2]
        expected, (first, second, least, _) = [pair for pair in expected if pair in order], order[-1]
        options = {"least": least, "least_first": first, "least_second": second}
    assert len(expected) > 10
    d = packed(backend, dtype, count_t, rows, back, sources, measure=measure, **options)
    assert int(d.host("begins")[-1]) > 0
    kernels = backend.kernels("two_hops", index_t=dtype, count_t=count_t, worth_t=np.int64)
    kernels.two_hops_list(len(sources), d.pack, per_item=256)
    found = d.counts().pairs
    assert found == 1 + len(expected)
    columns = [d.host(f"out_{name}") for name in ("first", "second", "score", "common")]
    listed = list(zip(*(column[1:found].tolist() for column in columns), strict=True))
    assert (listed if backend.name == "cpu" else sorted(listed)) == sorted(expected) or listed == expected
    assert columns[0][0] == POISON
    assert (columns[0][found:] == POISON).all()
    for name, empty in (("count", 0), ("bits", 0), ("summary", 0), ("table", -1), ("tallies", 0)):
        assert (d.host(name) == empty).all(), name


@pytest.mark.parametrize("onward", [0, 1])
def test_paths_of_a_piece(backend, dtype, rng, onward):
    rows, back = random_sets(rng, 300, hub=200)
    count_t = np.uint32 if dtype == np.int32 else np.uint64
    d = packed(backend, dtype, count_t, rows, back, [3], onward=onward)
    kernels = backend.kernels("two_hops", index_t=dtype, count_t=count_t, worth_t=np.int64)
    kernels.two_hops_add(len(rows[3]), 3, d.pack, per_item=256)
    both, common = counted(rows, back, 3)
    expected = [
        4 * both[v] + both[v] - common[v] if both[v] and not (onward and v < 3) else 0 for v in range(len(rows))
    ]
    there = d.host("count").astype(np.int64)
    there[3] = 0  # the source itself is no pair
    assert there.tolist() == expected


def products(A, topk=None):
    """All pairs u < v that share a neighbour, by their Jaccard score, of a symmetric matrix without a diagonal."""
    B = scipy.sparse.triu(A @ A, 1).tocsr()
    B.sort_indices()
    sizes = np.diff(A.indptr)
    first, second = np.repeat(np.arange(A.shape[0]), np.diff(B.indptr)), B.indices
    value = B.data / (sizes[first] + sizes[second] - B.data)
    order = slice(None) if topk is None else np.lexsort([second, first, -value])[:topk]
    return first[order], second[order], value[order], B.data[order]


@pytest.mark.parametrize(("parts", "device"), [*((parts, "cpu") for parts in PARTS), (1, "emulated"), (3, "emulated")])
def test_batches_and_pieces_of_sources_leave_the_answer_as_it_is(monkeypatch, parts, device, tuned):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    rng = np.random.default_rng(parts)
    src, dst = rng.integers(0, 60, (2, 300)) ** 2 // 60  # skewed
    G = gd.from_edges(src, dst, num_vertices=60, directed=False, self_loops="drop")
    rows, columns = (np.concatenate(each) for each in ((src, dst), (dst, src)))
    A = scipy.sparse.csr_matrix((np.ones(len(rows), np.int64), (rows, columns)), (60, 60))
    A.setdiag(0)
    A.eliminate_zeros()
    A.data[:] = 1
    G = G.partition(parts, "random", device="cuda" if device == "emulated" else "cpu")
    for batch, times in ((40, 1), (400, 1), (60, 8)):  # the first is less than most sources have
        tuned(SIMILARITY, paths=batch, gpu_times=times)
        for topk in (None, 25):
            r = gd.jaccard(G, topk=topk).verify()
            for mine, known in zip((r.first, r.second, r.score, r.common), products(A, topk), strict=True):
                np.testing.assert_array_equal(mine, known)


def test_a_gpu_takes_more_paths_at_a_time_where_there_is_memory(monkeypatch, tuned, free_memory):
    stand_in(monkeypatch, emulated())
    tuned(SIMILARITY, paths=50)
    star = gd.from_edges(np.zeros(40, np.int64), np.arange(1, 41), directed=False)
    batches = []
    for free in (1 << 30, 600_000, 300_000):
        free_memory(free, emulated())
        found = gd.jaccard(star.partition(1, device="cuda"))
        assert len(found.score) == 40 * 39 // 2
        batches.append(len(found.stats.supersteps))
    assert batches == sorted(batches)
    assert batches[0] < batches[-1]


def test_the_best_pairs_need_no_memory_for_all(tuned):
    """1.1 million pairs share a neighbour; as columns they would take 26 MB."""
    tuned(SIMILARITY, paths=1 << 14)
    star = gd.from_edges(np.zeros(1500, np.int64), np.arange(1, 1501), directed=False).partition(1, device="cpu")
    gd.jaccard(star, topk=5)
    tracemalloc.start()
    r = gd.jaccard(star, topk=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert r.common.tolist() == [1] * 5
    assert peak < min(6 << 20, r.stats.memory)
