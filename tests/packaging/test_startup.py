"""Importing the package and asking the command line for help are quick, and load nothing heavy."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from source_tree import ROOT

HEAVY = ("cupy", "numba", "distributed", "matplotlib")
REPEATS = 5

cli = pytest.mark.skipif(importlib.util.find_spec("graphdask.cli") is None, reason="there is no command line")


def python(code: str, cwd: Path) -> str:
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded(module: str, cwd: Path) -> list[str]:
    """Heavy packages that importing a module brings in."""
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    return python(code, cwd).split()


def seconds(command: list[str], cwd: Path) -> float:
    """How long a process takes, at best."""
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, cwd=cwd)
        found.append(time.perf_counter() - start)
    return min(found)


@pytest.fixture(scope="module")
def numpy_seconds(tmp_path_factory: pytest.TempPathFactory) -> float:
    """What starting Python and importing NumPy takes here: 0.15 to 0.3 s; a slow machine is slow for all."""
    return seconds([sys.executable, "-c", "import numpy"], tmp_path_factory.mktemp("numpy"))


def test_importing_the_package_is_quick(numpy_seconds, tmp_path):
    assert seconds([sys.executable, "-c", "import graphdask"], tmp_path) < 2 * numpy_seconds


def test_importing_the_package_loads_nothing_heavy(tmp_path):
    assert loaded("graphdask", tmp_path) == []


def test_the_package_is_whole_in_the_folder_of_its_source():
    assert python("import graphdask.kernels, graphdask.cluster; print('whole')", ROOT) == "whole"


@cli
def test_importing_the_command_line_loads_nothing_heavy(tmp_path):
    assert loaded("graphdask.cli", tmp_path) == []


@cli
def test_help_is_quick(numpy_seconds, tmp_path):
    program = shutil.which("graphdask", path=sysconfig.get_path("scripts"))
    assert program is not None, "the script graphdask is not installed beside this interpreter"
    done = subprocess.run([program, "--help"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: graphdask")
    assert seconds([program, "--help"], tmp_path) < 4 * numpy_seconds
