"""What is written to an address of fsspec is read from there as the same graph."""

from __future__ import annotations

import gzip

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import graphdask as gd
from graphdask.errors import GraphdaskWarning, InputError, MissingDependency, OutputExists, Unsupported, WriteError
from graphdask.io import read_edges, write_edges

EDGES = b"1 2\n2 3\n3 1\n7 7\n"
PAIRS = [(1, 2), (2, 3), (3, 1), (7, 7)]


@pytest.fixture
def memory():
    """The file system of memory://, empty."""
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    yield MemoryFileSystem()
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


@pytest.fixture
def expected(tmp_path):
    (tmp_path / "expected.txt").write_bytes(EDGES)
    return gd.read_graph(tmp_path / "expected.txt")


@pytest.mark.parametrize("name", ["g.txt", "g.csv.gz", "g.parquet", "g.npz", "g.gdg", "folder/", "other"])
def test_a_graph_that_is_written_to_an_address_comes_back(name, memory, expected):
    format = "parquet" if name in ("other", "folder/") else None
    written = expected.write(f"memory://made/{name}", format)
    assert written.edges == 4
    assert written.path == f"memory://made/{name}"
    assert gd.same_graph(gd.read_graph(f"memory://made/{name}"), expected)


@pytest.mark.parametrize("name", ["g.txt.xz", "g.parquet", "g.gdg", "g.npz", "g.csv"])
def test_edges_that_are_written_to_an_address_come_back(name, memory, tmp_path, expected):
    write_edges(read_edges(tmp_path / "expected.txt"), f"memory://{name}")
    back = read_edges(f"memory://{name}")
    assert list(zip(back.src, back.dst, strict=True)) == PAIRS


def test_warnings_name_the_address(memory, tmp_path, expected):
    with pytest.warns(GraphdaskWarning) as warned:
        write_edges(read_edges(tmp_path / "expected.txt"), "memory://g.mtx")
    assert not any("graphdask-stream-" in str(each.message) for each in warned)
    assert read_edges("memory://g.mtx").num_edges == 4


def test_read_edges_reads_patterns(memory, tmp_path):
    for name, data in (("a.txt.gz", b"1 2\n2 3\n"), ("b.txt.gz", b"3 1\n7 7\n")):
        (tmp_path / name).write_bytes(gzip.compress(data))
        memory.pipe(f"/{name}", gzip.compress(data))
    for pattern in (tmp_path / "*.txt.gz", "memory://*.txt.gz"):
        edges = read_edges(pattern)
        assert list(zip(edges.src, edges.dst, strict=True)) == PAIRS


def test_nothing_is_replaced_unless_asked(memory, expected):
    memory.pipe("/g.txt", b"old")
    with pytest.raises(OutputExists, match=r"memory://g\.txt is there already; overwrite=True"):
        expected.write("memory://g.txt")
    assert memory.cat("/g.txt") == b"old"
    expected.write("memory://g.txt", overwrite=True)
    assert gd.same_graph(gd.read_graph("memory://g.txt"), expected)
    memory.pipe("/folder/other.txt", b"old")
    with pytest.raises(OutputExists, match="is a folder, which is not replaced"):
        expected.write("memory://folder/", "csv", overwrite=True)
    assert memory.cat("/folder/other.txt") == b"old"


def test_an_output_that_fails_is_not_sent(memory):
    names = gd.from_edges(["a\nb"], ["c"])
    with pytest.raises(InputError):
        names.write("memory://g.txt")
    assert not memory.exists("/g.txt")


class Guarded(MemoryFileSystem):
    """A file system that needs a token, and can only be read."""

    protocol = "guarded"
    cachable = False

    def __init__(self, token=None, **kwargs):
        super().__init__(**kwargs)
        self.token = token

    def exists(self, path, **kwargs):
        if self.token != "right":
            raise PermissionError("Forbidden")
        return False

    def _open(self, path, mode="rb", **kwargs):
        raise NotImplementedError


def test_credentials_are_passed_on(memory, expected):
    fsspec.register_implementation("guarded", Guarded, clobber=True)
    with pytest.raises(WriteError, match=r"guarded://g\.txt cannot be written: Forbidden"):
        expected.write("guarded://g.txt")
    with pytest.raises(Unsupported, match="nothing can be written at such addresses"):
        expected.write("guarded://g.txt", storage_options={"token": "right"})
    with pytest.raises(InputError, match="storage_options= are for addresses"):
        expected.write("g.txt", storage_options={"token": "right"})
    with pytest.raises(InputError, match="is not a mapping"):
        expected.write("memory://g.txt", storage_options=3)


def test_what_is_missing_is_named(memory, expected, fault):
    with pytest.raises(InputError, match=r"nosuch://a/b\.txt cannot be opened: Protocol not known: nosuch"):
        expected.write("nosuch://a/b.txt")
    with pytest.raises(InputError, match="this names no file"):
        expected.write("memory://")
    fault(fsspec.core, "url_to_fs", ImportError("Install s3fs to access S3"))
    with pytest.raises(MissingDependency, match=r"s3://a/b\.txt cannot be opened: Install s3fs to access S3"):
        expected.write("s3://a/b.txt")


def test_an_address_that_cannot_be_written_is_an_error(memory, expected, fault):
    fault(MemoryFileSystem, "_open", OSError("the network is gone"))
    with pytest.raises(WriteError, match=r"memory://g\.txt cannot be written: the network is gone"):
        expected.write("memory://g.txt")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("memory://ann:secret@host/no.txt", "memory://ann:***@host/no.txt"),
        ("https://127.0.0.1:9/no.txt?X-Amz-Signature=secret", "https://127.0.0.1:9/no.txt"),  # nobody answers
    ],
)
def test_errors_of_reading_show_no_secret(memory, address, shown):
    with pytest.raises((InputError, MissingDependency)) as error:
        gd.read_graph(address)
    assert "secret" not in str(error.value)
    assert shown in str(error.value)
