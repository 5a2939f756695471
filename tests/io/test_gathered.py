"""Columns that grow keep every value, in 32 bits where they fit; blocks that are used up give their memory back."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.host_memory import reserved
from graphdask.io import _table
from graphdask.io._gathered import Column
from graphdask.io._lines import ID, VALUE, Columns
from graphdask.io._open import Source
from graphdask.io._table import Reading, read_table
from graphdask.io.tuning import FILES


@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_pieces_come_back_as_one_column(rng, share):
    pieces = [rng.integers(0, 2**31, size) for size in (0, 5, 1000, 1, 70000)]
    expected = np.concatenate(pieces)
    for narrow, dtype in ((False, np.int64), (True, np.int32)):
        column = Column(narrow)
        for piece in pieces:
            column.append(piece, share)
        assert column.array().dtype == dtype
        np.testing.assert_array_equal(column.array(), expected)


@pytest.mark.parametrize("last", [2**31, -(2**31) - 1])
def test_a_narrow_column_becomes_wide_with_the_first_value_that_does_not_fit(last):
    column = Column(narrow=True)
    for piece in ([5, 2**31 - 1, -(2**31)], [last], [7]):
        column.append(np.array(piece), 0.5)
    assert column.array().dtype == np.int64
    assert column.array().tolist() == [5, 2**31 - 1, -(2**31), last, 7]


def test_whole_numbers_become_floats_with_the_first_float():
    column = Column()
    for piece in (np.array([3, 2**53 + 1]), np.array([0.5]), np.array([2])):
        column.append(piece, 0.9)
    assert column.array().dtype == np.float64
    assert column.array().tolist() == [3.0, float(2**53 + 1), 0.5, 2.0]
    assert Column().array().dtype == np.int64


def test_reserved_memory_is_zeros_that_can_be_written_to():
    for count in (0, 10, 1 << 20):
        array = reserved(count, np.int32)
        assert (array.shape, array.dtype) == ((count,), np.int32)
        assert not array.any()
        array[:] = 1
    with pytest.raises(MemoryError, match="cannot be reserved"):
        reserved(2**60, np.int64)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
def test_memory_of_blocks_is_used_again_and_rows_stay(tmp_path, rng, workers, compressed, watched, tuned):
    rows = np.column_stack([*rng.integers(0, 10**9, (2, 20_000)), rng.integers(0, 9, 20_000)])
    text = "".join(f"{u} {v} {w}\n" for u, v, w in rows.tolist()).encode()
    path = tmp_path / ("g.txt.gz" if compressed else "g.txt")
    path.write_bytes(gzip.compress(text) if compressed else text)
    made = watched(_table, "reserved")
    tuned(FILES, least_block=1 << 12)
    reading = Reading(threads=workers, compiled=True, block=1 << 13, narrow=True)
    part = read_table(Source(path), Columns((ID, ID, VALUE)), reading)
    np.testing.assert_array_equal(np.column_stack(part.columns), rows)
    assert [column.dtype for column in part.columns] == [np.int32, np.int32, np.int64]
    assert len(made) <= 2 * workers + 4 < len(text) >> 13


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
