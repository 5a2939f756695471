"""Chunks that are read past the operating system's cache: what the file holds, in memory for whole blocks, or through
the cache where there is no other way or the disk is slow."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FormatError, InputError
from graphdask.stream import direct
from graphdask.stream.direct import BLOCK, Direct, aligned_memory, around
from graphdask.stream.tuning import STREAM
from graphdask.stream.window import Window


@pytest.fixture
def S(stored, tuned):
    """Chunks of a kilobyte, of which several are in a block; and no disk is too slow."""
    tuned(STREAM, direct_bytes=1, direct_rate=0.0)
    S = stored(gd.generate.rmat(9, 16, seed=4))
    if not S.store.direct.pays:
        pytest.skip("this file system reads through the cache only")
    return S


def windows(store, stay, ahead):
    """A window of a few buffers, beside which a part of the chunks stays."""
    section = store.sections["out"]
    rooms = [around(int(section.table["offset"][k]), sum(section.sizes(k)))[1] for k in range(len(section))]
    memory = (ahead + 1) * (section.most_bytes + 2 * BLOCK) + 12 * (section.most_rows + 1) + int(stay * sum(rooms))
    return Window(store, section, memory, "a test", ahead), memory


def chunks_of(store):
    section = store.sections["out"]
    return [store.read(section, k, np.empty(sum(section.sizes(k)), np.uint8)) for k in range(len(section))]


@pytest.mark.parametrize(("ahead", "stay"), [(0, 0.0), (1, 0.3), (3, 1.0)])
def test_chunks_are_those_of_the_file_in_any_order(S, ahead, stay, fault):
    expected, rng = chunks_of(S.store), np.random.default_rng(ahead)
    fault(os, "preadv", AssertionError("through the cache"), lambda file, *where: file == S.store._file)
    opened, memory = windows(S.store, stay, ahead)
    with opened as chunks:
        for number in rng.integers(0, rng.integers(1, len(expected), 200)):
            chunk = chunks.load(int(number), rng.integers(0, len(expected), 4).tolist())
            for ours, theirs in zip(chunk, expected[number], strict=True):
                np.testing.assert_array_equal(ours, theirs)
    assert chunks.traffic.memory <= memory


@pytest.mark.parametrize("directed", [False, True])
def test_answers_are_those_in_memory(stored, S, directed):
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 300, (2, 2000))
    G = gd.from_edges(src, dst, rng.integers(1, 9, 2000), num_vertices=310, directed=directed)
    T = stored(G, memory="256KiB", root=3, inward=True) if directed else stored(G, memory="256KiB", root=3)
    for source in (3, int(dst[5]), 309):
        np.testing.assert_array_equal(gd.bfs(T, source).parent, gd.bfs(G, source).parent)
        np.testing.assert_array_equal(gd.sssp(T, source).distance, gd.sssp(G, source).distance)
    np.testing.assert_array_equal(gd.connected_components(T).label, gd.connected_components(G).label)
    np.testing.assert_array_equal(gd.pagerank(T).rank, gd.pagerank(G).rank)
    assert T.store.direct.pays


def test_a_slow_disk_is_read_through_the_cache_after_some_tries(S, tuned):
    tuned(STREAM, direct_rate=float("inf"))
    expected = chunks_of(S.store)
    opened, _ = windows(S.store, 0.0, 1)
    with opened as chunks:
        for number in range(len(expected)):
            assert S.store.direct.pays or number + 2 >= direct.TRIES
            np.testing.assert_array_equal(chunks.load(number, [number + 1][: len(expected) - 1 - number]).targets,
                                          expected[number].targets)  # fmt: skip
    assert not S.store.direct.pays


def test_without_that_way_chunks_are_read_through_the_cache(S, monkeypatch):
    opened = os.open

    def refuse(path, flags, *more, **options):
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return opened(path, flags, *more, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        again = gd.stream.open(S.store.path, "64KiB")
    assert not again.store.direct.pays
    np.testing.assert_array_equal(gd.connected_components(again).label, gd.connected_components(S).label)
    again.store.close()


def test_a_read_that_fails_is_done_again_through_the_cache(S, fault):
    expected = chunks_of(S.store)[2].targets
    opened, _ = windows(S.store, 0.0, 0)
    fault(os, "preadv", OSError(errno.EINVAL, "Invalid argument"), lambda file, *where: file != S.store._file)
    with opened as chunks:
        np.testing.assert_array_equal(chunks.load(2).targets, expected)
    assert not S.store.direct.pays


def test_what_is_damaged_or_cut_off_is_named(S):
    section, path = S.store.sections["out"], S.store.path
    place = int(section.table[3]["offset"])
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    opened, _ = windows(S.store, 0.0, 0)
    with opened as chunks:
        with pytest.raises(FormatError, match="the rows of chunk 3 of out are damaged"):
            chunks.load(3)
        os.truncate(path, place)
        with pytest.raises(FormatError, match=r"chunk 3 of out ends at byte .*: the file was truncated"):
            chunks.load(3)


def test_a_store_that_was_closed_is_not_read(S):
    opened, _ = windows(S.store, 0.0, 0)
    S.store.close()
    with opened as chunks, pytest.raises(InputError, match="was closed; open it again"):
        chunks.load(0)


def test_where_blocks_do_not_fit_a_chunk_does(S):
    section, expected = S.store.sections["out"], chunks_of(S.store)
    memory = section.most_bytes + 12 * (section.most_rows + 1)
    with Window(S.store, section, memory, "a test", 0) as chunks:
        for number, chunk in enumerate(expected):
            np.testing.assert_array_equal(chunks.load(number).targets, chunk.targets)
        assert chunks.traffic.memory <= memory


def test_bytes_are_read_up_to_the_end_of_a_file_and_not_beyond(tmp_path):
    path, memory = tmp_path / "file", aligned_memory(3 * BLOCK)
    path.write_bytes(bytes(range(256)) * 33)
    with path.open("rb") as file:
        found = Direct(file.fileno())
        if not found.pays:
            pytest.skip("this file system reads through the cache only")
        assert found.read(BLOCK, memory, 33 * 256 - BLOCK)
        assert bytes(memory[: 33 * 256 - BLOCK]) == path.read_bytes()[BLOCK:]
        assert not found.read(BLOCK, memory, 33 * 256 - BLOCK + 1)
        assert not found.read(3 * BLOCK, memory, 1)
        found.close()
    assert around(BLOCK, BLOCK) == (BLOCK, BLOCK)
    assert around(BLOCK - 64, 128) == (0, 2 * BLOCK)
    assert around(2 * BLOCK + 64, BLOCK - 64) == (2 * BLOCK, BLOCK)
