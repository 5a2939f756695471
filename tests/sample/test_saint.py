"""GraphSAINT's subgraphs: the laws of draws, induced subgraphs, norms, the same everywhere, proofs, bad input."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from walk_laws import LEAST_P, adjacency, p_of_counts, stochastic

import graphdask as gd
from graphdask.errors import InputError, OverBudget, VerificationError
from graphdask.sample import hops, induced
from graphdask.sample.tuning import SAMPLE

sample = gd.sample
NAMES = ["one vertex with a self-loop", "duplicates both ways", "star outward", "isolated vertices", "scale-free"]
COLUMNS = ("src", "dst", "instance", "nodes", "node_offsets", "node_norm", "edge_norm")


def made(name, directed=None):
    n, src, dst, as_made = GRAPHS[name]()
    return gd.from_edges(src, dst, num_vertices=n, directed=as_made if directed is None else directed)


def calls(graph, **options):
    """Of all three samplers."""
    yield sample.saint_nodes(graph, 6, 4, seed=2, **options)
    yield sample.saint_edges(graph.to_undirected(), 5, 4, seed=2, **options)
    yield sample.saint_walks(graph, 3, 4, 4, seed=2, **options)


def test_vertices_are_drawn_by_the_squared_norms_of_their_columns():
    rng = np.random.default_rng(5)
    src, dst, trials = rng.integers(0, 7, 25), rng.integers(0, 7, 25), 60_000
    found = sample.saint_nodes(gd.from_edges(src, dst, num_vertices=8), 3, trials // 3, seed=4).verify()
    degrees = np.maximum(np.bincount(src, minlength=8), 1)
    law = np.bincount(dst, 1 / degrees[src] ** 2, 8)  # parallel edges are edges of their own
    assert p_of_counts(np.bincount(found.walks.walks[:, 1], minlength=8), law / law.sum()) > LEAST_P
    simple = np.unique(np.stack([src, dst]), axis=1)
    found = sample.saint_nodes(gd.from_edges(*simple, num_vertices=8), 3, trials // 3, seed=4)
    law = (stochastic(adjacency(8, *simple)) ** 2).sum(axis=0)
    assert p_of_counts(np.bincount(found.walks.walks[:, 1], minlength=8), law / law.sum()) > LEAST_P


def test_edges_are_drawn_by_the_degrees_of_their_ends():
    rng = np.random.default_rng(6)
    src, dst, trials = rng.integers(0, 4, 11), rng.integers(4, 8, 11), 60_000
    graph = gd.from_edges(src, dst, num_vertices=10, directed=False)
    found = sample.saint_edges(graph, 2, trials // 2, seed=1).verify()
    counts = Counter(map(tuple, np.sort(found.walks.walks, axis=1).tolist()))
    degrees, pairs = np.bincount(np.concatenate([src, dst])), sorted(counts)
    times = Counter(zip(src.tolist(), dst.tolist(), strict=True))
    law = np.array([times[pair] * (1 / degrees[pair[0]] + 1 / degrees[pair[1]]) for pair in pairs])
    assert set(pairs) == set(times)
    assert p_of_counts([counts[pair] for pair in pairs], law / law.sum()) > LEAST_P


def test_roots_are_uniform():
    graph = gd.from_edges([0, 0, 0], [1, 2, 2], num_vertices=5)
    found = sample.saint_walks(graph, 4, 0, 5_000, seed=3).verify()
    assert found.walks.walks.shape == (20_000, 1)
    assert p_of_counts(np.bincount(found.walks.walks[:, 0], minlength=5), np.full(5, 0.2)) > LEAST_P


@pytest.mark.parametrize("name", ["scale-free", "duplicates both ways"])
@pytest.mark.parametrize("directed", [True, False])
def test_subgraphs_are_induced_and_norms_counted(name, directed):
    for found, drawn in zip(calls(made(name, directed)), (slice(1, 2), slice(0, 2), slice(None)), strict=True):
        src, dst, _ = found.graph.edges()
        if not found.graph.directed:
            src, dst = np.append(src, dst[src != dst]), np.append(dst, src[src != dst])
        of_each = found.walks.walks[:, drawn].reshape(4, -1)
        sets, edges = [], []
        for i in range(4):
            nodes = found.nodes[slice(*found.node_offsets[i : i + 2])].tolist()
            assert nodes == sorted(set(of_each[i][of_each[i] >= 0].tolist()))
            inside, mine = np.isin(src, nodes) & np.isin(dst, nodes), found.instance == i
            listed = list(zip(found.src[mine].tolist(), found.dst[mine].tolist(), strict=True))
            assert listed == sorted(zip(src[inside].tolist(), dst[inside].tolist(), strict=True))
            sets.append(set(nodes))
            edges.append(set(listed))
        of_vertex = Counter(v for one in sets for v in one)
        of_edge = Counter(e for one in edges for e in one)
        np.testing.assert_allclose(found.node_norm, [of_vertex[v] / 4 for v in found.nodes.tolist()])
        ends = zip(found.src.tolist(), found.dst.tolist(), strict=True)
        np.testing.assert_allclose(found.edge_norm, [of_edge[u, v] / of_vertex[v] for u, v in ends])


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", NAMES)
def test_subgraphs_are_the_same_wherever_they_are_drawn(name, device, monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = made(name)
    expected = list(calls(graph.partition(1, device="cpu")))
    for parts, placement in ((1, "replicated"), (3, "replicated"), (3, "partitioned")):
        divided = graph.partition(parts, "random", "1-hop", device=device)
        for found, one in zip(calls(divided, placement=placement), expected, strict=True):
            for column in COLUMNS:
                np.testing.assert_array_equal(getattr(found, column), getattr(one, column))
            assert found.verify() is found


def test_rows_and_sets_longer_than_a_warp(monkeypatch):
    stand_in(monkeypatch, emulated())
    rng = np.random.default_rng(9)
    src = np.concatenate([np.zeros(400, np.int64), np.repeat(np.arange(1, 10), 45), np.arange(90)])
    graph = gd.from_edges(src, rng.integers(0, 90, len(src)), num_vertices=90)
    sets, bounds = [np.arange(0, 90, 2), np.arange(60), np.arange(90)], [0, 45, 105, 195]
    ends = np.stack(graph.edges()[:2])
    for device, parts, placement in (("cpu", 1, "replicated"), ("cuda", 1, "replicated"), ("cuda", 2, "partitioned")):
        divided = graph.partition(parts, "random", device=device)
        sampler = induced.Induced(np.concatenate(sets), np.array(bounds))
        found = hops.sampled(divided, sampler, placement, None, None).verify()
        for i, members in enumerate(sets):
            expected = ends[:, np.isin(ends, members).all(axis=0)]
            listed = np.stack([found.src, found.dst])[:, found.instance == i]
            np.testing.assert_array_equal(listed, expected[:, np.lexsort(expected[::-1])])


def test_names_and_no_instances():
    graph = gd.from_edges(["a", "b", "c"], ["b", "c", "a"])
    found = sample.saint_walks(graph, 1, 2).verify()
    assert found.nodes.tolist() == ["a", "b", "c"]
    assert found.subgraph(0).col.tolist() == [1, 2, 0]
    none = sample.saint_nodes(graph, 3, 0).verify()
    assert len(none.nodes) == len(none.node_norm) == len(none.edge_norm) == 0


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_planted_errors_are_found(placement):
    graph = made("dense random, directed").partition(2, "random", device="cpu")

    def drawn():
        found = sample.saint_walks(graph, 4, 3, 4, placement=placement).verify()
        return found, max((kept.columns for kept in found.parts.values), key=lambda kept: len(kept["src"]))

    found, columns = drawn()
    outside = next(
        v for u, v in zip(*graph.edges()[:2], strict=True)
        if u == columns["src"][-1] and v not in found.nodes[found.node_offsets[columns["instance"][-1]] :][:99]
    )  # fmt: skip
    for column, value in (("dst", outside), ("dst", 10_000), ("src", -1), ("instance", 99)):
        found, columns = drawn()
        columns[column][-1] = value
        with pytest.raises(VerificationError):
            found.verify()
    found, columns = drawn()
    for name in columns:
        columns[name] = columns[name][:-1]
    with pytest.raises(VerificationError, match="too few"):
        found.verify()
    found, _ = drawn()
    walks = next(kept.columns["walks"] for kept in found.walks.parts.values if len(kept.columns["walks"]))
    walks[0, 0] = (walks[0, 0] + 1) % graph.num_vertices
    with pytest.raises(VerificationError):
        found.verify()
    found, _ = drawn()
    found.sampler.seeds[0] += 1
    with pytest.raises(VerificationError, match="not those that were drawn"):
        found.verify()


def test_edges_that_memory_is_too_small_for_are_refused(monkeypatch, tuned):
    graph = made("scale-free").partition(1, device="cpu")
    # Edges that memory does not hold take minutes to draw.
    monkeypatch.setattr(induced, "edge_bytes", lambda dtype: 2**50)
    tuned(SAMPLE, memory_asked_from=1)
    with pytest.raises(OverBudget, match=r"GraphSAINT subgraphs: [\d,]+ edges or vertices in hop 0 need about .* GiB"):
        sample.saint_nodes(graph, 30)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda G: sample.saint_nodes(G, 0), "nodes=0"),
        (lambda G: sample.saint_nodes(G, 3, -1), "instances=-1"),
        (lambda G: sample.saint_nodes(G, 3, seed="x"), "seed='x'"),
        (lambda G: sample.saint_nodes(G, 3, placement="nowhere"), "placement='nowhere'"),
        (lambda G: sample.saint_edges(G, 3), "undirected"),
        (lambda G: sample.saint_edges(G.to_undirected(), 2.5), "edges=2.5"),
        (lambda G: sample.saint_walks(G, 0, 3), "roots=0"),
        (lambda G: sample.saint_walks(G, 2, -1), "length=-1"),
        (lambda G: sample.saint_nodes(gd.from_edges([], [], num_vertices=3), 3), "no edges to draw from"),
        (lambda G: sample.saint_walks(gd.from_edges([], [], num_vertices=0), 3, 3), "no vertices to draw from"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call(gd.from_edges([0, 1], [1, 2]))
