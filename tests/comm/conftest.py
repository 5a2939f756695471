"""The communicators under test, each as a function `run(size, body, *arguments, **settings)`."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from ranks import (
    ProcessRunner,
    ShmProcessRunner,
    needs_ucx,
    run_in_threads,
    run_shm_threads,
    run_single,
    run_ucx_threads,
)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("error::ResourceWarning"))


@pytest.fixture(autouse=True, scope="package")
def garbage_of_others():
    """Sockets that other folders' tests have left to the garbage collector are gone before these begin."""
    gc.collect()


@pytest.fixture(scope="session")
def rank_processes():
    """Seven processes with a UcxPlane each."""
    needs_ucx()
    runner = ProcessRunner(7)
    yield runner
    runner.processes.close()


RUNNERS = {
    "single": run_single,
    "threads": run_in_threads,
    "shm-threads": run_shm_threads,
    "ucx-threads": run_ucx_threads,
}


def runner_of(kind: str, request):
    """Ranks of a kind; those in processes live as long as the session."""
    if kind not in ("single", "threads", "shm-threads"):
        needs_ucx()
    if kind in RUNNERS:
        return RUNNERS[kind]
    processes = request.getfixturevalue("rank_processes")
    return ShmProcessRunner(processes) if kind == "shm-processes" else processes


@pytest.fixture(params=["threads", "ucx-threads", "ucx-processes", "shm-threads", "shm-processes"])
def run(request):
    """Communicators of any size."""
    return runner_of(request.param, request)


SIZES = [
    pytest.param(("single", 1), id="single-1"),
    *(
        pytest.param((kind, size), id=f"{kind}-{size}")
        for kind in ("threads", "ucx-threads", "ucx-processes", "shm-threads", "shm-processes")
        for size in (1, 2, 3, 4, 7)
    ),
]


@pytest.fixture(params=SIZES)
def group(request):
    """A communicator and a size: `group(body, *arguments)` runs, `group.size` ranks."""
    kind, size = request.param
    return Group(runner_of(kind, request), size)


class Group:
    """A runner and the number of ranks."""

    def __init__(self, runner, size: int):
        self.runner, self.size = runner, size

    def __call__(self, body, *arguments, **settings):
        return self.runner(self.size, body, *arguments, **settings)
