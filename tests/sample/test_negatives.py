"""Negative links: the law of all pairs and of non-edges, against enumeration; graphs of few non-edges or none."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

import graphdask as gd
from graphdask.errors import InputError, OverBudget
from graphdask.sample import LinkNeighborLoader, NegativeSampling
from graphdask.sample.tuning import SAMPLE
from graphdask.sample.words import raw_words, scaled, units

N = 9
RNG = np.random.default_rng(3)
SRC, DST = RNG.integers(0, N, 45), RNG.integers(0, N, 45)
"""With parallel edges and self-loops."""
UNEVEN = np.array([0, 3, 1, 0, 7, 2, 2, 5, 1])


def drawn(graph, sampling, links, epochs=1):
    """All negative pairs, of shape (2, count)."""
    loader = LinkNeighborLoader(graph, [0], links, batch_size=links.shape[1], neg_sampling=sampling, seed=12)
    found = []
    for _ in range(epochs):
        (batch,) = loader
        if sampling.mode == "binary":
            found.append(batch.n_id[batch.edge_label_index[:, links.shape[1] :]])
        else:
            source = batch.n_id[batch.src_index]
            negative = batch.n_id[batch.dst_neg_index].reshape(len(source), -1)
            found.append(np.stack([np.repeat(source, negative.shape[1]), negative.reshape(-1)]))
    return np.concatenate(found, axis=1)


def adjacent(directed):
    matrix = np.zeros((N, N), bool)
    matrix[SRC, DST] = True
    return matrix if directed else matrix | matrix.T


def agrees(pairs, law):
    """Whether pairs are drawn in proportion to a matrix."""
    counts = np.zeros((N, N))
    np.add.at(counts, tuple(pairs), 1)
    assert (counts[law == 0] == 0).all()
    some = law > 0
    expected = law[some] / law[some].sum() * counts.sum()
    assert expected.min() > 5
    return len(expected) == 1 or chisquare(counts[some], expected).pvalue > 1e-3


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("only_non_edges", [False, True])
@pytest.mark.parametrize(
    ("src_weight", "dst_weight"),
    [(None, None), (UNEVEN, None), (None, UNEVEN), ("degree", "degree"), (UNEVEN / 7, UNEVEN**0.75)],
)
def test_pairs_have_the_law_of_their_weights(directed, only_non_edges, src_weight, dst_weight):
    graph = gd.from_edges(SRC, DST, directed=directed, num_vertices=N)
    sampling = NegativeSampling("binary", 30, src_weight, dst_weight, only_non_edges)
    of_networkx = nx.MultiDiGraph(zip(SRC, DST, strict=True))
    out, into = (
        np.array([dict(degree)[v] for v in range(N)]) for degree in (of_networkx.out_degree, of_networkx.in_degree)
    )
    if not directed:  # a loop stands once in a row
        loops = np.bincount(SRC[SRC == DST], minlength=N)
        out = into = out + into - loops
    rows = {None: np.ones(N), "degree": out}
    columns = {None: np.ones(N), "degree": into}
    law = np.outer(
        rows[src_weight] if src_weight is None or isinstance(src_weight, str) else src_weight,
        columns[dst_weight] if dst_weight is None or isinstance(dst_weight, str) else dst_weight,
    ).astype(float)
    if only_non_edges:
        law[adjacent(directed)] = 0
    links = np.zeros((2, 2000), int)
    assert agrees(drawn(graph, sampling, links), law)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("only_non_edges", [False, True])
@pytest.mark.parametrize("weight", [None, UNEVEN])
def test_destinations_have_the_law_of_their_source(only_non_edges, weight, others, directed):
    graph = gd.from_edges(SRC, DST, directed=directed, num_vertices=N)
    sampling = NegativeSampling("triplet", 5, None, weight, only_non_edges, exclude_self_loops=others)
    law = np.tile(np.ones(N) if weight is None else weight, (N, 1)).astype(float)
    law[(np.eye(N, dtype=bool) & others) | (adjacent(directed) & only_non_edges)] = 0
    sources = np.flatnonzero(law.any(axis=1))
    pairs = drawn(graph, sampling, np.stack([np.resize(sources, 4500)] * 2))
    for source in sources:
        mine = np.zeros_like(law)
        mine[source] = law[source]
        assert agrees(pairs[:, pairs[0] == source], mine)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("only_non_edges", [False, True])
@pytest.mark.parametrize(
    ("src_weight", "dst_weight"), [(None, None), (UNEVEN, None), (None, UNEVEN), (UNEVEN / 7, UNEVEN**0.75)]
)
def test_pairs_of_different_vertices_have_the_law_of_their_weights(directed, only_non_edges, src_weight, dst_weight):
    graph = gd.from_edges(SRC, DST, directed=directed, num_vertices=N)
    sampling = NegativeSampling("binary", 30, src_weight, dst_weight, only_non_edges, exclude_self_loops=True)
    law = np.outer(*(np.ones(N) if weight is None else weight for weight in (src_weight, dst_weight))).astype(float)
    law[np.eye(N, dtype=bool) | (adjacent(directed) & only_non_edges)] = 0
    assert agrees(drawn(graph, sampling, np.zeros((2, 2000), int)), law)


def test_a_graph_without_other_vertices_has_no_pair():
    alone = gd.from_edges([0], [0])
    asked = {"mode": "binary", "exclude_self_loops": True}
    with pytest.raises(InputError, match="every pair of vertices of a weight above 0 is of a vertex with itself"):
        LinkNeighborLoader(alone, [1], neg_sampling=asked)
    with pytest.raises(InputError, match="is an edge of the graph, or of a vertex with itself; there is no negative"):
        LinkNeighborLoader(gd.from_edges([0, 1], [1, 0]), [1], neg_sampling=asked | {"only_non_edges": True})
    weight = np.array([0, 1, 0])
    for more, message in (
        ({}, "vertex 1, the source of link 0, is itself the only vertex of a weight above 0, so no negative"),
        ({"only_non_edges": True}, "vertex 1, the source of link 0, has an edge to every other vertex of a weight"),
    ):
        asked = NegativeSampling("triplet", dst_weight=weight, exclude_self_loops=True, **more)
        with pytest.raises(InputError, match=message):
            LinkNeighborLoader(gd.from_edges([0], [2], num_vertices=3), [1], [[1], [0]], neg_sampling=asked)
    assert repr(asked).endswith("only_non_edges=True, exclude_self_loops=True)")


def test_numbers_of_links_and_epochs_are_independent():
    graph = gd.from_edges(SRC, DST, num_vertices=N)
    pairs = drawn(graph, NegativeSampling("triplet", 2), np.zeros((2, 3000), int), epochs=2)[1].reshape(2, 3000, 2)
    for a, b in ((pairs[0], pairs[1]), (pairs[..., 0], pairs[..., 1]), (pairs[:, :-1], pairs[:, 1:])):
        together = np.zeros((N, N))
        np.add.at(together, (a.reshape(-1), b.reshape(-1)), 1)
        assert chisquare(together.reshape(-1)).pvalue > 1e-3


def test_the_only_non_edge_is_found():
    whole = nx.complete_graph(60, create_using=nx.DiGraph)
    whole.add_edges_from((v, v) for v in range(60))
    whole.remove_edges_from([(3, 3), (3, 59), (17, 0), (59, 30)])
    graph = gd.from_networkx(whole)
    missing = {(3, 3), (3, 59), (17, 0), (59, 30)}
    links = np.array([[3, 17, 59] * 50, [1, 1, 1] * 50])
    binary = drawn(graph, NegativeSampling("binary", 2, only_non_edges=True), links)
    assert set(zip(*binary.tolist(), strict=True)) == missing
    triplets = drawn(graph, NegativeSampling("triplet", 2, only_non_edges=True), links)
    assert set(zip(*triplets.tolist(), strict=True)) == missing
    with pytest.raises(InputError, match="vertex 5, the source of link 1, has an edge to every vertex"):
        drawn(graph, NegativeSampling("triplet", only_non_edges=True), np.array([[3, 5], [0, 0]]))
    weight = np.ones(60)
    weight[[3, 59]] = 0
    with pytest.raises(InputError, match="vertex 3, the source of link 0, has an edge to every vertex of a weight"):
        drawn(graph, NegativeSampling("triplet", dst_weight=weight, only_non_edges=True), np.array([[3], [0]]))


def test_a_graph_of_all_pairs_has_no_negative():
    graph = gd.from_edges([0, 0, 1, 1], [0, 1, 0, 1])
    with pytest.raises(InputError, match="every pair of vertices of a weight above 0 is an edge"):
        LinkNeighborLoader(graph, [1], neg_sampling={"mode": "binary", "only_non_edges": True})


def test_a_large_sparse_graph_has_no_false_negative():
    graph = gd.generate.rmat(10, 16, seed=2)
    edges = graph.edges()
    present = set(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    links = np.stack([edges.src[:4000], edges.dst[:4000]])
    for mode in ("binary", "triplet"):
        for weight in (None, "degree"):
            sampling = NegativeSampling(mode, 3, dst_weight=weight, only_non_edges=True)
            assert not present.intersection(zip(*drawn(graph, sampling, links).tolist(), strict=True))


def test_rows_that_do_not_fit_are_refused(tuned):
    graph = gd.from_edges(SRC, DST)
    tuned(SAMPLE, non_edge_bytes=1 << 50)
    with pytest.raises(OverBudget, match="leave only_non_edges=True out"):
        LinkNeighborLoader(graph, [1], neg_sampling={"mode": "binary", "only_non_edges": True})


def test_words_are_those_of_one_stream():
    whole = np.random.Philox(
        key=np.array([5, 0x4E47], np.uint64), counter=np.array([0, 0, 1, 6], np.uint64)
    ).random_raw(50)
    for first in range(9):
        for count in (0, 1, 3, 7, 41):
            found = raw_words(5, np.uint64(0x4E47), (1, 6), first, count)
            assert found.tolist() == whole[first : first + count].tolist()


def test_scaled_is_the_high_half_of_a_product():
    words = np.random.default_rng(0).integers(0, 2**64, 500, np.uint64)
    totals = np.random.default_rng(1).integers(1, 2**63, 500)
    totals[:3], words[:3] = (1, 2**63 - 1, 2**32), 2**64 - 1
    assert scaled(words, totals).tolist() == [int(w) * int(t) >> 64 for w, t in zip(words, totals, strict=True)]


@pytest.mark.parametrize("values", [[0.25, 0.5, 0.0, 1e-30], [1e300, 1e299, 0, 1], [2**62, 2**61, 0, 1]])
def test_whole_weights_are_in_proportion(values):
    whole = units(np.array(values))
    assert 2**57 < whole.sum() < 2**62
    assert (whole > 0).tolist() == [value > 0 for value in values]
    assert np.allclose(whole / whole.sum(), np.array(values) / np.sum(np.float64(values)), rtol=1e-12, atol=1e-17)
