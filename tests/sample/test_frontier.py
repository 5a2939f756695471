"""Frontier sampling: its law, the same bits wherever edges are drawn, bad input, and proofs."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from walk_laws import LEAST_P, p_of_counts, p_of_independence

import graphdask as gd
from graphdask.errors import InputError, VerificationError, VertexNotFound
from graphdask.sample.tuning import SAMPLE

NAMES = [
    "one vertex", "only self-loops", "duplicates both ways", "isolated vertices", "no edges", "star outward",
    "star around the last", "path backward", "sparse random, directed", "dense random, undirected",
]  # fmt: skip
COLUMNS = ("src", "dst", "lengths")


def made(name):
    n, src, dst, directed = GRAPHS[name]()
    return gd.from_edges(src, dst, num_vertices=n, directed=directed)


def drawn(graph, size, **options):
    pools = np.random.default_rng(1).integers(0, graph.num_vertices, (13, size))
    return gd.sample.frontier_sampling(graph, pools, 15, seed=3, **options)


def same(found, expected):
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    found.verify()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 5, 70])
def test_edges_are_the_same_wherever_they_are_drawn(name, size, monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = made(name)
    expected = drawn(graph.partition(1, device="cpu"), size).verify()
    assert ((expected.src >= 0).sum(axis=1) == expected.lengths).all()
    for parts, by, ghosts in ((1, "random", "all"), (2, "range", "1-hop"), (3, "random", "1-hop"), (7, "range", "all")):
        for placement in ("replicated", "partitioned"):
            same(drawn(graph.partition(parts, by, ghosts, device="cpu"), size, placement=placement), expected)
    for parts, placement in ((1, "replicated"), (3, "partitioned")):
        same(drawn(graph.partition(parts, device="cuda"), size, placement=placement), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_edges_are_the_same_on_a_real_gpu(name):
    graph = made(name)
    for size in (1, 5, 70):
        expected = drawn(graph.partition(1, device="cpu"), size)
        for parts, placement in ((1, "replicated"), (3, "partitioned")):
            same(drawn(graph.partition(parts, device="cuda"), size, placement=placement), expected)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_long_runs_take_several_launches(device, monkeypatch):
    stand_in(monkeypatch, emulated())
    for name in ("dense random, undirected", "sparse random, directed"):
        graph = made(name)
        expected = drawn(graph.partition(1, device="cpu"), 4)
        with SAMPLE.varied(walk_launch=(8, 4)):
            same(drawn(graph.partition(1, device=device), 4), expected)


def test_every_edge_of_the_pool_is_drawn_alike():
    src = np.array([0, 0, 0, 1, 2, 2, 3, 4, 4, 0])
    dst = np.array([1, 2, 3, 2, 3, 4, 4, 0, 4, 1])
    n, count = 5, 20_000
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(1, device="cpu")
    matrix = np.zeros((n, n))
    np.add.at(matrix, (src, dst), 1)
    np.add.at(matrix, (dst[src != dst], src[src != dst]), 1)
    r = gd.sample.frontier_sampling(graph, np.tile([0, 3], (count, 1)), 12, seed=4)
    pool, rows = np.tile([0, 3], (count, 1)), np.arange(count)
    counts, law = np.zeros((n, n, n, n)), np.zeros((n, n, n, n))
    for a in range(n):
        for b in range(n):
            law[a, b, a] += matrix[a]
            law[a, b, b] += matrix[b]
    for u, v in zip(r.src.T, r.dst.T, strict=True):
        one, other = np.sort(pool, axis=1).T
        np.add.at(counts, (one, other, u, v), 1)
        pool[rows, (pool == u[:, None]).argmax(axis=1)] = v
    law = law.reshape(n, n, -1)
    assert p_of_counts(counts.reshape(n, n, -1), law / law.sum(axis=-1, keepdims=True)) > LEAST_P
    for one, other in ((r.src[1:], r.src[:-1]), (r.dst[1:], r.dst[:-1])):
        assert p_of_independence(one[:, 0], other[:, 0]) > LEAST_P
        assert p_of_independence(one[:, -1], other[:, -1]) > LEAST_P


def test_roots_come_in_proportion_to_their_degrees():
    """Of a pool longer than a warp, vertex v with v edges; what stands there twice comes twice as often."""
    n, count = 45, 40_000
    src = np.repeat(np.arange(n), np.arange(n))
    graph = gd.from_edges(src, np.zeros(len(src), int), num_vertices=n).partition(1, device="cpu")
    pool = np.append(np.arange(n), [7, n - 1])
    roots = gd.sample.frontier_sampling(graph, np.tile(pool, (count, 1)), 1, seed=2).src[:, 0]
    law = np.bincount(pool, minlength=n) * np.arange(n)
    assert p_of_counts(np.bincount(roots, minlength=n)[None], law[None] / law.sum()) > LEAST_P


def test_a_pool_without_edges_ends():
    graph = gd.from_edges([10, 20], [20, 30]).partition(1, device="cpu")
    r = gd.sample.frontier_sampling(graph, [[10, 30], [30, 30]], 4)
    assert r.src.tolist() == [[10, 20, -1, -1], [-1] * 4]
    assert r.dst.tolist() == [[20, 30, -1, -1], [-1] * 4]
    assert r.lengths.tolist() == [2, 0]
    for pools, length in (([], 3), (np.zeros((2, 0), int), 3), ([10], 0), (np.zeros((0, 3), int), 2)):
        for placement in ("replicated", "partitioned"):
            nothing = gd.sample.frontier_sampling(graph.partition(2), pools, length, placement=placement).verify()
            assert not nothing.lengths.any()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"pools": [0, 9]}, VertexNotFound, "pool vertex 9"),
        ({"pools": [[[0]]]}, InputError, r"\(1, 1, 1\)"),
        ({"length": -1}, InputError, "length=-1"),
        ({"seed": "x"}, InputError, "seed='x'"),
        ({"placement": 3}, InputError, "placement=3"),
        ({"G": 3}, InputError, "not a Graph"),
    ],
)
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        gd.sample.frontier_sampling(**{"G": gd.from_edges([0], [1]), "pools": [0], "length": 2, **wrong})


@pytest.mark.parametrize(("parts", "placement"), [(1, "replicated"), (3, "replicated"), (3, "partitioned")])
def test_planted_errors_are_found(parts, placement):
    n = 12
    ring = gd.from_edges(np.arange(n), (np.arange(n) + 1) % n).partition(parts, "random", device="cpu")
    for name, place, value, message in (
        ("src", (0, 1), 9, "edge 1 of pool ., from 9 to 4, does not leave its pool"),
        ("dst", (0, 3), 9, "from 5 to 9, where no edge leads"),
        ("dst", (0, 2), n, "does not leave its pool"),
        ("lengths", 1, 3, "edge 3 of pool"),
    ):
        r = gd.sample.frontier_sampling(ring, np.full((9, 1), 2), 4, placement=placement).verify()
        for rank in range(parts):
            kept = r.parts[rank].columns
            kept[name] = kept[name].copy()
            kept[name][place] = value
        with pytest.raises(VerificationError, match=message):
            r.verify()
    r = gd.sample.frontier_sampling(ring, np.full((9, 1), 2), 4, placement=placement)
    for rank in range(parts):
        kept = r.parts[rank].columns
        kept["lengths"][:], kept["src"][:, 3], kept["dst"][:, 3] = 3, -1, -1
    with pytest.raises(VerificationError, match="ends at 5, which has edges"):
        r.verify()
