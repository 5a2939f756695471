"""A cluster of two workers for the tests of what leaves a graph."""

from __future__ import annotations

import pytest
from gangs import dask_cluster


@pytest.fixture(scope="session")
def two_workers():
    with dask_cluster(2) as client:
        yield client
