"""A resident set: what is on the device is what the host has, in turn or for good, and copies are counted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from emulated import emulated

from graphdask.device.backend import CudaBackend, get_backend
from graphdask.device.residency import PIECE, STAGED, STAGES, Lanes, ResidentSet, fetched, on_device, sent


def pieces(count):
    return [{"a": np.arange(k, 2 * k), "b": np.full(3 * k, k, np.float32)} for k in range(count)]


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("count", [0, 5, STAGED // 8, 3 * PIECE + 7, 3 * STAGES * PIECE // 8])
def test_arrays_are_sent_whole(device, count, rng):
    backend = emulated() if device == "emulated" else get_backend(device)
    values = rng.integers(0, 1 << 62, count)
    np.testing.assert_array_equal(backend.to_host(sent(backend, values)), values)
    np.testing.assert_array_equal(backend.to_host(sent(backend, values[::2])), values[::2])
    square = sent(backend, values[: count // 4 * 4].reshape(-1, 4))
    assert square.shape == (count // 4, 4)
    np.testing.assert_array_equal(backend.to_host(square).reshape(-1), values[: count // 4 * 4])


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_resident_set_has_what_the_host_has(device):
    backend = emulated() if device == "emulated" else get_backend(device)
    arrays, held = pieces(7), ResidentSet(backend, pieces(7), 3)
    assert {name: len(pool) for name, pool in held.pools.items()} == {"a": 3 * 6, "b": 3 * 18}
    order = [1, 5, 0, 6, 2, 5, 3, 4, 1, 6]
    for (number, found), expected in zip(held.visit(order), order, strict=True):
        assert number == expected
        for name, array in arrays[number].items():
            np.testing.assert_array_equal(backend.to_host(found[name]), array)
    came = held.transfers
    assert 7 <= came <= len(order)
    (again,) = held.visit([6])
    assert again[0] == 6
    assert held.transfers == came
    assert 6 in held
    assert held.free_slots == 0
    held.release(6)
    assert held.free_slots == 1
    wider = ResidentSet(backend, pieces(7), 2, {"a": 8, "b": 20})
    (came_first, _), (number, _) = wider.visit([4, 6])
    assert (came_first, number, wider.nbytes) == (4, 6, 10 * 8 + 30 * 4)
    for number in (4, 6):
        for name, length in (("a", 8), ("b", 20)):
            there = backend.to_host(wider.pools[name])[length * wider.slot(number) :]
            np.testing.assert_array_equal(there[: len(arrays[number][name])], arrays[number][name])
    assert {wider.slot(4), wider.slot(6)} == {0, 1}
    for number in (5, 0, 5):
        found = wider.in_place(number)
        for name, array in arrays[number].items():  # read by a kernel
            np.testing.assert_array_equal(backend.to_host(backend.xp.add(found[name], 0)), array)
    np.testing.assert_array_equal(backend.to_host(on_device(backend, arrays[3]["b"])), arrays[3]["b"])
    wider.close()
    lanes = Lanes(backend, 2)
    for launches in (1, 3):
        lanes.fork(launches)
        for launch in range(launches):
            with lanes[launch]:
                backend.xp.zeros(3)
        lanes.join()
    held.close()


@pytest.mark.parametrize(
    "device",
    ["cpu", pytest.param("emulated", marks=pytest.mark.slow), pytest.param("cuda", marks=pytest.mark.gpu)],
)
def test_arrays_are_fetched_whole(device):
    backend = emulated() if device == "emulated" else get_backend(device)
    for count in (0, 5, STAGED // 8, PIECE * (2 * STAGES + 1) // 8 + 3):
        values = np.arange(count)
        there = backend.from_host(values)
        np.testing.assert_array_equal(fetched(there), values)
        np.testing.assert_array_equal(fetched(there[::2]), values[::2])
        rows = np.full((3, count), -1)
        for array in (there, values):
            assert fetched(array, rows[1]).base is rows
            np.testing.assert_array_equal(rows, [np.full(count, -1), values, np.full(count, -1)])
        square = there[: count // 4 * 4].reshape(-1, 4)
        assert fetched(square).shape == (count // 4, 4)
        np.testing.assert_array_equal(fetched(square).reshape(-1), values[: count // 4 * 4])


class Noted:
    """A stream or an event of a GPU that notes what it is told."""

    reported: ClassVar[list[str]] = []

    def __init__(self, **options):
        self.reported.append("made")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def record(self, stream):
        self.reported.append("record")

    def wait_event(self, event):
        self.reported.append("wait")


def test_no_more_lanes_are_taken_than_there_are_launches():
    backend = CudaBackend.__new__(CudaBackend)
    backend.xp = SimpleNamespace(cuda=SimpleNamespace(Stream=Noted, Event=Noted, get_current_stream=Noted))
    lanes = Lanes(backend, 4)
    for launches, taken in ((1, 0), (3, 3), (9, 4)):
        Noted.reported.clear()
        lanes.fork(launches)
        streams = {id(lanes[launch]) for launch in range(launches)}
        lanes.join()
        assert len(streams) == max(taken, 1)
        assert Noted.reported.count("record") == (taken and taken + 1)
        assert Noted.reported.count("wait") == 2 * taken
