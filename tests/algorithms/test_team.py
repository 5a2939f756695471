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
from memory import DevicePeak
from relayed import relay_between

import graphdask as gd
from graphdask.algorithms import bfs, components
from graphdask.algorithms.tuning import COMPONENTS
from graphdask.bench.analysis.timing import PeakMemory
from graphdask.cluster.local import local_cluster
from graphdask.comm import peers, threads
from graphdask.comm.protocol import PeerMemory
from graphdask.comm.tuning import COMM
from graphdask.engine import team
from graphdask.engine.tuning import ENGINE, SEARCH
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
def claims(tuned):
    """Pushes claim whatever they can."""
    tuned(SEARCH, claim_edges=0, claim_share=1 << 62)


@pytest.fixture
def teams(watched):
    """How many ranks searched together, run by run."""
    return watched(team.TeamMemory, "__init__", lambda memory, peers, part, *others: part.size)


@pytest.fixture
def used(watched):
    """What the searches of a team for a component found; None where they gave up."""
    return watched(components, "flood", answer=lambda found: found)


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
def test_a_push_may_claim(make, parts, ghosts, teams, tuned):
    n, src, dst, directed = make()
    if n == 0:
        pytest.skip("a search begins somewhere")
    tuned(SEARCH, small=-1)
    weights = np.random.default_rng(parts).integers(0, 3, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    divided = graph.partition(parts, "random", ghosts, device="cuda")
    gd.connected_components(divided)  # makes in-edges
    expected = gd.bfs(graph.partition(device="cpu"), n // 2)
    same(gd.bfs(divided, n // 2, direction="push"), expected, "depth", "parent")
    expected_paths = gd.sssp(graph.partition(device="cpu"), n // 2)
    same(gd.sssp(divided, n // 2), expected_paths, "distance", "parent")  # those of length 0 are found by a search
    if parts == 1:
        tuned(SEARCH, large_levels=1)
        for direction in ("auto", "push", "pull"):
            same(gd.bfs(divided, n // 2, direction=direction), expected, "depth", "parent")
    assert teams


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("parts", "ghosts"), [(1, "all"), (2, "1-hop"), (3, "all"), (4, "1-hop"), (7, "all")])
@pytest.mark.parametrize("kind", ["dense", "sparse", "two halves", "directed", "few levels", "none"])
def test_what_a_search_reaches_is_one_component(kind, parts, ghosts, used, tuned):
    n, rng = 300, np.random.default_rng(parts)
    m = {"dense": 900, "sparse": 120, "two halves": 500, "directed": 700, "few levels": 700, "none": 0}[kind]
    src, dst = rng.integers(0, n, (2, m))
    if kind == "two halves":
        src[: m // 2], dst[: m // 2] = src[: m // 2] // 2, dst[: m // 2] // 2
        src[m // 2 :], dst[m // 2 :] = n - 1 - src[m // 2 :] // 2, n - 1 - dst[m // 2 :] // 2
    if kind == "few levels":
        tuned(COMPONENTS, levels=2)
    graph = gd.from_edges(src, dst, num_vertices=n + 9, directed=kind == "directed")
    found = gd.connected_components(graph.partition(parts, "random", ghosts, device="cuda"))
    if kind in ("dense", "sparse"):
        assert [each is not None for each in used] == [kind == "dense"] * parts
    same(found, gd.connected_components(graph.partition(device="cpu")), "label")


def outside(kind, rng):
    """Edges among 200 vertices, most of a graph of 400, and of what a search among them does not reach at once."""
    src, dst = rng.integers(150, 350, (2, 3000))
    path = np.arange(60)
    more = {
        "paths apart": (np.concatenate([path, path + 70]), np.concatenate([path + 1, path + 71])),
        "path that ends there": (np.append(path, 60), np.append(path + 1, 200)),
        "path that leads there": (np.append(path + 350, 0), np.append(path + 349, 409)),
        "pairs": (2 * path + 1, 2 * path),
        "nothing": (path[:0], path[:0]),
    }[kind]
    return np.concatenate([src, more[0]]), np.concatenate([dst, more[1]])


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("parts", "by", "ghosts", "width", "directed"), [
    (1, "random", "all", 32, False), (2, "random", "1-hop", 64, True), (3, "random", "all", 32, False),
    (4, "range", "1-hop", 32, True),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["paths apart", "path that ends there", "path that leads there", "pairs", "nothing"])
def test_what_a_search_leaves_is_joined_by_the_gpus(kind, parts, by, ghosts, width, directed, used, tuned):
    tuned(COMPONENTS, rounds=2 if kind == "pairs" else COMPONENTS.rounds)
    src, dst = outside(kind, np.random.default_rng(parts))
    graph = gd.from_edges(src, dst, num_vertices=420, directed=directed)
    found = gd.connected_components(graph.partition(parts, by, ghosts, device="cuda", id_width=width))
    assert [each is not None for each in used] == [True] * parts
    last = found.stats.supersteps[-2]
    assert last["frontier"] >= (0 if kind == "nothing" else 40)
    if kind == "paths apart" and by == "random" and parts > 1:
        assert last["bytes_sent"] >= 2 * width // 8 * last["messages"] > 0
    same(found, gd.connected_components(graph.partition(device="cpu", id_width=width)), "label")


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "ghosts", "directed"), [(2, "1-hop", True), (3, "all", False), (3, "1-hop", True)])
@pytest.mark.parametrize("kind", ["paths apart", "path that ends there", "path that leads there", "pairs", "nothing"])
def test_what_a_search_leaves_is_joined_where_hosts_carry_messages(
    kind, parts, ghosts, directed, used, monkeypatch, tmp_path
):
    relay_between(monkeypatch, tmp_path, parts)
    src, dst = outside(kind, np.random.default_rng(parts))
    graph = gd.from_edges(src, dst, num_vertices=420, directed=directed)
    found = gd.connected_components(graph.partition(parts, "random", ghosts, device="cuda"))
    assert [each is not None for each in used] == [True] * parts
    same(found, gd.connected_components(graph.partition(device="cpu")), "label")


@pytest.mark.slow
@pytest.mark.usefixtures("device")
def test_what_takes_too_many_rounds_is_joined_the_other_way(used, tuned):
    tuned(COMPONENTS, rounds=2)
    graph = gd.from_edges(*outside("paths apart", np.random.default_rng(0)), num_vertices=420, directed=False)
    found = gd.connected_components(graph.partition(3, "random", device="cuda"))
    assert used == [None] * 3
    same(found, gd.connected_components(graph.partition(device="cpu")), "label")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("parts", [1, 2])
def test_rows_of_very_many_edges_outside(parts):
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 60, (2, 14_000))
    leaf = np.arange(100, 5100)
    for ends in ((leaf, np.full(5000, 99)), (np.full(5000, 99), leaf)):
        src, dst = np.append(src[:14_000], ends[0]), np.append(dst[:14_000], ends[1])
        graph = gd.from_edges(src, dst, num_vertices=5200, directed=True)
        found = gd.connected_components(graph.partition(parts, "random", device="cuda"))
        label = np.arange(5200)
        label[np.unique(src[:14_000])] = label[np.unique(dst[:14_000])] = 0
        label[leaf] = 99
        np.testing.assert_array_equal(found.label, label)


@pytest.mark.slow
@pytest.mark.usefixtures("device")
def test_a_search_goes_on_after_a_launch_has_ended(tuned):
    tuned(ENGINE, team_steps=3)
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


@pytest.mark.slow
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("parts", [1, 2])
def test_a_delta_that_is_given_stays(parts):
    """A path of many buckets, beside vertices of many edges, as one rank is a team where there are enough."""
    n, rng = 160, np.random.default_rng(4)
    src = np.concatenate([np.arange(n - 1), rng.integers(n, 2 * n, 40 * n)])
    dst = np.concatenate([np.arange(1, n), rng.integers(n, 2 * n, 40 * n)])
    graph = gd.from_edges(src, dst, np.full(len(src), 4), num_vertices=2 * n, directed=False)
    divided = graph.partition(parts, "random", device="cuda")
    expected, steps = gd.sssp(graph, 0), []
    for delta in (None, 40, 4):
        found = gd.sssp(divided, 0, delta=delta)
        same(found, expected, "distance", "parent")
        steps.append(len(found.stats))
    assert steps == sorted(set(steps))  # buckets that are widened are the fewest
    assert steps[2] >= n


class LastingPeers(peers.ThreadPeers):
    """Their memory outlives a run, as that of processes does."""

    reported = 0

    def __init__(self, comm, backend, timeout):
        super().__init__(comm, backend, timeout)
        self.kept, self.known = PeerMemory(), []

    def memory(self, nbytes, said, regions):
        self.reported += 1
        addresses, all_said = super().memory(nbytes, said, regions)
        self.kept.number, self.kept.moved = self.kept.number + 1, self.kept.moved + (addresses != self.known)
        self.known = addresses
        return addresses, all_said

    def run(self, row, launch):
        for array in (self._board, self._memory):
            self.backend.address(array)  # the emulator forgets what nobody has asked for in a while
        super().run(row, launch)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_memory_that_lasts_is_announced_once(ghosts, monkeypatch, watched):
    lasting, parts = {}, {}

    def of(comm, backend, timeout):
        found = lasting.setdefault(comm.rank, None) or LastingPeers(comm, backend, timeout)
        lasting[comm.rank], found.comm = found, comm
        return found

    def reported():
        counts = {found.reported for found in lasting.values()}
        assert len(counts) == 1
        return counts.pop()

    # Memory of threads ends with their run, and that of processes does not.
    monkeypatch.setattr(threads, "thread_peers", of)
    watched(team.TeamMemory, "__init__", lambda memory, peers, part, *others: parts.update({part.rank: part}))
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    divided = graph.partition(3, "random", ghosts, device="cuda")
    depth, label = gd.bfs(graph, 1).depth, gd.connected_components(graph).label

    def search():
        np.testing.assert_array_equal(gd.bfs(divided, 1).depth, depth)
        return reported()

    def join():
        np.testing.assert_array_equal(gd.connected_components(divided).label, label)
        return reported()

    assert [search(), search(), join(), join(), search()] == [1, 1, 2, 2, 2]
    while parts[1].tables.forget():  # one of the ranks needs its memory for something else
        pass
    assert [search(), search(), join(), search()] == [3, 3, 4, 4]
    for found in lasting.values():  # what has more to say takes other memory
        found.kept.moved += 1
    assert [search(), join(), search()] == [5, 6, 6]
    for found in lasting.values():
        found.kept.closed = True
        found.kept = PeerMemory()
    assert [search(), search()] == [7, 7]


@pytest.mark.slow
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
@pytest.mark.parametrize(
    "call",
    [lambda g: gd.bfs(g, 0), lambda g: gd.sssp(g, 0), gd.connected_components, lambda g: gd.betweenness(g, [0])],
    ids=["bfs", "sssp", "components", "betweenness"],
)
def test_a_rank_that_does_not_come_is_lost(call, monkeypatch):
    """The kernels of the others wait for it as long as they may, and for nothing else, however slow the machine is."""

    def without_the_last(self, row, launch):
        self.timeout = 0.2
        run(self, row, lambda rows, ranks: launch(rows[: ranks - 1], ranks - 1))

    run = peers.ThreadPeers.run
    # Kernels of threads are launched together, so that none of them can stay away.
    monkeypatch.setattr(peers.ThreadPeers, "run", without_the_last)
    graph = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [1, 2, 3, 4]).partition(3, device="cuda")
    with pytest.raises(PeerLost, match=r"did not come to a meeting of kernels within 0\.2 s"):
        call(graph)


@pytest.mark.usefixtures("device")
def test_supersteps_are_reported_as_they_were():
    graph = gd.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 2], num_vertices=6, directed=False)
    found = gd.bfs(graph.partition(2, "range", "1-hop", device="cuda"), 0, direction="push")
    reported = [(step["frontier"], step["edges"]) for step in found.stats]
    assert reported == [(1, 2), (2, 5), (1, 2), (1, 1), (0, 0)]
    assert sum(step["messages"] for step in found.stats) > 0
    assert all(step["seconds"] > 0 for step in found.stats)


def announced(n, m, parts, ghosts, rng, directed, peak):
    """By search, how much more it took than was announced, at the worst."""
    src, dst = rng.integers(0, n, (2, m))
    graph = gd.from_edges(src, dst, rng.integers(1, 9, m), num_vertices=n, directed=directed)
    graph = graph.partition(parts, "random", ghosts, device="cuda").persist()
    searches = {way: lambda way=way: gd.bfs(graph, src[0], direction=way) for way in bfs.DIRECTIONS}
    searches |= {"sssp": lambda: gd.sssp(graph, src[0]), "components": lambda: gd.connected_components(graph)}
    searches["betweenness"] = lambda: gd.betweenness(graph, src[:4], weight=None)
    shares = {}
    for name, search in searches.items():
        search()  # makes what is kept: in-edges, mirrors, tables
        with peak() as memory:
            found = search()
        shares[name] = memory.bytes / parts / found.stats.memory
    return shares


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("parts", "ghosts", "directed"), [(1, "all", False), (2, "all", True), (3, "1-hop", False)])
def test_the_memory_of_a_team_is_what_was_announced(parts, ghosts, directed, rng, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(COMM, first_buffer=1 << 10)
    tuned(SEARCH, small=-1)  # one goes as a team of one, too
    shares = announced(6_000, 15_000, parts, ghosts, rng, directed, lambda: DevicePeak(monkeypatch))
    components = shares.pop("components")
    assert 0.4 < components < 1.1, components  # announced is what it takes where no search helps
    assert all(0.9 < share < 1.05 for share in shares.values()), shares


@pytest.mark.gpu
@pytest.mark.parametrize(("parts", "ghosts"), [(2, "all"), (3, "1-hop")])
def test_the_memory_of_a_team_on_a_gpu_is_what_was_announced(parts, ghosts, rng):
    shares = announced(1_000_000, 8_000_000, parts, ghosts, rng, False, lambda: PeakMemory("cuda", parts, True))
    assert all(0.4 < share < 1.1 for share in shares.values()), shares


@pytest.mark.multigpu
@pytest.mark.parametrize("comm", ["shm", "ucx", "nccl"])
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_a_process_for_each_gpu(ghosts, comm):
    rng = np.random.default_rng(2)
    src, dst = (20_000 * rng.random((2, 300_000)) ** 2).astype(np.int64)
    graph = gd.from_edges(src, dst, rng.integers(1, 99, len(src)), num_vertices=20_000, directed=False)
    searches = {way: gd.bfs(graph, 3, direction=way) for way in bfs.DIRECTIONS}
    lengths, joined = gd.sssp(graph, 3), gd.connected_components(graph)
    with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": comm}):
        divided = graph.partition(2, "random", ghosts)
        for _ in range(2):
            for way, expected in searches.items():
                same(gd.bfs(divided, 3, direction=way), expected, "depth", "parent")
            same(gd.sssp(divided, 3), lengths, "distance", "parent")
            same(gd.connected_components(divided), joined, "label")
