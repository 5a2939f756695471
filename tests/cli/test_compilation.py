"""Compilation is in no figure of a benchmark, and apart in what commands say."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import numba
import pytest

from graphdask.bench.analysis.timing import timed
from graphdask.kernels.common import compiling


def compiled_and_called(source):
    """A run that compiles a kernel that no process has."""
    compiling.listen_to_numba()
    numba.njit(lambda x: x + source)(1)
    return SimpleNamespace(stats=SimpleNamespace(bsp=SimpleNamespace(seconds=0.0)))


def test_a_call_that_compiles_is_timed_without_it():
    before, began = compiling.account(), time.perf_counter()
    runs = timed(compiled_and_called, [1, 2])
    whole, compiled = time.perf_counter() - began, compiling.since(before)
    assert compiled.kernels == 2
    assert all(run.call_seconds >= 0 for run in runs)
    assert sum(run.call_seconds for run in runs) <= whole - compiled.seconds + 1e-6


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "graph.txt").write_text("0 1\n1 2\n2 0\n")
    return tmp_path / "graph.txt"


def test_samples_say_what_compiling_took(call, graph):
    shown = call("sample", "walk", graph, "--length", 3).stdout
    assert "random walk" in shown.split("transport")[1]
    stats = json.loads(call("sample", "walk", graph, "--length", 3, "--json").stdout)["stats"]
    assert (stats["compiled"], stats["compile_seconds"]) == (0, 0), "the call before has compiled"


def test_building_says_what_compiling_took(call, graph):
    first = json.loads(call("stream", "build", graph, graph.with_suffix(".gdl"), "--json").stdout)
    again = json.loads(call("stream", "build", graph, graph.with_suffix(".gdl"), "--overwrite", "--json").stdout)
    assert first["seconds"] >= 0
    assert (again["compiled"], again["compile_seconds"]) == (0, 0)
