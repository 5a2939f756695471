"""The table of choices: every algorithm gives the same bits with each of them, or refuses it with the reason."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from covering import pairs
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.triangles import Triangles

NAMES = ("scale-free", "sparse random, directed", "sparse random, undirected", "star outward", "only self-loops")
CALLS = {
    "bfs": lambda G, **where: gd.bfs(G, 0, **where),
    "push": lambda G, **where: gd.bfs(G, 0, direction="push", **where),
    "pull": lambda G, **where: gd.bfs(G, 0, direction="pull", **where),
    "sssp": lambda G, **where: gd.sssp(G, 0, **where),
    "components": gd.connected_components,
    "strong": gd.strongly_connected_components,
    "betweenness": lambda G, **where: gd.betweenness(G, 5, **where),
    "pagerank": lambda G, **where: gd.pagerank(G, tol=1e-6, **where),
    "self-loops": lambda G, **where: gd.pagerank(G, tol=1e-6, dangling="self-loop", dtype="float32", **where),
    "triangles": gd.triangles,
    "clustering": gd.local_clustering_coefficient,
    "core": gd.core_number,
    "labels": lambda G, **where: gd.label_propagation(G, 4, **where),
}
UNDIRECTED = ("triangles", "core")
QUEUES = CALLS.keys() - {"pagerank", "self-loops", "triangles", "clustering"}
NEED_ALL = ("core", "strong")
WAYS = pairs(
    NAMES, ["range", "random", "biased-random", "metis", "own"], ["all", "1-hop"], ["selective", "broadcast"], [32, 64],
    ["maximal", "just-enough", 1.0], [1, 2, 3, 4, 7],
)  # fmt: skip


def bits(result):
    return {name: np.asarray(result._column(name)) for name in result.columns}


@pytest.mark.parametrize("call", CALLS)
def test_answers_have_the_same_bits_with_every_choice(call, rng):
    alone = {}
    for name, by, ghosts, exchange, width, allocation, parts in WAYS:
        if by == "metis":
            pytest.importorskip("pymetis")
        n, src, dst, directed = GRAPHS[name]()
        directed = directed and call not in UNDIRECTED
        graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
        if name not in alone:
            alone[name] = bits(CALLS[call](graph.partition(1, device="cpu")))
        owners = rng.integers(0, parts, n) if by == "own" else by
        divided = graph.partition(parts, owners, ghosts, device="cpu", id_width=width)
        where = {"exchange": exchange}
        if call in QUEUES:
            where["allocation"] = allocation
        found = CALLS[call](divided, **where).verify()
        assert found.stats.exchange == exchange
        assert found.stats.ghosts == ghosts
        for column, values in bits(found).items():
            np.testing.assert_array_equal(values, alone[name][column], f"{name}, {parts} parts by {by}, {ghosts}")


@pytest.mark.parametrize("call", sorted(QUEUES - {"components"}))  # nothing is outside the largest tree
def test_a_share_that_may_not_do_is_refused_with_the_reason(call):
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=call == "strong").partition(2, device="cpu")
    never = call in NEED_ALL
    with pytest.raises(gd.Unsupported if never else gd.OverBudget, match=r"use .*allocation=") as raised:
        CALLS[call](graph, allocation=0.001)
    assert ("does not support" in str(raised.value)) == never


@pytest.mark.parametrize("call", sorted(CALLS.keys() - QUEUES))
def test_an_option_that_would_do_nothing_is_not_there(call):
    with pytest.raises(TypeError, match="allocation"):
        CALLS[call](gd.from_edges([0, 1], [1, 2], directed=False), allocation="maximal")


def test_the_setting_for_queues_leaves_algorithms_without_queues_alone(monkeypatch):
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(2, device="cpu")
    with dask.config.set({"graphdask.allocation": 1.0}):
        for call in ("pagerank", "triangles", "clustering"):
            assert CALLS[call](graph).stats.allocation == "maximal"
        assert gd.bfs(graph, 0).stats.allocation == "fixed 1"
    with pytest.raises(gd.Unsupported, match="triangles has no queues to allocate; leave allocation= out"):
        execute.run(graph, Triangles(), allocation="fixed")
