"""`graphdask profile`: a row and a bar for each superstep, of every algorithm that `run` has."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import graphdask as gd
from graphdask.commands.profile import MOST_ROWS
from graphdask.engine.loop import RankResult, Superstep
from graphdask.interface.registry import algorithms
from graphdask.plot import superstep_profile
from graphdask.results.stats import Stats

PNG = b"\x89PNG\r\n\x1a\n"


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("algorithm", algorithms().values(), ids=lambda algorithm: algorithm.command)
def test_every_algorithm_has_a_profile(call, path_graph, tmp_path, algorithm):
    source = ("--source", 10) if algorithm.takes("source") else ()
    if algorithm.takes("labels"):
        (tmp_path / "labels.csv").write_text("vertex,label\n10,1\n20,1\n30,2\n40,2\n50,2\n")
        source = ("--labels", tmp_path / "labels.csv")
    where = ("--partitions", 2, "--undirected", "--device", "cpu", "--no-warm-up")
    picture = tmp_path / "profile.png"
    result = call("profile", algorithm.command, path_graph, *source, *where, "--output", picture, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert len(record["stats"]["bottlenecks"]) == len(record["stats"]["supersteps"])
    assert set(record["stats"]["bottlenecks"]) <= {"W", "C", "H", "wait", "l"}
    assert picture.read_bytes().startswith(PNG)
    ran = json.loads(call("run", algorithm.command, path_graph, *source, *where[:-1], "--json").stdout)
    assert record["answer"] == ran["answer"]


def test_the_table_has_a_row_for_each_superstep_and_the_terms_of_the_run(call, path_graph):
    result = call("profile", "bfs", path_graph, "--source", 10, "--undirected", "--partitions", 2, "--device", "cpu",
                  "--direction", "push")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "warm up" in result.stdout
    lines = result.stdout.splitlines()
    header = next(k for k, line in enumerate(lines) if "bound by" in line)
    rows = [line.split() for line in lines[header + 2 : lines.index("", header)]]
    assert [row[0] for row in rows] == [str(number) for number in range(len(rows))]
    assert sum(int(row[2]) for row in rows) == 4  # both edges of the path, from either end
    assert "W         4 edges visited" in result.stdout
    assert f"S         {len(rows)} supersteps in" in result.stdout


def test_of_many_supersteps_the_longest_have_rows(call, tmp_path):
    file = tmp_path / "long.txt"
    file.write_text("".join(f"{k} {k + 1}\n" for k in range(100)))
    result = call("profile", "bfs", file, "--source", 0, "--no-warm-up", "--partitions", 2, "--device", "cpu")
    assert result.exit_code == 0, result.output
    count = 102 - MOST_ROWS
    assert f"{count} shorter supersteps took" in result.stdout


@pytest.mark.parametrize("name", ["profile.txt", "profile", "nowhere/profile.png"])
def test_a_picture_that_cannot_be_drawn_is_refused_before_any_work(call, tmp_path, name):
    result = call("profile", "bfs", tmp_path / "missing.txt", "--source", 0, "--output", tmp_path / name)
    assert result.exit_code == 2
    assert "ends in .png, .pdf or .svg" in words(result.stderr) or "there is no directory" in words(result.stderr)


def profiled(vertices: int, parts: int):
    chain = np.arange(vertices)
    graph = gd.from_edges(chain[:-1], chain[1:], num_vertices=vertices).partition(parts=parts, device="cpu")
    return gd.bfs(graph, 0).stats


@pytest.mark.parametrize(("parts", "panels", "kinds"), [(1, 3, 3), (2, 4, 4)])
def test_the_picture_has_a_bar_for_each_superstep_and_part(tmp_path, parts, panels, kinds):
    stats = profiled(4, parts)
    figure = superstep_profile(stats, tmp_path / "profile.png")
    assert len(figure.axes) == panels
    for axes in figure.axes[:2]:
        assert len(axes.patches) == kinds * len(stats)
    heights = np.array([bar.get_height() for bar in figure.axes[1].patches]).reshape(kinds, -1)
    np.testing.assert_allclose(heights.sum(axis=0), 1)
    edges = figure.axes[2].lines[1].get_ydata()
    assert edges.tolist() == [step["edges"] for step in stats]
    assert (tmp_path / "profile.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_neighbours_share_a_bar_where_there_are_very_many_supersteps():
    stats = profiled(1000, 2)
    figure = superstep_profile(stats)
    bars = len(figure.axes[1].patches) / 4
    assert 300 <= bars <= 400
    per_bar = -(-len(stats) // 400)
    drawn = figure.axes[2].lines[0].get_ydata()
    assert drawn[1] == np.mean([step["frontier"] for step in stats][per_bar : 2 * per_bar])


@pytest.mark.slow
def test_drawing_a_profile_leaves_pyplot_alone():
    code = (
        "import sys, graphdask as gd; from graphdask.plot import superstep_profile as draw; "
        "draw(gd.bfs(gd.from_edges([0], [1]).partition(parts=1, device='cpu'), 0).stats); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_a_few_bars_that_tower_over_all_others_are_cut_and_marked(tmp_path):
    steps = [Superstep(k, 1 + k, 2 * k, 0, 0, (), 1e-3, 1e-4, 1e-4, 0.0) for k in range(100)]
    steps[50].compute = 1.0
    stats = Stats.of("BFS", [RankResult({}, supersteps=steps, transport="single")], "selective", "1-hop", 2.0)
    axes = superstep_profile(stats, tmp_path / "cut.png").axes[0]
    assert axes.get_ylim()[1] == pytest.approx(1.2 * 1.15 * 1.2)  # milliseconds: a fifth and more above 1.2
    assert "cut, up to 1e+03 ms" in {text.get_text() for text in axes.get_legend().get_texts()}
    (marks,) = (line for line in axes.lines if line.get_marker() == "^")
    assert marks.get_xdata().tolist() == [50]


@pytest.mark.parametrize("parts", [1, 2])
def test_a_streamed_run_waits_for_chunks(tmp_path, parts):
    src = np.arange(3000)
    S = gd.stream.build(gd.from_edges(src, src + 1, directed=False), tmp_path / "path.gdl", chunk=1024)
    stats = gd.pagerank(gd.stream.open(S.store.path, "400KiB", device="cpu").partition(parts), max_iter=3, tol=9).stats
    assert stats.waits_for == ("chunks" if parts == 1 else "ranks or chunks")
    labels = [text.get_text() for text in superstep_profile(stats).axes[0].get_legend().get_texts()]
    assert f"wait for {stats.waits_for}" in labels
