"""The benchmark of samplers measures every case, and draws as many edges by every method."""

from __future__ import annotations

import contextlib
import importlib.machinery
import itertools
import json
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from draw_models import found as found_at
from draw_models import numbers_of

import graphdask as gd
from graphdask.bench import harness, minibatches, sample, sample_peers
from graphdask.bench.kernel_time import Watch
from graphdask.bench.sample_cases import FROM_RANGE, NEIGHBORHOODS, SUITES, WALKS, Suite
from graphdask.bench.sample_peers import PEERS, peers
from graphdask.bench.selection import APPLICATIONS, TABLES, WAYS, Counted
from graphdask.bench.specs import BUILT_IN, SAMPLE_SPECS, WALK_SPECS
from graphdask.cli import cli
from graphdask.errors import InputError
from graphdask.sample.sampler import sampled


@pytest.fixture(autouse=True)
def tiny(sized):
    sized(SUITES, "quick", Suite(6, ((30, 5),), ((20, (2,)), (20, (3, 2)))))


@pytest.mark.slow
def test_every_way_is_measured():
    kept = []
    rows = sample.run(device="cpu", repeats=1, each=kept.append)
    assert rows == kept
    others = {peer.name for peer in PEERS if peer.device == "cpu"}
    ours = [row for row in rows if row["sampler"] not in others]
    assert len(ours) == len(WALKS) + len(WALK_SPECS) + len(FROM_RANGE) + 2 * (len(NEIGHBORHOODS) + len(SAMPLE_SPECS))
    walks = [row for row in ours if row["size"] == 5 and row["starts"] == "array"]
    assert len({(row["edges"], row["instances"]) for row in walks}) == 2  # of undirected graphs: none ends but at once
    assert {row["method"] for row in walks if row["instances"] == 1} == {"reservoir"}
    assert all(row["instances"] in (1, 30) for row in walks)
    assert all(row["edges"] > 0 and row["host_mseps"] > 0 for row in ours)
    assert all(row["run_ms"] <= row["ms"] <= row["host_ms"] for row in ours)
    assert {row["sampler"] for row in rows} >= others
    own = [row for row in rows if row["sampler"] == "spec"]
    assert {(row["like"], row["method"]) for row in own} == {
        (name, method) for (_, _, method), (name, *_) in BUILT_IN.items()
    }
    assert all(row["times"] > 0 < row["draw_times"] for row in own)
    beside = [row for row in rows if row["sampler"] in others and "skipped" not in row]
    assert all(row["clock"] == "call" and row["graphdask_ms"] > 0 for row in beside)
    assert not any("kernel_ms" in row for row in ours)
    for bias in (None, "weight"):
        one_hop = [
            row["edges"]
            for row in ours
            if (row["sampler"], row["bias"], row["size"]) == ("neighbors", bias, [2]) and row["method"] != "replace"
        ]
        assert len(one_hop) == 4 + (bias is not None)
        assert len(set(one_hop)) == 1


def test_ranks_and_placements():
    some = {"device": "cpu", "repeats": 1, "peers": False, "samplers": ("node2vec",)}
    rows = sample.run(ranks=(1, 2), placement="partitioned", **some)
    assert [(row["ranks"], row["placement"]) for row in rows] == [(1, "partitioned")] * 3 + [(2, "partitioned")] * 3
    for starts in ("array", "range"):
        assert len({row["edges"] for row in rows if row["starts"] == starts}) == 1


def test_walks_may_be_as_many_as_one_says_and_stay_where_they_are():
    some = {"device": "cpu", "repeats": 1, "peers": False, "samplers": ("random_walk",)}
    rows = sample.run(walks=(40, 200), gather=False, **some)
    reported = [
        (row["starts"], row["instances"]) for row in rows if row["sampler"] == "random_walk" and not row["bias"]
    ]
    assert reported == [("array", 40), ("range", 40), ("array", 200), ("range", 200)]  # of 64 vertices
    assert all("host_ms" not in row and row["ms"] >= row["draw_ms"] for row in rows)


def test_a_call_of_milliseconds_is_measured_until_its_median_is_known():
    bench = sample.Bench(SUITES["quick", "cpu"], 6, "auto", "cpu", 1, 0, False, None)
    assert harness.is_brief([0.001] * 3, 3)
    assert not harness.is_brief([0.001] * harness.MANY, 3)
    assert not harness.is_brief([0.1] * 3, 3)
    assert not harness.is_brief([0.001], 1)
    calls = []

    def call():
        calls.append(len(calls))
        return gd.sample.neighbors(gd.from_edges([0, 1], [1, 2]), [1], [1], progress=False)

    bench.measured(call)
    once = len(calls)
    bench.repeats = 2
    bench.measured(call)
    assert len(calls) - once > once


