"""What no memory and no disk has room for is refused at once, with the estimate, before anything is made."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import graphdask as gd
from graphdask import execute
from graphdask.cli import cli as program
from graphdask.device import limits
from graphdask.errors import GraphdaskError, GraphdaskWarning, InputError, OverBudget, WriteError
from graphdask.io import read_edges, write_edges
from graphdask.sample import Chunks, Spec

B, T = 10**15, 10**12
LIMIT = 1.0
"""Seconds of this process's CPU time within which it is refused: a loaded machine does not count."""

GENERATORS: dict[str, Callable[[], gd.Graph]] = {
    "R-MAT of 2^50 vertices": lambda: gd.generate.rmat(50),
    "R-MAT of 2^58 vertices": lambda: gd.generate.rmat(58),
    "R-MAT of 1e9 edges a vertex": lambda: gd.generate.rmat(20, 10**9),
    "Erdos-Renyi of 1e15 edges": lambda: gd.generate.erdos_renyi(10**9, B),
    "Erdos-Renyi of half of all pairs": lambda: gd.generate.erdos_renyi(10**8, p=0.5),
    "preferential attachment": lambda: gd.generate.preferential_attachment(B),
    "preferential attachment, distinct": lambda: gd.generate.preferential_attachment(B, multi_edges="redraw"),
    "preferential attachment, queues": lambda: gd.generate.preferential_attachment(B, method="queue"),
    "sequential copy model": lambda: gd.generate.sequential_copy_model(B),
    "sequential Barabasi-Albert": lambda: gd.generate.sequential_barabasi_albert(B),
}
VERTICES: dict[str, Callable[[], gd.Graph]] = {
    "Erdos-Renyi of 1e15 vertices": lambda: gd.generate.erdos_renyi(B, 10),
    "a list of edges of 1e15 vertices": lambda: gd.from_edges([0], [1], num_vertices=B),
    "merged": lambda: gd.generate.preferential_attachment(B, multi_edges="merge"),
}
FORMATS = ["graph.txt", "graph.csv", "graph.txt.gz", "graph.parquet", "graph.gdg", "graph/"]

SPEC = Spec(edge_bias=lambda e: e.weight, neighbor_size=1, depth=2)
SAMPLERS: dict[str, Callable[[gd.Graph], object]] = {
    "length": lambda G: gd.sample.random_walk(G, [0], T),
    "length of node2vec": lambda G: gd.sample.node2vec(G, [0], T, p=2),
    "length of pools": lambda G: gd.sample.frontier_sampling(G, [[0, 1]], T),
    "walks_per_start": lambda G: gd.sample.random_walk(G, [0, 1], 10, walks_per_start=T),
    "walks_per_start of node2vec": lambda G: gd.sample.node2vec(G, [0, 1], 10, walks_per_start=T),
    "walks_per_start of Metropolis": lambda G: gd.sample.metropolis_hastings(G, [0, 1], 10, walks_per_start=T),
    "walks": lambda G: gd.sample.personalized_pagerank(G, [0], walks=B),
    "fanouts": lambda G: gd.sample.neighbors(G, [0], [T, T], replace=True),
    "fewer fanouts": lambda G: gd.sample.neighbors(G, [0], [10**7, 10**7], replace=True),
    "edges": lambda G: gd.sample.random_edges(G, B),
    "nodes": lambda G: gd.sample.random_nodes(G, B),
    "instances": lambda G: gd.sample.run(G, SPEC, [0], instances=T),
    "instances of nodes": lambda G: gd.sample.saint_nodes(G, 3, instances=T),
    "instances of edges": lambda G: gd.sample.saint_edges(G, 3, instances=T),
    "instances of walks": lambda G: gd.sample.saint_walks(G, 3, 2, instances=T),
    "roots": lambda G: gd.sample.saint_walks(G, B, 2),
    "depth": lambda G: gd.sample.snowball(G, [0], B),
    "depth of a fire": lambda G: gd.sample.forest_fire(G, [0], 0.5, depth=B),
    "sources": lambda G: gd.betweenness(G, sources=T),
    "parts": lambda G: gd.bfs(G.partition(60_000), 0),
    "more parts": lambda G: G.partition(10**9),
}

COMMANDS = {
    "scale": ["generate", "rmat", "--scale", "60", "--output", "FILE.txt"],
    "edge factor": ["generate", "rmat", "--scale", "20", "--edge-factor", "1000000000", "--output", "FILE.parquet"],
    "vertices": ["generate", "pa", "--vertices", str(B), "--output", "FILE.gdg"],
    "edges": ["generate", "er", "--vertices", str(10**9), "--edges", str(B), "--output", "FILE.txt.gz"],
    "no output": ["generate", "rmat", "--scale", "58"],
    "max-iter": ["run", "pagerank", "GRAPH", "--max-iter", str(B), "--tol", "0"],
    "sources": ["run", "betweenness", "GRAPH", "--sources", str(T)],
    "walks": ["sample", "walk", "GRAPH", "--length", str(T), "--output", "FILE.parquet"],
}


