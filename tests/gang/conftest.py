"""Clusters that the tests of the gang share, and what became of the runs during which a worker was killed."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache

import pytest
from gangs import dask_cluster, runs_with_a_kill
from quiet import Watch
from ranks import needs_ucx


@pytest.fixture(scope="session")
def cluster_of():
    """Clients by number of workers, made on first use."""
    with ExitStack() as stack:
        yield cache(lambda workers: stack.enter_context(dask_cluster(workers)))


@pytest.fixture
def two_workers(cluster_of):
    return cluster_of(2)


@pytest.fixture(scope="session")
def killed():
    """Runs during which a worker was killed, by number of workers and data plane: five each, made on first use."""

    @cache
    def runs(workers: int, comm: str):
        if comm == "ucx":
            needs_ucx()
        with Watch() as watch:
            return runs_with_a_kill(workers, comm, watch.disturbed)

    return runs
