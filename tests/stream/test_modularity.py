"""Modularity over a graph on disk is that in memory, bit by bit, and that of NetworkX; wrong ones are found."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS
from streams import changed, equal, weights_of

import graphdask as gd

NAMES = (
    "scale-free", "dense random, undirected", "duplicates both ways", "only self-loops", "isolated vertices",
    "star outward", "no edges",
)  # fmt: skip


def graph(name, kind=None):
    n, src, dst, _ = GRAPHS[name]()
    return gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=False)


def same(found, expected):
    equal(found, expected)
    assert (found.modularity, found.num_communities) == (expected.modularity, expected.num_communities)


@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("kind", [None, "whole", "floats"])
def test_it_is_that_in_memory(stored, kind, order):
    for name in NAMES:
        G = graph(name, kind)
        labels = np.arange(G.num_vertices) % 7
        expected, S = gd.modularity(G, labels, 1.5), stored(G, "256KiB", order=order)
        for parts in (1, 2, 3):
            same(gd.modularity(S.partition(parts), labels, 1.5).verify(), expected)


def test_it_is_that_of_networkx(stored):
    n, src, dst, _ = GRAPHS["scale-free"]()
    g = nx.MultiGraph()
    g.add_nodes_from(range(n))
    weights = weights_of("whole", len(src))
    g.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    S = stored(graph("scale-free", "whole"), "256KiB")
    found = gd.modularity(S, gd.label_propagation(S).label)
    sets = [set(np.flatnonzero(found.label == each).tolist()) for each in np.unique(found.label)]
    assert found.modularity == pytest.approx(nx.community.modularity(g, sets), abs=1e-12)
    assert found.stats.streamed["sweeps"] == 1


@pytest.mark.parametrize("parts", [None, 2])
def test_through_a_device_it_goes_by_the_host(streamed, parts):
    G = graph("scale-free", "floats")
    labels = np.arange(G.num_vertices) // 9
    same(gd.modularity(streamed(G, "256KiB", parts=parts), labels).verify(), gd.modularity(G, labels))


def test_wrong_results_are_found(stored):
    S = stored(graph("scale-free", "floats"), "1MiB")
    labels = np.arange(S.num_vertices) % 7
    with pytest.raises(gd.VerificationError, match="vertex 20 has not the smallest id of its community as its label"):
        changed(gd.modularity(S, labels), label=(20, 11)).verify()
    for label, reason in ((21, "larger than its id"), (13, "a label that has another label itself")):
        result = gd.modularity(S, labels)
        result.primitive.labels[20] = label
        with pytest.raises(gd.VerificationError, match=f"vertex 20 has a label that .*{reason}|20 has {reason}"):
            changed(result, label=(20, label)).verify()
    for name, value, reason in (("modularity", 0.25, "the modularity is"), ("num_communities", 8, "there are 7")):
        result = gd.modularity(S, labels).verify()
        result.parts.values[0].values[name] = value
        with pytest.raises(gd.VerificationError, match=reason):
            result.verify()


def test_memory_that_is_said_to_be_enough_is(stored):
    G = graph("scale-free", "floats")
    path, labels = stored(G).store.path, np.zeros(G.num_vertices)
    with pytest.raises(gd.OverBudget) as caught:
        gd.modularity(gd.stream.open(path, "3KiB"), labels)
    more = float(str(caught.value).split("open with ")[1].split()[0])
    gd.modularity(gd.stream.open(path, int((3 / 1024 + more) * 2**20)), labels)
