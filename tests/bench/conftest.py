"""What the tests of benchmarks share: sizes that take no minutes, and the libraries that are compared with."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def sized(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A suite of other sizes until the test ends, as in `sized(SUITES, "quick", Suite(...))`, by name on a CPU."""
    # The suites of users take minutes.
    return lambda suites, name, suite: monkeypatch.setitem(suites, (name, "cpu"), suite)


@pytest.fixture
def compared_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Other libraries that a benchmark compares with until the test ends, as in `compared_with(program, *peers)`."""

    def begin(benchmark: ModuleType, *peers: Any) -> None:
        # Which are installed differs from machine to machine.
        monkeypatch.setattr(benchmark, "PEERS", peers)

    return begin
