"""Columns that grow keep every value, in 32 bits where they fit; a mapped file gives its memory back block by block."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.host_memory import reserved
from graphdask.io.opening import Source
from graphdask.io.tuning import FILES


@pytest.fixture
def blocks(tuned):
    """Files of any size are read in many blocks."""
    tuned(FILES, python_bytes=0, least_block=1 << 12, text_at_once=1 << 13)


def written(path, rows):
    path.write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows))
    return path


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("late", [2**31 - 1, 2**31, 2**62])
def test_an_id_that_32_bits_do_not_hold_comes_late(tmp_path, rng, late):
    rows = rng.integers(0, 2**31 - 1, (9_000, 2))
    rows[8_000] = late
    G = gd.read_graph(written(tmp_path / "g.txt", rows.tolist()), directed=True)
    np.testing.assert_array_equal(G.vertex_ids, np.unique(rows))
    src, dst, _ = G.edges("cpu")
    np.testing.assert_array_equal(np.column_stack([src, dst]), rows)


@pytest.mark.usefixtures("blocks")
def test_whole_weights_become_floats_with_the_first_float(tmp_path):
    rows = [(number, number + 1, 2**53 + 1 if number else 3) for number in range(9_000)]
    path = written(tmp_path / "g.txt", rows)
    assert gd.io.read_edges(path, weights=True).weights.tolist() == [weight for *_, weight in rows]
    found = gd.io.read_edges(written(path, [*rows, (0, 1, 0.5), (1, 2, 2)]), weights=True).weights
    assert found.dtype == np.float64
    assert found.tolist() == [*(float(weight) for *_, weight in rows), 0.5, 2.0]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_many_blocks_stay(tmp_path, rng, threads, compressed):
    rows = np.column_stack([*rng.integers(0, 10**9, (2, 20_000)), rng.integers(0, 9, 20_000)])
    path = written(tmp_path / "g.txt", rows.tolist())
    if compressed:
        (tmp_path / "g.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "g.txt.gz"
    found = gd.io.read_edges(path, weights=True, threads=threads)
    np.testing.assert_array_equal(np.column_stack([found.src, found.dst, found.weights]), rows)


def test_reserved_memory_is_zeros_that_can_be_written_to():
    for count in (0, 10, 1 << 20):
        array = reserved(count, np.int32)
        assert (array.shape, array.dtype) == ((count,), np.int32)
        assert not array.any()
        array[:] = 1
    with pytest.raises(MemoryError, match="cannot be reserved"):
        reserved(2**60, np.int64)


def test_ids_of_edges_stay_64_bits_wide_and_those_of_graphs_are_the_same(tmp_path, rng):
    path = tmp_path / "g.txt"
    src, dst = rng.integers(5, 900, (2, 30_000))
    path.write_text("".join(f"{u}\t{v}\n" for u, v in zip(src, dst, strict=True)))
    edges = gd.io.read_edges(path)
    assert edges.src.dtype == edges.dst.dtype == np.int64
    graph = gd.read_graph(path)
    np.testing.assert_array_equal(graph.vertex_ids, np.unique([src, dst]))
    found, expected = graph.edges("cpu"), gd.from_edges(src, dst).edges("cpu")
    np.testing.assert_array_equal(found.src, expected.src)
    np.testing.assert_array_equal(found.dst, expected.dst)
    assert graph.report["parallel_edges"] == 30_000 - len(np.unique(np.stack([src, dst]), axis=1).T)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="asks /proc for the memory of a mapped file")
def test_a_mapped_file_is_let_go_block_by_block(tmp_path):
    path = tmp_path / "g.txt"
    path.write_bytes(b"123 456\n" * (1 << 20))
    source = Source(path)
    most = 0
    for block in source.blocks(size=1 << 18):
        assert int(block[::4096].max()) > 0
        source.release()
        lines = Path("/proc/self/smaps").read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.endswith(str(path)))
        most = max(most, next(int(line.split()[1]) for line in lines[at:] if line.startswith("Rss:")))
    assert most <= 1024  # KiB, of 8 MiB
