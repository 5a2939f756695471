"""Processes that need the same kernels at the same time compile each once between them, and wait for a limited time."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from graphdask.kernels.common import once
from graphdask.kernels.common.compiling import account, since
from graphdask.kernels.common.twin import twin

SEARCH = """
import sys
import graphdask as gd
from graphdask.kernels.common import compiling

G = gd.from_edges([0, 1, 2], [1, 2, 0], directed=False).partition(1, device="cpu")
print("ready", flush=True)
sys.stdin.readline()
assert gd.core_number(G).core.tolist() == [2, 2, 2]
print(compiling.process().kernels)
"""


@pytest.fixture
def counted(tmp_path, host):
    """A twin that is kept in an empty folder, and how to make what another process has of it."""
    host.numba(CACHE_DIR=str(tmp_path))

    def count(x):
        return x.sum() + 1

    yield lambda: twin(count)
    once._in_vain.clear()


@pytest.mark.slow
def test_processes_that_begin_together_compile_each_kernel_once(tmp_path):
    kernels = []
    for name, together in ("alone", 1), ("together", 2):
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / name)}
        environment.pop("NUMBA_CACHE_DIR", None)
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", SEARCH],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            for _ in range(together)
        ]
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        found = [int(process.communicate(timeout=300)[0]) for process in processes]
        assert {process.returncode for process in processes} == {0}
        kernels.append(sum(found))
        assert not list((tmp_path / name).rglob("*.lock"))
    assert kernels[0] == kernels[1] > 0


def test_a_kernel_that_another_process_compiles_is_waited_for_and_loaded(counted, monkeypatch):
    lock, tries = fcntl.flock, []

    def compiled_meanwhile(file, operation):
        tries.append(file)
        if len(tries) == 1:
            assert counted()(np.ones(3)) == 4, "as another process would compile it"
            raise BlockingIOError
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", compiled_meanwhile)
    kernel, before = counted(), account()
    assert kernel(np.ones(4)) == 5
    assert sum(kernel.stats.cache_hits.values()) == 1
    assert since(before).seconds > 0, "waiting counts as compiling"


def test_a_process_that_waits_in_vain_compiles_and_waits_for_nothing_more(counted, host, fault, watched):
    host.clock(once)
    fault(fcntl, "flock", BlockingIOError)
    tries = watched(fcntl, "flock")
    kernel = counted()
    assert kernel(np.ones(4)) == 5
    assert tries
    tries.clear()
    assert kernel(np.ones(4, np.float32)) == 5
    assert not tries


def test_a_kernel_that_cannot_be_compiled_leaves_no_lock(counted, tmp_path):
    kernel = counted()
    with pytest.raises(numba.TypingError):
        kernel("a text")
    assert not once._held.files
    assert not list(tmp_path.rglob("*.lock"))
    assert kernel(np.ones(4)) == 5


def test_a_folder_in_which_nothing_can_be_locked_is_no_obstacle(counted, fault):
    fault(os, "open", PermissionError, lambda path, *how: str(path).endswith(".lock"))
    assert counted()(np.ones(3)) == 4
    fault.over()
    fault(fcntl, "flock", OSError("no locks"))
    assert counted()(np.ones(3, np.float32)) == 4
