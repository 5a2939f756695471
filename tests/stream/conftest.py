"""What the tests of streams share: a graph in many small chunks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import pytest
from emulated import emulated, stand_in
from streams import Late

import graphdask as gd
from graphdask.stream import device_window, rows


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


@pytest.fixture
def late_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies to a device come after the call that asks for them has returned, as on a GPU, also on the emulator."""
    for module in (device_window, rows):
        # The emulator copies at once.
        monkeypatch.setattr(module, "copies_of", Late)


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def streamed(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, stored: Callable[..., Any]
) -> Callable[..., Any]:
    """Store a graph, and open it for a device, or for so many ranks that have one."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())

    def store(
        G: Any, memory: Any = "96KiB", read_ahead: int | None = None, host_memory: Any = None,
        parts: int | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        path = stored(G, **options).store.path
        S = gd.stream.open(path, memory, read_ahead=read_ahead, device="cuda", host_memory=host_memory)
        return S if parts is None else S.partition(parts)

    return store
