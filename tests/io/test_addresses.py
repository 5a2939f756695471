"""Graphs of addresses, patterns and open files: the same as of the files, and errors that name what was given."""

from __future__ import annotations

import gzip
import io
import threading
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning, InputError, MissingDependency, WriteError
from graphdask.io import addresses

TEXT = b"src,dst,weight\n1,2,0.5\n2,3,1.5\n3,3,2.5\n"


@pytest.fixture
def memory():
    """Files in the memory of fsspec."""
    filesystem = fsspec.filesystem("memory")
    filesystem.store.clear()
    yield filesystem
    filesystem.store.clear()


def written(tmp_path, name, **options):
    G = gd.from_edges([0, 1, 3], [1, 2, 2], [3, 4, 5], directed=False)
    G.write(tmp_path / name, **options)
    return G, tmp_path / name


def edges_of(G):
    return [None if column is None else column.tolist() for column in G.edges()]


@pytest.mark.parametrize("name", ["g.csv", "g.txt.gz", "g.parquet", "g.npz", "g.gdg", "g.mtx"])
def test_an_address_is_the_graph_of_its_file(name, memory, tmp_path):
    if name == "g.mtx":
        path = tmp_path / name
        path.write_text("%%MatrixMarket matrix coordinate integer symmetric\n7 7 3\n2 1 3\n3 2 4\n6 3 5\n")
    else:
        _, path = written(tmp_path, name)
    memory.pipe(f"/here/{name}", path.read_bytes())
    expected, found = gd.read_graph(path), gd.read_graph(f"memory://here/{name}")
    assert edges_of(found) == edges_of(expected)
    assert (found.directed, found.num_vertices) == (expected.directed, expected.num_vertices)


def test_a_folder_that_was_written_and_the_two_files_of_ldbc(memory, tmp_path):
    G, path = written(tmp_path, "parts", format="parquet", files=2)
    for each in path.iterdir():
        memory.pipe(f"/parts/{each.name}", each.read_bytes())
    assert sorted(zip(*edges_of(gd.read_graph("memory://parts")), strict=True)) == sorted(
        zip(*edges_of(G), strict=True)
    )
    memory.pipe("/l/small.v", b"1\n2\n9\n")
    memory.pipe("/l/small.e", b"1 2\n")
    for name in ("small.v", "small.e"):
        assert gd.read_graph(f"memory://l/{name}").vertex_ids.tolist() == [1, 2, 9]


def test_files_that_fit_a_pattern_are_one_graph_in_the_order_of_their_names(memory, tmp_path):
    for name, edge in (("b.csv", "3,4,2"), ("a.csv", "1,2,1.5"), ("other.txt", "9 9")):
        (tmp_path / name).write_text(f"src,dst,weight\n{edge}\n" if name.endswith("csv") else edge)
        memory.pipe(f"/p/{name}", (tmp_path / name).read_bytes())
    for pattern in (tmp_path / "*.csv", str(tmp_path / "[ab].csv"), "memory://p/*.csv"):
        G = gd.read_graph(pattern)
        assert edges_of(G) == [[1, 3], [2, 4], [1.5, 2.0]]
        assert G.report["files"] == 2
        assert G.report["edges_read"] == 2
    (tmp_path / "star*.csv").write_text("src,dst\n7,8\n")  # a name is no pattern where there is such a file
    assert edges_of(gd.read_graph(tmp_path / "star*.csv")) == [[7], [8], None]


def test_strings_and_declared_vertices_of_several_files(tmp_path):
    (tmp_path / "1.csv").write_text("src,dst\nann,bob\n")
    (tmp_path / "2.csv").write_text("src,dst\nbob,eve\n")
    assert gd.read_graph(tmp_path / "?.csv").vertex_ids.tolist() == ["ann", "bob", "eve"]
    for name, count in (("1.npz", 4), ("2.npz", 6)):
        gd.from_edges([0], [1], num_vertices=count).write(tmp_path / name)
    G = gd.read_graph(tmp_path / "?.npz")
    assert (G.num_vertices, edges_of(G)) == (6, [[0, 0], [1, 1], None])