@pytest.mark.slow
def test_a_directed_graph_of_a_file_is_measured_without_what_is_not_defined_there(tmp_path):
    import dask

    (tmp_path / "g.txt").write_text("".join(f"{k} {(k * k + 1) % 20}\n" for k in range(20)))
    some = {"device": "cpu", "repeats": 1, "peers": False, "graph": tmp_path / "g.txt"}
    with dask.config.set({"graphdask.deadline": 1e-9}):  # so that none is measured for long
        named = {
            directed: {row["sampler"] for row in sample.run(**some, directed=directed)} for directed in (True, False)
        }
    assert named[False] - named[True] == {"metropolis_hastings"}
    with pytest.raises(InputError, match="metropolis_hastings is defined on undirected graphs"):
        sample.run(**some, samplers=("metropolis_hastings",))


def test_a_case_that_takes_too_long_is_left_out():
    import dask

    some = {"device": "cpu", "repeats": 1, "peers": False, "samplers": ("random_walk",)}
    with dask.config.set({"graphdask.deadline": 1e-9}):
        rows = sample.run(**some)
    assert len(rows) == len(sample.run(**some))
    assert all("passed its deadline" in row["skipped"] for row in rows)


@pytest.mark.slow
def test_minibatches_are_drawn_by_each_way(sized):
    sized(SUITES, "quick", Suite(6, ((30, 5),), ((20, (2,)),), ((3, 10, (3, 2)),)))
    rows = sample.run(device="cpu", repeats=1, peers=False, samplers=("loader",))
    assert [(row["bias"], row["at_once"], row["method"]) for row in rows] == [
        (bias, at_once, way) for bias in (None, "weight") for at_once in minibatches.AT_ONCE for way in minibatches.WAYS
    ]
    for bias in (None, "weight"):
        assert len({row["edges"] for row in rows if row["bias"] == bias}) == 1
    assert all(row["instances"] == 3 and row["edges"] and row["mseps"] > 0 for row in rows)


@pytest.mark.parametrize(
    "wrong", [{"suite": "slow"}, {"repeats": 0}, {"samplers": ("walk",)}, {"ranks": (0,)}, {"walks": (0,)}]
)
def test_what_cannot_be_measured_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong)).rstrip("s")):
        sample.run(device="cpu", **wrong)


@pytest.mark.slow
def test_ways_to_choose_stand_beside_each_other(sized):
    """Figures 10 to 12 of the c-saw paper: as many edges however collisions are seen."""
    sized(SUITES, "selection", Suite(6, (), ((60, (3, 2)), (10, (40,)))))
    rows = sample.run("selection", device="cpu", repeats=1)
    ten, eleven, twelve = ([row for row in rows if row["table"] == title] for title in TABLES)
    assert len(ten) == 2 * (len(APPLICATIONS) * len(WAYS) + 4)
    assert len(eleven) == len(twelve) == 2 * 2 * (len(APPLICATIONS) - 1)
    for size in ([3, 2], [40]):
        for method in ("repeated", "bipartite"):
            edges = {application: set() for application in APPLICATIONS}
            for row in ten:
                if row["method"] == method and row["size"] == size and row["collisions"]:
                    edges[row["sampler"], row["bias"]].add(row["edges"])
            assert all(len(of) == 1 for of in edges.values())
    for repeated, bipartite in zip(eleven[0::2], eleven[1::2], strict=True):
        assert (repeated["method"], repeated["fewer"], bipartite["method"]) == ("repeated", 1.0, "bipartite")
        assert min(repeated["tries_each"], bipartite["tries_each"]) >= 1
    assert all(row["bits"] > 0 and row["ratio"] == row["bits"] / max(row["searched"], 1) for row in twelve)
    assert all(row["ratio"] < 1 for row in twelve if row["size"] == [40] and row["sampler"] == "neighbors")
    with pytest.raises(InputError, match="walks"):
        sample.run("selection", device="cpu", walks=(3,))


