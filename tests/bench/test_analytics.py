"""The analytics benchmark: graphs of the paper, counts by hand, the same graph for peers, reasons for what is left."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from memory import OTHERS

import graphdask as gd
from graphdask.bench import analytics
from graphdask.bench.analysis.algorithms import chosen, measured
from graphdask.bench.analysis.choices import CHOICES
from graphdask.bench.analysis.graphs import Case, Facts, cases, weighted
from graphdask.bench.analysis.timing import PeakMemory, measure
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
        ({"algorithms": ("dijkstra",)}, "algorithm='dijkstra' is not one of .*bfs, .*components"),
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
    beside = [found[f"supersteps_ms{which}"] for which in ("_min", "", "_max")]
    assert (found["runs"], found["clock"], *beside) == (3, "call", *(1e3 * each for each in seconds))
    calls = [found[f"ms{which}"] for which in ("_min", "", "_max")]
    assert calls == sorted(calls)
    assert all(call > of_supersteps for call, of_supersteps in zip(calls, beside, strict=True))
    harmonic = 3e-3 * 3 / sum(calls)  # mean of 3 / seconds
    assert found["mteps_input"] == pytest.approx(harmonic)
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


KEEP = ("articulation", "biconnected", "bridges", "components", "core", "forest")
"""Algorithms that leave with each of several partitions what next runs begin with."""


@pytest.mark.slow
def test_every_algorithm_has_a_record_for_each_number_of_ranks(tmp_path):
    records = analytics.run(
        device="cpu", ranks=(1, 2), scales=(5,), sources=2, repeats=1, verify=True, peers=False, plot=tmp_path
    )
    assert {(r["algorithm"], r["ranks"]) for r in records} == {(a.name, k) for a in measured() for k in (1, 2)}
    assert {r["algorithm"] for r in records if "skipped" in r} == {"strong"}
    for record in (record for record in records if "skipped" not in record):
        assert record["verified"] is True
        assert record["ms_min"] <= record["ms"] <= record["ms_max"]
        assert record["memory_estimate"] > 0 < record["memory_peak"]
        ranks = record["algorithm"].startswith("pagerank")
        scores = record["algorithm"] in ("eigenvector", "katz", "hits")
        kept = record["algorithm"] == "edge-betweenness" or (record["algorithm"] in KEEP and record["ranks"] > 1)
        assert ("first_ms" in record) == (ranks or scores or kept)
        assert ("iteration_ms" in record) == (ranks or scores or record["algorithm"] == "cdlp")
        if ranks:
            assert record["iterations"] == record["supersteps"] - 1  # the first tells what iterations begin with
            assert record["iteration_ms"] == pytest.approx(record["ms"] / record["iterations"])
        assert record["supersteps_ms"] < record["ms"]
        if "first_ms" in record:
            assert record["first_ms"] >= record["first_supersteps_ms"] > 0 < record["first_memory_ratio"]
            assert record["first_memory_estimate"] >= record["memory_estimate"] + ranks
        assert record["bsp"]["supersteps"] > 0
        assert record["weighted"] == (record["algorithm"] in ("sssp", "pagerank-weighted", "sssp-float32"))
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_each_choice_is_measured_in_turn():
    records = analytics.run(
        algorithms=("sssp",), scales=(8,), ranks=(3,), sources=2, choices=True, peers=False, device="cpu"
    )
    found = {record["choice"]: record for record in records}
    assert list(found) == [choice.name for choice in CHOICES]
    refused = [record for record in records if "ms" not in record]
    assert all("pymetis" in record["skipped"] or record["choice"] == "fixed" for record in refused)
    assert all(record["memory_allocated"] > 0 for record in records if "ms" in record)
    assert found["not fused"]["memory_estimate"] > found["default"]["memory_estimate"]
    assert found["broadcast"]["bytes_sent"] > found["selective"]["bytes_sent"] > 0
    assert all("speedup" not in record for record in records)
