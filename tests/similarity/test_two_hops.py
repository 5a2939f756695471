"""Pairs within two hops: the kernels against plain Python, batches and pieces of sources, and memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from common_checks import PARTS
from emulated import emulated, stand_in
from kernel_launch import Packed

import graphdask as gd
from graphdask.kernels.similarity.two_hops_pack import MEASURES, SMALL, TwoHopRows
from graphdask.similarity import _two_hops

POISON = -77
NAMES = ("jaccard", "overlap", "cosine", "sorensen")


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


def random_sets(rng, n, hub=0):
    """Out-neighbours of all vertices, each once, and the vertices that each is a neighbour of, ascending."""
    rows = [sorted(set(rng.integers(0, n, rng.integers(0, 9)).tolist())) for _ in range(n)]
    if hub:
        rows[3] = sorted(rng.choice(n, hub, replace=False).tolist())
    back = [[] for _ in range(n)]
    for u, row in enumerate(rows):
        for w in row:
            back[w].append(u)
    return rows, back


def packed(backend, dtype, count_t, rows, back, sources, **options):
    """The pack of some sources, with outputs that are poisoned."""
    n, edges = len(rows), [(u, w) for u in sources for w in rows[u]]
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in back])]).astype(np.int64)
    middle = np.array([w for _, w in edges], dtype)
    paths = [sum(len(back[w]) for w in rows[u]) for u in sources]
    slots = [0 if 2 * p <= SMALL else 1 << (2 * min(p, n) - 1).bit_length() for p in paths]
    room = np.concatenate([[0], np.cumsum(slots)]).astype(np.int64)
    of_all = {
        "least": -1.0, "least_first": 0, "least_second": 0, "keep": 0, "onward": 0, "measure": 0,
    } | options  # fmt: skip
    total = sum(paths) + 1
    return Packed(
        backend, TwoHopRows, source=np.array(sources, dtype),
        begin=np.concatenate([[0], np.cumsum([len(rows[u]) for u in sources])]).astype(np.int64), middle=middle,
        looped=np.array([w in rows[w] for _, w in edges], np.uint8), first=ptr[middle], last=ptr[middle + 1],
        entries=np.array([v for row in back for v in row], dtype), size=np.array([len(row) for row in rows], dtype),
        count=np.zeros(n, count_t), touched=np.full(n + 1, POISON, dtype), ranked=np.full(n, np.nan),
        bits=np.zeros((n >> 6) + 1, np.uint64), summary=np.zeros((n >> 12) + 1, np.uint64), room=room,
        table=np.full(max(room[-1], 1), -1, dtype), tallies=np.zeros(max(room[-1], 1), count_t),
        out_first=np.full(total, POISON, dtype), out_second=np.full(total, POISON, dtype),
        out_score=np.full(total, np.nan), out_common=np.full(total, POISON, np.int64), counters=np.array([1]),
        **of_all,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "options"),
    [(0, {"onward": 1}), (1, {}), (2, {"keep": 3}), (3, {"keep": 1}),
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
    assert int(d.host("room")[-1]) > 0
    kernels = backend.kernels("two_hops", index_t=dtype, count_t=count_t)
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
    kernels = backend.kernels("two_hops", index_t=dtype, count_t=count_t)
    kernels.two_hops_add(len(rows[3]), 3, d.pack, per_item=256)
    both, common = counted(rows, back, 3)
    expected = [
        4 * both[v] + both[v] - common[v] if both[v] and not (onward and v < 3) else 0 for v in range(len(rows))
    ]
    there = d.host("count").astype(np.int64)
    there[3] = 0  # the source itself is no pair
    assert there.tolist() == expected


def test_measures_have_the_numbers_of_the_kernels():
    from graphdask.similarity._measures import MEASURES as names

    assert names == NAMES
    assert len(MEASURES) == len(names)


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
def test_batches_and_pieces_of_sources_leave_the_answer_as_it_is(monkeypatch, parts, device):
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
    for batch in (40, 400):  # the first is less than most sources have
        monkeypatch.setattr(_two_hops, "BATCH", batch)
        for topk in (None, 25):
            r = gd.jaccard(G, topk=topk).verify()
            for mine, known in zip((r.first, r.second, r.score, r.common), products(A, topk), strict=True):
                np.testing.assert_array_equal(mine, known)


def test_the_best_pairs_need_no_memory_for_all(monkeypatch):
    """1.1 million pairs share a neighbour; as columns they would take 26 MB."""
    monkeypatch.setattr(_two_hops, "BATCH", 1 << 14)
    star = gd.from_edges(np.zeros(1500, np.int64), np.arange(1, 1501), directed=False).partition(1, device="cpu")
    gd.jaccard(star, topk=5)
    tracemalloc.start()
    r = gd.jaccard(star, topk=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert r.common.tolist() == [1] * 5
    assert peak < min(6 << 20, r.stats.memory)
