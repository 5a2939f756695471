"""The chunks of a store that are in memory: what is there is what the file holds, and no more of it than there is
room for."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FormatError
from graphdask.stream.window import Window


@pytest.fixture
def store(stored):
    return stored(gd.generate.rmat(9, 16, seed=4)).store


@pytest.mark.parametrize("ahead", [0, 1, 3])
@pytest.mark.parametrize("stay", [0.0, 0.3, 1.0])
def test_chunks_are_those_of_the_file_in_any_order(store, ahead, stay):
    section, rng = store.sections["out"], np.random.default_rng(int(10 * stay) + ahead)
    expected = [store.read(section, k, np.empty(sum(section.sizes(k)), np.uint8)) for k in range(len(section))]
    buffers = (ahead + 1) * section.most_bytes + 12 * (section.most_rows + 1)
    memory = buffers + int(stay * sum(sum(section.sizes(k)) for k in range(len(section))))
    busy = rng.permutation(len(section))[:3]
    with Window(store, section, memory, "a test", ahead) as window:
        for _ in range(200):
            number = int(rng.choice(busy) if rng.random() < 0.5 else rng.integers(len(section)))
            chunk = window.load(number, rng.integers(0, len(section), 4).tolist())
            for ours, theirs in zip(chunk, expected[number], strict=True):
                np.testing.assert_array_equal(ours, theirs)
        traffic = window.traffic
    assert traffic.memory <= memory
    if stay == 1.0:
        assert traffic.chunks <= len(section)
    if stay == 0.0:
        assert traffic.resident == 0
    if ahead == 0:
        assert traffic.chunks + traffic.resident == 200


def test_the_chunk_that_is_wanted_most_takes_the_place_of_another(store):
    section = store.sections["out"]
    sizes = [sum(section.sizes(k)) for k in range(len(section))]
    large, small = int(np.argmax(sizes)), int(np.argmin(sizes))
    with Window(
        store, section, section.most_bytes + 12 * (section.most_rows + 1) + sizes[large], "a test", 0
    ) as window:
        for number in (large, small, small, small, small, small):
            window.load(number)
    assert (window.traffic.chunks, window.traffic.resident) == (4, 2)


def test_what_is_read_ahead_and_damaged_raises_when_it_is_wanted(store):
    section = store.sections["out"]
    place = int(section.table[3]["offset"]) + section.sizes(3)[0]
    data = bytearray(store.path.read_bytes())
    data[place] ^= 1
    store.path.write_bytes(data)
    with Window(store, section, 1 << 20, "a test") as window:
        for number in range(3):
            window.load(number, range(number + 1, len(section)))
        with pytest.raises(FormatError, match="the edges of chunk 3 of out are damaged"):
            window.load(3)


def test_a_chunk_is_there_until_the_other_hand_is_needed(store):
    section = store.sections["out"]
    memory = 20 * (section.most_bytes + 12 * (section.most_rows + 1))
    with Window(store, section, memory, "a test", hands=2) as window:
        before = None
        for number in [*range(len(section)), *range(len(section) - 1, -1, -1)]:
            chunk = window.load(number, range(number + 1, len(section)))
            found, expected = (chunk, window.indptr(chunk)), store.read(section, number, memory_of(section))
            if before is not None:
                for (ours, starts), theirs in (before, (found, expected)):
                    np.testing.assert_array_equal(ours.targets, theirs.targets)
                    np.testing.assert_array_equal(starts[1:], np.cumsum(theirs.degrees))
            before = found, expected
        assert window.hands == 2
        assert window.traffic.memory <= memory


def test_what_is_asked_for_once_does_not_stay(store):
    section = store.sections["out"]
    with Window(store, section, 1 << 20, "a test", once=True) as window:
        for number in range(len(section)):
            window.load(number, range(number + 1, len(section)))
        assert (window.traffic.chunks, window.traffic.resident) == (len(section), 0)
        assert window.traffic.memory <= 3 * section.most_bytes + 12 * (section.most_rows + 1)


def memory_of(section):
    return np.empty(section.most_bytes, np.uint8)


def test_what_is_read_ahead_and_not_wanted_any_more_makes_way(store):
    """Else chunks would be read one at a time from then on."""
    section = store.sections["out"]
    memory = 3 * section.most_bytes + 12 * (section.most_rows + 1)
    with Window(store, section, memory, "a test", ahead=2, once=True) as window:
        window.ask([0, 1, 2])
        window.load(0, [1, 2])
        for number in (1, 3, 4, 5):
            for _, future in window._coming.values():
                future.result(60)
            window.load(number, [later for later in (number + 1, number + 2) if later != 2])
        assert sorted(window._coming) == [6, 7]
        assert window.traffic.unused == 1