def test_tries_and_looks_are_those_of_the_draws():
    """Counted anew in plain Python, of one row."""
    weights = np.array([50, 1, 1, 30, 2, 9])
    graph = gd.from_edges(np.zeros(6, int), np.arange(1, 7), weights).partition(1, device="cpu")
    for method in ("repeated", "bipartite"):
        seeds = np.zeros(1, np.int32)
        made = Counted(seeds, None, (4,), bias="weight", method=method, seed=3)
        found = (sampled(graph, made, "replicated", None, False).dst - 1).tolist()
        numbers, tries, searched, bits, chosen = numbers_of(3, 0, 0), 0, 0, 0, []
        while len(chosen) < 4:
            first, second = next(numbers), next(numbers) if method == "bipartite" else 0
            place = found_at(weights, first * 93 >> 64)
            tries, bits = tries + 1, bits + 1
            searched += chosen.index(place) + 1 if place in chosen else len(chosen)
            if method == "bipartite" and place in chosen:
                others = np.where(np.arange(6) == place, 0, weights)
                place = found_at(others, second * int(others.sum()) >> 64)
                bits += 1
                searched += chosen.index(place) + 1 if place in chosen else len(chosen)
            if place not in chosen:
                chosen.append(place)
        assert found == chosen
        assert made.counted.tolist() == [4, tries, searched, bits]


def test_schemes_stand_beside_what_is_in_memory(sized):
    sized(SUITES, "out-of-memory", Suite(6, ((30, 5),), ((20, (3, 2)),)))
    rows = sample.run("out-of-memory", device="cpu", repeats=1, peers=False)
    assert len(rows) == 5 * 6
    for first in range(0, 30, 6):
        streamed = rows[first + 1 : first + 6]
        assert [row["scheme"] for row in streamed] == ["baseline", "BA", "WS", "BAL", "in-place"]
        assert len({row["edges"] for row in streamed}) == 1
    for row in rows:
        assert row["placement"] == ("replicated" if row["scheme"] == "in memory" else "streamed")
        assert ("transfers" in row) == (row["scheme"] != "in memory")
    with pytest.raises(InputError, match="placement"):
        sample.run("out-of-memory", device="cpu", placement="partitioned")


@pytest.mark.parametrize("suite", ["quick", "selection", "out-of-memory"])
@pytest.mark.parametrize("as_json", [False, True], ids=["table", "json"])
def test_what_was_measured_is_there_when_a_run_is_stopped(suite, as_json, sized, fault, watched, tmp_path):
    """Each row is in the file and on the screen before the next is measured; the table is told at the end."""
    output = tmp_path / "records.jsonl"
    fault(sample.Bench, "measured", KeyboardInterrupt, lambda *given: len(seen) == 4)
    seen = watched(
        sample.Bench, "measured", lambda *given: len(output.read_text().splitlines() if output.exists() else ())
    )
    sized(SUITES, suite, Suite(5, ((5, 3),), ((5, (2,)),)))
    asked = ["bench", "sample", "--suite", suite, "--device", "cpu", "--repeats", "1", "--output", str(output)]
    done = CliRunner().invoke(cli, asked + ["--json"] * as_json)
    assert done.exit_code == 130
    assert seen == [0, 2, 3, 4]  # the header comes with the first row
    kept = output.read_text().splitlines()
    assert [json.loads(line).get("sampler") for line in kept] == [None] + [json.loads(kept[1])["sampler"]] * 3
    if as_json:
        assert done.stdout.splitlines() == kept
    else:
        rows = [line for line in done.stderr.splitlines() if line.startswith("sampler=")]
        assert len(rows) == 3
        assert all("edges=" in line and "mseps=" in line for line in rows)
        assert done.stdout.count("\n  ") > 3


def test_a_way_that_takes_too_long_leaves_the_others(sized):
    import dask

    sized(SUITES, "selection", Suite(5, (), ((5, (2,)),)))
    with dask.config.set({"graphdask.deadline": 1e-9}):
        rows = sample.run("selection", device="cpu", repeats=1, samplers=("layer",))
    assert len(rows) == len(WAYS) + 4
    assert all("passed its deadline" in row["skipped"] for row in rows)


