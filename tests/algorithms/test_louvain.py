"""Communities of Louvain and Leiden: as good as known ones, connected where that is promised, and the same anywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.algorithms.tuning import COMMUNITIES

BOTH = pytest.mark.parametrize("method", [gd.louvain, gd.leiden])


def graph_of(judge, weight=None):
    judge = nx.convert_node_labels_to_integers(judge)
    ends = np.array(judge.edges()).reshape(-1, 2).T
    weights = [data[weight] for *_, data in judge.edges(data=True)] if weight else None
    return gd.from_edges(*ends, weights, num_vertices=len(judge), directed=False), judge


def sets(label):
    return [set(np.flatnonzero(label == c).tolist()) for c in np.unique(label)]


KNOWN = {  # the best modularity that is known, or that of the planted communities
    "karate club": (nx.karate_club_graph, 0.41979),
    "ring of cliques": (lambda: nx.ring_of_cliques(12, 5), None),
    "planted communities": (lambda: nx.planted_partition_graph(8, 20, 0.6, 0.02, seed=1), None),
}


@BOTH
@pytest.mark.parametrize("name", KNOWN)
def test_communities_are_as_good_as_known_ones(name, method):
    make, best = KNOWN[name]
    graph, judge = graph_of(make())
    if best is None:
        size = 5 if "ring" in name else 20
        best = nx.community.modularity(judge, sets(np.arange(len(judge)) // size), weight=None)
    found = method(graph).verify()
    assert found.modularity >= 0.995 * best
    assert found.modularity == pytest.approx(nx.community.modularity(judge, sets(found.label), weight=None))
    assert found.num_communities == len(np.unique(found.label))


@BOTH
def test_weights_and_the_resolution_count(method):
    graph, judge = graph_of(nx.les_miserables_graph(), "weight")
    found = [method(graph, resolution).verify() for resolution in (0.5, 1.0, 2.0)]
    for each, resolution in zip(found, (0.5, 1.0, 2.0), strict=True):
        expected = nx.community.modularity(judge, sets(each.label), resolution=resolution)
        assert each.modularity == pytest.approx(expected)
        of_networkx = nx.community.louvain_communities(judge, resolution=resolution, seed=1)
        assert expected >= 0.98 * nx.community.modularity(judge, of_networkx, resolution=resolution)
    assert [each.num_communities for each in found] == sorted(each.num_communities for each in found)
    assert method(graph, 0.0).num_communities == 1
    assert method(graph, 1000.0).num_communities > 70


def lfr(mixing):
    """A graph with planted communities whose sizes follow a power law, of which this share of the edges leads out."""
    settings = {"average_degree": 15, "max_degree": 60, "min_community": 20, "max_community": 100}
    return graph_of(nx.LFR_benchmark_graph(1000, 3, 1.5, mixing, seed=1, **settings))[0]


def roads():
    """A grid without a fifth of its edges."""
    grid = nx.grid_2d_graph(60, 60)
    edges = np.array(nx.convert_node_labels_to_integers(grid).edges()).T
    edges = edges[:, np.random.default_rng(0).random(len(edges[0])) < 0.8]
    return gd.from_edges(*edges, num_vertices=3600, directed=False)


IGRAPH = {  # mean modularity by igraph 1.0.0's Leiden until it stops, of 5 seeds
    "R-MAT 12": (lambda: gd.generate.rmat(12), 0.10514),
    "R-MAT 13": (lambda: gd.generate.rmat(13), 0.10129),
    "mixing 0.3": (lambda: lfr(0.3), 0.50486),
    "mixing 0.6": (lambda: lfr(0.6), 0.22627),
    "roads": (roads, 0.91766),
}


@BOTH
@pytest.mark.parametrize("name", IGRAPH)
def test_communities_are_as_good_as_those_of_igraph(name, method):
    make, expected = IGRAPH[name]
    graph = make().partition(1, device="cpu")
    assert np.mean([method(graph, seed=seed).modularity for seed in range(2)]) >= 0.995 * expected


def test_a_small_graph_without_clear_communities_is_divided_as_well_as_by_igraph():
    """Where one pass of two starts finds 0.4572. igraph 1.0.0's Leiden until it stops: the median of ten runs."""
    rng = np.random.default_rng(3)
    for _ in range(14):
        src, dst = (np.concatenate([rng.integers(0, 35, 150), rng.integers(38, 57, 50)]) for _ in range(2))
    graph = gd.from_edges(src, dst, num_vertices=60, directed=False).partition(1, device="cpu")
    assert gd.leiden(graph).modularity >= 0.4588


