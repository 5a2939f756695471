"""An algorithm of somebody else's distribution, with kernels of its own, is like one of graphdask's."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from source_tree import ROOT

import graphdask as gd
from graphdask.interface import registry

pytest.importorskip("setuptools", reason="needs setuptools, which the extra 'test' installs")

SOURCE = Path(__file__).with_name("outside")

CALLED = """
import sys

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from higher_degree import higher_neighbors
from higher_degree.kernels import higher

assert "higher_neighbors" in gd.__all__
assert gd.bfs(gd.from_edges([0], [1]), 0).depth.tolist() == [0, 1]
with pytest.MonkeyPatch.context() as patch:
    stand_in(patch, emulated())
    for name in ("sparse random, directed", "star inward", "no edges"):
        n, src, dst, _ = GRAPHS[name]()
        G = gd.from_edges(src, dst, num_vertices=n)
        degree, expected = np.bincount(src, minlength=n), np.zeros(n, np.int64)
        np.add.at(expected, src, degree[dst] > degree[src])
        for parts in (1, 3):
            for device in ("cpu", "cuda"):
                found = higher_neighbors(G.partition(parts, device=device)).verify()
                np.testing.assert_array_equal(found.higher, expected)
    found = gd.higher_neighbors(G.partition(1, device="cpu"))
    found.parts.values[0].columns["higher"][2] += 1
    with pytest.raises(gd.VerificationError, match="vertex 2 has 0 neighbors of higher degree, not 1"):
        found.verify()
print(higher.higher_count.stats.cache_path)
"""

ON_WORKERS = """
import sys

if __name__ == "__main__":
    from distributed import Client, LocalCluster

    import graphdask as gd

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster):
        G = gd.from_edges([0, 1, 2], [1, 2, 0])
        sys.path.insert(0, sys.argv[1])  # after the worker has begun
        from higher_degree import higher_neighbors

        try:
            higher_neighbors(G)
        except gd.MissingDependency as error:
            print(error)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the distribution is installed."""
    copy, folder = tmp_path_factory.mktemp("source") / "outside", tmp_path_factory.mktemp("site")
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    said = subprocess.run([*command, "--target", str(folder), str(copy)], capture_output=True, text=True, timeout=120)
    assert said.returncode == 0, said.stdout + said.stderr
    return folder


def run(site: Path, *command: str, cwd: Path) -> str:
    """What a program prints that finds the distribution."""
    paths = os.pathsep.join([str(site), str(ROOT / "tests" / "helpers")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": ""}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=cwd, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_its_function_gives_numpys_answer_on_every_device_and_proves_it(site, tmp_path):
    kept = run(site, "-c", CALLED, cwd=tmp_path).strip()
    assert os.environ.get("NUMBA_CACHE_DIR") or Path(kept).name.startswith("higher_degree.kernels.higher-")


@pytest.mark.slow
def test_its_function_is_a_command(site, tmp_path):
    (tmp_path / "graph.txt").write_text("0 1\n0 2\n1 0\n")
    options = ["graph.txt", "--partitions", "2", "--device", "cpu", "--verify", "--json"]
    said = json.loads(run(site, "-m", "graphdask", "run", "higher-neighbors", *options, cwd=tmp_path))
    assert said["answer"] == {"vertices": 3, "largest_higher": 1, "at": 1}
    assert "higher-neighbors" in run(site, "-m", "graphdask", "run", "--help", cwd=tmp_path)


@pytest.mark.slow
def test_workers_without_it_are_named(site, tmp_path):
    (tmp_path / "program.py").write_text(ON_WORKERS)
    done = subprocess.run(
        [sys.executable, "program.py", str(site)], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert "has no module higher_degree; install the package that has it on every worker" in done.stdout, done.stderr


MODULE = """
from graphdask.interface.registry import algorithm


@algorithm("{command}", object, "Nothing.", summary=lambda result: {{}}, words=str)
def {name}(G):
    pass
"""


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """A function that lets a distribution have one algorithm."""

    def offer(text: str, name: str = "somebodys_function") -> None:
        (tmp_path / "somebodys_module.py").write_text(text)
        entry = EntryPoint(name, "somebodys_module:somebodys_function", registry.GROUP)
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
        registry.others.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    before = set(registry.algorithms())
    yield offer
    for name in registry.ALGORITHMS.keys() - before:
        del registry.ALGORITHMS[name]
    sys.modules.pop("somebodys_module", None)
    vars(gd).pop("somebodys_function", None)
    registry._enter_if_sound.cache_clear()
    monkeypatch.undo()
    registry.others.cache_clear()


def test_what_is_graphdasks_own_imports_nothing_of_others(offered):
    offered("raise RuntimeError('imported')")
    assert registry.algorithm_named("bfs").command == registry.with_command("bfs").command == "bfs"
    assert gd.bfs.__name__ == "bfs"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("somebodys_function = print", r"no @algorithm\(\.\.\.\) stands above a function somebodys_function there"),
        (MODULE.format(command="bfs", name="somebodys_function"), "'bfs' is the command of bfs; give the function ano"),
        (MODULE.format(command="new", name="core_number"), "graphdask has an algorithm core_number already; give the"),
    ],
)
def test_one_that_cannot_be_used_is_left_out_with_a_warning_and_an_error_for_who_asks(offered, text, why):
    offered(text)
    with pytest.warns(gd.GraphdaskWarning, match=f"somebodys_function = 'somebodys_module:.*cannot be used: .*{why}"):
        assert "somebodys_function" not in registry.declared()
    with pytest.raises(gd.InputError, match=why):
        gd.somebodys_function  # noqa: B018
    assert registry.with_command("core").name == "core_number"


def test_one_that_can_is_declared(offered):
    offered(MODULE.format(command="new", name="somebodys_function"))
    assert registry.with_command("new").name == "somebodys_function"
    assert registry.declared()["somebodys_function"].help == "Nothing."
    assert gd.somebodys_function.__name__ == "somebodys_function"
