"""Subgraphs, ego graphs, k-hop neighbours and cores of a graph on disk are those in memory; what is not is refused."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
from streams import equal, weighted

import graphdask as gd

NAMES = (
    "dense random, directed", "sparse random, undirected", "duplicates both ways", "only self-loops",
    "isolated vertices", "star inward", "path backward", "one vertex", "no edges",
)  # fmt: skip


def calls(G):
    """What is compared, for the vertices of a graph."""
    at = G.vertex_ids
    found = {
        "subgraph": lambda G: gd.subgraph(G, at[:: 2]),
        "subgraphs": lambda G: gd.subgraph(G, [at[:9], at[:0], at[5:], at[::3]]),
        "hops": lambda G: gd.k_hop_neighbors(G, at[::7], 2),
        "hops of sets": lambda G: gd.k_hop_neighbors(G, [at[:3], at[4:6], at[:0]], 9),
        "hops back": lambda G: gd.k_hop_neighbors(G, at[:5], 3, direction="in"),
        "ego": lambda G: gd.ego_graph(G, at[::7]),
        "ego without": lambda G: gd.ego_graph(G, at[::7], 2, center=False),
    }  # fmt: skip
    undirected = {
        "core": gd.k_core, "2-core": lambda G: gd.k_core(G, 2),
        "both": lambda G: gd.ego_graph(G, at[::9], undirected=True),
    }  # fmt: skip
    return found if G.directed else found | undirected


@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_found_is_that_in_memory(stored, name, order):
    G = weighted(name)
    S = stored(G, "160KiB", order=order)
    for call in calls(G).values():
        expected = call(G)
        for parts in (1, 2, 3):
            found = call(S.partition(parts))
            equal(found, expected)
            if hasattr(found, "vertices"):
                np.testing.assert_array_equal(found.vertices, expected.vertices)
                np.testing.assert_array_equal(found.edge_offsets, expected.edge_offsets)
            else:
                np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_a_core_becomes_a_graph_with_its_truss(stored):
    G = gd.generate.preferential_attachment(500, degree=6, p=0.5, seed=1)
    S = stored(G, "256KiB")
    core = gd.k_core(S, 6)
    assert core.cores.verify().stats.streamed["nbytes"] > 0
    small, whole = gd.k_truss(core.to_graph(), 7), gd.k_truss(G, 7)
    np.testing.assert_array_equal(small.src, whole.src)
    np.testing.assert_array_equal(small.dst, whole.dst)


def test_chunks_without_rows_of_the_vertices_are_not_read(stored):
    n = 3000
    S = stored(gd.from_edges(np.arange(n - 1), np.arange(1, n), directed=False), "256KiB")
    found = gd.k_hop_neighbors(S, [5], 2)
    assert found.vertex.tolist() == [5, 4, 6, 3, 7]
    assert found.stats.streamed["nbytes"] < S.nbytes / 4
    assert gd.subgraph(S, range(10)).stats.streamed["nbytes"] < S.nbytes / 4


def test_rows_of_edges_are_given(stored):
    G = weighted("dense random, directed")
    S = stored(G, "256KiB", edge_rows=True)
    equal(gd.subgraph(S, range(90), edge_rows=True), gd.subgraph(G, range(90), edge_rows=True))
    S = stored(weighted("sparse random, undirected"))
    for call in (lambda: gd.subgraph(S, [0], edge_rows=True), lambda: gd.ego_graph(S, [0], edge_rows=True),
                 lambda: gd.k_core(S, 2, edge_rows=True)):  # fmt: skip
        with pytest.raises(gd.Unsupported, match="edge_rows=True"):
            call()


@pytest.mark.parametrize("parts", [None, 2])
def test_through_a_device_too(streamed, parts):
    for name in ("dense random, directed", "sparse random, undirected"):
        G = weighted(name)
        S = streamed(G, "256KiB", parts=parts)
        for call in calls(G).values():
            equal(call(S), call(G))


def test_what_is_not_there_is_refused_before_any_work(stored):
    S = stored(weighted("dense random, directed"))
    for call in (lambda: gd.k_hop_neighbors(S, 0, 2, direction="both"), lambda: gd.ego_graph(S, 0, undirected=True)):
        with pytest.raises(gd.Unsupported, match=r"was to go both ways.*S\.in_memory\(\)"):
            call()
    S = stored(weighted("dense random, directed"), inward=False)
    with pytest.raises(gd.Unsupported, match="inward=True"):
        gd.k_hop_neighbors(S, 0, 2, direction="in")


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda S: gd.k_truss(S, 3), "gd.k_core(S, k - 1).to_graph()"),
        (lambda S: gd.jaccard(S, pairs=[(0, 1)]), "gd.ego_graph(S, [vertices]).to_graph()"),
        (gd.cosine, "gd.ego_graph(S, [vertices]).to_graph()"), (gd.louvain, "gd.label_propagation(S)"),
        (gd.leiden, "gd.modularity(S, labels)"), (gd.edge_betweenness, "gd.betweenness(S)"),
        (lambda S: gd.edge_betweenness(S, weight=None), "gd.betweenness(S)"), (gd.bridges, "gd.k_core(S, 2)"),
        (gd.articulation_points, "gd.k_core(S, 2)"), (gd.biconnected_components, "gd.k_core(S, 2)"),
        (gd.minimum_spanning_forest, "gd.connected_components(S)"),
    ],
)  # fmt: skip
def test_what_needs_memory_says_what_to_do_before_any_work(stored, fault, call, instead):
    S = stored(weighted("sparse random, undirected"))
    fault(os, "preadv", AssertionError("it reads"))
    with pytest.raises(gd.Unsupported, match=re.escape(instead)) as caught:
        call(S)
    assert "because" in str(caught.value)
    assert "S.in_memory()" in str(caught.value)


def test_what_the_errors_say_to_do_gives_the_answer(stored):
    G = weighted("sparse random, undirected")
    S = stored(G, "256KiB")
    pairs = np.random.default_rng(5).integers(0, G.num_vertices, (40, 2))
    around = gd.ego_graph(S, [np.unique(pairs)]).to_graph()
    np.testing.assert_array_equal(gd.jaccard(around, pairs).score, gd.jaccard(G, pairs).score)
    core = gd.k_core(S, 2)
    inside = set(zip(core.src.tolist(), core.dst.tolist(), strict=True))
    bridges, within = ({*zip(r.source.tolist(), r.destination.tolist(), strict=True)} for r in map(
        gd.bridges, (G, core.to_graph())))  # fmt: skip
    assert bridges & inside == within
    everything = gd.subgraph(G, G.vertex_ids)
    outside = {*zip(everything.src.tolist(), everything.dst.tolist(), strict=True)} - inside
    assert {(u, v) for u, v in outside if u != v} <= bridges
