"""Similarity by weight is that of dense NumPy matrices, with the same bits for all partitions and devices."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from common_checks import PARTS
from emulated import emulated, stand_in
from two_hop_rows import NAMES, packed, random_sets

import graphdask as gd
from graphdask.errors import VerificationError
from graphdask.similarity.tuning import SIMILARITY

N = 40
KINDS = ("int32", "int64", "float32", "float64")


def random_edges(seed, kind):
    """Edges with self-loops and parallel ones, skewed, and their weights."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, N, (2, 160)) ** 2 // N
    weights = {
        "int32": rng.integers(0, 9, 160).astype(np.int32),
        "int64": rng.integers(0, 1 << 57, 160),
        "float32": rng.random(160).astype(np.float32),
        "float64": 10.0 ** rng.uniform(-3, 3, 160),
    }[kind]
    return src, dst, weights


def known(src, dst, weights, directed):
    """The scores of all pairs by each measure, and the numbers of common neighbours."""
    W, there = np.zeros((N, N)), np.zeros((N, N), bool)
    for u, v, w in zip(src, dst, weights.astype(float), strict=True):
        for a, b in [(u, v)] if directed or u == v else [(u, v), (v, u)]:
            W[a, b] += w
            there[a, b] = True
    scores, common = {name: np.zeros((N, N)) for name in NAMES}, np.zeros((N, N), int)
    for u, v in product(range(N), repeat=2):
        proper = np.ones(N, bool)
        proper[[u, v]] = False
        common[u, v] = (there[u] & there[v] & proper).sum()
        least, greatest = np.minimum(W[u], W[v]), np.maximum(W[u], W[v])
        shared = least[proper].sum()
        for name, above, below in (
            ("jaccard", shared, greatest.sum()),
            ("overlap", shared, min(W[u].sum(), W[v].sum())),
            ("sorensen", 2 * shared, W[u].sum() + W[v].sum()),
            ("cosine", (W[u] * W[v])[proper].sum(), np.sqrt((W[u] ** 2).sum() * (W[v] ** 2).sum())),
        ):
            scores[name][u, v] = above / below if below else 0.0
    return scores, common


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_by_weight_are_those_of_dense_matrices(tuned, kind, directed):
    edges = random_edges(5, kind)
    scores, common = known(*edges, directed)
    pairs = np.array(list(product(range(N), repeat=2)))
    src, dst, weights = edges
    whole = gd.from_edges(src, dst, weights=weights, num_vertices=N, directed=directed)
    tuned(SIMILARITY, entries=500, paths=60)  # less than many sources have
    first = KINDS.index(kind) + 2 * directed
    for place, name in enumerate(NAMES, first):  # each measure meets all numbers of partitions in the cases together
        call, bits = getattr(gd, name), set()
        for parts in (1, PARTS[1:][place % len(PARTS[1:])]):
            G = whole.partition(parts, "random", device="cpu")
            given = call(G, pairs).verify()
            listed, best = call(G).verify(), call(G, topk=9).verify()
            each = call(G, topk=3, per_vertex=True).verify()
            bits.add(tuple(r.score.tobytes() for r in (given, listed, best, each)))
            if parts > 1:
                continue
            table = given.score.reshape(N, N)
            exact = 0 if kind == "int32" else 1e-12
            np.testing.assert_allclose(table, scores[name], rtol=exact, atol=exact)
            np.testing.assert_array_equal(given.common.reshape(N, N), common)
            upper = [(u, v) for u, v in np.argwhere(common > 0).tolist() if u < v]
            assert list(zip(listed.first.tolist(), listed.second.tolist(), strict=True)) == upper
            for r in (listed, best, each):
                np.testing.assert_array_equal(r.score, table[r.first, r.second])
                np.testing.assert_array_equal(r.common, common[r.first, r.second])
            order = sorted(upper, key=lambda pair: (-table[pair], *pair))[:9]
            assert list(zip(best.first.tolist(), best.second.tolist(), strict=True)) == order
        assert len(bits) == 1