@pytest.mark.slow
def test_communities_of_shared_levels_are_as_good_as_those_of_igraph(shared):
    shared(0, 1 << 12)
    graph = gd.generate.rmat(12).partition(1, device="cpu")
    assert np.mean([gd.leiden(graph, seed=seed).modularity for seed in range(3)]) >= 0.98 * IGRAPH["R-MAT 12"][1]


@pytest.fixture
def shared(tuned):
    """Sets the entries of the graph, and of a level above, up to which one rank goes on by itself."""

    def setting(of_graph, of_level):
        tuned(COMMUNITIES, few_of_graph=of_graph, few=of_level)

    return setting


@BOTH
@pytest.mark.parametrize("few", [None, 0, 100], ids=["one rank", "all shared", "small levels not shared"])
def test_labels_do_not_depend_on_the_number_of_partitions(method, few, shared):
    graph, _ = graph_of(nx.les_miserables_graph(), "weight")
    if few is not None:
        shared(0, few)
    expected = method(graph.partition(1, device="cpu"), 1.3, seed=5)
    for parts in (2, 3, 4, 7):
        found = method(graph.partition(parts, "random", device="cpu"), 1.3, seed=5).verify()
        np.testing.assert_array_equal(found.label, expected.label)
        assert (found.modularity, found.passes, found.levels) == (expected.modularity, expected.passes, expected.levels)


@BOTH
@pytest.mark.parametrize("few", [None, 0, 40], ids=["one rank", "all shared", "small levels not shared"])
def test_communities_are_the_same_on_the_emulator_of_a_gpu(method, few, shared, monkeypatch):
    stand_in(monkeypatch, emulated())
    if few is not None:
        shared(0, few)
    graph, _ = graph_of(nx.karate_club_graph(), "weight")
    for parts in (1, 2):
        on_cpu, on_gpu = (method(graph.partition(parts, device=device)) for device in ("cpu", "cuda"))
        np.testing.assert_array_equal(on_gpu.verify().label, on_cpu.label)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("weighted", [False, True])
def test_communities_of_long_rows_are_the_same_on_the_emulator_of_a_gpu(method, weighted, shared, monkeypatch, rng):
    """Rows of a lane for each neighbour, of a table of a warp, of a block, and of several blocks."""
    stand_in(monkeypatch, emulated())
    shared(0, 0)
    size = 1100
    degrees = np.repeat([size - 1, 300, 70, 1], [1, 1, 3, size - 5])
    src = np.repeat(np.arange(size), degrees)
    dst = np.concatenate([rng.choice(size, degree, replace=False) for degree in degrees])
    weights = rng.integers(1, 9, len(src)) if weighted else None
    graph = gd.from_edges(src, dst, weights, num_vertices=size, directed=False)
    for parts in (1, 2):
        on_cpu, on_gpu = (method(graph.partition(parts, device=device), passes=1) for device in ("cpu", "cuda"))
        np.testing.assert_array_equal(on_gpu.label, on_cpu.label)


def test_a_community_of_leiden_in_two_pieces_is_found():
    graph, _ = graph_of(nx.ring_of_cliques(4, 3))
    found = gd.leiden(graph.partition(2, device="cpu"))
    labels = np.repeat([0, 3, 0, 9], 3)
    right = gd.modularity(graph, labels)
    for rank, value in enumerate(found.parts.values):
        first, last = found.built.vertex_map.offsets[rank : rank + 2]
        value.columns["label"][:] = labels[found._order[first:last]]
        value.values.update(modularity=right.modularity, num_communities=3)
    with pytest.raises(gd.VerificationError, match="vertex 6 is not connected to its community"):
        found.verify()


@BOTH
def test_passes_are_at_most_as_many_as_asked(method):
    graph, _ = graph_of(nx.karate_club_graph())
    assert method(graph, passes=1).passes == 1
    for passes in (0, -1, 1.5):
        with pytest.raises(gd.InputError, match="passes"):
            method(graph, passes=passes)
    with pytest.raises(gd.InputError, match="weight -1"):
        method(gd.from_edges([0], [1], [-1], directed=False))
