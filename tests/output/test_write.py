"""What is written reads back as the same graph, whoever wrote it; what fails leaves nothing."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from edge_sets import GRAPHS, attached, counted, edges_of

import graphdask as gd
from graphdask.display.tuning import DISPLAY
from graphdask.errors import FormatError, GraphdaskWarning, InputError, Unsupported
from graphdask.gang.tuning import GANG
from graphdask.io import EdgeList, write_edges

ENDINGS = (".txt", ".el.gz", ".csv.xz", ".parquet", ".npz", ".gdg")
WITHOUT_PLACE = {
    "isolated vertices, sparse ids": (".txt", ".el.gz", ".csv.xz", ".parquet"),
    "names": (".csv.xz", ".parquet"),
    "one vertex": (".csv.xz",),
    "consecutive ids from 5": (".csv.xz",),
}
"""Files that cannot hold all vertices of a graph."""


def holds(path, known, *, vertices=True, ids=None) -> None:
    found = gd.read_graph(path, ids=ids)
    assert found.directed == known.graph.directed
    assert found.weighted == known.graph.weighted
    src, dst, weights = found.edges("cpu")
    if weights is not None:
        assert weights.dtype == known.graph.source.weight_dtype or (".csv" in path.name and weights.dtype == np.float64)
        weights = weights.astype(known.graph.source.weight_dtype)
    assert counted(src, dst, weights, found.directed) == known.edges
    if vertices:
        assert found.vertex_ids.tolist() == known.vertices


@pytest.fixture
def writers(tuned, host):
    """Have so many threads of this process write."""
    tuned(GANG, large_graph=0)
    return host.cores


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", GRAPHS)
def test_one_file_reads_back_as_the_graph(name, ending, tmp_path, writers):
    known, path = GRAPHS[name](), tmp_path / f"graph{ending}"
    writers(3)
    if name == "names" and ending in (".txt", ".el.gz"):
        with pytest.raises(InputError, match="'c d' cannot stand in an edge list"):
            known.graph.write(path)
        assert not list(tmp_path.iterdir())
        return
    lost, csv = ending in WITHOUT_PLACE.get(name, ()), ending == ".csv.xz"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        written = known.graph.write(path)
    assert [w.category for w in said] == [GraphdaskWarning] * (
        lost + (csv and name in ("names", "names and weights", "short weights"))
    )
    assert os.listdir(tmp_path) == [path.name]
    assert (written.path, written.files, written.edges) == (path, 1, known.edges.total())
    assert written.bytes == path.stat().st_size
    options = {"ids": None if known.graph.ids.are_numbers else "str"} if csv else {}
    holds(path, known, vertices=not lost, **options)


FOLDERS = [(name, format, 3) for name in GRAPHS for format in ("edgelist", "csv", "parquet", "npz", "native")]
FOLDERS += [(name, format, files) for files in (1, 2, 7) for format in ("csv", "parquet", "native")
            for name in ("no vertex", "real weights", "preferential attachment, merged")]  # fmt: skip


@pytest.mark.parametrize(("name", "format", "files"), FOLDERS)
def test_a_folder_reads_back_as_the_graph_whole(name, format, files, tmp_path, writers):
    known, path = GRAPHS[name](), tmp_path / "graph"
    if name == "names" and format == "edgelist":
        pytest.skip("a name has a blank, which an edge list cannot hold: tested above")
    writers(2)
    written = known.graph.write(path, format, files=files)
    assert (written.files, written.format, written.edges) == (files, format, known.edges.total())
    assert len([part for part in path.iterdir() if part.name.startswith("part-")]) == files
    assert os.listdir(tmp_path) == ["graph"]
    holds(path, known)


@pytest.mark.parametrize("ending", [".txt", ".csv", ".gdg"])
@pytest.mark.parametrize("source", ["arrays", "generated"])
def test_a_file_is_the_same_bytes_whatever_the_number_of_writers(ending, source, tmp_path, writers):
    G = gd.generate.preferential_attachment(3000, 3)
    if source == "arrays":
        G = gd.from_edges(*G.edges("cpu")[:2], directed=False)
    contents = set()
    for number in (1, 2, 3, 7):
        writers(number)
        assert G.write(tmp_path / f"{number}{ending}").writers == number
        contents.add((tmp_path / f"{number}{ending}").read_bytes())
    assert len(contents) == 1


def test_a_compressed_file_of_many_writers_is_the_plain_one_compressed(tmp_path, writers):
    G = gd.generate.preferential_attachment(3000, 3)
    writers(3)
    G.write(tmp_path / "g.txt")
    G.write(tmp_path / "g.txt.gz")
    assert gzip.decompress((tmp_path / "g.txt.gz").read_bytes()) == (tmp_path / "g.txt").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("path", ["graph.txt", "graph.parquet", "graph.gdg", "graph.csv/", "graph.parquet/"])
def test_workers_write_what_this_process_writes(path, merge, tmp_path, two_workers):
    known = attached(400, 3, merge=merge, p=0.3)
    target = f"{tmp_path}/{path}"
    written = known.graph.write(target, client=two_workers)
    alone = path == "graph.parquet"
    assert written.writers == (1 if alone else 2)
    assert written.files == (2 if path.endswith("/") else 1)
    holds(target, known)


def test_workers_are_sent_their_shares_of_the_callers_edges(tmp_path, two_workers):
    for name in ("names and weights", "whole weights"):
        known = GRAPHS[name]()
        known.graph.write(tmp_path / name, "native", files=3, client=two_workers)
        holds(tmp_path / name, known)


def test_a_folder_of_parquet_parts_is_a_table_to_others(tmp_path):
    from pyarrow import parquet

    G = gd.generate.preferential_attachment(100, 2)
    G.write(tmp_path / "graph.parquet", files=3)
    table = parquet.read_table(tmp_path / "graph.parquet")
    assert table.column_names == ["src", "dst"]
    assert counted(table["src"].to_numpy(), table["dst"].to_numpy(), None, False) == edges_of(G)


def test_an_existing_target_is_kept_unless_it_is_to_be_replaced(tmp_path):
    first, second = attached(30, 2), attached(40, 3)
    for target, files in ((tmp_path / "g.txt", None), (tmp_path / "g.gdg", 2)):
        first.graph.write(target, files=files)
        with pytest.raises(InputError, match="exists; pass overwrite=True"):
            second.graph.write(target, files=files)
        holds(target, first)
        second.graph.write(target, files=files, overwrite=True)
        holds(target, second)
    first.graph.write(tmp_path / "g.gdg", overwrite=True)  # a file in place of a folder
    holds(tmp_path / "g.gdg", first)
    assert sorted(os.listdir(tmp_path)) == ["g.gdg", "g.txt"]


def test_a_folder_of_something_else_is_never_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("...")
    with pytest.raises(InputError, match="holds no graph"):
        gd.from_edges([0], [1]).write(tmp_path / "thesis", "csv", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "..."


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("graph",), InputError, "does not say its format"),
        (("graph.txt", "tape"), Unsupported, "not tape"),
        (("graph.gdg.gz",), InputError, "not compressed as a whole"),
        (("nosuch/graph.txt",), InputError, "no directory"),
        (("",), InputError, "not the name"),
        ((7,), InputError, "not a path"),
    ],
)
def test_bad_targets_are_refused_before_any_work(arguments, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        gd.from_edges([0], [1]).write(*arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("files", [0, -1, 1.5, True, "2", 10**6])
def test_a_number_of_files_that_is_none_is_refused(files, tmp_path):
    with pytest.raises(InputError, match="files="):
        gd.from_edges([0], [1]).write(tmp_path / "g", "csv", files=files)


def test_a_folder_without_permission_is_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="no permission to write"):
        gd.from_edges([0], [1]).write(tmp_path / "g.txt")


@pytest.mark.parametrize("ending", [".txt", ".parquet", ".gdg"])
@pytest.mark.usefixtures("alone")
def test_a_writer_holds_a_few_blocks_at_a_time(ending, tmp_path, tuned):
    tuned(GANG, write_bytes=1 << 20)
    G = gd.generate.preferential_attachment(500_000, 4)
    gd.generate.preferential_attachment(200_000, 4).write(tmp_path / f"small{ending}")  # what is loaded once
    tracemalloc.start()
    written = G.write(tmp_path / f"graph{ending}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert written.edges == G.num_edges
    assert peak < 8 << 20  # of 15.3 MiB that the edges take


def test_progress_shows_the_share_that_is_written(tmp_path, tuned, capsys):
    tuned(DISPLAY, delay=0)
    gd.generate.preferential_attachment(1000, 3).write(tmp_path / "g.txt", progress=True)
    assert "writing g.txt: 100%, 2.99 k of 2.99 kedges" in capsys.readouterr().err


FULL = """
import resource, sys
import graphdask as gd
from graphdask.errors import WriteError
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))  # what the operating system says of a full disk
for format in ("edgelist", "parquet", "native"):
    try:
        gd.generate.preferential_attachment(200_000, 4).write(sys.argv[1], format, files=2)
    except WriteError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "graph")], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("cannot be written") == done.stdout.count("nothing is left") == 3, done.stderr
    assert os.listdir(tmp_path) == []