def test_scores_by_weight_on_the_emulator_of_a_gpu_have_the_same_bits(monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    src, dst, weights = random_edges(6, "float64")
    G = gd.from_edges(src, dst, weights=weights, num_vertices=N, directed=True)
    tuned(SIMILARITY, paths=100)
    some = {"pairs": [[0, 1], [2, 5]]}, {}, {"topk": 4}, {"topk": 2, "per_vertex": True}
    for name, options in product(("jaccard", "cosine"), some):
        on_cpu, on_gpu = (getattr(gd, name)(G.partition(2, device=x), **options).verify() for x in ("cpu", "cuda"))
        for column in on_cpu.columns:
            np.testing.assert_array_equal(getattr(on_cpu, column), getattr(on_gpu, column))


@pytest.mark.parametrize("worth_t", [np.int64, np.float64])
def test_paths_with_values(backend, dtype, rng, worth_t):
    n, u, count_t = 120, 3, np.uint32 if dtype == np.int32 else np.uint64
    rows, back = random_sets(rng, n, hub=60)
    edges, entries = len(rows[u]), sum(map(len, back))
    draw = (lambda k: rng.integers(0, 99, k)) if worth_t == np.int64 else (lambda k: rng.random(k) / 16)
    value, values, size = draw(edges), draw(entries), rng.integers(1 << 61, 1 << 62, n)
    d = packed(
        backend, dtype, count_t, rows, back, [u], value=value, values=values, size=size, measure=2,
        sums=np.zeros(n, np.int64), own=np.zeros(n, np.int64), begins=np.array([0, 512]), table=np.full(512, -1, dtype),
        tallies=np.zeros(512, count_t), table_sums=np.zeros(512, np.int64), table_own=np.zeros(512, np.int64),
    )  # fmt: skip
    begin = np.concatenate([[0], np.cumsum([len(row) for row in back])])
    sums, proper, common = {}, {}, {}
    for e, w in enumerate(rows[u]):
        for j in range(begin[w], begin[w + 1]):
            v = back[w][j - begin[w]]
            x, y = value[e].item(), values[j].item()
            worth = min(x, y) if worth_t == np.int64 else round(x * y * 2.0**62)
            sums[v] = sums.get(v, 0) + worth
            proper[v] = proper.get(v, 0) + worth * (w not in (u, v))
            common[v] = common.get(v, 0) + (w not in (u, v))
    kernels = backend.kernels("two_hops", index_t=dtype, count_t=count_t, worth_t=worth_t)
    kernels.two_hops_list(1, d.pack, per_item=256)
    found = d.counts().pairs
    listed = sorted(
        zip(*(d.host(f"out_{name}")[1:found].tolist() for name in ("second", "score", "common")), strict=True)
    )
    expected = [
        (v, proper[v] / np.sqrt(float(size[u]) * float(size[v])), common[v])
        for v in sorted(sums) if v != u and common[v]
    ]  # fmt: skip
    assert listed == expected
    for name, empty in (("sums", 0), ("own", 0), ("table_sums", 0), ("table_own", 0), ("table", -1)):
        assert (d.host(name) == empty).all(), name
    kernels.two_hops_add(edges, u, d.pack, per_item=256)
    for v, total in sums.items():
        if v != u:
            assert d.host("sums")[v] == total
            assert d.host("sums")[v] - d.host("own")[v] == proper[v]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("options", [{"pairs": [[0, 1], [2, 5], [0, 7]]}, {}, {"topk": 5}])
def test_a_wrong_score_by_weight_is_found(parts, options):
    src, dst, weights = random_edges(7, "float32")
    G = gd.from_edges(src, dst, weights=weights, num_vertices=N, directed=False).partition(parts, device="cpu")
    for name in NAMES:
        r = getattr(gd, name)(G, **options).verify()
        columns = max((kept.columns for kept in r.parts.values), key=lambda columns: len(columns["score"]))
        kept = columns["score"]
        columns["score"] = kept.copy()
        columns["score"][0] = np.nextafter(kept[0], 2)
        with pytest.raises(VerificationError, match=name):
            r.verify()


def test_weights_may_be_ignored_and_weights_of_one_change_nothing():
    src, dst, weights = random_edges(8, "float64")
    keep = np.unique(np.sort([src, dst], axis=0).T, axis=0, return_index=True)[1]  # parallel edges count once
    src, dst, weights = src[keep], dst[keep], weights[keep]
    plain, heavy, ones = (
        gd.from_edges(src, dst, weights=w, num_vertices=N, directed=False) for w in (None, weights, np.ones(len(src)))
    )
    for name in NAMES:
        call = getattr(gd, name)
        expected = call(plain)
        for r in (call(heavy, weight=None), call(ones), call(plain, weight="weight")):
            np.testing.assert_array_equal(r.score, expected.score)
        assert (call(heavy).score != expected.score).any()


def test_tiny_weights_and_those_of_zero():
    G = gd.from_edges([0, 1, 0, 1, 4, 5], [2, 2, 3, 3, 2, 2], weights=[0.0, 0.0, 1e-300, 3e-300, 0.0, 0.0])
    assert gd.jaccard(G, [(0, 1), (4, 5)]).verify().score.tolist() == pytest.approx([1 / 3, 0.0])
    assert gd.cosine(G, [(0, 1), (4, 5)]).verify().score.tolist() == [1.0, 0.0]
    assert gd.cosine(G, topk=1).verify().score.tolist() == [1.0]


def test_what_is_wrong_with_weights_is_said():
    G = gd.from_edges([0, 1], [2, 2], weights=[1.0, -2.0])
    with pytest.raises(gd.InputError, match=r"the weight -2.0 of the edge from 1 to 2 is negative; similarities need"):
        gd.jaccard(G)
    with pytest.raises(gd.InputError, match="weight='cost' is neither 'weight'"):
        gd.cosine(G, weight="cost")
    assert gd.jaccard(G, weight=None).score.tolist() == [1.0]


def test_networkx_ignores_weights():
    g = nx.gnm_random_graph(30, 120, seed=3)
    nx.set_edge_attributes(g, {edge: 1 + sum(edge) for edge in g.edges}, "weight")
    pairs = list(product(range(5), range(5, 10)))
    assert list(nx.jaccard_coefficient(g, pairs, backend="graphdask")) == list(nx.jaccard_coefficient(g, pairs))
