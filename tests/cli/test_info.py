"""`graphdask info` and `graphdask convert`: what is in a file, by others."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys

import networkx
import numpy as np
import pytest

from graphdask.commands.info import histogram
from graphdask.commands.tuning import COMMANDS


@pytest.fixture
def example(tmp_path):
    """A directed multigraph with a loop, a parallel edge and two components, as (file, NetworkX graph)."""
    file = tmp_path / "graph.txt"
    file.write_text("5 7\n7 5\n5 7\n7 7\n9 12\n")
    graph = networkx.MultiDiGraph([(5, 7), (7, 5), (5, 7), (7, 7), (9, 12)])
    return file, graph


def test_info_counts_what_networkx_counts(call, example):
    file, graph = example
    found = json.loads(call("info", file, "--json").stdout)
    out, inward = dict(graph.out_degree()).values(), dict(graph.in_degree()).values()
    components = list(networkx.weakly_connected_components(graph))
    assert (found["vertices"], found["edges"]) == (graph.number_of_nodes(), graph.number_of_edges())
    assert found["self_loops"] == networkx.number_of_selfloops(graph)
    assert found["parallel_edges"] == graph.number_of_edges() - networkx.DiGraph(graph).number_of_edges()
    assert (found["degree"]["out"]["min"], found["degree"]["out"]["max"]) == (min(out), max(out))
    assert (found["degree"]["in"]["min"], found["degree"]["in"]["max"]) == (min(inward), max(inward))
    assert found["degree"]["out"]["mean"] == pytest.approx(sum(out) / len(out))
    assert found["components"]["count"] == len(components)
    assert found["components"]["largest"] == max(map(len, components))
    assert found["ids"] == {"first": 5, "last": 12, "numbers": True, "renumbered": True}


def test_info_says_what_reading_would_change(call, example):
    file, _ = example
    found = json.loads(call("info", file, "--json", "--self-loops", "drop", "--multi-edges", "merge").stdout)
    assert found["edges"] == 3
    assert found["report"]["self_loops_dropped"] == 1
    assert found["report"]["parallel_edges_merged"] == 1


def test_info_is_readable(call, example):
    file, _ = example
    shown = call("info", file).stdout
    assert "components (weak)  2, largest 2; exact, by SciPy" in shown
    assert "self-loops         1" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("text", ["# only a comment\n", "1 1\n"])
def test_info_of_the_smallest_graphs(call, tmp_path, text):
    file = tmp_path / "small.txt"
    file.write_text(text)
    result = call("info", file)
    assert result.exit_code == 0, result.output
    assert "vertices" in result.stdout


def test_the_histogram_has_bins_of_doubling_width():
    bins = histogram(np.array([0, 1, 1, 2, 3, 4, 7, 8, 1000]))
    assert [(each["from"], each["to"], each["vertices"]) for each in bins if each["vertices"]] == [
        (0, 0, 1), (1, 1, 2), (2, 3, 2), (4, 7, 2), (8, 15, 1), (512, 1023, 1),
    ]  # fmt: skip


def test_info_knows_the_vertices_that_ldbc_declares(call, shared_data):
    stem = shared_data / "ldbc-graphalytics" / "example" / "example-directed"
    found = json.loads(call("info", stem.with_name(stem.name + ".e"), "--json").stdout)
    declared = stem.with_name(stem.name + ".v").read_text().split()
    edges = stem.with_name(stem.name + ".e").read_text().splitlines()
    assert (found["vertices"], found["edges"]) == (len(declared), len(edges))
    assert found["weighted"] is True


def test_convert_keeps_edges_and_ids(call, example, tmp_path):
    file, graph = example
    parquet, back = tmp_path / "graph.parquet", tmp_path / "back.csv"
    first = call("convert", file, parquet)
    assert first.exit_code == 0, first.output
    record = json.loads(call("convert", parquet, back, "--json").stdout)
    assert record["edges"] == graph.number_of_edges()
    rows = [tuple(map(int, line.split(",")[:2])) for line in back.read_text().splitlines() if line[0].isdigit()]
    assert sorted(rows) == sorted(graph.edges())


def test_convert_says_which_columns_stayed_behind(call, tmp_path):
    file = tmp_path / "weighted.txt"
    file.write_text("1 2 0.5\n2 3 0.25\n")
    assert "--weights" in call("convert", file, tmp_path / "a.csv").stdout
    with_weights = json.loads(call("convert", file, tmp_path / "b.csv", "--weights", "--json").stdout)
    assert with_weights["weights"] == "float64"


def test_convert_does_not_write_over_what_it_reads(call, example):
    file, _ = example
    before = file.read_text()
    result = call("convert", file, file)
    assert result.exit_code == 2
    assert file.read_text() == before


def test_convert_refuses_formats_that_it_cannot_write(call, example, tmp_path):
    file, _ = example
    result = call("convert", file, tmp_path / "graph.adjlist")
    assert result.exit_code == 2
    assert "graphdask does not write adjlist" in " ".join(result.stderr.split())
    assert not (tmp_path / "graph.adjlist").exists()


LINES = {
    "g.txt": ("", "{0} {1}\n"),
    "g.csv": ("source,target,weight\n", "{0},{1},2.5\n"),
    "names.txt": ("", "a{0} b{1}\n"),
    "declared.txt": ("# Nodes: 99999 Edges: 60000\n", "{0} {1}\n"),
    "g.adjlist": ("", "{0} {1}\n"),
    "g.mtx": ("%%MatrixMarket matrix coordinate pattern general\n70000 70000 60000\n", "{0} {1}\n"),
    "g.gr": ("p sp 70000 60000\n", "a {0} {1} 4\n"),
}


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
@pytest.mark.parametrize("name", LINES)
def test_info_reads_the_beginning_of_a_large_text_and_says_so(call, name, ending, tmp_path, tuned):
    head, line = LINES[name]
    text = head + "".join(line.format(k, k + 1) for k in range(1, 60_001))
    file = tmp_path / (name + ending)
    file.write_bytes({"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[ending](text.encode()))
    tuned(COMMANDS, first_bytes=200_000)
    found = json.loads(call("info", file, "--json").stdout)
    read = found["report"]["read_bytes"]
    assert found["complete"] is False
    assert found["edges"] == text.encode()[: read + 1].count(b"\n") - head.count("\n")
    assert found["edges"] < 59_000
    assert "which all counts are of; --all reads the rest" in " ".join(call("info", file).stdout.split())
    whole = json.loads(call("info", file, "--json", "--all").stdout)
    assert (whole["complete"], whole["edges"]) == (True, 60_000)
    assert "--all" not in call("info", file, "--all").stdout


@pytest.mark.slow
def test_info_of_what_is_compressed_to_little_takes_little(tmp_path):
    file = tmp_path / "g.txt.gz"
    with gzip.open(file, "wb", 9) as stream:
        for _ in range(200):
            stream.write(b"1 2\n" * (1 << 19))
    program = f"""if True:
        from graphdask.device import backend
        from graphdask.cli import main
        backend.CpuBackend.free_memory = lambda self: {256 << 20}
        import sys
        try:
            sys.argv = ["graphdask", "info", {str(file)!r}]
            main()
        finally:
            print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")))
    """
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert "--all reads the rest" in " ".join(ran.stdout.split()), ran.stderr
    assert int(ran.stdout.split()[-1]) < 700 << 10  # all of it would take several GiB


def test_info_of_a_header_of_thousands_of_names_shows_some(call, tmp_path):
    file = tmp_path / "g.csv"
    names = ["source", "target", *(f"x{k}" for k in range(5000))]
    file.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    shown = call("info", file).stdout
    assert "(5,002 in all)" in shown
    assert len(shown) < 3000
