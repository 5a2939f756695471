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


def test_importing_the_package_is_quick(tmp_path):
    code = "import time; start = time.perf_counter(); import graphdask; print(time.perf_counter() - start)"
    assert min(float(python(code, tmp_path)) for _ in range(REPEATS)) < 0.3


def test_importing_the_package_loads_nothing_heavy(tmp_path):
    assert loaded("graphdask", tmp_path) == []


def test_the_package_is_whole_in_the_folder_of_its_source():
    assert python("import graphdask.kernels, graphdask.cluster; print('whole')", ROOT) == "whole"


@cli
def test_importing_the_command_line_loads_nothing_heavy(tmp_path):
    assert loaded("graphdask.cli", tmp_path) == []


@cli
def test_help_is_quick(tmp_path):
    program = shutil.which("graphdask", path=sysconfig.get_path("scripts"))
    assert program is not None, "the script graphdask is not installed beside this interpreter"
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        done = subprocess.run([program, "--help"], capture_output=True, text=True, cwd=tmp_path)
        seconds.append(time.perf_counter() - start)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Usage: graphdask")
    assert min(seconds) < 0.5
