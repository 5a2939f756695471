"""Pipes and devices as the output of a graph: text goes there, whole; what needs a file is refused by name."""

from __future__ import annotations

import gzip
import os
import stat
import threading

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import graphdask as gd

MERGED = gd.generate.preferential_attachment(200, 3, multi_edges="merge")
G = gd.from_edges([0, 1, 2], [1, 2, 0], [0.5, 1.5, 2.0])


def into_a_pipe(path, graph, **how):
    """What comes out of a named pipe, and what the write says."""
    os.mkfifo(path)
    held = []
    reader = threading.Thread(target=lambda: held.append(path.read_bytes()), daemon=True)
    reader.start()
    written = graph.write(path, **how)
    reader.join(timeout=60)
    assert stat.S_ISFIFO(path.stat().st_mode)
    return held[0], written


@pytest.mark.parametrize("name", ["graph.txt", "graph.csv"])
@pytest.mark.parametrize("graph", [G, MERGED], ids=["", "merged"])
def test_a_pipe_gets_the_bytes_that_a_file_gets(tmp_path, name, graph):
    held, written = into_a_pipe(tmp_path / name, graph)
    (tmp_path / "file").mkdir()
    graph.write(tmp_path / "file" / name)
    assert held == (tmp_path / "file" / name).read_bytes()
    assert (written.path, written.files, written.bytes) == (tmp_path / name, 1, len(held))


def test_a_pipe_is_compressed_where_its_name_says_so(tmp_path):
    held, _ = into_a_pipe(tmp_path / "graph.csv.gz", G)
    (tmp_path / "plain.csv").write_bytes(gzip.decompress(held))
    np.testing.assert_array_equal(gd.read_graph(tmp_path / "plain.csv").edges().weights, [0.5, 1.5, 2.0])


def test_a_device_takes_a_format_that_is_named():
    assert G.write("/dev/null", "csv").edges == 3
    with pytest.raises(gd.InputError, match="the name of '/dev/null' does not say its format"):
        G.write("/dev/null")
    with pytest.raises(gd.errors.WriteError, match="/dev/full cannot be written: no space left on device"):
        G.write("/dev/full", "edgelist")


@pytest.mark.parametrize("format", ["parquet", "npz", "native"])
def test_what_needs_a_file_is_refused(format):
    with pytest.raises(gd.Unsupported, match=f"/dev/null is a pipe or a device, .*name a file for {format}"):
        G.write("/dev/null", format)


def test_parts_need_a_folder():
    with pytest.raises(gd.InputError, match="files=2 are of a folder, and /dev/null is a pipe or a device"):
        G.write("/dev/null", "csv", files=2)


def test_samples_without_the_mark_are_not_replaced_and_it_is_said_what_to_do(tmp_path):
    folder = tmp_path / "walks"
    folder.mkdir()
    pyarrow.parquet.write_table(pyarrow.table({"walk": [1, 2]}), folder / "part-00000.parquet")
    before = (folder / "part-00000.parquet").read_bytes()
    walks = gd.sample.random_walk(G, [0], 2)
    words = r"part-00000.parquet, which has not the mark of graphdask's samples; .*; remove it yourself if"
    with pytest.raises(gd.errors.OutputExists, match=words):
        walks.to_parquet(folder, overwrite=True)
    assert (folder / "part-00000.parquet").read_bytes() == before
    (folder / "part-00000.parquet").unlink()
    walks.to_parquet(folder)
    walks.to_parquet(folder, overwrite=True)
