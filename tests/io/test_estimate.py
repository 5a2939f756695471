"""A file that memory has no room for is refused before it is read, with the calls that stream it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import chdir

import fsspec
import numpy as np
import pytest
from memory import free, uncounted

import graphdask as gd
from graphdask.gang.offered import offered
from graphdask.graph import construct

FILES = ("g.txt", "g.csv.gz", "g.mtx", "g.npz", "g.gdg", "g.parquet", "folder/")


@pytest.fixture
def graph(rng):
    src, dst = rng.integers(1, 5000, (2, 40_000))
    return gd.from_edges(src, dst, rng.random(40_000))


def written(graph, name, tmp_path):
    path = tmp_path / name
    if name == "folder/":
        graph.write(str(path) + "/", format="csv", files=2)
    else:
        gd.io.write_edges(gd.io.EdgeList(*graph.edges("cpu"), directed=True), path)
    return path


@pytest.fixture
def little(free_memory):
    """From when it is called on there is little memory."""
    return lambda: free_memory(1 << 18)


@pytest.mark.parametrize("name", FILES)
def test_a_file_larger_than_memory_is_refused_with_the_calls_that_stream_it(name, graph, tmp_path, little):
    path = written(graph, name, tmp_path)
    little()
    with pytest.raises(gd.OverBudget, match=r"about [\d,]+ edges need .* GiB to be read, and .* may be used") as caught:
        gd.read_graph(path)
    estimated = int(re.search(r"about ([\d,]+) edges", str(caught.value))[1].replace(",", ""))
    assert graph.num_edges // 3 <= estimated <= 1.1 * graph.num_edges
    if name in ("g.mtx", "g.npz"):
        assert re.search(r"file is read whole; bring it into one of the formats edgelist", str(caught.value))
        return
    built = re.search(r"stream it from disk: (graphdask\.stream\.build\(.*?\)),", str(caught.value))[1]
    opened = re.search(r"later (graphdask\.stream\.open\(.*?\)),", str(caught.value))[1]
    with chdir(tmp_path), free(1 << 30):
        made = eval(built, {"graphdask": gd})
        assert made.num_edges == graph.num_edges
        assert len(gd.connected_components(eval(opened, {"graphdask": gd})).label) == graph.num_vertices


def test_edges_and_temporal_edges_are_refused_too(graph, tmp_path, little):
    path = written(graph, "g.txt", tmp_path)
    little()
    with pytest.raises(gd.OverBudget, match=r"graphdask\.stream\.build"):
        gd.io.read_edges(path)
    with pytest.raises(gd.OverBudget, match=r"40,000 edges need .*build\(G, \"graph\.gdl\", memory=\"16MiB\"\)"):
        graph.edges("cpu")
    with pytest.raises(gd.OverBudget, match=r"stream it from disk: graphdask\.stream\.build\(G"):
        gd.sample.random_walk(graph.partition(1, device="cpu"), 10, 5)


def test_files_of_a_pattern_are_counted_together(rng, tmp_path, free_memory):
    fsspec.filesystem("memory").store.clear()
    for k in range(8):
        src, dst = rng.integers(1, 5000, (2, 10_000))
        gd.io.write_edges(gd.io.EdgeList(src, dst, directed=True), tmp_path / f"{k}.txt")
        fsspec.filesystem("memory").pipe(f"/together/{k}.txt", (tmp_path / f"{k}.txt").read_bytes())
    free_memory(1 << 20)
    assert gd.read_graph(tmp_path / "3.txt").num_edges == 10_000
    message = r"about [78]\d,\d+ edges of 8 files need .*; write all files as one, and stream it from disk: "
    for pattern in (str(tmp_path / "*.txt"), "memory://together/*.txt"):
        with pytest.raises(gd.OverBudget, match=message):
            gd.read_graph(pattern)
        with pytest.raises(gd.OverBudget, match=message):
            gd.io.read_edges(pattern)
    fsspec.filesystem("memory").store.clear()


def test_what_is_small_is_read_and_what_is_wrong_is_said_by_its_reader(tmp_path, little):
    little()
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    assert gd.read_graph(tmp_path / "g.txt").num_edges == 2
    for name in ("g.npz", "g.parquet", "g.gdg"):
        (tmp_path / name).write_bytes(b"no such file" * 100_000)
        with pytest.raises(gd.InputError):
            gd.io.read_edges(tmp_path / name)
    with pytest.raises(gd.InputError, match="no such file"):
        gd.read_graph(tmp_path / "none.txt")


def test_memory_that_runs_out_is_an_error_with_the_same_advice(graph, tmp_path, fault):
    path = written(graph, "g.txt", tmp_path)
    fault(construct, "Graph", np._core._exceptions._ArrayMemoryError((1 << 50,), np.dtype(np.int64)))
    with pytest.raises(gd.OverBudget, match=r"memory has run out while it was read \(Unable to allocate .*build\("):
        gd.read_graph(path)
    with pytest.raises(gd.OverBudget, match=r"run out \(Unable to allocate .*disk: .*build\(G"), offered(graph):
        construct.Graph()


PEAKS = """if True:
    import ctypes, json, sys
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # no huge pages, which take memory that nothing asked for
    import numpy as np
    import graphdask as gd
    from graphdask.device.backend import get_backend
    from graphdask.partition.build import BuildPlan, memory
    from graphdask.io import estimates
    from graphdask.io.budgets import GRAPH, WEIGHT
    from graphdask.partition.vertex_map import VertexMap

    def resident(name):
        return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(name))

    first, path, directed, weighted = sys.argv[1], sys.argv[2], sys.argv[3] == "directed", sys.argv[4] == "weighted"
    def read(path):
        return gd.read_graph(path, directed=directed, weights=weighted)
    def build(graph):
        return graph.partition(1, device="cpu").persist()
    build(read(first))  # loads what is loaded once
    before = resident("VmRSS")
    graph = read(path)
    peak = resident("VmHWM") - before
    edges, kind = estimates.estimate(path, "edgelist", 0)
    if isinstance(graph.vertex_ids[0], str):
        kind = "names"
    told = [[peak, graph.num_edges * (getattr(GRAPH, kind) + WEIGHT * weighted)]]
    before = resident("VmRSS")
    build(graph)
    plan = BuildPlan(VertexMap(graph.num_vertices), directed, "1-hop", False, graph.num_edges, weighted)
    if resident("VmHWM") > before + told[0][0]:
        told.append([resident("VmHWM") - before, memory(plan, 1, True)])
    print(json.dumps([kind, abs(edges / graph.num_edges - 1), told]))
