"""The modularity of given communities is that of NetworkX, exact for every number of partitions and on the emulator."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd

PARTS = (1, 2, 3, 4, 7)
NAMES = ("one vertex", "one vertex with a self-loop", "only self-loops", "duplicates both ways", "isolated vertices",
         "no edges", "star around the last", "short path", "dense random, undirected", "scale-free")  # fmt: skip


def judged(n, src, dst, weights, labels, resolution):
    """NetworkX's answer; 0 where it has none."""
    judge = nx.MultiGraph()
    judge.add_nodes_from(range(n))
    judge.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    if not weights.sum():
        return 0.0
    # its sums of degrees are right for multigraphs, and its weights within communities count each edge
    return nx.community.modularity(judge, [set(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist())],
                                   resolution=resolution)  # fmt: skip


@pytest.mark.parametrize("kind", ["none", "integers", "floats", "large", "zeros"])
def test_modularity_is_that_of_networkx(kind, rng):
    for name in NAMES:
        n, src, dst, _ = GRAPHS[name]()
        weights = {
            "none": np.ones(len(src)), "integers": rng.integers(0, 9, len(src)), "floats": rng.random(len(src)),
            "large": rng.random(len(src)) * 10.0 ** rng.integers(-140, 140), "zeros": np.zeros(len(src)),
        }[kind]  # fmt: skip
        labels = rng.integers(0, max(n // 5, 1), n)
        resolution = float(rng.random() * 2)
        given = None if kind == "none" else weights
        graph = gd.from_edges(src, dst, given, num_vertices=n, directed=False)
        expected = judged(n, src, dst, weights, labels, resolution)
        found = {gd.modularity(graph.partition(parts, "random"), labels, resolution).verify() for parts in PARTS}
        assert {each.modularity for each in found} == {found.pop().modularity}, name
        assert gd.modularity(graph, labels, resolution).modularity == pytest.approx(expected, rel=1e-9, abs=1e-12), name


def test_the_bits_are_the_same_on_the_emulator_of_a_gpu(monkeypatch, rng):
    stand_in(monkeypatch, emulated())
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph, labels = gd.from_edges(src, dst, rng.random(len(src)), num_vertices=n, directed=False), rng.integers(0, 9, n)
    on_cpu, on_gpu = (gd.modularity(graph.partition(3, device=device), labels) for device in ("cpu", "cuda"))
    assert on_gpu.verify().stats.devices[0] != "CPU"
    assert on_gpu.modularity == on_cpu.modularity
    np.testing.assert_array_equal(on_gpu.label, on_cpu.label)


def test_labels_are_of_any_kind_and_come_back_as_smallest_ids():
    graph = gd.from_edges([10, 20, 30], [20, 30, 40], directed=False)
    expected = gd.modularity(graph, [5, 5, -1, -1])
    assert expected.label.tolist() == [10, 10, 30, 30]
    assert (expected.num_communities, float(expected)) == (2, expected.modularity)
    for labels in (["b", "b", "a", "a"], {40: 0.5, 30: 0.5, 10: 2.5, 20: 2.5}, np.array([[1, 1, 0, 0]])[0]):
        found = gd.modularity(graph, labels)
        assert (found.modularity, found.label.tolist()) == (expected.modularity, expected.label.tolist())


def test_a_graph_without_vertices_has_no_communities():
    found = gd.modularity(gd.from_edges([], [], directed=False), []).verify()
    assert (found.modularity, found.num_communities, len(found.label)) == (0.0, 0, 0)


def test_what_has_no_modularity_is_refused():
    graph = gd.from_edges([0, 1], [1, 2], directed=False)
    for labels, said in (([0, 1], "shape"), ([0, 1, np.nan], "NaN"), ({0: 1, 1: 1, 7: 1}, "7"),
                         ([0, None, "a"], "ordered"), ({0: 1, 1: 1, 2: 1, 3: 1}, "3")):  # fmt: skip
        with pytest.raises(gd.InputError, match=said):
            gd.modularity(graph, labels)
    with pytest.raises(gd.InputError, match="labels has no label of 1 of 3 vertices, the first 1; give each"):
        gd.modularity(graph, {0: 1, 2: 1})
    with pytest.raises(gd.InputError, match="no label of 2 of 3 vertices, the first 'a'"):
        gd.modularity(gd.from_edges(["a", "b"], ["b", "c"], directed=False), {"b": 1})
    with pytest.raises(gd.InputError, match=r"r\.label"):
        gd.modularity(graph, gd.modularity(graph, [0, 0, 1]))
    for resolution in (-1, np.nan, np.inf, "1"):
        with pytest.raises(gd.InputError, match="resolution"):
            gd.modularity(graph, [0, 0, 1], resolution)
    with pytest.raises(gd.InputError, match="modularity is defined on undirected"):
        gd.modularity(gd.from_edges([0], [1]), [0, 0])
    with pytest.raises(gd.InputError, match=r"weight -1.* is negative; communities need weights of 0 or more"):
        gd.modularity(gd.from_edges([0], [1], [-1], directed=False), [0, 0])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(("vertex", "label", "said"), [
    (3, 1, "vertex 3 has not"), (2, 9, "vertex 2 has not"),
])  # fmt: skip
def test_a_wrong_label_is_found(parts, vertex, label, said):
    graph = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False).partition(parts, "random", device="cpu")
    found = gd.modularity(graph, [0, 0, 1, 1])
    rank, place = found.built.vertex_map.locate(vertex)
    found.parts.values[rank].columns["label"][place] = label
    with pytest.raises(gd.VerificationError, match=said):
        found.verify()


@pytest.mark.parametrize("name", ["modularity", "num_communities"])
def test_a_wrong_number_is_found(name):
    found = gd.modularity(gd.from_edges([0, 1, 2], [1, 2, 3], directed=False).partition(2, device="cpu"), [0, 0, 1, 1])
    for value in found.parts.values:
        value.values[name] += 1e-6 if name == "modularity" else 1
    with pytest.raises(gd.VerificationError, match="modularity" if name == "modularity" else "communities"):
        found.verify()
