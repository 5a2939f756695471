"""What tests of algorithms' kernels share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphdask.comm.single import SingleCommunicator
from graphdask.engine.loop import RankContext
from graphdask.engine.watchdog import Watchdog


@pytest.fixture
def env(backend: Any) -> Iterator[Any]:
    """The environment of a rank that is alone on a backend."""
    with SingleCommunicator() as comm:
        yield RankContext(comm, backend, Watchdog()).environment("selective")