@pytest.fixture
def torch_of_tests(monkeypatch):
    """Modules of the names of torch, torch-cluster and pyg-lib, and what was asked of their operators."""
    asked = []

    def operator(name):
        def call(indptr, indices, starts, *rest, **named):
            assert len(indices) == indptr[-1]
            assert all((np.diff(indices[a:b]) >= 0).all() for a, b in itertools.pairwise(indptr))
            asked.append((name, len(starts), rest, named))
            return [np.zeros(7)]

        return call

    torch, cluster, pyg = (types.ModuleType(name) for name in ("torch", "torch_cluster", "pyg_lib"))
    torch.from_numpy = lambda array: array
    walk = {name: types.SimpleNamespace(random_walk=operator(name)) for name in ("torch_cluster", "pyg")}
    torch.ops = types.SimpleNamespace(**walk)
    pyg.sampler = types.SimpleNamespace(neighbor_sample=operator("neighbor_sample"))
    for module in (torch, cluster, pyg):
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return asked


def test_operators_of_torch_are_given_the_graph_and_their_edges_counted(torch_of_tests):
    src, dst = np.array([3, 0, 1, 5]), np.array([0, 2, 0, 5])
    graph = gd.from_edges(src, dst, num_vertices=6, directed=False)
    rows = beside(graph, walks=(9, 4), samples=(5, (3, 2)))
    edges = {(r["sampler"], r["like"]): r["edges"] for r in rows if r["sampler"] in ("torch-cluster", "pyg-lib")}
    walks = 4 * 8  # vertex 4 has no edges
    assert edges == {
        ("torch-cluster", "random_walk"): walks, ("torch-cluster", "node2vec 2 0.5"): walks,
        ("pyg-lib", "random_walk"): walks, ("pyg-lib", "node2vec 2 0.5"): walks, ("pyg-lib", "neighbors"): 7,
    }  # fmt: skip
    assert torch_of_tests[::2] == torch_of_tests[1::2]  # the first call is not counted
    assert torch_of_tests[::2] == [
        ("torch_cluster", 9, (4, 1.0, 1.0), {}), ("torch_cluster", 9, (4, 2.0, 0.5), {}),
        ("pyg", 9, (4, 1.0, 1.0), {}), ("pyg", 9, (4, 2.0, 0.5), {}),
        ("neighbor_sample", 5, ([3, 2],), {"disjoint": True, "return_edge_id": False}),
    ]  # fmt: skip


def beside(graph, walks, samples, device="cpu", kept=None):
    """Records of others' samplers, with ours of the same starts beside them."""
    asked = [] if kept is None else kept

    def ours(like, bias, method, starts, size):
        asked.append((like, bias, method, len(starts), size))
        bench = sample.Bench(Suite(3, (), ()), 3, "auto", "cpu", 1, 0, False, None)
        return bench._alike(graph.partition(1, device="cpu"), like, bias, method, starts, size)

    return list(peers((walks,), (samples,), graph, lambda count: np.arange(count) % 6, 1, ours, device))


@pytest.fixture
def cugraph_of_tests(monkeypatch, compared_with):
    """A pylibcugraph, and a cupy, that keep what they are asked for; walks end before they are as long as may be."""
    asked = []
    cupy, plc = types.ModuleType("cupy"), types.ModuleType("pylibcugraph")
    cupy.asarray, cupy.arange = np.asarray, np.arange
    plc.ResourceHandle, plc.GraphProperties = object, dict
    plc.SGGraph = lambda *ends, weight_array, **options: None if weight_array is None else weight_array.dtype.name

    def walk(name):
        def call(handle, graph, starts, length, *rest):
            asked.append((name, graph, starts.dtype.name, len(starts), length, rest))
            paths = np.full((len(starts), length + 1), -1)
            paths[:, :2] = 0
            return paths.ravel(), None, length

        return call

    def draw(name):
        def call(handle, graph, seeds, bounds, fanouts, **named):
            reported = None if bounds is None else bounds.tolist()
            asked.append((name, graph, len(seeds), reported, fanouts.tolist(), named["with_replacement"], len(named)))
            return {"majors": np.zeros(11), "minors": np.zeros(11)}

        return call

    for name in ("uniform_random_walks", "biased_random_walks", "node2vec_random_walks"):
        setattr(plc, name, walk(name))
    for name in ("homogeneous_uniform_neighbor_sample", "homogeneous_biased_neighbor_sample"):
        setattr(plc, name, draw(name))
    for module in (cupy, plc):
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    here = tuple(replace(peer, within=contextlib.nullcontext) for peer in PEERS if peer.device == "cuda")
    compared_with(sample_peers, *here)
    return asked


