"""Other libraries and programs beside the algorithms of `graphdask bench analytics`."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import graphdask as gd
from graphdask.bench import analytics
from graphdask.bench.analysis import gap, peers
from graphdask.bench.analysis.algorithms import chosen, measured
from graphdask.bench.analysis.graphs import Case, weighted
from graphdask.bench.analysis.timing import quiet
from graphdask.bench.tuning import BENCH


def named(name: str) -> peers.Peer:
    return next(peer for peer in peers.PEERS if peer.name == name)


@pytest.mark.parametrize("peer", [peer for peer in peers.PEERS if peer.name != "cugraph"], ids=lambda peer: peer.name)
@pytest.mark.parametrize("weights", [False, True])
def test_peers_run_what_they_are_asked_for(peer, weights):
    pytest.importorskip(peer.module)
    graph = Case("grid", (1,), scale=4).make(0)
    edges = peers.Edges.of(weighted(graph, 0, 9) if weights else graph)
    wanted = [a.name for a in measured() if a.weights == weights and a.fits(graph.directed)]
    records = peers.measure(peer, wanted, edges, [0, 5], 2)
    assert [record.get("skipped") for record in records] == [None] * len(records)
    assert {record["algorithm"] for record in records} == set(wanted) & set(peer.runs)
    assert all(record["ms"] > 0 and record["runs"] == 2 for record in records)
    exact = [record for record in records if record["algorithm"] in ("pagerank-20", "pagerank-weighted")]
    if peer.name != "igraph":  # whose method makes no iterations
        assert all(record["iterations"] == 20 for record in exact)
        assert all(record["ms_min"] <= 20 * record["iteration_ms"] <= record["ms_max"] for record in exact)
    if not weights and "strong" in peer.runs:
        edges.directed = True
        (record,) = peers.measure(peer, ["strong"], edges, [0], 1)
        assert record["ms"] > 0


def test_peers_that_cannot_run_say_why(monkeypatch):
    edges = peers.Edges.of(Case("grid", (1,), scale=3).make(0))
    networkx = named("networkx")
    (small,) = peers.measure(replace(networkx, most=5), ["bfs"], edges, [0], 1)
    assert small["skipped"] == "12 edges are more than the 5 that it is given"
    failing = replace(networkx, runs={"bfs": lambda nx, g, s: 1 // 0})
    (failed,) = peers.measure(failing, ["bfs"], edges, [0], 1)
    assert failed["skipped"].startswith("ZeroDivisionError")
    monkeypatch.setitem(sys.modules, "networkx", None)
    (missing,) = peers.measure(networkx, ["bfs"], edges, [0], 1)
    assert missing["skipped"].startswith("cannot be imported")


def test_a_peer_that_takes_long_is_run_once(tuned):
    runs = []
    peer = replace(named("networkx"), runs={"bfs": lambda nx, graph, source: runs.append(source)})
    edges = peers.Edges.of(Case("grid", (1,), scale=3).make(0))
    (record,) = peers.measure(peer, ["bfs"], edges, [4, 2], 1)
    assert (record["runs"], runs) == (2, [4, 4, 2])
    tuned(BENCH, peer_seconds=0.0)
    (record,) = peers.measure(peer, ["bfs"], edges, [4, 2], 1)
    assert (record["runs"], runs) == (1, [4, 4, 2, 4])


def test_a_peer_has_what_it_wants_around_it_and_says_its_version(monkeypatch):
    seen = []

    @contextmanager
    def around():
        seen.append("in")
        yield
        seen.append("out")

    module = ModuleType("somebodys")  # of a package that has another name, as pylibcugraph's has
    module.__version__ = "26.10"
    monkeypatch.setitem(sys.modules, "somebodys", module)
    peer = peers.Peer(
        "somebody's", "somebodys", 100, lambda module, edges: seen.append("made"),
        {"bfs": lambda module, graph, source: seen.append(source)}, within=around,
    )  # fmt: skip
    edges = peers.Edges.of(Case("grid", (1,), scale=3).make(0))
    (record,) = peers.measure(peer, ["bfs"], edges, [4, 2], 1)
    assert (record["version"], record["runs"], seen) == ("26.10", 2, ["in", "made", 4, 4, 2, "out"])
    failing = replace(peer, make=lambda module, edges: 1 // 0)
    (failed,) = peers.measure(failing, ["bfs"], edges, [4], 1)
    assert failed["skipped"].startswith("ZeroDivisionError")


@pytest.mark.parametrize(
    ("name", "dtype", "by_weight"), [("pagerank-20", "float32", False), ("pagerank-weighted", "float64", True)]
)
def test_pagerank_by_the_iteration_makes_twenty_of_the_dtype_that_it_is_for(name, dtype, by_weight):
    src, dst, weights = [0, 0, 1, 2, 3, 3, 4], [1, 2, 3, 3, 0, 4, 0], [1, 5, 2, 1, 7, 1, 3]
    (algorithm,) = chosen((name,))
    with quiet():
        found = algorithm.run(gd.from_edges(src, dst, weights))
    steps = np.zeros((5, 5))
    steps[dst, src] = weights if by_weight else 1
    steps /= steps.sum(axis=0)
    rank = np.full(5, 0.2)
    for _ in range(20):
        rank = 0.85 * steps @ rank + 0.15 / 5
    assert (found.iterations, found.rank.dtype) == (20, dtype)
    assert found.rank == pytest.approx(rank, rel=1e-5 if dtype == "float32" else 1e-13)


def test_networkit_is_not_asked_to_leave_out_weights_that_its_graph_has():
    pytest.importorskip("networkit")
    edges = peers.Edges.of(weighted(Case("grid", (1,), scale=3).make(0), 0, 9))
    (record,) = peers.measure(named("networkit"), ["pagerank-20"], edges, [0], 1)
    assert record["skipped"] == "ValueError: its PageRank follows the weights that this graph has"


class OfNobody(ModuleType):
    """A pylibcugraph that keeps what it is asked for; its ranks have the dtype of the weights."""

    def __init__(self, converges):
        super().__init__("pylibcugraph")
        self.__version__, self.converges, self.asked, self.graphs = "26.10", converges, [], []
        self.ResourceHandle = object
        self.GraphProperties = dict

    def SGGraph(self, handle, properties, src, dst, *, weight_array, vertices_array, store_transposed, **options):
        assert (src.dtype, dst.dtype, vertices_array.dtype) == ("int32",) * 3
        self.graphs.append((store_transposed, None if weight_array is None else weight_array.dtype.name))
        return self.graphs[-1]

    def pagerank(self, handle, graph, *rest):
        assert graph[0]
        self.asked.append(rest)
        return np.zeros(1, np.int32), np.zeros(1, graph[1] or "float32"), self.converges


def asked_of_cugraph(monkeypatch, names, weights, converges=False):
    """What the module was asked for, and the records."""
    cupy = ModuleType("cupy")
    cupy.asarray, cupy.arange = np.asarray, np.arange
    cupy.cuda = SimpleNamespace(runtime=SimpleNamespace(deviceSynchronize=lambda: None))
    module = OfNobody(converges)
    graph = Case("grid", (1,), scale=3).make(0)
    edges = peers.Edges.of(weighted(graph, 0, 9) if weights else graph)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "pylibcugraph", module)
    return module, peers.measure(replace(named("cugraph"), within=nullcontext), names, edges, [0], 1)


def test_cugraph_ranks_in_the_dtype_of_the_weights_and_as_often(monkeypatch):
    names = ["pagerank", "pagerank-20", "pagerank-weighted"]
    module, records = asked_of_cugraph(monkeypatch, names, weights=True)
    assert module.graphs == [(False, "float32"), (True, "float32"), (True, None), (True, "float64")]
    tolerances = [1e-4, 1e-30, 1e-30]
    assert module.asked == [
        (None, None, None, None, 0.85, tol, 20, False, False) for tol in tolerances for _ in range(2)
    ]
    assert [(record["algorithm"], record["iterations"]) for record in records] == [(name, 20) for name in names]
    assert all(record["iteration_ms"] == pytest.approx(record["ms"] / 20) for record in records)
    module, _ = asked_of_cugraph(monkeypatch, names[:2], weights=False)
    assert module.graphs == [(False, None), (True, None)]


def test_where_cugraph_converges_nobody_knows_when(monkeypatch):
    _, (record,) = asked_of_cugraph(monkeypatch, ["pagerank"], weights=False, converges=True)
    assert record["ms"] > 0
    assert not {"iterations", "iteration_ms"} & set(record)


def test_ranks_of_another_dtype_are_no_figure(monkeypatch):
    _, (record,) = asked_of_cugraph(monkeypatch, ["pagerank-weighted"], weights=False)
    assert record["skipped"] == "TypeError: its ranks are float32, not float64"


def test_iterations_are_compared_with_iterations_only(compared_with, tmp_path):
    def answering(name, answer):
        runs = {each: lambda module, graph, source: answer for each in ("pagerank", "pagerank-20")}
        return peers.Peer(name, "networkx", 1000, lambda module, edges: None, runs)

    counts, does_not = answering("counts", peers.Iterations(10)), answering("does not", None)
    compared_with(analytics, counts, does_not)
    records = analytics.run(
        device="cpu", ranks=(1,), scales=(5,), algorithms=("pagerank", "pagerank-20"), repeats=1, plot=tmp_path
    )
    ours, ours_20, first, first_20, second, second_20 = records
    assert (ours["implementation"], first["implementation"], second["implementation"]) == (
        "graphdask", "counts", "does not",
    )  # fmt: skip
    assert first["over_graphdask"] == pytest.approx(first["ms"] / ours["ms"])
    assert second["over_graphdask"] == pytest.approx(second["ms"] / ours["ms"])
    assert first_20["over_graphdask"] == pytest.approx(first_20["ms"] / 10 / (ours_20["ms"] / 20))
    assert not {"over_graphdask", "iteration_ms"} & set(second_20)
    assert {path.name for path in tmp_path.iterdir()} == {"rmat-5-x-16-pagerank.png", "rmat-5-x-16-pagerank-20.png"}


def read_serialized(path: Path) -> nx.DiGraph:
    """The GAP suite's serialized graph, by its reader's layout: flag, arcs, vertices, offsets, neighbours."""
    data = path.read_bytes()
    arcs, n = np.frombuffer(data, np.int64, 2, 1)
    offsets = np.frombuffer(data, np.int64, n + 1, 17)
    width = 2 if path.suffix == ".wsg" else 1
    flat = np.frombuffer(data, np.int32, arcs * width, 17 + 8 * (n + 1)).reshape(-1, width)
    graph = nx.DiGraph(directed=bool(data[0]))
    graph.add_nodes_from(range(n))
    for row in range(n):
        for entry in flat[offsets[row] : offsets[row + 1]]:
            graph.add_edge(row, int(entry[0]), weight=int(entry[-1]))
    return graph


@pytest.mark.parametrize("directed", [False, True])
def test_the_gap_suite_is_given_the_same_graph(tmp_path, directed):
    given = gd.from_edges([0, 3, 1], [1, 2, 3], [7, 8, 9], num_vertices=5, directed=directed)
    gap.write(peers.Edges.of(given), tmp_path / "graph.wsg")
    found = read_serialized(tmp_path / "graph.wsg")
    expected = nx.DiGraph() if directed else nx.Graph()
    expected.add_nodes_from(range(5))
    expected.add_weighted_edges_from([(0, 1, 7), (3, 2, 8), (1, 3, 9)])
    assert found.graph["directed"] is directed
    assert nx.utils.edges_equal(found.edges(data=True), expected.to_directed().edges(data=True), directed=True)


def test_times_are_read_from_what_its_programs_print(tmp_path):
    program = tmp_path / "bfs"
    program.write_text(
        '#!/bin/sh\necho "$@" > "$0.called"\nprintf "Trial Time:          0.25000\\nTrial Time: 0.5\\n"\n'
    )
    program.chmod(0o755)
    edges = peers.Edges.of(Case("grid", (1,), scale=3).make(0))
    search, missing = gap.measure(gap.check(tmp_path), ["bfs", "components"], edges, [4], 3, 2)
    assert (search["implementation"], search["threads"], search["runs"], search["ms"]) == ("gap", 2, 1, 375.0)
    assert (tmp_path / "bfs.called").read_text().split()[2:] == ["-n", "3", "-r", "4"]
    assert missing["skipped"] == f"there is no {tmp_path / 'cc'}"
    program.write_text("#!/bin/sh\necho nothing\n")
    (silent,) = gap.measure(tmp_path, ["bfs"], edges, [4], 3, 2)
    assert "no trial time" in silent["skipped"]


def test_its_pagerank_makes_as_many_iterations_and_is_believed_what_it_prints(tmp_path):
    program = tmp_path / "pr"
    program.write_text(
        '#!/bin/sh\necho "$@" >> "$0.called"\n'
        'for trial in 5 1 3; do printf "  0    1.500000\\n  1    3e-05\\nTrial Time:          0.$trial\\n"; done\n'
    )
    program.chmod(0o755)
    edges = peers.Edges.of(Case("grid", (1,), scale=3).make(0))
    records = gap.measure(tmp_path, ["pagerank", "pagerank-20", "pagerank-weighted"], edges, [4], 2, 1)
    assert [(record["algorithm"], record["ms"], record["iterations"]) for record in records] == [
        ("pagerank", 200.0, 2), ("pagerank-20", 200.0, 2),
    ]  # fmt: skip
    assert [record["iteration_ms"] for record in records] == [100.0, 100.0]
    assert [line.split()[2:] for line in (tmp_path / "pr.called").read_text().splitlines()] == [
        ["-n", "3", "-i", "20", "-t", "0.0001"], ["-n", "3", "-i", "20", "-t", "1e-30"],
    ]  # fmt: skip
