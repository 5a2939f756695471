"""GPUs that go through a search together give what one gives, whatever they share and however often they are launched.

The emulator runs all ranks in one launch, with orders of threads that no GPU would think of; `gpu` tests are ranks that
are threads of one process on one device, `multigpu` ones a process for each.
"""

from __future__ import annotations

import dask
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask import team as _team
from graphdask.algorithms import _bfs_team, _flood, bfs, components
from graphdask.cluster.local import local_cluster
from graphdask.comm import peers
from graphdask.errors import PeerLost

NAMES = [
    "empty", "one vertex", "only self-loops", "duplicates both ways", "isolated vertices", "star inward",
    "star around the last", "short path", "sparse random, directed", "scale-free",
]  # fmt: skip
CASES = [pytest.param(GRAPHS[name], id=name) for name in NAMES if name in GRAPHS]


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.fixture
def claims(monkeypatch):
    """Pushes claim whatever they can."""
    monkeypatch.setattr(_bfs_team, "CLAIM_LEAST", 0)
    monkeypatch.setattr(_bfs_team, "CLAIM_SHARE", 1 << 62)


@pytest.fixture
def teams(monkeypatch):
    """How many ranks searched together, run by run."""
    seen = []
    init = _team.TeamMemory.__init__

    def counted(self, peers, part, *others):
        seen.append(part.size)
        init(self, peers, part, *others)

    monkeypatch.setattr(_team.TeamMemory, "__init__", counted)
    return seen


def weighted(kind, rng, m):
    return {"whole": rng.integers(0, 9, m), "real": rng.random(m), "large": rng.integers(1, 1 << 40, m)}[kind]


