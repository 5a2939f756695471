"""GPUs that go through a batch of sources together give the bits of one, however they share the graph.

The emulator runs all ranks in one launch, with orders of threads that no GPU would think of; `gpu` tests are ranks that
are threads of one process on one device, `multigpu` ones a process for each.
"""

from __future__ import annotations

from itertools import cycle

import dask
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.cluster.local import local_cluster
from graphdask.engine import team
from graphdask.engine.tuning import ENGINE, SEARCH
from graphdask.partition.tuning import PARTITION

NAMES = [
    "one vertex", "only self-loops", "duplicates both ways", "isolated vertices", "star inward",
    "star around the last", "cycle", "sparse random, directed", "dense random, undirected", "scale-free",
]  # fmt: skip
WAYS = [
    (3, "random", "1-hop", 1, False), (2, "range", "all", 9, True), (4, "random", "all", 1, True),
    (3, "random", "1-hop", 70, True), (7, "range", "1-hop", 20, False),
]  # fmt: skip
"""Parts, how they divide the graph, sources, and whether fronts are pushed."""
CASES = [pytest.param(GRAPHS[name], way, id=f"{name}-{way[0]}") for name, way in zip(NAMES, cycle(WAYS), strict=False)]
CASES += [pytest.param(GRAPHS["scale-free"], way, id=f"scale-free-{way[0]}-{way[3]}") for way in WAYS[:4]]


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.fixture
def teams(watched):
    """How many ranks went together, run by run."""
    return watched(team.TeamMemory, "__init__", lambda memory, peers, part, *others, **named: part.size)


def drawn(n, count):
    return np.random.default_rng(count).permutation(n)[:count]


def by_supersteps(graph, sources):
    """What one GPU gives that asks the host for every superstep."""
    return gd.betweenness(graph.partition(device="cuda"), sources, allocation="just-enough").score


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("make", "way"), CASES)
def test_a_team_gives_the_bits_of_one(make, way, teams, tuned):
    tuned(BETWEENNESS, hub=16)  # rows for every kernel
    n, src, dst, directed = make()
    parts, by, ghosts, count, pushes = way
    if pushes:
        tuned(SEARCH, many=0)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    sources = drawn(n, count)
    found = gd.betweenness(graph.partition(parts, by, ghosts, device="cuda"), sources).verify()
    np.testing.assert_array_equal(found.score, by_supersteps(graph, sources))
    on_cpu = gd.betweenness(graph.partition(device="cpu"), sources)
    np.testing.assert_allclose(found.score, on_cpu.score, rtol=1e-12, atol=1e-12)
    assert teams == [parts] * parts


@pytest.mark.slow
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("count", [1, 20])
def test_64_bit_vertex_numbers_give_the_same(count, tuned):
    tuned(SEARCH, many=0)
    n, src, dst, directed = GRAPHS["scale-free"]()
    graph, sources = gd.from_edges(src, dst, num_vertices=n, directed=directed), drawn(n, count)
    expected = by_supersteps(graph, sources)
    tuned(PARTITION, narrow_ids=0)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    found = gd.betweenness(graph.partition(3, "random", "1-hop", device="cuda"), sources)
    np.testing.assert_array_equal(found.score, expected)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("steps", "pushes"), [(1, True), (3, False)])
def test_a_batch_goes_on_after_a_launch_has_ended(steps, pushes, tuned):
    tuned(ENGINE, team_steps=steps)
    if pushes:
        tuned(SEARCH, many=0)
    n, rng = 25, np.random.default_rng(4)
    src = np.concatenate([np.arange(n - 1), rng.integers(0, 8, 30)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, 8, 30)])
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    divided = graph.partition(3, "random", device="cuda")
    for sources in ([0], [n - 1, 0, 5]):
        np.testing.assert_array_equal(gd.betweenness(divided, sources).score, by_supersteps(graph, sources))


@pytest.mark.slow
@pytest.mark.usefixtures("device")
def test_what_no_team_does_goes_the_other_way(teams):
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    divided, sources = graph.partition(3, device="cuda"), drawn(n, 5)
    expected = by_supersteps(graph, sources)
    for options in ({"exchange": "broadcast"}, {"allocation": "just-enough"}, {"allocation": 1.0}):
        np.testing.assert_array_equal(gd.betweenness(divided, sources, **options).score, expected)
    np.testing.assert_array_equal(gd.betweenness(graph.partition(9, device="cuda"), sources).score, expected)
    assert not teams


@pytest.mark.usefixtures("device")
def test_a_team_looks_at_the_edges_that_supersteps_do():
    n, src, dst, _ = GRAPHS["scale-free"]()
    divided = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(3, "random", "1-hop", device="cuda")
    found, expected = (gd.betweenness(divided, [7], exchange=way).stats for way in ("selective", "broadcast"))
    assert found.edges == expected.edges
    assert sum(step["frontier"] for step in found) == 2 * n - 1  # there, and back but for the source
    assert sum(step["messages"] for step in found) > 0
    assert all(step["bytes_sent"] >= 8 * step["messages"] for step in found)


def test_memory_that_ranks_write_to_holds_what_comes_before_the_areas(monkeypatch, watched):
    """The tables of a rank do not reach into where its peers put lists and bits."""
    stand_in(monkeypatch, emulated())
    made = watched(team.TeamMemory, "__init__", lambda memory, *given, before, **named: (memory, before))
    graph = gd.generate.preferential_attachment(200, degree=3)
    gd.betweenness(graph.partition(3, "random", "1-hop", device="cuda"), 3)
    for memory, before in made:
        reported = [word for word in memory.row[team.at.IN : team.at.OWN].tolist() if word]
        rank = memory.peers.comm.rank
        assert before > 0
        assert min(reported) >= memory.addresses[rank] + before


@pytest.mark.multigpu
@pytest.mark.parametrize("comm", ["shm", "ucx", "nccl"])
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_a_process_for_each_gpu(ghosts, comm):
    rng = np.random.default_rng(2)
    src, dst = (20_000 * rng.random((2, 300_000)) ** 2).astype(np.int64)
    graph = gd.from_edges(src, dst, num_vertices=20_000, directed=False)
    counts = (1, 5, 70)
    alone = [by_supersteps(graph, drawn(20_000, count)) for count in counts]
    with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": comm}):
        divided = graph.partition(2, "random", ghosts)
        for _ in range(2):
            for count, expected in zip(counts, alone, strict=True):
                found = gd.betweenness(divided, drawn(20_000, count)).verify()
                np.testing.assert_array_equal(found.score, expected)
