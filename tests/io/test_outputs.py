"""Every writer refuses what is there, replaces it only when it is whole, and says in words what the system refused."""

from __future__ import annotations

import errno
import inspect
import os
import stat
import subprocess
import sys
import threading

import pytest

import graphdask as gd
import graphdask.bench.analytics
import graphdask.bench.dynamic
import graphdask.bench.generate
import graphdask.plot
import graphdask.scale
from graphdask.errors import InputError, OutputExists, WriteError
from graphdask.io import EdgeList, write_edges
from graphdask.io.outputs import file_output
from graphdask.io.record_files import records_output

G = gd.from_edges([0, 1, 2], [1, 2, 0])
WALKS = gd.sample.random_walk(G, [0, 1], 2)


def edges():
    return read_edges_of(G)


def read_edges_of(graph):
    return EdgeList(graph.source.src, graph.source.dst, directed=True)


WRITERS = {
    "graph": (".txt", lambda path, **how: G.write(path, **how)),
    "graph in a folder": ("", lambda path, **how: G.write(path, "csv", files=2, **how)),
    "edges": (".csv", lambda path, **how: write_edges(edges(), path, **how)),
    "result": (".parquet", lambda path, **how: gd.bfs(G, 0).to_parquet(path, **how)),
    "samples": ("", lambda path, **how: WALKS.to_parquet(path, **how)),
    "chunks": ("", lambda path, **how: gd.sample.in_chunks(
        gd.sample.random_walk, G, [0, 1], 2, chunk=1).to_parquet(path, **how)),
    "streamed": (".gdl", lambda path, **how: gd.stream.build(G, path, **how)),
    "picture": (".png", lambda path, **how: gd.plot.degree_distribution([1, 2, 2], path, **how)),
}  # fmt: skip


def content(path):
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_there_stays_unless_it_is_to_be_replaced(name, tmp_path):
    ending, write = WRITERS[name]
    path = tmp_path / f"out{ending}"
    write(path)
    before = content(path)
    with pytest.raises(OutputExists, match="exists; pass overwrite=True to replace it, or name another"):
        write(path)
    assert content(path) == before
    write(path, overwrite=True)
    assert content(path).keys() == before.keys()
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", [name for name, (ending, _) in WRITERS.items() if ending])
def test_a_file_takes_no_directorys_place_and_follows_a_link(name, tmp_path):
    ending, write = WRITERS[name]
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(InputError, match="folder"):
        write(tmp_path / f"folder{ending}", overwrite=True)
    (tmp_path / f"real{ending}").write_text("old")
    (tmp_path / f"link{ending}").symlink_to(f"real{ending}")
    with pytest.raises(OutputExists):
        write(tmp_path / f"link{ending}")
    write(tmp_path / f"link{ending}", overwrite=True)
    assert (tmp_path / f"link{ending}").is_symlink()
    assert (tmp_path / f"real{ending}").read_bytes() != b"old"


