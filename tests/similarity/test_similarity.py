"""Similarity of neighbourhoods is that of NetworkX and of sparse products; the proof finds what is wrong."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from common_checks import PARTS
from emulated import emulated, stand_in
from graphs import GRAPHS
from memory import free

import graphdask as gd
from graphdask.errors import VerificationError
from graphdask.similarity.tuning import SIMILARITY

SHAPES = ("only self-loops", "duplicates both ways", "isolated vertices", "star outward", "star inward",
          "bipartite", "complete")  # fmt: skip


def known(n, src, dst, directed):
    """Common neighbours of all pairs, their unions and the sizes of neighbourhoods, by a product of sparse matrices."""
    rows, columns = (src, dst) if directed else (np.concatenate([src, dst]), np.concatenate([dst, src]))
    A = scipy.sparse.csr_matrix((np.ones(len(rows), np.int64), (rows, columns)), (n, n))
    A.data[:] = 1
    both, loops, there = (A @ A.T).toarray(), A.diagonal(), A.toarray()
    own = loops[:, None] * there.T + loops[None, :] * there  # u, if it is a neighbour of u and v; v likewise
    own[np.diag_indices(n)] = loops
    sizes = there.sum(axis=1)
    return both - own, sizes[:, None] + sizes[None, :] - both, sizes


def scores(measure, n, src, dst, directed):
    common, union, sizes = known(n, src, dst, directed)
    by = {
        "jaccard": union,
        "overlap": np.minimum(sizes[:, None], sizes[None, :]),
        "cosine": np.sqrt(sizes[:, None] * sizes[None, :]),
        "sorensen": (sizes[:, None] + sizes[None, :]) / 2,
    }[measure]
    return common, np.divide(common, by, out=np.zeros((n, n)), where=by > 0)


def rows(r):
    return list(zip(*(getattr(r, name).tolist() for name in r.columns), strict=True))


def divided(shape):
    n, src, dst, directed = GRAPHS[shape]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    for parts, by, ghosts in zip(PARTS, ("range", "random") * 3, ("all", "1-hop", "1-hop") * 2, strict=False):
        yield G.partition(parts, by, ghosts, device="cpu")


@pytest.mark.parametrize("shape", SHAPES)
def test_similarity_is_that_of_a_sparse_product_over_partitions(shape, tuned):
    tuned(SIMILARITY, entries=3000, paths=3000)
    edges = GRAPHS[shape]()
    n = edges[0]
    pairs = list(product(range(min(n, 30)), repeat=2))
    for measure in ("jaccard", "overlap", "cosine", "sorensen") if shape == "bipartite" else ("jaccard", "cosine"):
        common, score = scores(measure, *edges)
        call = getattr(gd, measure)
        listed = [(u, v, score[u, v], common[u, v]) for u, v in zip(*np.nonzero(common), strict=True) if u != v]
        best = sorted(listed, key=lambda row: (-row[2], *row[:2]))
        by_first = [[row for row in best if row[0] == u] for u in range(n)]
        for G in divided(shape):
            given = call(G, pairs).verify()
            assert rows(given) == [(u, v, score[u, v], common[u, v]) for u, v in pairs]
            assert rows(call(G).verify()) == [row for row in listed if row[0] < row[1]]
            assert rows(call(G, topk=7).verify()) == [row for row in best if row[0] < row[1]][:7]
            some = call(G, vertices=[0, n - 1], topk=9).verify()
            assert rows(some) == [row for row in best if row[0] in (0, n - 1)][:9]
            each = call(G, per_vertex=True, topk=2).verify()
            assert rows(each) == [row for of_one in by_first for row in of_one[:2]]


def test_jaccard_is_that_of_networkx_with_self_loops():
    g = nx.gnm_random_graph(60, 250, seed=3)
    g.add_edges_from([(5, 5), (9, 9)])
    pairs = list(product(range(60), repeat=2))
    r = gd.jaccard(gd.from_networkx(g), pairs)
    assert list(zip(r.first.tolist(), r.second.tolist(), r.score.tolist(), strict=True)) == list(
        nx.jaccard_coefficient(g, pairs)
    )


def test_names_and_no_pairs():
    G = gd.from_edges(["a", "a", "b"], ["b", "c", "c"])
    r = gd.jaccard(G, [["b", "a"]]).verify()
    assert rows(r) == [("b", "a", 0.5, 1)]
    assert r.to_frame().shape == (1, 4)
    for empty in (gd.jaccard(G, []), gd.overlap(G, vertices=[]), gd.cosine(G, vertices=["c"], topk=3)):
        assert rows(empty.verify()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pairs": [[0, 1, 2]]}, r"pairs has the shape \(1, 3\); it needs two vertex ids in each row"),
        ({"pairs": [[0, 9]]}, "9 is not in the graph"),
        ({"pairs": [[0, 1]], "topk": 3}, "leave out vertices, topk and per_vertex"),
        ({"topk": 0}, "topk=0 is not a whole number of 1 or more"),
        ({"vertices": [[0], [1]]}, "vertices is a sequence of arrays"),
        ({"per_vertex": 1}, "per_vertex=1 is neither True nor False"),
    ],
)
def test_what_is_wrong_is_said(options, words):
    with pytest.raises(gd.InputError, match=words):
        gd.jaccard(gd.from_edges([0, 1], [1, 2]), **options)


def test_pairs_beyond_memory_are_refused_before_any_is_counted(tuned):
    star = gd.from_edges(np.zeros(600, np.int64), np.arange(1, 601), directed=False).partition(1, device="cpu")
    star.persist()
    tuned(SIMILARITY, paths=1000)
    refused = pytest.raises(gd.OverBudget, match=r"at least 179,400 pairs of vertices share a neighbour.*topk=")
    with free(5 << 20), refused:
        gd.jaccard(star)
    r = gd.jaccard(star, topk=2).verify()
    assert rows(r) == [(1, 2, 1.0, 1), (1, 3, 1.0, 1)]


def test_similarity_on_the_emulator_of_a_gpu_has_the_same_bits(monkeypatch):
    stand_in(monkeypatch, emulated())
    n, src, dst, directed = GRAPHS["sparse random, directed"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    for options in ({"pairs": np.arange(n).reshape(-1, 2)}, {}, {"topk": 40}, {"topk": 2, "per_vertex": True}):
        on_cpu, on_gpu = (gd.cosine(G.partition(3, device=x), **options).verify() for x in ("cpu", "cuda"))
        assert rows(on_cpu) == rows(on_gpu)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("options", [{"pairs": np.arange(60).reshape(-1, 2)}, {}, {"topk": 30},
                                     {"topk": 3, "per_vertex": True}])  # fmt: skip
def test_a_wrong_answer_is_found(parts, options):
    G = gd.from_networkx(nx.gnm_random_graph(60, 250, seed=3)).partition(parts, device="cpu")
    r = gd.jaccard(G, **options).verify()
    columns = max((kept.columns for kept in r.parts.values), key=lambda columns: len(columns["score"]))
    kept = dict(columns)
    for name, by in product(kept, (1, -1, 1000)):
        for place in (0, len(kept[name]) // 2, -1):
            columns[name] = kept[name].copy()
            columns[name][place] += by
            with pytest.raises(VerificationError, match="jaccard"):
                r.verify()
            columns[name] = kept[name]
    for change in (slice(1, None), np.append(np.arange(len(kept["score"])), 0)):
        columns.update({name: values[change] for name, values in kept.items()})
        with pytest.raises(VerificationError, match="jaccard"):
            r.verify()