@pytest.fixture(scope="module")
def graph() -> gd.Graph:
    made = gd.generate.rmat(8, seed=1).partition(1, device="cpu").persist()
    for call in (lambda: gd.sample.random_walk(made, [0], 2), lambda: gd.bfs(made, 0)):
        call()  # what loads and compiles
    return made


@contextmanager
def at_once() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < LIMIT


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", [*GENERATORS, *VERTICES])
def test_a_graph_that_no_memory_holds(name, parts, graph):
    absurd = (GENERATORS | VERTICES)[name]()
    for call in (lambda G: G.partition(parts, device="cpu").persist(), lambda G: gd.bfs(G.partition(parts), 0)):
        with at_once(), pytest.raises(OverBudget, match=r"[GT]iB"):
            call(absurd)


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("name", GENERATORS)
def test_edges_that_no_disk_holds(name, target, tmp_path):
    absurd = GENERATORS[name]()
    with at_once(), pytest.raises(WriteError, match=r"edges need [\d.,e+]+ [TP]iB at least, and .* free") as refused:
        absurd.write(os.fspath(tmp_path / target) + "/" * target.endswith("/"), "native" if target[-1] == "/" else None)
    assert not list(tmp_path.iterdir())
    assert "larger disk" in str(refused.value)


def test_edges_that_no_disk_keeps_for_a_pipe():
    with (
        at_once(),
        pytest.raises(WriteError, match=r"edges need [\d.,e+]+ [TP]iB at least.*set TMPDIR to a larger disk"),
    ):
        gd.generate.rmat(50).write("/dev/null", "csv")


@pytest.mark.parametrize("name", [*GENERATORS, *VERTICES])
def test_a_graph_that_cannot_be_streamed_from_the_disk(name, tmp_path):
    absurd = (GENERATORS | VERTICES)[name]()
    with at_once(), pytest.raises(GraphdaskError, match=r"iB|2\*\*31"):
        gd.stream.build(absurd, tmp_path / "graph.gdl")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [*GENERATORS, *VERTICES])
def test_a_graph_that_cannot_change(name):
    with at_once(), pytest.raises((OverBudget, InputError)):
        gd.DynamicGraph((GENERATORS | VERTICES)[name]().partition(1, device="cpu")).update(insert=([0], [1]))


@pytest.mark.parametrize("name", SAMPLERS)
def test_samples_that_no_memory_holds(name, graph):
    with at_once(), pytest.raises((OverBudget, InputError)) as refused:
        SAMPLERS[name](graph)
    assert any(str(number) in str(refused.value).replace(",", "") for number in (B, T, 60_000, 10**9)) or (
        "GiB" in str(refused.value)
    )


def test_chunks_of_samples_that_no_disk_holds(graph, tmp_path):
    made = gd.sample.in_chunks(gd.sample.random_walk, graph, [0, 1], 10, walks_per_start=10**14, chunk=1000)
    assert isinstance(made, Chunks)
    with at_once(), pytest.raises(WriteError, match=r"2\d\d,\d{3},\d{3},\d{3},\d{3}|200,000,000,000,000 instances"):
        made.to_parquet(tmp_path / "walks")
    first = next(iter(made))
    assert len(first.walks) == 1000, "what is drawn for a chunk is its own starts"


@pytest.mark.parametrize(
    "made", [lambda: gd.generate.rmat(58, 31), lambda: gd.generate.preferential_attachment(2 * 10**18)]
)
def test_edges_that_take_years_to_make(made, host):
    """By a hundred cores whatever the machine; almost as many edges as 63 bits count."""
    host.cores(100)
    with (
        at_once(),
        pytest.raises(InputError, match=r"edges, to be made and dropped by 100 ranks, would take [56] years"),
    ):
        execute.count_edges(made().partition(device="cpu"), "cpu")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"tol": 0}, "tol=0 asks for exactly so many"),
        ({"tol": 0, "method": "static"}, "tol=0 asks for exactly so many"),
        ({"tol": 1e-300}, "tol= is below what float64 resolves"),
        ({"tol": 1e-9, "dtype": "float32"}, "tol= is below what float32 resolves"),
        ({"error": 1e-18}, "error= is below what float64 resolves"),
    ],
)
def test_iterations_that_nothing_ends(how, words, graph):
    given = gd.DynamicGraph(graph) if "method" in how else graph
    with (
        at_once(),
        pytest.raises(InputError, match=r"max_iter=1,000,000,000,000,000 .* would take 32 years") as refused,
    ):
        gd.pagerank(given, max_iter=B, **how)
    assert words in str(refused.value)