"""


def lines(path, ends, weights=None):
    columns = [*ends] if weights is None else [*ends, weights]
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in zip(*columns, strict=True)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "direction", "weighted", "edges"),
    [
        ("narrow", "directed", False, 600_000), ("narrow", "directed", False, 1_300_000),
        ("narrow", "undirected", True, 600_000), ("narrow", "undirected", True, 1_300_000),
        ("wide", "directed", False, 600_000), ("apart", "directed", False, 1_300_000),
        ("names", "directed", False, 600_000),
    ],
)  # fmt: skip
def test_estimates_are_no_less_than_what_reading_and_building_take(kind, direction, weighted, edges, tmp_path, rng):
    edges = edges // 4 if kind == "names" else edges
    n = 2 * edges if kind == "apart" else edges // 2
    pool = rng.permutation(n) if kind in ("narrow", "names") else rng.integers(2**40, 2**62, n)
    ends = pool.reshape(2, edges) if kind == "apart" else pool[rng.integers(0, n, (2, edges))]
    named = [[f"user{k}" for k in end.tolist()] for end in ends] if kind == "names" else [e.tolist() for e in ends]
    weights = rng.integers(1, 99, edges).tolist() if weighted else None
    path = lines(tmp_path / "large.txt", named, weights)
    few = slice(0, 150_000)
    first = lines(tmp_path / "small.txt", [end[few] for end in named], None if weights is None else weights[few])
    words = [str(first), str(path), direction, "weighted" if weighted else "plain"]
    done = subprocess.run([sys.executable, "-c", PEAKS, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found, off, reported = json.loads(done.stdout.splitlines()[-1])
    assert found == {"apart": "wide"}.get(kind, kind)
    assert off < 0.05
    for peak, estimate in reported:
        assert peak - uncounted() <= estimate <= 2.5 * (peak + uncounted()), reported


def with_columns(path, rng):
    """Write edges with columns that are several times as large as they, and return how many edges there are."""
    src, dst = rng.integers(0, 5000, (2, 20_000))
    columns = {name: rng.random(20_000) for name in "abcdefghijklmnopqrst"}
    columns["word"] = [f"{number:040}w" for number in range(20_000)]
    of_vertices = {"long": [f"{number:0500}" for number in range(len(np.unique([src, dst])))]}
    G = gd.from_edges(src, dst, edge_columns=columns, vertex_columns=of_vertices)
    G.write(path, format="parquet" if path.endswith("/") else None)
    return G


@pytest.mark.filterwarnings("ignore::graphdask.GraphdaskWarning")
@pytest.mark.parametrize("name", ["g.parquet", "g.csv", "g.csv.gz", "folder/"])
def test_columns_that_are_asked_for_are_counted_before_reading(name, tmp_path, rng, free_memory):
    path = f"{tmp_path}/{name}"
    G = with_columns(path, rng)
    free_memory(2 << 20)
    assert gd.read_graph(path, directed=True).num_edges == G.num_edges
    with pytest.raises(gd.OverBudget, match=r"their columns \(|with the columns a, b, c, d, e, \.\.\. need"):
        gd.read_graph(path, edge_columns=True)
    if name == "folder/":
        with pytest.raises(gd.OverBudget, match=r"and their columns \("):
            gd.read_graph(path, vertex_columns=True)
    assert gd.read_graph(path, edge_columns=["a"]).edge_column("a").shape == (G.num_edges,)


@pytest.mark.parametrize("kind", [None, "dictionary"])
def test_strings_of_a_column_count_by_their_length_and_not_as_ids(kind, tmp_path, rng, free_memory, monkeypatch):
    """Names as ids take 288 bytes an edge."""
    src, dst = rng.integers(0, 5000, (2, 20_000))
    words = pytest.importorskip("pyarrow").array([f"{number % 700:03}" for number in range(20_000)])
    words = words if kind is None else words.dictionary_encode()
    gd.from_edges(src, dst, edge_columns={"word": words}).write(tmp_path / "short.parquet")
    free_memory(4 << 20)
    found = gd.read_graph(tmp_path / "short.parquet", edge_columns=True)
    assert found.edge_column("word").tolist() == words.to_pylist()
    long = [f"{number:0400}" for number in range(20_000)]
    gd.from_edges(src, dst, edge_columns={"word": long}).write(tmp_path / "long.parquet")
    # pyarrow writes no footer that states too little.
    monkeypatch.setattr("graphdask.io.estimates.column_bytes", lambda *_: 0)
    with pytest.raises(gd.OverBudget, match=r"its columns take 0\.00\d+ GiB"):
        gd.read_graph(tmp_path / "long.parquet", edge_columns=True)