def test_cugraph_is_asked_for_the_same_walks_and_seeds_as_ours(cugraph_of_tests):
    graph = gd.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 6], directed=False)
    ours = []
    rows = beside(graph, (6, 4), (3, (2, 2)), device="cuda", kept=ours)
    assert not any("skipped" in row for row in rows)
    theirs = cugraph_of_tests[::2]
    assert theirs == cugraph_of_tests[1::2]
    assert theirs[:3] == [
        ("uniform_random_walks", None, "int32", 6, 4, (0,)),
        ("biased_random_walks", "float32", "int32", 6, 4, (0,)),
        ("node2vec_random_walks", "float32", "int32", 6, 4, (2.0, 0.5, 0)),
    ]
    assert ours[:3] == [
        ("random_walk", None, "uniform", 6, 4), ("random_walk", "weight", "alias", 6, 4),
        ("node2vec 2 0.5", "weight", "rejection", 6, 4),
    ]  # fmt: skip
    of_seeds = {(kind, again): "replace" if again else "auto" for kind in (None, "float32") for again in (False, True)}
    for (_, graph_of, seeds, bounds, fanouts, again, named), (like, bias, how, count, size) in zip(
        theirs[3:], ours[3:], strict=True
    ):
        assert (graph_of, bias) in ((None, None), ("float32", "weight"))
        assert (like, how, count, size) == ("neighbors", of_seeds[graph_of, again], seeds, fanouts)
        assert (bounds, named) in (([0, 1, 2, 3], 5), (None, 3))
    assert {row["edges"] for row in rows[:3]} == {6}
    assert {row["graphdask_edges"] for row in rows[:3]} == {24}
    assert all(row["clock"] == "call" for row in rows)
    assert all("over_graphdask" not in row and row["differs"] for row in rows)  # as they draw fewer edges


def test_a_ratio_is_that_of_the_two_times_of_its_record():
    graph = gd.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0], directed=False)
    rows = [row for row in beside(graph, (6, 4), (3, (2, 2))) if row["sampler"] == "networkx"]
    assert [(row["like"], row["edges"], row["graphdask_edges"]) for row in rows] == [
        ("random_walk", 24, 24), ("neighbors", 18, 18),
    ]  # fmt: skip
    assert all(row["over_graphdask"] == pytest.approx(row["ms"] / row["graphdask_ms"]) for row in rows)


def test_peers_alone_are_measured_with_ours_in_their_records(sized):
    sized(SUITES, "peers", Suite(6, ((30, 5),), ((20, (2,)),), own=False))
    rows = sample.run("peers", device="cpu", repeats=1)
    assert {row["sampler"] for row in rows} == {peer.name for peer in PEERS if peer.device == "cpu"}
    assert all({"graphdask_ms", "clock"} <= set(row) or "skipped" in row for row in rows)


def test_launches_are_timed_by_events_around_them():
    class Event:
        def record(self):
            clock.append(len(clock))
            self.at = clock[-1]

        def synchronize(self):
            pass

    clock = []
    cuda = types.SimpleNamespace(Event=Event, get_elapsed_time=lambda before, after: after.at - before.at)
    backend = types.SimpleNamespace(xp=types.SimpleNamespace(cuda=cuda), activate=contextlib.nullcontext)
    watch = Watch(backend)
    for label, ticks in (("walks.one", 2), ("walks.other", 5), ("walks.one", 3)):
        with watch(label):
            clock.extend([0] * (ticks - 1))
    assert watch.milliseconds == {"walks.one": 5, "walks.other": 5}


@pytest.mark.gpu
def test_kernels_take_less_than_the_call():
    rows = sample.run(device="cuda", repeats=1, peers=False, samplers=("random_walk", "neighbors"), scale=12)
    for row in rows:
        assert 0 < row["kernel_ms"] == pytest.approx(sum(row["kernels"].values()))
        assert row["kernel_ms"] < 2 * row["first_ms"]


def test_a_graph_of_a_file_is_sampled(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("source,target,weight\n" + "".join(f"v{a},v{(a * 7 + 3) % 50},{1 + a % 5}\n" for a in range(50)))
    rows = sample.run(graph=path, directed=False, device="cpu", repeats=1, samplers=("random_walk",))
    assert {(row["graph"], row["scale"]) for row in rows} == {("names.csv", None)}
    walks = [row for row in rows if row["sampler"] == "random_walk" and row["method"] != "reservoir"]
    assert all(row["edges"] == row["instances"] * row["size"] for row in walks)  # no vertex is without an edge
    with pytest.raises(InputError, match="scale=5 is of R-MAT graphs"):
        sample.run(graph=path, scale=5, device="cpu")