@pytest.mark.parametrize("how", [{}, {"tol": 1e-12}, {"error": 1e-9}, {"damping": 0.999}])
def test_a_limit_of_iterations_may_be_any_where_the_ranks_converge(how, graph):
    found = gd.pagerank(graph, max_iter=B, **how)
    assert found.converged
    np.testing.assert_array_equal(found.rank, gd.pagerank(graph, max_iter=10**5, **how).rank)


def test_iterations_of_labels(graph):
    with (
        at_once(),
        pytest.raises(InputError, match=r"iterations=1,000,000,000,000,000, .* would take 32 years at least"),
    ):
        gd.label_propagation(graph, B)


@pytest.mark.parametrize("how", ["to_dask_array", "to_dask_dataframe"])
def test_partitions_of_a_collection(how, graph):
    with at_once(), pytest.raises(OverBudget, match=r"partitions=1,000,000,000,000 tasks need about [\d.]+ TiB"):
        getattr(graph, how)(T)
    with at_once(), pytest.raises(OverBudget, match=r"tasks need about \d+ GiB"):
        getattr(gd.generate.preferential_attachment(B), how)()


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("graph.txt").write_text("0 1\n1 2\n2 0\n")
    order = [word.replace("GRAPH", "graph.txt").replace("FILE", "out") for word in COMMANDS[name]]
    with at_once():
        done = CliRunner().invoke(program, order)
    assert done.exit_code in (1, 2), done.output
    assert isinstance(done.exception, SystemExit)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.txt"]


def test_what_the_disk_has_room_for_is_written(tmp_path, host):
    G = gd.generate.rmat(16, seed=1)
    needed = limits.least_of_edges("native", "", G.num_edges, G.num_vertices, 4, 0)
    host.free_disk(needed)
    assert G.write(tmp_path / "there.gdg").bytes >= needed, "the estimate is a lower one"
    host.free_disk(needed - 1)
    with pytest.raises(WriteError, match="nothing was begun"):
        G.write(tmp_path / "not.gdg")
    host.free_disk(None)
    assert G.write(tmp_path / "who knows.gdg").edges == G.num_edges


@pytest.mark.parametrize("name", ["graph.txt", "graph.csv", "graph.txt.gz", "graph.parquet", "graph.gdg"])
@pytest.mark.parametrize("number", ["R-MAT", "one vertex"])
def test_estimates_are_below_what_is_written(name, number, tmp_path):
    n = 1 << 14 if number == "R-MAT" else 1
    G = gd.generate.rmat(14, seed=1) if n > 1 else gd.from_edges(*np.zeros((2, 1 << 18), int))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphdaskWarning)  # CSV has no place for vertices without edges
        written = G.write(tmp_path / name)
    compression = ".gz" if name.endswith(".gz") else ""
    least = limits.least_of_edges(written.format, compression, G.num_edges, G.num_vertices, 4, 0)
    if n > 1:
        assert 0.1 * written.bytes < least <= written.bytes
    elif written.format in ("edgelist", "csv", "native") and not compression:
        assert least <= written.bytes


@pytest.mark.slow
def test_a_file_that_is_converted_to_one_that_the_disk_does_not_hold(tmp_path, host):
    gd.generate.rmat(16, seed=1).write(tmp_path / "graph.gdg")
    edges = read_edges(tmp_path / "graph.gdg")
    host.free_disk(2 * edges.num_edges)
    with pytest.raises(WriteError, match="1,048,576 edges need 4 MiB at least"):
        write_edges(edges, tmp_path / "graph.txt")
    write_edges(edges, tmp_path / "graph.txt.gz")
    with pytest.raises(WriteError, match=r"about \d{3},\d{3} edges need"):
        gd.stream.build(tmp_path / "graph.gdg", tmp_path / "graph.gdl")
    done = CliRunner().invoke(program, ["convert", str(tmp_path / "graph.gdg"), str(tmp_path / "graph.csv"), "--json"])
    assert done.exit_code == 1
    assert "free on its disk" in " ".join(done.stderr.split())
    assert json.loads(json.dumps(done.stdout)) == ""


def test_a_place_that_nobody_knows_the_room_of(tmp_path):
    assert limits.free_disk(tmp_path / "no" / "folder" / "yet") == limits.free_disk(tmp_path)
    assert limits.size(3 * 2**60) == "3,072 PiB"
    assert limits.size(5 << 30) == "5 GiB"