def same(found, expected, *columns):
    found.verify()
    for column in columns:
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
        assert getattr(found, column).dtype == getattr(expected, column).dtype


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("parts", "ghosts"), [(2, "all"), (3, "1-hop"), (4, "all"), (7, "1-hop")])
@pytest.mark.parametrize("make", CASES)
def test_a_team_finds_what_one_finds(make, parts, ghosts, teams):
    n, src, dst, directed = make()
    if n == 0:
        pytest.skip("a search begins somewhere")
    rng = np.random.default_rng(parts)
    weights = weighted(("whole", "real", "large")[parts % 3], rng, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    divided = graph.partition(parts, "random", ghosts, device="cuda")
    for direction in ("auto", "push", "pull"):
        expected = gd.bfs(graph.partition(device="cpu"), n // 2, direction=direction)
        same(gd.bfs(divided, n // 2, direction=direction), expected, "depth", "parent")
    expected = gd.sssp(graph.partition(device="cpu"), n // 2)
    same(gd.sssp(divided, n // 2), expected, "distance", "parent")
    assert teams == [parts] * len(teams)
    assert len(teams) >= 4 * parts  # what verifies may search, too


@pytest.mark.usefixtures("device", "claims")
@pytest.mark.parametrize(("parts", "ghosts"), [(1, "all"), (2, "1-hop"), (3, "all"), (4, "1-hop"), (7, "all")])
@pytest.mark.parametrize("make", CASES)
def test_a_push_may_claim(make, parts, ghosts, teams, monkeypatch):
    n, src, dst, directed = make()
    if n == 0:
        pytest.skip("a search begins somewhere")
    monkeypatch.setattr(bfs, "SMALL", -1)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    divided = graph.partition(parts, "random", ghosts, device="cuda")
    gd.connected_components(divided)  # makes in-edges
    expected = gd.bfs(graph.partition(device="cpu"), n // 2)
    same(gd.bfs(divided, n // 2, direction="push"), expected, "depth", "parent")
    if parts == 1:
        monkeypatch.setattr(bfs, "LARGE_LEVELS", 1)
        for direction in ("auto", "push", "pull"):
            same(gd.bfs(divided, n // 2, direction=direction), expected, "depth", "parent")
    assert teams


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("parts", "ghosts"), [(1, "all"), (2, "1-hop"), (3, "all"), (4, "1-hop"), (7, "all")])
@pytest.mark.parametrize("kind", ["dense", "sparse", "two halves", "directed", "few levels", "none"])
def test_what_a_search_reaches_is_one_component(kind, parts, ghosts, monkeypatch):
    n, rng = 300, np.random.default_rng(parts)
    m = {"dense": 900, "sparse": 120, "two halves": 500, "directed": 700, "few levels": 700, "none": 0}[kind]
    src, dst = rng.integers(0, n, (2, m))
    if kind == "two halves":
        src[: m // 2], dst[: m // 2] = src[: m // 2] // 2, dst[: m // 2] // 2
        src[m // 2 :], dst[m // 2 :] = n - 1 - src[m // 2 :] // 2, n - 1 - dst[m // 2 :] // 2
    if kind == "few levels":
        monkeypatch.setattr(_flood, "LEVELS", 2)
    used, whole = [], components.flood
    monkeypatch.setattr(components, "flood", lambda part, env: used.append(whole(part, env)) or used[-1])
    graph = gd.from_edges(src, dst, num_vertices=n + 9, directed=kind == "directed")
    found = gd.connected_components(graph.partition(parts, "random", ghosts, device="cuda"))
    if kind in ("dense", "sparse"):
        assert [each is not None for each in used] == [kind == "dense"] * parts
    same(found, gd.connected_components(graph.partition(device="cpu")), "label")


@pytest.mark.usefixtures("device")
def test_a_search_goes_on_after_a_launch_has_ended(monkeypatch):
    monkeypatch.setattr(_team, "MOST_STEPS", 3)
    for module in ("_bfs_team", "_sssp_team"):
        monkeypatch.setattr(f"graphdask.algorithms.{module}.MOST_STEPS", 3)
    n, rng = 60, np.random.default_rng(4)
    src = np.concatenate([np.arange(n - 1), rng.integers(0, 8, 30)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, 8, 30)])
    graph = gd.from_edges(src, dst, rng.integers(1, 5, len(src)), num_vertices=n, directed=False)
    divided = graph.partition(3, "random", device="cuda")
    for direction in ("auto", "push", "pull"):
        expected = gd.bfs(graph, 0, direction=direction)
        found = gd.bfs(divided, 0, direction=direction)
        same(found, expected, "depth", "parent")
        assert sum(step["frontier"] for step in found.stats) == n
    same(gd.sssp(divided, 0, delta=1.0), gd.sssp(graph, 0), "distance", "parent")


@pytest.mark.usefixtures("device")
def test_what_no_team_does_goes_the_other_way(teams):
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    divided = graph.partition(3, device="cuda")
    expected = gd.bfs(graph, 1)
    for options in ({"exchange": "broadcast"}, {"allocation": "just-enough"}, {"allocation": 1.0}):
        same(gd.bfs(divided, 1, **options), expected, "depth", "parent")
    same(gd.bfs(graph.partition(9, device="cuda"), 1), expected, "depth", "parent")
    assert set(teams) <= {1}


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("call", [lambda g: gd.bfs(g, 0), lambda g: gd.sssp(g, 0)], ids=["bfs", "sssp"])
def test_a_rank_that_does_not_come_is_lost(call, monkeypatch):
    def run(self, row, launch):
        whole(self, row, lambda rows, ranks: launch(rows[: ranks - 1], ranks - 1))

    whole = peers.ThreadPeers.run
    monkeypatch.setattr(peers.ThreadPeers, "run", run)
    init = peers.RankPeers.__init__
    monkeypatch.setattr(
        peers.RankPeers, "__init__", lambda self, comm, backend, timeout: init(self, comm, backend, 0.2)
    )
    graph = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [1, 2, 3, 4]).partition(3, device="cuda")
    with pytest.raises(PeerLost, match=r"did not come to a meeting of kernels within 0\.2 s"):
        call(graph)


@pytest.mark.usefixtures("device")
def test_supersteps_are_told_as_they_were():
    graph = gd.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 2], num_vertices=6, directed=False)
    found = gd.bfs(graph.partition(2, "range", "1-hop", device="cuda"), 0, direction="push")
    told = [(step["frontier"], step["edges"]) for step in found.stats]
    assert told == [(1, 2), (2, 5), (1, 2), (1, 1), (0, 0)]
    assert sum(step["messages"] for step in found.stats) > 0
    assert all(step["seconds"] > 0 for step in found.stats)


@pytest.mark.multigpu
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_a_process_for_each_gpu(ghosts):
    rng = np.random.default_rng(2)
    src, dst = (20_000 * rng.random((2, 300_000)) ** 2).astype(np.int64)
    graph = gd.from_edges(src, dst, rng.integers(1, 99, len(src)), num_vertices=20_000, directed=False)
    searches = {way: gd.bfs(graph, 3, direction=way) for way in bfs.DIRECTIONS}
    lengths, joined = gd.sssp(graph, 3), gd.connected_components(graph)
    with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": "shm"}):
        divided = graph.partition(2, "random", ghosts)
        for _ in range(2):
            for way, expected in searches.items():
                same(gd.bfs(divided, 3, direction=way), expected, "depth", "parent")
            same(gd.sssp(divided, 3), lengths, "distance", "parent")
            same(gd.connected_components(divided), joined, "label")
