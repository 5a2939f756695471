"""Roads of thousands of levels, streamed in little memory: answers are those in memory, on every device.

A GPU, and the emulator of one, read rows where the host has them, and a search is one launch however many levels it
has; weighted ones copy chunks. The emulator takes milliseconds for a level, so its roads are shorter.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.stream.device_components import BYTES as COMPONENTS
from graphdask.stream.device_distances import WIDE
from graphdask.stream.device_paths import PATHS, SEARCH

DEVICES = "cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)
SHORT = {"path": 1400, "grid": 150}
"""Levels for the emulator."""
LONG = {"path": 1400, "grid": 3000}


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    """The device to open a file for, and how many levels its roads have."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
        return "cuda", SHORT
    return request.param, LONG


def road(name, levels):
    """A road so long, or three beside each other, with vertices numbered at random; its two ends."""
    rng, lanes = np.random.default_rng(levels), 1 if name == "path" else 3
    number = rng.permutation(levels * lanes).reshape(levels, lanes)
    src = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    dst = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    return src, dst, int(number[0, 0]), int(number[-1, -1])


def equal(G, S, call, *columns):
    """What is streamed has the bits of what is in memory; what it read."""
    a, b = call(G), call(S)
    for column in columns:
        mine, other = getattr(a, column), getattr(b, column)
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    return b.stats.streamed


def budgets(S, per_vertex):
    """Room for one chunk, and for a quarter of all, beside the state."""
    size, section = per_vertex * S.num_vertices, S.store.sections["out"]
    one = section.most_bytes + 16 * (section.most_rows + 1) + 8192
    return size + one, size + max(one, S.nbytes // 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_a_deep_road_is_answered_as_in_memory(stored, device, name):
    device, levels = device[0], device[1][name]
    src, dst, first, last = road(name, levels)
    G = gd.from_edges(src, dst, directed=False)
    S = stored(G, chunk=2048)
    assert S.chunks > 3
    depth = gd.bfs(G, first).depth
    assert depth.max() >= levels - 1
    for call, per_vertex, columns in (
        (lambda graph: gd.bfs(graph, first), SEARCH, ("depth", "parent")),
        (lambda graph: gd.sssp(graph, last), PATHS, ("distance", "parent")),
        (gd.connected_components, COMPONENTS, ("label",)),
    ):
        for memory in budgets(S, per_vertex):
            found = equal(G, gd.stream.open(S.store.path, memory, device=device), call, *columns)
            if device == "cpu":
                assert found["chunks_read"] > 0
            else:
                assert found["in_place"] > found["chunks_read"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_a_deep_road_with_lengths_is_answered_as_in_memory(stored, device, name):
    device, levels = device[0], device[1][name]
    src, dst, first, _ = road(name, levels)
    rng = np.random.default_rng(5)
    for lengths, per_vertex in ((rng.integers(1, 99, len(src)), PATHS), (rng.random(len(src)), WIDE)):
        G = gd.from_edges(src, dst, lengths, directed=False)
        S = stored(G, chunk=2048)
        for memory in budgets(S, per_vertex):
            found = equal(
                G, gd.stream.open(S.store.path, memory, device=device), lambda graph: gd.sssp(graph, first),
                "distance", "parent",
            )  # fmt: skip
            assert found["chunks_read"] > 0
