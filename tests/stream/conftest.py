"""What the tests of streams share: a graph in many small chunks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import pytest

import graphdask as gd


@pytest.fixture(autouse=True)
def on_the_cpu():
    """Graphs in memory, which answers are compared with, are on the CPU."""
    with dask.config.set({"graphdask.device": "cpu"}):
        yield


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., Any]:
    """Store a graph in chunks of a kilobyte, and open it with memory for a few of them."""

    def store(G: Any, memory: Any = "64KiB", building: Any = "1MiB", **options: Any) -> Any:
        named = {"chunk": 1024, "memory": building, "overwrite": True} | options
        gd.stream.build(G, tmp_path / "graph.gdl", **named)
        return gd.stream.open(tmp_path / "graph.gdl", memory)

    return store
