"""The analytics benchmark: graphs of the paper, counts by hand, the same graph for peers, reasons for what is left."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from memory import OTHERS

import graphdask as gd
from graphdask.bench import analytics
from graphdask.bench.analysis import gap, peers
from graphdask.bench.analysis.algorithms import ALGORITHMS, chosen
from graphdask.bench.analysis.choices import CHOICES
from graphdask.bench.analysis.graphs import Case, Facts, cases, weighted
from graphdask.bench.analysis.timing import PeakMemory, measure, quiet
from graphdask.cli import cli
from graphdask.errors import InputError


def built(graph, parts=2):
    return graph.partition(parts=parts, device="cpu").persist()


def test_the_scaling_sets_are_those_of_the_papers_figure_5():
    found = cases("full", "cuda", (1, 2, 4), scaling=("strong", "weak-edge", "weak-vertex"))
    assert [(case.scaling, case.ranks, case.scale, case.edge_factor) for case in found] == [
        ("strong", (1, 2, 4), 24, 32),
        ("weak-edge", (1,), 19, 256), ("weak-edge", (2,), 19, 512), ("weak-edge", (4,), 19, 1024),
        ("weak-vertex", (1,), 19, 256), ("weak-vertex", (2,), 20, 256), ("weak-vertex", (4,), 21, 256),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"suite": "huge"}, "suite='huge' is not one of quick, full"),
        ({"scaling": ("weak",)}, "scaling='weak' is not one of strong, weak-edge, weak-vertex"),
        ({"scaling": ("weak-vertex",), "ranks": (3,)}, "ranks=3 is no power of two"),
        ({"scaling": ("strong",), "scales": (10, 12)}, "one scale at most"),
        ({"ranks": (0,)}, "ranks=0 must be at least 1"),
        ({"scales": (0,)}, "scale=0 must be at least 1"),
        ({"files": ("/nowhere.txt",)}, "/nowhere.txt: there is no such file"),
        ({"algorithms": ("dijkstra",)}, "algorithm='dijkstra' is not one of bfs, bfs-push"),
        ({"sources": 0}, "sources=0 must be at least 1"),
        ({"gapbs": "/"}, "/ has none of the GAP suite's programs bfs, cc"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_any_work(arguments, message):
    with pytest.raises(InputError, match=message):
        analytics.run(**{"device": "cpu", "ranks": (1,), **arguments})


def test_edges_of_a_component_are_counted_once_with_loops_and_parallel_ones():
    src, dst = [0, 1, 1, 2, 4, 5], [1, 2, 2, 2, 5, 5]
    facts = Facts.of(built(gd.from_edges(src, dst, num_vertices=7, directed=False), 3))
    assert facts.degree.tolist() == [1, 3, 3, 0, 1, 2, 0]
    assert facts.loops.tolist() == [0, 0, 1, 0, 0, 1, 0]
    assert facts.edges(np.array([1, 1, 1, 0, 0, 0, 0], bool)) == 4
    assert facts.edges(np.array([0, 0, 0, 0, 1, 1, 0], bool)) == 2
    directed = Facts.of(built(gd.from_edges(src, dst, num_vertices=7)))
    assert directed.edges(np.array([0, 1, 1, 0, 0, 0, 0], bool)) == 3
    assert sorted(directed.sources(10, 0)) == [0, 1, 4]  # 2 and 5 have nothing but a loop
    assert directed.sources(2, 1).tolist() == directed.sources(2, 1).tolist()


def test_weights_are_drawn_where_there_are_none():
    grid = Case("grid", (1,), scale=5).make(0)
    assert (grid.num_vertices, grid.num_edges, grid.directed) == (25, 40, False)
    drawn = weighted(grid, 0, 9)
    values = drawn.edges("cpu").weights
    assert (values.min() >= 1, values.max() <= 9, drawn.num_vertices, drawn.num_edges) == (True, True, 25, 40)
    assert weighted(drawn, 0, 9) is drawn


def test_times_and_rates_are_those_of_the_runs():
    graph = built(gd.from_edges([0, 1, 2], [1, 2, 3], directed=False))
    runs = []

    def run(source):
        runs.append(gd.bfs(graph, source))
        return runs[-1]

    found = measure(run, [0, 3, 1], [3, 3, 3])
    seconds = sorted(each.stats.bsp.seconds for each in runs)
    assert (found["runs"], found["ms_min"], found["ms"], found["ms_max"]) == (3, *(1e3 * each for each in seconds))
    assert found["call_ms"] >= found["ms_min"]
    assert found["mteps_input"] == pytest.approx(3e-6 * 3 / sum(seconds))  # harmonic mean of 3 / seconds
    assert found["transport"] == "threads"
    assert measure(run, [0], [0])["mteps_input"] is None


@pytest.mark.usefixtures("alone")
def test_the_peak_is_that_of_arrays():
    with PeakMemory("cpu", 2, True) as memory:
        np.zeros(20_000_000).sum()
    assert 80_000_000 <= memory.bytes < 80_000_000 + OTHERS
    with PeakMemory("cpu", 2, False) as elsewhere:
        pass
    assert elsewhere.bytes is None


@pytest.mark.gpu
def test_the_peak_on_a_gpu_is_that_of_the_pool():
    import cupy

    with PeakMemory("cuda", 1, True) as memory:
        cupy.zeros(1 << 20)
        cupy.zeros(1 << 20)
    assert 1 << 23 <= memory.bytes <= 1 << 25


def test_every_algorithm_has_a_record_for_each_number_of_ranks(tmp_path):
    records = analytics.run(
        device="cpu", ranks=(1, 2), scales=(5,), sources=2, repeats=1, verify=True, peers=False, plot=tmp_path
    )
    assert {(r["algorithm"], r["ranks"]) for r in records} == {(a.name, k) for a in ALGORITHMS for k in (1, 2)}
    assert {r["algorithm"] for r in records if "skipped" in r} == {"strong"}
    for record in (record for record in records if "skipped" not in record):
        assert record["verified"] is True
        assert record["ms_min"] <= record["ms"] <= record["ms_max"]
        assert record["memory_estimate"] > 0 < record["memory_peak"]
        ranks = record["algorithm"].startswith("pagerank")
        assert ("first_ms" in record) == ("iteration_ms" in record) == ranks
        if ranks:
            assert record["iterations"] == record["supersteps"] - 1  # the first tells what iterations begin with
            assert record["iteration_ms"] == pytest.approx(record["ms"] / record["iterations"])
        if "first_ms" in record:
            assert record["first_call_ms"] >= record["first_ms"] > 0 < record["first_memory_ratio"]
            assert record["first_memory_estimate"] > record["memory_estimate"]
        assert record["bsp"]["supersteps"] > 0
        assert record["weighted"] == (record["algorithm"] in ("sssp", "pagerank-weighted"))
    one, two = (r for r in records if r["algorithm"] == "bfs")
    assert two["speedup"] == pytest.approx(one["ms"] / two["ms"])
    assert [path.name for path in tmp_path.iterdir()] == ["scaling-rmat-5-x-16.png"]
    json.dumps(records)


@pytest.mark.gpu
def test_it_runs_on_a_gpu_and_sees_its_memory():
    records = analytics.run(device="cuda", ranks=(1,), scales=(10,), sources=2, repeats=1, verify=True, peers=False)
    for record in (record for record in records if "skipped" not in record):
        assert record["verified"] is True
        assert record["memory_peak"] > 0
        assert record["device"] != "CPU"


def test_weak_scaling_speeds_up_by_the_rate():
    records = analytics.run(
        device="cpu", ranks=(1, 2), scales=(5,), edge_factor=4, scaling=("weak-vertex",), algorithms=("components",),
        repeats=1, peers=False,
    )  # fmt: skip
    one, two = records
    assert (one["graph"], two["graph"]) == ("rmat 5 x 4", "rmat 6 x 4")
    assert two["speedup"] == pytest.approx(one["ms"] / two["ms"] * two["edges"] / one["edges"])


def test_what_an_algorithm_does_not_take_is_said(tmp_path):
    file = tmp_path / "one-way.txt"
    file.write_text("0 1\n1 2\n")
    (triangles,) = analytics.run(device="cpu", ranks=(1,), files=(str(file),), algorithms=("triangles",), peers=False)
    assert triangles["skipped"] == "undirected graphs only"
    (strong,) = analytics.run(device="cpu", ranks=(1,), files=(str(file),), algorithms=("strong",), peers=False,
                              repeats=1)  # fmt: skip
    assert strong["ms"] > 0
    file.write_text("3 3\n")
    (search,) = analytics.run(device="cpu", ranks=(1,), files=(str(file),), algorithms=("bfs",), peers=False)
    assert search["skipped"] == "the graph has no edge to another vertex"


def named(name: str) -> peers.Peer:
    return next(peer for peer in peers.PEERS if peer.name == name)


@pytest.mark.parametrize("peer", [peer for peer in peers.PEERS if peer.name != "cugraph"], ids=lambda peer: peer.name)
@pytest.mark.parametrize("weights", [False, True])
def test_peers_run_what_they_are_asked_for(peer, weights):
    pytest.importorskip(peer.module)
    graph = Case("grid", (1,), scale=4).make(0)
    edges = peers.Edges.of(weighted(graph, 0, 9) if weights else graph)
    wanted = [a.name for a in ALGORITHMS if a.weights == weights and a.fits(graph.directed)]
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


def test_a_peer_that_takes_long_is_run_once(monkeypatch):
    runs = []
    peer = replace(named("networkx"), runs={"bfs": lambda nx, graph, source: runs.append(source)})
    edges = peers.Edges.of(Case("grid", (1,), scale=3).make(0))
    (record,) = peers.measure(peer, ["bfs"], edges, [4, 2], 1)
    assert (record["runs"], runs) == (2, [4, 4, 2])
    monkeypatch.setattr(peers, "LIMIT", 0.0)
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


def test_iterations_are_compared_with_iterations_only(monkeypatch, tmp_path):
    def answering(name, answer):
        runs = {each: lambda module, graph, source: answer for each in ("pagerank", "pagerank-20")}
        return peers.Peer(name, "networkx", 1000, lambda module, edges: None, runs)

    counts, does_not = answering("counts", peers.Iterations(10)), answering("does not", None)
    monkeypatch.setattr(analytics, "PEERS", (counts, does_not))
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


def test_the_command_writes_lines_with_the_machine(tmp_path):
    output = tmp_path / "records.jsonl"
    options = ["--device", "cpu", "--scale", "4", "--ranks", "1,2", "--sources", "1", "--no-peers"]
    result = CliRunner().invoke(cli, ["bench", "analytics", *options, "--algorithm", "bfs", "--output", str(output)])
    assert result.exit_code == 0, result.output
    header, *records = map(json.loads, output.read_text().splitlines())
    assert (header["benchmark"], header["arguments"]["ranks"]) == ("analytics", [1, 2])
    assert [record["ranks"] for record in records] == [1, 2]
    wrong = (
        (["--ranks", "x"], "is no list such as 1,2,4"), (["--comm", "tcp"], "add --workers"),
        (["--ranks", "3", "--scaling", "weak-vertex"], "--ranks 3 is no power of two"),
    )  # fmt: skip
    for options, message in wrong:
        refused = CliRunner().invoke(cli, ["bench", "analytics", *options])
        assert refused.exit_code == 2
        assert message in " ".join(refused.stderr.split())


def test_it_runs_on_the_workers_of_a_cluster():
    from graphdask.cluster.local import local_cluster

    with local_cluster(2, "cpu") as client:
        (record,) = analytics.run(
            device="cpu",
            scales=(5,),
            ranks=(2,),
            algorithms=("bfs",),
            sources=2,
            peers=False,
            verify=True,
            client=client,
        )
    assert (record["ranks"], record["memory_peak"]) == (2, None)
    assert record["transport"] in ("shm", "tcp", "ucx")


def test_algorithms_are_chosen_in_the_order_of_the_table():
    assert [algorithm.name for algorithm in chosen(("sssp", "bfs"))] == ["bfs", "sssp"]


def test_each_choice_is_measured_in_turn():
    records = analytics.run(
        algorithms=("bfs",), scales=(8,), ranks=(2,), sources=2, choices=True, peers=False, device="cpu"
    )
    found = {record["choice"]: record for record in records}
    assert list(found) == [choice.name for choice in CHOICES]
    refused = [record for record in records if "ms" not in record]
    assert all("pymetis" in record["skipped"] or record["choice"] == "fixed" for record in refused)
    assert all(record["memory_allocated"] > 0 for record in records if "ms" in record)
    assert found["broadcast"]["bytes_sent"] > found["selective"]["bytes_sent"] > 0
    assert all("speedup" not in record for record in records)
