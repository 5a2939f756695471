"""Betweenness by weight over a streamed graph: NetworkX's, and that in memory to the last bit."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd

KINDS = {
    "many ties": lambda rng, count: rng.integers(1, 4, count).astype(np.int32),
    "long integers": lambda rng, count: rng.integers(1, 5, count) << 33,
    "floats": lambda rng, count: rng.random(count) + 1e-3,
    "float32": lambda rng, count: (rng.integers(1, 5, count) / 8).astype(np.float32),
}


def drawn(n, m, directed):
    return lambda: (n, *np.random.default_rng(n).integers(0, n, (2, m)), directed)


MADE = GRAPHS | {"dense": drawn(70, 900, True), "sparse": drawn(120, 140, False)}
"""With self-loops and parallel edges."""


def made(name, kind):
    n, src, dst, directed = MADE[name]()
    weights = KINDS[kind](np.random.default_rng(1), len(src))
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def of_networkx(G, **options):
    g = (nx.MultiDiGraph if G.directed else nx.MultiGraph)()
    g.add_nodes_from(range(G.num_vertices))
    g.add_weighted_edges_from(zip(*(column.tolist() for column in G.edges("cpu")), strict=True))
    found = nx.betweenness_centrality(g, weight="weight", **({"normalized": False} | options))
    return np.array([found[v] for v in range(len(found))])


@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_scores_are_those_of_networkx_and_those_in_memory_for_every_number_of_ranks(stored, name, kind, order):
    G = made(name, kind)
    expected, of_others = gd.betweenness(G).score, of_networkx(G)
    S = stored(G, "2MiB", order=order)
    for parts in (1, 2, 3, 4, 7):
        found = gd.betweenness(S.partition(parts))
        np.testing.assert_array_equal(found.score, expected)
        np.testing.assert_allclose(found.score, of_others, rtol=1e-11, atol=1e-11)
        if parts in (1, 3):
            found.verify()


@pytest.mark.parametrize("name", [
    "one vertex", "short path", "star around the last", "duplicates both ways", "only self-loops", "binary tree",
    "isolated vertices", "cycle", "sparse random, directed",
])  # fmt: skip
def test_graphs_of_all_kinds(stored, name):
    G = made(name, "many ties")
    S = stored(G, "2MiB")
    expected = gd.betweenness(G).score
    np.testing.assert_allclose(expected, of_networkx(G), rtol=1e-11, atol=1e-11)
    for parts in (1, 3):
        np.testing.assert_array_equal(gd.betweenness(S.partition(parts)).verify().score, expected)


@pytest.mark.slow
def test_drawn_and_given_sources_and_normalized_scores(stored):
    G = made("scale-free", "floats")
    S = stored(G, "8MiB").partition(2)  # room for all tables: by hops, bits depend on it
    for given in ({"sources": 10, "seed": 3}, {"sources": [5, 1, 7]}, {"normalized": True}, {"weight": None}):
        expected = gd.betweenness(G, **given)
        found = gd.betweenness(S, **given).verify()
        np.testing.assert_array_equal(found.score, expected.score)
    np.testing.assert_allclose(
        gd.betweenness(S, normalized=True).score, of_networkx(G, normalized=True), rtol=1e-11, atol=1e-11
    )


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["100KiB", "200KiB"])
def test_with_room_for_a_few_sources_at_a_time_the_bits_are_the_same(stored, memory):
    G = made("scale-free", "floats")
    S = stored(G, memory)
    sources = G.vertex_ids[::3]
    found = gd.betweenness(S, sources).verify()
    np.testing.assert_array_equal(found.score, gd.betweenness(G, sources).score)
    assert found.stats.memory <= S.memory
    streamed = found.stats.streamed
    assert streamed["chunks_read"] >= S.chunks
    assert streamed["nbytes"] >= streamed["distinct"] > 0


def test_rows_of_many_edges_are_summed_alike(stored):
    """Chunks of a row have one order, also with self-loops and parallel edges among them."""
    rng = np.random.default_rng(5)
    hub = np.zeros(1200, np.int64)
    src = np.concatenate([hub, np.arange(1, 1201), hub[:300], hub[:5]])
    dst = np.concatenate([np.arange(1, 1201), np.full(1200, 1201), rng.integers(1, 1201, 300), hub[:5]])
    G = gd.from_edges(src, dst, rng.random(len(src)).round(1) + 0.5, num_vertices=1202, directed=False)
    expected = gd.betweenness(G, [0, 1201, 7]).score
    S = stored(G, "4MiB", chunk=8192)
    for parts in (1, 3):
        np.testing.assert_array_equal(gd.betweenness(S.partition(parts), [0, 1201, 7]).verify().score, expected)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3])
def test_a_long_path(stored, parts):
    n = 120
    G = gd.from_edges(np.arange(n - 1), np.arange(1, n), np.arange(1, n), directed=False)
    inside = np.arange(n)
    found = gd.betweenness(stored(G, "1MiB").partition(parts)).verify()
    np.testing.assert_array_equal(found.score, inside * (n - 1 - inside))


@pytest.mark.parametrize("parts", [1, 3])
def test_edges_of_weight_0_count_where_they_form_no_cycle(stored, parts):
    """s -> a, s -> b, a -> b for nothing, b -> t: two paths to b and to t, one of them through a."""
    S = stored(gd.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 3], [1, 1, 0, 4, 0])).partition(parts)
    assert gd.betweenness(S).verify().score.tolist() == [0.0, 1.0, 1.0 + 1.0, 0.0]
    S = stored(gd.from_edges([0, 1, 1], [1, 0, 2], [0, 0, 1])).partition(parts)
    assert gd.betweenness(S, [0]).verify().score.tolist() == [0.0, 1.0, 0.0]
    S = stored(gd.from_edges([0, 1, 1], [1, 2, 1], [1, 1, 0], directed=False)).partition(parts)
    assert gd.betweenness(S).verify().score.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize(
    ("edges", "weights", "directed", "named"),
    [
        (([0, 1, 2, 3], [1, 2, 1, 0]), [1, 0, 0, 1], True, "from [12] to [12]"),
        (([0, 1, 2], [1, 2, 3]), [2, 0, 2], False, "from 1 to 2"),
        (([0, 1, 2], [1, 2, 3]), [2.0**60, 0.5, 2.0], False, "from 1 to 2"),
    ],
)
def test_cycles_that_add_nothing_are_refused_naming_an_edge(stored, edges, weights, directed, named, order, parts):
    S = stored(gd.from_edges(*edges, weights, directed=directed), order=order).partition(parts)
    with pytest.raises(gd.InputError, match=f"add nothing to the length of a path, such as that {named}.*weight=None"):
        gd.betweenness(S)
    gd.betweenness(S, weight=None).verify()


@pytest.mark.parametrize("parts", [1, 2])
def test_what_makes_no_length_is_refused_naming_it(stored, parts):
    for much in (1 << 62, 1e308):
        S = stored(gd.from_edges(["a", "b", "c"], ["b", "c", "d"], [much, much, much])).partition(parts)
        with pytest.raises(gd.InputError, match=r"the distance of vertex [cd] from a source is too large"):
            gd.betweenness(S)
    S = stored(gd.from_edges(["a", "b"], ["b", "c"], [1, -1])).partition(parts)
    with pytest.raises(gd.InputError, match="the edge from b to c is negative; betweenness takes weights of 0 or more"):
        gd.betweenness(S)


@pytest.mark.parametrize("parts", [1, 2])
def test_ids_of_the_caller_and_no_vertices(stored, parts):
    S = stored(gd.from_edges(["c", "a"], ["a", "b"], [0.5, 2.0], directed=False)).partition(parts)
    assert gd.betweenness(S).score.tolist() == [1.0, 0.0, 0.0]
    assert gd.betweenness(S, ["c"]).score.tolist() == [0.5, 0.0, 0.0]
    S = stored(gd.from_edges([], [], np.zeros(0), num_vertices=0)).partition(parts)
    assert gd.betweenness(S).score.shape == (0,)


@pytest.mark.parametrize("parts", [1, 3])
def test_wrong_scores_are_found(stored, parts):
    G = gd.from_edges([0, 1, 2, 3, 1, 5], [1, 2, 3, 4, 5, 3], [1, 2, 3, 1, 3, 2])
    for vertex, value, message in (
        (2, -1.0, "the score of 2 is negative"),
        (2, np.nan, "the score of 2 is negative or not a number"),
        (0, 1.0, "no path leads through 0"),
        (2, 99.0, "the scores add up to"),
    ):
        result = gd.betweenness(stored(G, order="ids").partition(parts)).verify()
        rank, place = result.built.vertex_map.locate(vertex)
        result.parts.values[rank].columns["score"][place] = value
        with pytest.raises(gd.VerificationError, match=message):
            result.verify()


def test_scores_by_hops_are_not_those_by_weight(stored, rng):
    S = stored(gd.from_edges(*rng.integers(0, 60, (2, 400)), rng.integers(1, 9, 400), directed=False), "1MiB")
    by_hops, by_weight = gd.betweenness(S, weight=None), gd.betweenness(S)
    (one,), (other,) = by_hops.parts.values, by_weight.parts.values
    by_weight.parts.values[0] = replace(other, columns=one.columns)
    with pytest.raises(gd.VerificationError, match="the scores add up to"):
        by_weight.verify()


def test_what_cannot_be_is_said_beforehand(stored):
    G = made("sparse", "many ties")
    with pytest.raises(gd.OverBudget, match=r"betweenness by weight streams chunks of up to .* MiB more"):
        gd.betweenness(stored(G, "4KiB"))
    S = stored(gd.from_edges([0, 1], [1, 2], [1, 2]), inward=False)
    with pytest.raises(gd.Unsupported, match="betweenness by weight pulls over in-edges"):
        gd.betweenness(S)
    S = stored(G)
    with pytest.raises(gd.Unsupported, match="allocation= has no meaning for a streamed graph"):
        gd.betweenness(S, allocation="fixed")
    with pytest.raises(gd.Unsupported, match='passes="one" is not exact'):
        gd.betweenness(gd.stream.open(S.store.path, passes="one"))


@pytest.mark.parametrize(("name", "kind", "parts"), [
    ("dense", "many ties", None), ("sparse", "floats", None), ("dense", "float32", 3), ("sparse", "long integers", 2),
    ("only self-loops", "floats", None),
])  # fmt: skip
def test_through_a_device_the_bits_are_those_of_a_cpu(streamed, name, kind, parts):
    G = made(name, kind)
    S = streamed(G, "2MiB", order="ids" if parts == 3 else "layers", parts=parts)
    found = gd.betweenness(S).verify()
    np.testing.assert_array_equal(found.score, gd.betweenness(G).score)
    assert found.stats.streamed["device"] == "cuda"


@pytest.mark.slow
def test_through_a_device_what_is_undefined_is_named(streamed):
    S = streamed(gd.from_edges([0, 1, 2, 3], [1, 2, 1, 0], [1, 0, 0, 1]))
    with pytest.raises(gd.InputError, match=r"add nothing to the length of a path, such as that from [12] to [12]"):
        gd.betweenness(S)
    S = streamed(gd.from_edges([0, 1, 2], [1, 2, 3], [1e308, 1e308, 1e308]))
    with pytest.raises(gd.InputError, match=r"the distance of vertex [23] from a source is too large"):
        gd.betweenness(S)
    S = streamed(gd.from_edges([0, 1, 2], [1, 2, 3], [2, 0, 2], directed=False))
    with pytest.raises(gd.InputError, match="such as that from 1 to 2"):
        gd.betweenness(S)
