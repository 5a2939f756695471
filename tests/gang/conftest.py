"""Clusters that the tests of the gang share."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache

import pytest
from gangs import dask_cluster


@pytest.fixture(scope="session")
def cluster_of():
    """Clients by number of workers, made on first use."""
    with ExitStack() as stack:
        yield cache(lambda workers: stack.enter_context(dask_cluster(workers)))


@pytest.fixture
def two_workers(cluster_of):
    return cluster_of(2)
