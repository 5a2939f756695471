"""Importing the package and asking the command line for help are quick, and load nothing heavy."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
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
    """Processor time of a process: what else the machine does makes it wait, but not count."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def as_long_as_numpy(command: list[str], cwd: Path) -> float:
    """How many times as long as starting Python and importing NumPy a command takes, each at best, in turns."""
    numpy = [sys.executable, "-c", "import numpy"]
    taken = [(seconds(command, cwd), seconds(numpy, cwd)) for _ in range(REPEATS)]
    return min(own for own, _ in taken) / min(other for _, other in taken)


def test_importing_the_package_is_quick(tmp_path):
    assert as_long_as_numpy([sys.executable, "-c", "import graphdask"], tmp_path) < 2


def test_importing_the_package_loads_nothing_heavy(tmp_path):
    assert loaded("graphdask", tmp_path) == []


def test_who_asks_workers_loads_no_compiler(tmp_path):
    assert loaded("graphdask.gang.in_memory", tmp_path) == []


def test_the_package_is_whole_in_the_folder_of_its_source():
    assert python("import graphdask.kernels, graphdask.cluster; print('whole')", ROOT) == "whole"


@cli
def test_importing_the_command_line_loads_nothing_heavy(tmp_path):
    assert loaded("graphdask.cli", tmp_path) == []


@cli
def test_help_is_quick(tmp_path):
    program = shutil.which("graphdask", path=sysconfig.get_path("scripts"))
    assert program is not None, "the script graphdask is not installed beside this interpreter"
    done = subprocess.run([program, "--help"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: graphdask")
    assert as_long_as_numpy([program, "--help"], tmp_path) < 4
