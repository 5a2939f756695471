"""Vertices within some hops of many sources: those of NetworkX's searches, and proofs that find wrong ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from common_checks import PARTS
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask.errors import VerificationError


def made(shape):
    n, src, dst, directed = GRAPHS[shape]()
    g = (nx.DiGraph if directed else nx.Graph)()
    g.add_nodes_from(range(n))
    g.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    return gd.from_edges(src, dst, num_vertices=n, directed=directed), g


@pytest.mark.parametrize("shape", ["only self-loops", "isolated vertices", "star outward", "short path",
                                   "sparse random, directed"])  # fmt: skip
@pytest.mark.parametrize(("direction", "k"), [("out", 0), ("out", 3), ("in", 2), ("both", 2)])
def test_hops_are_those_of_networkx_over_partitions(shape, direction, k):
    graph, g = made(shape)
    turned = {"out": g, "in": g.reverse() if g.is_directed() else g, "both": g.to_undirected()}[direction]
    expected = [
        (source, hop, vertex)
        for source in g
        for vertex, hop in nx.single_source_shortest_path_length(turned, source, cutoff=k).items()
    ]
    for parts, ghosts in zip(PARTS, ("all", "1-hop", "all", "1-hop", "1-hop"), strict=True):
        G = graph.partition(parts, "random", ghosts, device="cpu")
        r = gd.k_hop_neighbors(G, graph.vertex_ids, k, direction=direction).verify()
        assert list(zip(r.instance.tolist(), r.hop.tolist(), r.vertex.tolist(), strict=True)) == sorted(expected)
        assert np.diff(r.offsets).tolist() == [sum(source == i for source, _, _ in expected) for i in range(len(g))]


def test_several_sources_of_a_search():
    G = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    r = gd.k_hop_neighbors(G, [[0, 2, 0], [], [4]], 1).verify()
    assert (r.vertex.tolist(), r.hop.tolist(), r.offsets.tolist()) == ([0, 2, 1, 3, 4], [0, 0, 1, 1, 0], [0, 4, 4, 5])
    assert gd.k_hop_neighbors(G, 3, 10**9).vertex.tolist() == [3, 4]
    assert gd.k_hop_neighbors(G, [], 2).verify().vertex.tolist() == []
    with pytest.raises(gd.VertexNotFound, match="source 9 is not in the graph"):
        gd.k_hop_neighbors(G, [9], 1)
    with pytest.raises(gd.Unsupported, match="are no edges"):
        r.with_edges()


def test_hops_on_the_emulator_of_a_gpu_have_the_same_bits(monkeypatch):
    stand_in(monkeypatch, emulated())
    graph, _ = made("sparse random, directed")
    on_cpu, on_gpu = (
        gd.k_hop_neighbors(graph.partition(3, device=device), range(0, 300, 9), 3).verify()
        for device in ("cpu", "cuda")
    )
    for name in on_cpu.columns:
        np.testing.assert_array_equal(getattr(on_gpu, name), getattr(on_cpu, name))


@pytest.mark.parametrize("parts", [1, 3])
def test_a_wrong_hop_is_found(parts):
    graph, _ = made("sparse random, directed")
    r = gd.k_hop_neighbors(graph.partition(parts, device="cpu"), [0, 5, 9], 3).verify()
    columns = max((kept.columns for kept in r.parts.values), key=lambda columns: len(columns["hop"]))
    kept = dict(columns)
    for name, by in ((name, by) for name in kept for by in (1, -1, 1000)):
        for place in (0, len(kept[name]) // 2, -1):
            columns[name] = kept[name].copy()
            columns[name][place] += by
            with pytest.raises(VerificationError, match="k-hop neighbors"):
                r.verify()
            columns[name] = kept[name]
    for change in (slice(1, None), np.append(np.arange(len(kept["hop"])), 0)):
        columns.update({name: values[change] for name, values in kept.items()})
        with pytest.raises(VerificationError, match="k-hop neighbors"):
            r.verify()
