"""A store built from a file that is read in blocks is the store of the graph in that file."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphdask as gd
from graphdask.errors import WriteError
from graphdask.graph import construct
from graphdask.io import slices
from graphdask.io.tuning import FILES

N = 300
IDS = np.sort(np.random.default_rng(5).choice(10**15, N, replace=False))


@pytest.fixture(params=[False, True], ids=["consecutive", "sparse"])
def edges(request):
    """Ids, sources, destinations and weights, some of which are no integers."""
    rng = np.random.default_rng(9)
    ids = IDS if request.param else np.arange(3, 3 + N)
    src, dst = rng.integers(0, N, (2, 2000))
    src[:N], dst[:N] = np.arange(N), np.arange(N)[::-1]  # every vertex has an edge
    weights = rng.integers(1, 9, 2000) + np.where(np.arange(2000) < 1500, 0, 0.25)
    return ids, ids[src], ids[dst], weights


def lines(*columns):
    return "".join(" ".join(f"{value:g}" if value != int(value) else str(int(value)) for value in row) + "\n"
                   for row in zip(*columns, strict=True))  # fmt: skip


def written(kind: str, folder: Path, ids, src, dst, weights) -> Path:
    """A file, or a folder, of this kind."""
    if kind == "edge list":
        (folder / "g.txt").write_text("# Directed graph\n# FromNodeId ToNodeId Weight\n" + lines(src, dst, weights))
        return folder / "g.txt"
    if kind == "csv, compressed":
        text = "src,dst,weight\n" + lines(src, dst, weights).replace(" ", ",")
        (folder / "g.csv.gz").write_bytes(gzip.compress(text.encode()))
        return folder / "g.csv.gz"
    if kind == "ldbc":
        (folder / "g.v").write_text(lines(np.append(ids, 2 * 10**15)))  # the last has no edge
        (folder / "g.e").write_text(lines(src, dst, weights))
        return folder / "g.e"
    if kind == "dimacs":
        (folder / "g.gr").write_text("".join(f"a {line}\n" for line in lines(src, dst, weights).splitlines()))
        return folder / "g.gr"
    if kind == "parquet":
        columns = {"src": pa.array(src), "dst": pa.array(dst), "weight": pa.array(weights.astype(np.float32))}
        parquet.write_table(pa.table(columns), folder / "g.parquet", row_group_size=300)
        return folder / "g.parquet"
    form = {"folder of text": "edgelist", "folder of parquet": "parquet"}[kind]
    gd.from_edges(src, dst, weights).partition(3).write(folder / "g", format=form, files=3)
    return folder / "g"


def held(S):
    """All that a store holds, but for when it was written; of its chunks, the checksums."""
    header = {name: value for name, value in S.store.header.items() if name != "written"}
    tables = {name: section.table.tolist() for name, section in S.store.sections.items()}
    return json.dumps(header, sort_keys=True), tables, S.vertex_ids.tolist()


KINDS = ["edge list", "csv, compressed", "ldbc", "dimacs", "parquet", "folder of text", "folder of parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_a_file_give_the_store_of_its_graph(tmp_path, tuned, kind, edges):
    tuned(FILES, values=128, python_bytes=1000, text_at_once=4096, least_block=1024, parquet_rows=64)
    path = written(kind, tmp_path, *edges)
    target = tmp_path / "target"
    target.mkdir()
    S = gd.stream.build(path, target / "blocks.gdl", memory="1MiB")
    assert [file.name for file in target.iterdir()] == ["blocks.gdl"]
    assert held(S) == held(gd.stream.build(gd.read_graph(path), target / "whole.gdl", memory="1MiB"))
    assert S.num_edges == 2000


@pytest.mark.parametrize("kind", ["text", "parquet", "folder"])
def test_names_are_read_once_and_whole(tmp_path, fault, kind):
    src, dst, weights = ["a", "b", "b"], ["b", "c", "c"], [1.0, 2.5, 3.0]
    path = tmp_path / {"text": "g.txt", "parquet": "g.parquet", "folder": "folder"}[kind]
    if kind == "text":
        path.write_text("# Source Target Weight\n" + lines_of_names(src, dst, weights))
    elif kind == "parquet":
        parquet.write_table(pa.table({"src": src, "dst": dst, "weight": weights}), path)
    else:
        gd.from_edges(src, dst, weights).partition(2).write(path, format="csv", files=2)
    target = tmp_path / "target"
    target.mkdir()
    whole = gd.stream.build(gd.read_graph(path), target / "whole.gdl")
    fault(construct, "edges_for_graph", AssertionError("read whole, as read_graph does"))
    S = gd.stream.build(path, target / "g.gdl")
    assert held(S) == held(whole)
    assert S.vertex_ids.tolist() == ["a", "b", "c"]
    assert gd.bfs(S, "a").depth.tolist() == [0, 1, 2]
    assert sorted(file.name for file in target.iterdir()) == ["g.gdl", "whole.gdl"]


def lines_of_names(*columns):
    return "".join(" ".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def test_a_disk_that_fails_is_blamed_on_the_file_that_it_holds(tmp_path, monkeypatch):
    (tmp_path / "g.txt").symlink_to("/proc/self/mem")  # whose first page nobody may read
    with pytest.raises(gd.InputError, match=r"g\.txt cannot be read: input/output error"):
        gd.stream.build(tmp_path / "g.txt", tmp_path / "out.gdl")
    (tmp_path / "g.txt.gz").write_bytes(gzip.compress(b"1 2\n"))
    (tmp_path / "g.csv").write_text("src,dst\n1,2\n")
    parquet.write_table(pa.table({"src": [1], "dst": [2]}), tmp_path / "g.parquet")

    def fails(*arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(gzip, "open", fails)
        with pytest.raises(gd.InputError, match=r"g\.txt\.gz cannot be read: input/output error"):
            gd.stream.build(tmp_path / "g.txt.gz", tmp_path / "out.gdl")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fails)
        for name in ("g.csv", "g.parquet"):
            with pytest.raises(WriteError, match=r"out\.gdl cannot be written: input/output error; nothing is left"):
                gd.stream.build(tmp_path / name, tmp_path / "out.gdl")
    names = ["g.csv", "g.parquet", "g.txt", "g.txt.gz"]
    assert sorted(file.name for file in tmp_path.iterdir()) == names


def test_a_column_that_is_cut_short_or_gone_is_named(tmp_path):
    path = tmp_path / "column"
    np.arange(10).tofile(path)
    column = np.memmap(path, np.int64, "r")
    os.truncate(path, 44)
    with pytest.raises(gd.FormatError, match=r"column: the file ends at byte 40: it was truncated"):
        list(slices(column))
    path.unlink()
    with pytest.raises(gd.InputError, match=r"column cannot be read: no such file"):
        list(slices(column))


def test_faults_name_their_line_or_row_and_leave_nothing(tmp_path, tuned):
    tuned(FILES, python_bytes=100, text_at_once=512, least_block=128, parquet_rows=64)
    (tmp_path / "g.txt").write_text("1 2\n" * 900 + "1 x\n")
    columns = {"src": pa.array(range(900)), "dst": pa.array([1] * 899 + [-1])}
    parquet.write_table(pa.table(columns), tmp_path / "g.parquet")
    (tmp_path / "e.v").write_text("1\n2\n")
    (tmp_path / "e.e").write_text("1 2\n" * 500 + "2 3\n")
    for name, words in (("g.txt", ":901"), ("g.parquet", "row 899"), ("e.e", "names the vertex 3")):
        with pytest.raises(gd.FormatError, match=words):
            gd.stream.build(tmp_path / name, tmp_path / "out.gdl")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["e.e", "e.v", "g.parquet", "g.txt"]


def test_more_ids_than_memory_can_sort_are_refused(tmp_path):
    ids = np.random.default_rng(1).integers(0, 10**15, (2, 9000))
    (tmp_path / "g.txt").write_text(lines(*ids))
    with pytest.raises(gd.OverBudget, match=r"it has more than 1.,... vertices, and to sort their ids"):
        gd.stream.build(tmp_path / "g.txt", tmp_path / "g.gdl", memory="256KiB")


def test_weights_are_floats_when_one_far_in_a_file_is(tmp_path, tuned):
    tuned(FILES, python_bytes=100, text_at_once=512, least_block=128, values=2)
    weights = [*range(1, 400), 0.5, 2**53, *range(400, 600)]
    ends = [(k, k + 1) for k in range(len(weights))]
    rows = (f"{u} {v} {w}\n" for (u, v), w in zip(ends, weights, strict=True))
    (tmp_path / "g.txt").write_text("# Source Target Weight\n" + "".join(rows))
    S = gd.stream.build(tmp_path / "g.txt", tmp_path / "g.gdl")
    assert held(S) == held(gd.stream.build(gd.from_edges(*zip(*ends, strict=True), weights), tmp_path / "h.gdl"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["g.gdl", "g.txt", "h.gdl"]


@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_that_nobody_gave_a_size_can_be_sorted_in_the_memory_that_is_said_to_be_enough(tmp_path, weighted, rng):
    n = 30_000
    src, dst = rng.integers(0, n, (2, 300_000))
    G = gd.from_edges(src, dst, rng.random(len(src)) if weighted else None, num_vertices=n)
    with pytest.raises(gd.OverBudget, match="building takes") as caught:
        gd.stream.build(G, tmp_path / "graph.gdl", memory="1MiB")
    S = gd.stream.build(G, tmp_path / "graph.gdl", memory=str(caught.value).split("allow ")[1])
    assert S.num_edges == len(src)
    with pytest.raises(gd.OverBudget, match="to be sorted") as caught:
        gd.stream.build(G, tmp_path / "other.gdl", memory="3MiB", chunk="1MiB")
    more = float(str(caught.value).split("allow ")[1].split()[0])
    gd.stream.build(G, tmp_path / "other.gdl", memory=int((3 + more) * 2**20), chunk="1MiB")
