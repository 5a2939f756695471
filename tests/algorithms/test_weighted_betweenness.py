"""Betweenness by weight is NetworkX's, the same bits for every number of partitions and of lanes."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS as SHARED
from memory import OTHERS
from reference import Drawn

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.engine.buffers import ROW

PARTS = (1, 2, 3, 4, 7)


def drawn(n, m, directed):
    return lambda: (n, *np.random.default_rng(n).integers(0, n, (2, m)), directed)


GRAPHS = SHARED | {"dense": drawn(40, 240, True), "sparse": drawn(60, 70, False)}
"""Those of two names are small enough for many ranks."""
DTYPES = {"many ties": np.int32, "long integers": np.int64, "floats": np.float64, "float32": np.float32}


def weights_for(kind, count, seed=0):
    rng = np.random.default_rng(seed)
    drawn = {
        "many ties": lambda: rng.integers(1, 4, count),
        "long integers": lambda: rng.integers(1, 5, count) << 33,
        "floats": lambda: rng.random(count) + 1e-3,
        "float32": lambda: rng.integers(1, 5, count) / 8,
    }
    return drawn[kind]().astype(DTYPES[kind])


def of_networkx(n, src, dst, weights, directed):
    g = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    g.add_nodes_from(range(n))
    g.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    return g


def values(by_vertex):
    return np.array([by_vertex[v] for v in range(len(by_vertex))])


def check(name, kind, device="cpu", parts=PARTS):
    n, src, dst, directed = GRAPHS[name]()
    weights = weights_for(kind, len(src))
    g = of_networkx(n, src, dst, weights, directed)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    expected = values(nx.betweenness_centrality(g, normalized=False, weight="weight"))
    first = None
    for size in parts:
        ways = (("range", "all", "selective"), ("random", "1-hop", "broadcast"), ("random", "all", "selective"))
        by, ghosts, exchange = ways[size % 3]
        found = gd.betweenness(graph.partition(size, by, ghosts, device=device), exchange=exchange)
        np.testing.assert_allclose(found.score, expected, rtol=1e-11, atol=1e-11)
        first = found.score if first is None else first
        np.testing.assert_array_equal(found.score, first)
        if size in parts[:2]:
            found.verify()
    return first


@pytest.mark.parametrize("name", GRAPHS)
def test_scores_by_whole_weights_are_those_of_networkx(name):
    check(name, "many ties", parts=(1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_scores_are_the_same_for_every_number_of_partitions(name, kind):
    check(name, kind)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", GRAPHS)
def test_scores_on_a_gpu_are_those_of_a_cpu_to_the_last_bit(name, kind):
    found = check(name, kind, "cuda", (1, 2, 4))
    np.testing.assert_array_equal(found, check(name, kind, "cpu", (1,)))


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 3])
def test_hubs_on_a_gpu_are_those_of_a_cpu_to_the_last_bit(parts):
    graph = gd.generate.preferential_attachment(30_000, degree=4, seed=3)
    src, dst, _ = graph.edges("cpu")
    graph = gd.from_edges(src, dst, np.random.default_rng(1).integers(1, 9, len(src)), directed=True)
    ids = np.arange(0, 30_000, 1000)
    for sources in (ids[:1], ids[:7], ids):
        expected = gd.betweenness(graph.partition(1, device="cpu"), sources).score
        found = gd.betweenness(graph.partition(parts, device="cuda"), sources).score
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_of_parallel_edges_the_lightest_counts_once_and_self_loops_never(directed, parts, rng):
    src, dst = rng.integers(0, 12, (2, 150))
    weights = rng.integers(1, 3, 150)
    weights[src == dst] = 0
    kept = src != dst
    g = of_networkx(12, src[kept], dst[kept], weights[kept], directed)
    expected = values(nx.betweenness_centrality(g, weight="weight"))
    graph = gd.from_edges(src, dst, weights, num_vertices=12, directed=directed).partition(parts, device="cpu")
    np.testing.assert_allclose(gd.betweenness(graph, normalized=True).verify().score, expected, rtol=1e-12)


@pytest.mark.slow
def test_a_long_path_and_a_star():
    n = 160
    path = gd.from_edges(np.arange(n - 1), np.arange(1, n), np.arange(1, n), directed=False)
    inside = np.arange(n)
    for parts in (1, 3):
        found = gd.betweenness(path.partition(parts, device="cpu")).verify()
        np.testing.assert_array_equal(found.score, inside * (n - 1 - inside))
    star = gd.from_edges(np.zeros(50, int), np.arange(1, 51), np.arange(1, 51) / 3, directed=False)
    np.testing.assert_array_equal(gd.betweenness(star).score, [50 * 49 / 2] + [0.0] * 50)


def test_weight_none_counts_hops_and_without_weights_there_is_nothing_else():
    src, dst, weights = [0, 1, 0], [1, 2, 2], [1, 1, 5]
    graph = gd.from_edges(src, dst, weights, directed=False).partition(1, device="cpu")
    assert gd.betweenness(graph).score.tolist() == [0, 1, 0]
    assert gd.betweenness(graph, weight="weight").score.tolist() == [0, 1, 0]
    assert gd.betweenness(graph, weight=None).score.tolist() == [0, 0, 0]
    plain = gd.from_edges(src, dst, directed=False).partition(1, device="cpu")
    assert gd.betweenness(plain).score.tolist() == gd.betweenness(plain, weight=None).score.tolist() == [0, 0, 0]
    with pytest.raises(gd.InputError, match="weight='length' is neither 'weight', the weights of the graph, nor None"):
        gd.betweenness(graph, weight="length")
    for wrong in (1, True, ["weight"], np.ones(3)):
        with pytest.raises(gd.InputError, match=r"weight=.* is neither 'weight', the weights of the graph, nor None"):
            gd.betweenness(graph, weight=wrong)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_scores_of_drawn_sources_are_those_of_a_set(directed, normalized):
    """The mean over the sets of k sources whose scores NetworkX gives is the exact score."""
    src, dst, weights = [0, 1, 2, 0, 3, 4], [1, 2, 3, 3, 4, 0], [1, 1, 1, 3, 2, 2]
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_weighted_edges_from(zip(src, dst, weights, strict=True))
    exact = values(nx.betweenness_centrality(g, normalized=normalized, weight="weight"))
    graph = gd.from_edges(src, dst, weights, directed=directed).partition(2, "random", device="cpu")
    for k in (2, 3, 5):
        theirs = np.array(
            [
                values(nx.betweenness_centrality(g, k, normalized, weight="weight", seed=Drawn(chosen)))
                for chosen in itertools.combinations(range(5), k)
            ]
        )
        np.testing.assert_allclose(theirs.mean(axis=0), exact, rtol=1e-12)
        for seed in range(8):
            found = gd.betweenness(graph, k, normalized=normalized, seed=seed).verify().score
            assert not normalized or found.max() <= 1 + 1e-12
            assert np.isclose(found, theirs, rtol=1e-12, atol=1e-12).all(axis=1).any()


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 63, 64, 65])
def test_given_sources_are_a_subset_of_all_paths(count, parts, rng):
    g = nx.gnm_random_graph(120, 300, seed=4)
    for u, v in g.edges:
        g[u][v]["weight"] = 1 + (7 * u + v) % 4
    sources = rng.permutation(120)[:count].tolist()
    expected = nx.betweenness_centrality_subset(g, sources, list(range(120)), normalized=False, weight="weight")
    graph = gd.from_networkx(g, weight="weight").partition(parts, device="cpu")
    found = gd.betweenness(graph, sources).verify()
    np.testing.assert_allclose(found.score, values(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2, 7, 64])
def test_the_answer_does_not_depend_on_the_lanes(lanes):
    n, src, dst, directed = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, weights_for("floats", len(src)), num_vertices=n, directed=directed)
    expected = gd.betweenness(graph.partition(1, device="cpu"), np.arange(100))
    other = expected.primitive
    again = type(other)(other.sources, lanes, other.scale, other.of_sources, other.lengths)
    found = execute.run(graph.partition(2, device="cpu"), again)
    np.testing.assert_array_equal(found.score, expected.score)


@pytest.mark.parametrize("parts", [1, 3])
def test_rows_of_many_edges_are_summed_alike(parts, monkeypatch):
    """Chunks of a row have one order, wherever the row is summed."""
    rng = np.random.default_rng(5)
    hub, n = np.zeros(3000, np.int64), 3002
    src, dst = np.concatenate([hub, np.arange(1, 3001)]), np.concatenate([np.arange(1, 3001), np.full(3000, 3001)])
    weights = np.concatenate([rng.integers(1, 3, 3000), rng.integers(1, 3, 3000)])
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=False)
    g = of_networkx(n, src, dst, weights, False)
    expected = nx.betweenness_centrality_subset(g, [0, 3001, 7], list(range(n)), weight="weight")
    found = gd.betweenness(graph.partition(parts, device="cpu"), [0, 3001, 7]).verify()
    np.testing.assert_allclose(found.score, values(expected), rtol=1e-12)


@pytest.mark.parametrize("parts", [1, 3])
def test_edges_of_weight_0_count_where_they_form_no_cycle(parts):
    """s -> a, s -> b, a -> b for nothing, b -> t: two paths to b and to t, one of them through a."""
    graph = gd.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [1, 1, 0, 4]).partition(parts, device="cpu")
    assert gd.betweenness(graph).verify().score.tolist() == [0.0, 1.0, 1.0 + 1.0, 0.0]
    back_to_source = gd.from_edges([0, 1, 1], [1, 0, 2], [0, 0, 1]).partition(parts, device="cpu")
    assert gd.betweenness(back_to_source, [0]).verify().score.tolist() == [0.0, 1.0, 0.0]


def by_enumeration(g):
    """Scores from all simple paths of a small graph."""
    score = dict.fromkeys(g, 0.0)
    for s, t in itertools.permutations(g, 2):
        paths = list(nx.all_simple_paths(g, s, t))
        lengths = [nx.path_weight(g, path, "weight") for path in paths]
        shortest = [path for path, length in zip(paths, lengths, strict=True) if length == min(lengths)]
        for v in itertools.chain(*(path[1:-1] for path in shortest)):
            score[v] += 1 / len(shortest)
    return values(score)


@pytest.mark.parametrize("parts", [1, 3])
def test_edges_of_weight_0_count_as_all_simple_paths_do(parts, rng):
    for _ in range(12):
        g = nx.gnp_random_graph(7, 0.4, directed=True, seed=int(rng.integers(1 << 30)))
        for u, v, data in g.edges(data=True):
            data["weight"] = int(rng.integers(0, 3)) if u < v else int(rng.integers(1, 3))  # none of 0 goes down
        graph = gd.from_networkx(g, weight="weight").partition(parts, device="cpu")
        np.testing.assert_allclose(gd.betweenness(graph).verify().score, by_enumeration(g), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    ("edges", "weights", "directed", "named"),
    [
        (([0, 1, 2, 3], [1, 2, 1, 0]), [1, 0, 0, 1], True, "from [12] to [12]"),
        (([0, 1, 2], [1, 2, 3]), [2, 0, 2], False, "from 1 to 2"),
        (([0, 1, 2], [1, 2, 3]), [2.0**60, 0.5, 2.0], False, "from 1 to 2"),
    ],
)
def test_cycles_that_add_nothing_are_refused_naming_an_edge(edges, weights, directed, named, parts):
    graph = gd.from_edges(*edges, weights, directed=directed).partition(parts, device="cpu")
    with pytest.raises(gd.InputError, match=f"add nothing to the length of a path, such as that {named}.*weight=None"):
        gd.betweenness(graph)
    gd.betweenness(graph, weight=None).verify()


def test_weights_that_make_no_length_are_refused_naming_the_edge():
    for wrong in (-1, -0.5, np.inf):
        graph = gd.from_edges(["a", "b"], ["b", "c"], [1, wrong])
        with pytest.raises(gd.InputError, match=r"weight .* of the edge from b to c is .*betweenness takes weights"):
            gd.betweenness(graph)
        with pytest.raises(gd.InputError, match="the edge from b to c"):
            gd.betweenness(graph.partition(2, device="cpu"))


@pytest.mark.parametrize("parts", [1, 2])
def test_distances_that_are_too_large_are_refused_naming_the_vertex(parts):
    for much in (1 << 62, 1e308):
        graph = gd.from_edges(["a", "b", "c"], ["b", "c", "d"], [much, much, much]).partition(parts, device="cpu")
        with pytest.raises(gd.InputError, match=r"the distance of vertex [cd] from a source is too large"):
            gd.betweenness(graph)


def test_distances_beyond_32_bits_are_exact():
    most = (1 << 30) - 1
    graph = gd.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [most, most, most, 3 * most], directed=True)
    for parts in (1, 2):
        found = gd.betweenness(graph.partition(parts, device="cpu")).verify()
        assert found.score.tolist() == [0.0, 1.5, 1.5, 0.0]


@pytest.mark.parametrize("parts", [1, 2])
def test_ids_of_the_caller_and_no_vertices(parts):
    strings = gd.from_edges(["c", "a"], ["a", "b"], [0.5, 2.0], directed=False).partition(parts, device="cpu")
    assert gd.betweenness(strings).score.tolist() == [1.0, 0.0, 0.0]
    assert gd.betweenness(strings, ["c"]).score.tolist() == [0.5, 0.0, 0.0]
    empty = gd.from_edges([], [], np.zeros(0), num_vertices=0).partition(parts, device="cpu")
    assert gd.betweenness(empty).score.shape == (0,)


def test_allocation_changes_nothing_and_what_does_not_fit_is_refused():
    n, src, dst, directed = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, weights_for("many ties", len(src)), num_vertices=n, directed=directed)
    graph = graph.partition(2, device="cpu")
    expected = gd.betweenness(graph, [1, 2, 3]).score
    for allocation in ("just-enough", 1.0):
        np.testing.assert_array_equal(gd.betweenness(graph, [1, 2, 3], allocation=allocation).score, expected)
    with pytest.raises(gd.OverBudget, match="allocation='just-enough'"):
        gd.betweenness(graph, [1, 2, 3], allocation=0.01)


def test_a_dynamic_graph_has_the_weights_it_has_now():
    graph = gd.DynamicGraph(gd.from_edges([0, 1, 0], [1, 2, 2], [1, 1, 5], directed=False))
    assert gd.betweenness(graph).score.tolist() == [0, 1, 0]
    graph.update(insert=([0], [2], [2]))
    assert gd.betweenness(graph).verify().score.tolist() == [0, 0.5, 0]


WRONG = {
    "negative": (2, -1.0, "the score of 2 is negative"),
    "not a number": (2, np.nan, "the score of 2 is negative or not a number"),
    "where no path passes": (0, 1.0, "no path leads through 0"),
    "too large": (2, 99.0, "the scores add up to"),
    "too small": (2, 0.0, "the scores add up to"),
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_score_is_found(what, parts):
    vertex, value, message = WRONG[what]
    graph = gd.from_edges([0, 1, 2, 3, 1, 5], [1, 2, 3, 4, 5, 3], [1, 2, 3, 1, 3, 2]).partition(parts, device="cpu")
    result = gd.betweenness(graph).verify()
    rank, place = result.built.vertex_map.locate(vertex)
    result.parts.values[rank].columns["score"][place] = value
    with pytest.raises(gd.VerificationError, match=message):
        result.verify()


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"sources": [0]}, {"weight": None}])
def test_scores_of_others_are_found(given, rng):
    graph = gd.from_edges(*rng.integers(0, 60, (2, 400)), rng.integers(1, 9, 400), directed=False)
    graph = graph.partition(2, by="random", ghosts="1-hop", device="cpu")
    result = gd.betweenness(graph, **given).verify()
    places = [result.built.vertex_map.locate(v) for v in np.flatnonzero(result.score > 0)[:3]]
    columns = [result.parts.values[rank].columns["score"] for rank, _ in places]
    scores = [column[place] for column, (_, place) in zip(columns, places, strict=True)]
    for column, (_, place), value in zip(columns, places, np.roll(scores, 1), strict=True):
        column[place] = value
    with pytest.raises(gd.VerificationError, match="some are too large and others too small"):
        result.verify()


@pytest.mark.slow
def test_scores_by_hops_are_not_those_by_weight(rng):
    graph = gd.from_edges(*rng.integers(0, 60, (2, 400)), rng.integers(1, 9, 400), directed=False)
    graph = graph.partition(2, device="cpu")
    by_hops, by_weight = gd.betweenness(graph, weight=None), gd.betweenness(graph)
    for rank, part in enumerate(by_hops.parts.values):
        by_weight.parts.values[rank] = replace(by_weight.parts.values[rank], columns=part.columns)
    with pytest.raises(gd.VerificationError, match="the scores add up to"):
        by_weight.verify()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.usefixtures("alone")
def test_memory_is_what_was_announced(count, directed, rng):
    n, m = 60_000, 360_000
    src, dst = rng.integers(0, n, (2, m))
    graph = gd.from_edges(src, dst, rng.random(m), num_vertices=n, directed=directed).partition(1, device="cpu")
    gd.betweenness(graph, np.arange(count))  # builds the in-edges, loads the kernels
    tracemalloc.start()
    found = gd.betweenness(graph, np.arange(count))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * found.stats.memory + OTHERS


def test_rows_that_several_threads_sum_may_be_deferred():
    assert BETWEENNESS.chunk <= ROW