def test_files_that_do_not_fit_together_are_named(tmp_path):
    (tmp_path / "1.csv").write_text("src,dst,weight\n1,2,3\n")
    (tmp_path / "2.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(InputError, match=r"1\.csv has weights and .*2\.csv has none"):
        gd.read_graph(tmp_path / "?.csv")
    assert gd.read_graph(tmp_path / "?.csv", weights=False).num_edges == 2
    (tmp_path / "2.csv").write_text("src,dst,weight\nann,bob,3\n")
    with pytest.raises(InputError, match="not of one kind"):
        gd.read_graph(tmp_path / "?.csv")


@pytest.mark.parametrize("name", ["g.csv", "g.parquet", "g.npz", "g.gdg"])
def test_open_files_of_bytes(name, tmp_path):
    _, path = written(tmp_path, name)
    expected = edges_of(gd.read_graph(path))
    with path.open("rb") as file:
        assert edges_of(gd.read_graph(file)) == expected
    assert edges_of(gd.read_graph(io.BytesIO(path.read_bytes()))) == expected


def test_open_files_of_text_and_compressed_ones():
    assert edges_of(gd.read_graph(io.StringIO("ä ö\nö ü\n"))) == [["ä", "ö"], ["ö", "ü"], None]
    assert edges_of(gd.read_graph(io.BytesIO(gzip.compress(b"4 5\n")))) == [[4], [5], None]
    rest = io.BytesIO(TEXT)
    rest.seek(len(b"src,dst,weight\n"))  # from where it stands
    assert edges_of(gd.read_graph(rest, format="csv", header=False, weights=True))[:2] == [[1, 2, 3], [2, 3, 3]]


def test_an_archive_and_an_object_with_an_address(tmp_path):
    with zipfile.ZipFile(tmp_path / "graphs.zip", "w") as archive:
        archive.writestr("inner/g.txt", "1 2\n2 3\n")

    class Elsewhere:
        protocol, storage_options = "zip", {}

        def __str__(self):
            return f"zip://inner/g.txt::{tmp_path}/graphs.zip"

    for address in (str(Elsewhere()), Elsewhere()):
        assert edges_of(gd.read_graph(address)) == [[1, 2], [2, 3], None]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("memory://here/none.csv", InputError, "memory://here/none.csv: no such file"),
        ("memory://here/*.nothing", InputError, "memory://here/\\*.nothing: no file fits this pattern"),
        ("nothing://here/g.csv", InputError, "nothing://here/g.csv cannot be read: Protocol not known"),
        ("memory://here/bad.txt", FormatError, "memory://here/bad.txt:2: vertex id 'x3' is not a number"),
        ("memory://here/word.none", InputError, "does not say its format"),
        ("none/*.csv", InputError, "none/\\*.csv: no file fits this pattern"),
    ],
)
def test_what_is_not_there_or_damaged_is_named_as_it_was_given(address, error, message, memory):
    memory.pipe("/here/bad.txt", b"1 2\n2 x3\n")
    memory.pipe("/here/word.none", b"1 2\n")
    with pytest.raises(error, match=message) as raised:
        gd.read_graph(address)
    assert "graphdask-stream" not in str(raised.value)


def test_a_protocol_without_its_package_says_what_to_install(fault):
    fault(fsspec.core, "url_to_fs", ImportError("Install s3fs to access S3"))
    with pytest.raises(MissingDependency, match=r"s3://bucket/g.csv cannot be opened: Install s3fs"):
        gd.read_graph("s3://bucket/g.csv")


def test_options_go_to_the_file_system(memory, watched):
    seen = watched(fsspec.core, "url_to_fs", lambda address, **options: options)
    memory.pipe("/here/g.csv", TEXT)
    gd.read_graph("memory://here/g.csv", storage_options={"anon": True})
    assert seen == [{"anon": True}]
    with pytest.raises(InputError, match="storage_options= are for addresses"):
        gd.read_graph("g.csv", storage_options={})
    with pytest.raises(InputError, match="is not a mapping"):
        gd.read_graph("memory://here/g.csv", storage_options=[1])


def test_a_full_disk_and_odd_objects(memory, host):
    memory.pipe("/here/g.csv", TEXT)
    host.free_disk(10)
    with pytest.raises(WriteError, match=r"has 39 bytes, and .* has 10 free; set TMPDIR"):
        gd.read_graph("memory://here/g.csv")

    class Odd:
        def read(self, size=-1):
            return 3

    with pytest.raises(InputError, match="gives int, not bytes or text"):
        gd.read_graph(Odd())


def test_the_disk_must_have_space_for_all_files_of_a_pattern_before_any_is_copied(memory, host, fault):
    for name in "abc":
        memory.pipe(f"/p/{name}.csv", TEXT)
    free = 2 * len(TEXT)
    host.free_disk(free)
    fault(type(memory), "open", AssertionError("a file is copied"))
    with pytest.raises(
        WriteError, match=rf"memory://p/\*\.csv, 3 files, has {3 * len(TEXT)} bytes, and .* {free} free"
    ):
        gd.read_graph("memory://p/*.csv")


def test_warnings_of_two_reads_at_a_time_name_each_its_own_address(memory):
    both = threading.Barrier(2, timeout=60)
    names = [f"memory://p/{name}.txt" for name in "ab"]

    def read(address):
        with addresses.local_files(address) as (file,):
            both.wait()
            warnings.warn(GraphdaskWarning(f"{file.path}: odd"), stacklevel=1)
            both.wait()
            if address == names[0]:
                return
            both.wait()  # the other context has ended
            warnings.warn(GraphdaskWarning(f"{file.path}: odd again"), stacklevel=1)

    for address in names:
        memory.pipe(address, TEXT)
    with warnings.catch_warnings(record=True) as caught, ThreadPoolExecutor(2) as pool:
        warnings.simplefilter("always")
        first, second = (pool.submit(read, address) for address in names)
        first.result(60)
        both.wait()
        second.result(60)
    assert sorted(str(each.message) for each in caught) == [
        f"{names[0]}: odd", f"{names[1]}: odd", f"{names[1]}: odd again",
    ]  # fmt: skip
