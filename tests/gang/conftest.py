"""Clusters that the tests of the gang share."""

from __future__ import annotations

import pytest
from gangs import dask_cluster


@pytest.fixture(scope="session", params=[1, 2, 3], ids="{}-workers".format)
def some_workers(request):
    """A client of a cluster of 1, 2 and 3 workers in turn."""
    with dask_cluster(request.param) as client:
        yield client


@pytest.fixture(scope="module")
def two_workers():
    with dask_cluster(2) as client:
        yield client
