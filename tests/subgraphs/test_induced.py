"""Subgraphs of vertices, ego graphs and cores: the edges that NetworkX has, for every number of partitions."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from common_checks import PARTS
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask.errors import VerificationError

SHAPES = (
    "one vertex", "only self-loops", "only duplicates", "duplicates both ways", "isolated vertices",
    "star around the last", "short path", "sparse random, directed", "dense random, undirected",
)  # fmt: skip


def made(shape):
    """A graph, its edges as NetworkX's, and ids that are not its numbers."""
    n, src, dst, directed = GRAPHS[shape]()
    weights = np.random.default_rng(n).integers(1, 4, len(src))
    ids = 3 * np.arange(n) + 1
    graph = gd.from_edges(ids[src], ids[dst], weights, vertices=ids, directed=directed)
    g = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    g.add_nodes_from(ids.tolist())
    g.add_edges_from((int(ids[u]), int(ids[v]), {"row": k}) for k, (u, v) in enumerate(zip(src, dst, strict=True)))
    return graph, g, weights


def rows(g):
    return sorted(row for _, _, row in g.edges(data="row"))


def bits(s):
    names = dict.fromkeys((*s.columns, "edge", "vertices", "vertex_offsets", "edge_offsets"))
    return [getattr(s, name) for name in names]


def same_bits(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shape", SHAPES)
def test_subgraphs_have_the_edges_of_networkx_over_partitions(shape):
    graph, g, weights = made(shape)
    chosen = graph.vertex_ids[:: -2 if graph.num_vertices > 2 else -1]
    known = g.subgraph(chosen.tolist())
    first = None
    for parts, by in zip(PARTS, ("range", "random", "biased-random", "random", "range"), strict=True):
        G = graph.partition(parts, by, device="cpu", id_width=64 if parts == 3 else None)
        s = gd.subgraph(G, chosen, edge_rows=parts > 2).verify()
        assert sorted(s.edge.tolist()) == rows(known)
        assert s.vertices.tolist() == sorted(known)
        assert s.weight.tolist() == weights[s.edge].tolist()
        first = first or bits(s)
        same_bits(bits(s), first)
    H = s.to_graph()
    assert (H.num_vertices, H.num_edges, H.directed) == (len(known), known.number_of_edges(), g.is_directed())
    assert H.vertex_ids.tolist() == sorted(known)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("radius", "center", "undirected"), [(1, True, False), (2, False, True)])
def test_ego_graphs_are_those_of_networkx_over_partitions(shape, radius, center, undirected):
    graph, g, _ = made(shape)
    sources = graph.vertex_ids[: 5 * 7 : 5]
    first = None
    for parts in (1, 2, 3, 7):
        G = graph.partition(parts, "random", device="cpu")
        s = gd.ego_graph(G, sources, radius, center=center, undirected=undirected).verify()
        first = first or bits(s)
        same_bits(bits(s), first)
    for k, source in enumerate(sources.tolist()):
        known = nx.ego_graph(g, source, radius, center=center, undirected=undirected)
        edges, vertices = slice(*s.edge_offsets[k : k + 2]), slice(*s.vertex_offsets[k : k + 2])
        assert sorted(s.edge[edges].tolist()) == rows(known)
        assert s.vertices[vertices].tolist() == sorted(known)
        assert s.to_graph(k).num_edges == known.number_of_edges()


@pytest.mark.parametrize("k", [None, 0, 2, 3, 99])
def test_cores_are_those_of_networkx(k):
    random = nx.gnm_random_graph(80, 170, seed=3)
    for parts in PARTS:
        s = gd.k_core(gd.from_networkx(random).partition(parts, device="cpu"), k).verify()
        known = nx.k_core(random, k)
        assert s.vertices.tolist() == sorted(known)
        assert set(zip(s.src.tolist(), s.dst.tolist(), strict=True)) == {tuple(sorted(edge)) for edge in known.edges}


def test_several_sets_names_and_what_is_not_there():
    G = gd.from_edges(["a", "b", "a"], ["b", "c", "c"], directed=False)
    s = gd.subgraph(G, [["c", "a", "c"], [], ["b"]])
    assert (s.src.tolist(), s.dst.tolist(), s.instance.tolist(), s.weight) == (["a"], ["c"], [0], None)
    assert (s.vertices.tolist(), s.vertex_offsets.tolist()) == (["a", "c", "b"], [0, 2, 2, 3])
    assert s.to_graph(1).num_vertices == 0
    assert s.to_frame().columns.tolist() == ["src", "dst", "instance"]
    assert gd.ego_graph(G, "a", 0).vertices.tolist() == ["a"]
    with pytest.raises(gd.InputError, match="instance=3 is not a whole number from 0 to 2"):
        s.to_graph(3)
    with pytest.raises(gd.VertexNotFound, match="vertex 'd' is not in the graph"):
        gd.subgraph(G, ["d"])
    with pytest.raises(gd.Unsupported, match="of all its subgraphs together"):
        gd.sample.in_chunks(gd.subgraph, G, ["a"], chunk=1)
    empty = gd.from_edges([], [], num_vertices=0)
    assert gd.subgraph(empty, []).verify().edge.tolist() == []
    assert gd.k_core(empty.to_undirected()).verify().k == 0


def test_subgraphs_on_the_emulator_of_a_gpu_have_the_same_bits(monkeypatch):
    stand_in(monkeypatch, emulated())
    graph, _, _ = made("sparse random, directed")
    found = []
    for device in ("cpu", "cuda"):
        G = graph.partition(3, "random", device=device)
        found.append(bits(gd.ego_graph(G, graph.vertex_ids[:50], 2, undirected=True, edge_rows=True).verify()))
    same_bits(*found)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_a_wrong_edge_is_found(parts, directed):
    rng = np.random.default_rng(4)
    G = gd.from_edges(*rng.integers(0, 30, (2, 200)), rng.integers(1, 3, 200), num_vertices=30, directed=directed)
    s = gd.ego_graph(G.partition(parts, "random", device="cpu"), [0, 7], edge_rows=True).verify()
    columns = max((kept.columns for kept in s.parts.values), key=lambda columns: len(columns["src"]))
    kept = dict(columns)
    for name, by in ((name, by) for name in kept for by in (1, -1, 1000)):
        columns[name] = kept[name].copy()
        columns[name][len(columns[name]) // 2] += by
        with pytest.raises(VerificationError, match="ego graph"):
            s.verify()
        columns[name] = kept[name]
    for change in (slice(None, -1), np.append(np.arange(len(kept["src"])), 0)):
        columns.update({name: values[change] for name, values in kept.items()})
        with pytest.raises(VerificationError, match="ego graph"):
            s.verify()
    columns.update(kept)
    s.verify().sampler.members[0] += 1
    with pytest.raises(VerificationError, match="vertices are not those that its definition gives"):
        s.verify()