ENDLESS = """
import sys
import graphdask as gd
gd.generate.preferential_attachment(2**31, 4).write(sys.argv[1], "parquet", files=2, device="cpu")
"""


def test_a_killed_write_leaves_nothing_that_reads_as_a_graph(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path / "graph.parquet")])
    try:
        deadline = time.monotonic() + 200
        while not any(file.stat().st_size for file in tmp_path.rglob("part-*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".graph.parquet.")
    for format in (None, "parquet"):
        with pytest.raises(FormatError, match="did not end"):
            gd.read_graph(left, format=format)


def test_a_damaged_folder_is_named(tmp_path):
    G = gd.generate.preferential_attachment(100, 2)
    G.write(tmp_path / "g", "csv", files=2)
    part = tmp_path / "g" / "part-00001.csv"
    part.write_bytes(part.read_bytes()[:-4])
    with pytest.raises(FormatError, match=r"part-00001.csv: the part has \d+ bytes"):
        gd.read_graph(tmp_path / "g")
    part.unlink()
    with pytest.raises(FormatError, match=r"part-00001.csv is missing"):
        gd.read_graph(tmp_path / "g")
    (tmp_path / "g" / "_graph.json").write_text("{")
    with pytest.raises(FormatError, match=r"_graph.json: this does not describe a graph"):
        gd.read_graph(tmp_path / "g")


@pytest.mark.parametrize("argument", ["ids", "comment", "delimiter", "columns", "format"])
def test_a_folder_says_itself_how_it_is_read(argument, tmp_path):
    gd.from_edges([0], [1]).write(tmp_path / "g", "csv")
    value = {"ids": "str", "format": "npz"}.get(argument, ",")
    with pytest.raises(InputError, match=argument):
        gd.read_graph(tmp_path / "g", **{argument: value})


def test_weights_of_a_folder_are_left_or_insisted_on(tmp_path):
    gd.from_edges([0], [1], [0.5]).write(tmp_path / "g", "edgelist")
    assert gd.read_graph(tmp_path / "g").weighted
    assert not gd.read_graph(tmp_path / "g", weights=False).weighted
    gd.from_edges([0], [1]).write(tmp_path / "h", "parquet")
    with pytest.raises(FormatError, match="the graph has none"):
        gd.read_graph(tmp_path / "h", weights=True)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_compiled_lines_are_those_of_python(dtype, rng, tmp_path):
    edge = [0, 9, 10, 99, 100, 2**31 - 1] + ([2**32 - 1, 2**32, 10**18, 2**63 - 1] if dtype == np.int64 else [])
    values = np.array([*edge, *(10**k for k in range(10 if dtype == np.int32 else 19))], dtype)
    src, dst = (np.concatenate([values, rng.integers(0, 2**31 - 1, 500).astype(dtype)]) for _ in range(2))
    weights = np.concatenate([[-(2**63), -1, 0], rng.integers(-(10**9), 10**9, len(src) - 3)])
    for columns in ([src, dst], [src, dst, weights]):
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        for ending, between in ((".txt", "\t"), (".csv", ",")):
            write_edges(EdgeList(*columns), tmp_path / f"g{ending}", overwrite=True)
            lines = (tmp_path / f"g{ending}").read_text().splitlines()[-len(rows) :]
            assert lines == [between.join(map(str, row)) for row in rows]
