"""The table of choices: every algorithm gives the same bits with each of them, or refuses it with the reason."""

from __future__ import annotations

import dask
import pytest
from common_checks import graph_of, run, same
from covering import pairs
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.triangles import Triangles
from graphdask.interface.registry import ALGORITHMS, algorithms

NAMES = ("scale-free", "sparse random, directed", "sparse random, undirected", "star outward", "only self-loops")
CALLS = {name: (known, {}) for name, known in algorithms().items()} | {
    name: (ALGORITHMS[of], options)
    for name, of, options in (
        ("push", "bfs", {"direction": "push"}),
        ("pull", "bfs", {"direction": "pull"}),
        ("self-loops", "pagerank", {"dangling": "self-loop", "dtype": "float32"}),
    )
}
"""Registered algorithms, and variants of them, with their options."""
QUEUES = {call for call, (known, _) in CALLS.items() if known.takes("allocation")}
WAYS = pairs(
    NAMES, ["range", "random", "biased-random", "metis", "own"], ["all", "1-hop"], ["selective", "broadcast"], [32, 64],
    ["maximal", "just-enough", 1.0], [1, 2, 3, 4, 7],
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_answers_have_the_same_bits_with_every_choice(call, rng):
    known, options = CALLS[call]
    for name in NAMES:
        graph = graph_of(known, GRAPHS[name]())
        alone = run(known, graph.partition(1, device="cpu"), **options)
        for _, by, ghosts, exchange, width, allocation, parts in (way for way in WAYS if way[0] == name):
            if by == "metis":
                pytest.importorskip("pymetis")
            owners = rng.integers(0, parts, graph.num_vertices) if by == "own" else by
            divided = graph.partition(parts, owners, ghosts, device="cpu", id_width=width)
            where = {"exchange": exchange} | ({"allocation": allocation} if call in QUEUES else {})
            found = run(known, divided, **options, **where).verify()
            assert found.stats.exchange == exchange
            assert found.stats.ghosts == ghosts
            same(found, alone, f"{name}, {parts} parts by {by}, {ghosts}", dtypes=width == 32)


@pytest.mark.parametrize("call", sorted(QUEUES - {"connected_components"}))  # nothing is outside the largest tree
def test_a_share_that_may_not_do_is_refused_with_the_reason(call):
    known, options = CALLS[call]
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = graph_of(known, (n, src, dst, "strong" in call)).partition(2, device="cpu")
    with pytest.raises((gd.Unsupported, gd.OverBudget), match=r"use .*allocation=") as raised:
        run(known, graph, allocation=0.001, **options)
    assert ("does not support" in str(raised.value)) == (raised.type is gd.Unsupported)


@pytest.mark.parametrize("call", sorted(CALLS.keys() - QUEUES))
def test_an_option_that_would_do_nothing_is_not_there(call):
    with pytest.raises(TypeError, match="allocation"):
        run(CALLS[call][0], gd.from_edges([0, 1], [1, 2], directed=False), allocation="maximal")


@pytest.mark.slow
def test_the_setting_for_queues_leaves_algorithms_without_queues_alone(monkeypatch):
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(2, device="cpu")
    with dask.config.set({"graphdask.allocation": 1.0}):
        for call in CALLS.keys() - QUEUES:
            assert run(CALLS[call][0], graph, **CALLS[call][1]).stats.allocation == "maximal"
        assert gd.bfs(graph, 0).stats.allocation == "fixed 1"
    with pytest.raises(gd.Unsupported, match="triangles has no queues to allocate; leave allocation= out"):
        execute.run(graph, Triangles(), allocation="fixed")
