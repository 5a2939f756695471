"""The logger `graphdask` has a line for each run, and lines of its progress; without configuration it is silent."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import pytest
from gangs import active, path

import graphdask as gd
from graphdask.gang.tuning import GANG


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, "graphdask")
    return lambda: [each.getMessage() for each in caplog.records if each.name == "graphdask" and each.levelno == 20]


RUN = r"BFS of Graph: 30 vertices, 29 edges, undirected: {} over {}, 3\d supersteps in [\d.]+ \w+(, [\d.]+ \w+ more.*)?"


@pytest.mark.parametrize("parts", [1, 3])
def test_each_run_is_a_line(lines, parts):
    gd.bfs(path(30).partition(parts, device="cpu"), 0)
    ranks, plane = ("1 rank", "single") if parts == 1 else ("3 ranks", "threads")
    assert len(lines()) == 1
    assert re.fullmatch(RUN.format(rf"{ranks} \(CPU\) in this process", plane), lines()[0])


def test_a_run_on_workers_names_their_scheduler(lines, two_workers):
    with active(two_workers):
        gd.bfs(path(30), 0)
    where = rf"2 ranks \(CPU\) of {re.escape(two_workers.scheduler.address)}"
    assert len(lines()) == 1
    assert re.fullmatch(RUN.format(where, "shm"), lines()[0])


def test_samples_programs_streams_and_changed_graphs_are_runs(lines, tmp_path):
    G = path(30).partition(2)
    gd.sample.random_walk(G, [0], 3)
    S = gd.stream.build(path(30), tmp_path / "path.gdl")
    gd.bfs(S, 0)
    gd.sample.random_walk(S, [0], 3)
    gd.pagerank(gd.DynamicGraph(path(30)), method="static")
    assert [(line.split(" of ")[0], line.split(" of ")[1].split(":")[0]) for line in lines()] == [
        ("random walk", "Graph"), ("BFS", "StreamedGraph"), ("random walk", "StreamedGraph"),
        ("PageRank (Static)", "DynamicGraph"),
    ]  # fmt: skip


@pytest.mark.parametrize("parts", [1, 2])
def test_a_long_run_says_how_far_it_is(lines, parts, tuned):
    tuned(GANG, log_every=0.0)
    gd.bfs(path(30).partition(parts), 0)
    said = [line for line in lines() if line.startswith("BFS: superstep")]
    assert said
    assert all(
        re.fullmatch(r"BFS: superstep \d+, frontier \d+, [\d.e+]+ [kMG]?edges/s, for 0 s", line) for line in said
    )


def test_where_somebody_watches_the_bar_says_it(lines, host, tuned):
    tuned(GANG, log_every=0.0)
    host.terminal()
    gd.bfs(path(30), 0)
    assert len(lines()) == 1


def test_what_is_done_of_a_goal_is_said(lines, tuned):
    tuned(GANG, log_every=0.0)
    gd.betweenness(path(30), sources=4)
    assert any(re.search(r", [0-4] of 4 sources, for 0 s$", line) for line in lines())


@pytest.mark.slow
def test_nothing_is_written_without_configuration():
    code = "import graphdask as gd; gd.bfs(gd.from_edges([0, 1], [1, 2]), 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == done.stderr == ""
