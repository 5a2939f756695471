"""`graphdask warm`: kernels are compiled ahead, and a second call finds all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import graphdask as gd

CALL = """
import numpy as np
import graphdask as gd
from graphdask.kernels.common.compiling import process

for directed in (True, False):
    G = gd.from_edges(np.arange(200), np.arange(1, 201), directed=directed)
    gd.connected_components(G).label
print(process().kernels)
"""


@pytest.fixture
def empty(tmp_path):
    """The environment of a process whose kernels are kept in an empty folder."""
    return {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}


def run(env, *arguments):
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_what_was_warmed_is_not_compiled_again(empty):
    warm = "-m", "graphdask", "warm", "components", "--device", "cpu"
    first = json.loads(run(empty, *warm, "--json"))
    assert [row["algorithm"] for row in first["algorithms"]] == ["components"]
    assert first["compiled"] == first["algorithms"][0]["compiled"] > 5
    assert (first["folder"], first["id_widths"]) == (empty["NUMBA_CACHE_DIR"], [32])
    again = run(empty, *warm)
    assert "all was there" in again
    assert f"All kernels were there, in {empty['NUMBA_CACHE_DIR']}" in again
    assert run(empty, "-c", CALL).strip() == "0"


def test_wide_ids_are_warmed_too(call):
    found = json.loads(call("warm", "coloring", "--device", "cpu", "--wide", "--json").stdout)
    assert found["id_widths"] == [32, 64]
    again = json.loads(call("warm", "coloring", "--device", "cpu", "--wide", "--json").stdout)
    assert (again["compiled"], again["seconds"]) == (0, 0)


def test_an_unknown_algorithm_is_refused_with_those_there_are(call):
    result = call("warm", "nothing")
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "there is no algorithm 'nothing' to warm" in said
    assert all(each in said for each in ("bfs", "pagerank", "strong"))


@pytest.mark.gpu
def test_kernels_of_a_gpu_are_warmed(call):
    found = json.loads(call("warm", "coloring", "--device", "cuda", "--json").stdout)
    assert found["device"] == "cuda"
    assert gd.greedy_coloring(gd.generate.rmat(6).to_undirected().partition(1, device="cuda")).verify()