@pytest.mark.parametrize("name", [name for name, (ending, _) in WRITERS.items() if not ending])
def test_a_folder_with_other_files_is_never_replaced_and_an_empty_one_is_filled(name, tmp_path):
    _, write = WRITERS[name]
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    (tmp_path / "empty" / "thesis.tex").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(OutputExists, match=r"thesis\.tex"):
            write(tmp_path / "empty", overwrite=overwrite)
    assert (tmp_path / "empty" / "thesis.tex").read_text() == "mine"
    assert os.listdir(tmp_path) == ["empty"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_missing_directory_a_file_in_the_path_and_a_long_name_are_said(name, tmp_path):
    ending, write = WRITERS[name]
    (tmp_path / "file").touch()
    for path in (tmp_path / "no" / f"x{ending}", tmp_path / "file" / f"x{ending}", tmp_path / f"{'x' * 300}{ending}"):
        with pytest.raises((InputError, WriteError), match="x"):
            write(path)
    assert os.listdir(tmp_path) == ["file"]


OUTPUTS = ("path", "plot", "folder")
MODULES = (gd, gd.io, gd.sample, gd.stream, gd.plot, gd.scale, gd.cluster)


def test_every_public_writer_takes_overwrite():
    reads = {
        "read_graph",
        "read_edges",
        "open",
        "read",
        "read_vertex_values",
        "detect_format",
        "spilled_edges",
        "write_into",
    }
    found = {}
    for module in MODULES:
        for name in getattr(module, "__all__", None) or dir(module):
            thing = getattr(module, name)
            if name.startswith("_") or not callable(thing):
                continue
            methods = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else [(name, thing)]
            for called, function in methods:
                if called.startswith("_") or called in reads or not inspect.isfunction(function):
                    continue
                parameters = inspect.signature(function).parameters
                writes = called.startswith(("write", "to_parquet", "build")) or module in (gd.plot, gd.scale)
                if writes and set(parameters) & set(OUTPUTS):
                    found[f"{module.__name__}.{name}.{called}"] = "overwrite" in parameters
    assert len(found) >= 8
    assert [name for name, takes in found.items() if not takes] == []


def test_benchmarks_that_draw_take_overwrite():
    for module in (graphdask.bench.analytics, graphdask.bench.dynamic, graphdask.bench.generate):
        assert "overwrite" in inspect.signature(module.run).parameters


def test_devices_and_pipes_are_written_to(tmp_path):
    write_edges(edges(), "/dev/null", format="csv")
    with pytest.raises(WriteError, match="/dev/full cannot be written: no space left on device"):
        write_edges(edges(), "/dev/full", format="csv")
    os.mkfifo(tmp_path / "pipe")
    held = []
    reader = threading.Thread(target=lambda: held.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_edges(edges(), tmp_path / "pipe", format="csv")
    reader.join(timeout=60)
    assert held[0].splitlines()[1:] == [b"0,1", b"1,2", b"2,0"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_who_comes_second_is_refused_also_at_the_end(tmp_path):
    out = file_output(tmp_path / "x")
    with pytest.raises(OutputExists), out.stream():
        (tmp_path / "x").write_text("first")
    assert (tmp_path / "x").read_text() == "first"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.EROFS, errno.EACCES])
def test_an_old_file_survives_whatever_the_system_refuses(number, tmp_path):
    (tmp_path / "x").write_text("old")
    said = pytest.raises((WriteError, InputError), match=r"x cannot be written: .*; what was there is unchanged; ")
    with said, file_output(tmp_path / "x", True).stream():
        raise OSError(number, os.strerror(number))
    assert (tmp_path / "x").read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


LIMITED = """
import resource, sys
import graphdask as gd
G = gd.generate.preferential_attachment(100_000, 4)
r = gd.bfs(G, 0)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for name, write in (("r.parquet", r.to_parquet), ("g.txt", G.write)):
    try:
        write(name, overwrite=True)
    except gd.errors.WriteError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_file_that_may_not_grow_is_named_and_the_old_one_stays(tmp_path):
    for name in ("r.parquet", "g.txt"):
        (tmp_path / name).write_text("old")
    done = subprocess.run([sys.executable, "-c", LIMITED], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("cannot be written: file too large; what was there is unchanged") == 2, done.stdout
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"r.parquet": "old", "g.txt": "old"}


def test_records_are_appended_to_records_only(tmp_path):
    file = tmp_path / "x.jsonl"
    for line in ("one", "two"):
        with records_output(file, belongs=lambda records: "n" in records[0]).growing() as append:
            append([f'{{"n": "{line}"}}'])
    assert file.read_text() == '{"n": "one"}\n{"n": "two"}\n'
    with pytest.raises(OutputExists, match="something else"):
        records_output(file, belongs=lambda records: False)
    file.write_text("thesis\n")
    with pytest.raises(OutputExists, match="line 1 is none"):
        records_output(file, belongs=lambda records: True)
    with pytest.raises(ZeroDivisionError), records_output(file, True, belongs=None).growing() as append:
        append([str(1 // 0)])
    assert file.read_text() == "thesis\n"
