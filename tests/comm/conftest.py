"""The communicators under test, each as a function `run(size, body, *arguments, **settings)`."""

from __future__ import annotations

import pytest
from ranks import ProcessRunner, needs_ucx, run_in_threads, run_single, run_ucx_threads


@pytest.fixture(scope="session")
def rank_processes():
    """Seven processes with a UcxPlane each."""
    needs_ucx()
    runner = ProcessRunner(7)
    yield runner
    runner.processes.close()


@pytest.fixture(params=["threads", "ucx-threads", "ucx-processes"])
def run(request):
    """Communicators of any size."""
    if request.param == "threads":
        return run_in_threads
    needs_ucx()
    return run_ucx_threads if request.param == "ucx-threads" else request.getfixturevalue("rank_processes")


SIZES = [
    pytest.param(("single", 1), id="single-1"),
    *(
        pytest.param((kind, size), id=f"{kind}-{size}")
        for kind in ("threads", "ucx-threads", "ucx-processes")
        for size in (1, 2, 3, 4, 7)
    ),
]


@pytest.fixture(params=SIZES)
def group(request):
    """A communicator and a size: `group(body, *arguments)` runs, `group.size` ranks."""
    kind, size = request.param
    if kind.startswith("ucx"):
        needs_ucx()
    runner = {"single": run_single, "threads": run_in_threads, "ucx-threads": run_ucx_threads}.get(kind)
    return Group(runner or request.getfixturevalue("rank_processes"), size)


class Group:
    """A runner and the number of ranks."""

    def __init__(self, runner, size: int):
        self.runner, self.size = runner, size

    def __call__(self, body, *arguments, **settings):
        return self.runner(self.size, body, *arguments, **settings)
