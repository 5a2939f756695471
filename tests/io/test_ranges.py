"""Graphs whose ranks read their own ranges of files: the same edges, rows and answers as of a graph that is read whole,
and no more bytes than these ranges have."""

from __future__ import annotations

import threading

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import graphdask as gd
from graphdask.errors import FormatError, InputError, VertexNotFound
from graphdask.io.tuning import FILES

EDGES = 600_000


def made(edges: int, weights: bool, directed: bool) -> gd.Graph:
    rng = np.random.default_rng(5)
    src, dst = rng.integers(3, 900, (2, edges))
    src[:2], dst[:2] = (3, 899), (899, 3)
    return gd.from_edges(
        src,
        dst,
        rng.random(edges).astype(np.float32) if weights else None,
        directed=directed,
        vertices=np.arange(3, 905),
    )


@pytest.fixture
def store():
    MemoryFileSystem.store.clear()
    yield "memory://graphs/"
    MemoryFileSystem.store.clear()


def sent(G: gd.Graph, name: str, store: str, tmp_path) -> str:
    """Write a graph to a file of several ranges, or a folder, at an address."""
    G.write(f"{tmp_path}/{name}", **({"format": "parquet", "files": 3} if name.endswith("/") else {}))
    if name == "g.parquet":
        pq.write_table(pq.read_table(tmp_path / name), tmp_path / name, row_group_size=max(G.num_edges // 5, 1))
    fsspec.filesystem("memory").put(f"{tmp_path}/{name}", "/graphs/" + name, recursive=name.endswith("/"))
    return store + name


@pytest.mark.parametrize("name", ["g.parquet", "g.gdg", "folder/"])
@pytest.mark.parametrize(("weights", "directed"), [(True, True), (False, False)])
def test_the_graph_and_its_answers_are_those_of_the_whole_file(name, weights, directed, store, tmp_path, tuned):
    tuned(FILES, range_rows=1)
    G = made(EDGES if name == "g.gdg" else 3000, weights, directed)
    address = sent(G, name, store, tmp_path)
    whole, lazy = gd.read_graph(address), gd.read_graph(address, lazy=True)
    assert lazy.report["ranges"] >= 3
    assert lazy.num_edges == G.num_edges
    assert gd.same_graph(lazy, whole)
    ranks = gd.pagerank(whole, max_iter=5, tol=0).rank.tobytes()
    for parts in (1, 3):
        assert gd.pagerank(lazy.partition(parts), max_iter=5, tol=0).rank.tobytes() == ranks
    s, expected = (
        gd.sample.neighbors(each.partition(2), [3, 4, 899], fanouts=[3, 2], seed=1) for each in (lazy, whole)
    )
    assert s.dst.tolist() == expected.dst.tolist()
    if not name.endswith("/"):
        rows = s.edge
        src, dst, _ = G.edges("cpu")
        ends = np.sort(np.stack([np.asarray(src)[rows], np.asarray(dst)[rows]]), axis=0)
        assert ends.tolist() == np.sort(np.stack([s.src, s.dst]), axis=0).tolist()


@pytest.mark.parametrize("name", ["g.parquet", "g.gdg"])
def test_a_rank_fetches_its_ranges_alone(name, store, tmp_path, tuned, monkeypatch):
    tuned(FILES, range_rows=1)
    G = made(EDGES, True, True)
    address = sent(G, name, store, tmp_path)
    size, lock, fetched = fsspec.filesystem("memory").size("/graphs/" + name), threading.Lock(), []

    def count(number: int) -> None:
        with lock:
            fetched.append(number)

    whole_file, opened = MemoryFileSystem.cat_file, MemoryFileSystem.open

    def cat_file(self, path, start=None, end=None, **options):
        count(size if start is None else end - start)
        return whole_file(self, path, start, end, **options)

    class Counting:
        def __init__(self, stream):
            self.stream = stream

        def read(self, length=-1):
            data = self.stream.read(length)
            count(len(data))
            return data

        def __getattr__(self, attribute):
            return getattr(self.stream, attribute)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

    monkeypatch.setattr(MemoryFileSystem, "cat_file", cat_file)
    monkeypatch.setattr(MemoryFileSystem, "open", lambda self, *a, **k: Counting(opened(self, *a, **k)))
    lazy = gd.read_graph(address, lazy=True)
    assert sum(fetched) < size / 20
    fetched.clear()
    source = lazy.source
    assert sum(len(source.piece(rank, 3).chunks) for rank in range(3)) == len(source.chunks) >= 3
    source.piece(1, 3).chunks[0]()
    assert 0 < sum(fetched) < size / 2


def test_a_plain_file_is_read_by_ranges_too(tmp_path):
    G = made(500, False, True)
    G.write(tmp_path / "g.parquet")
    assert gd.same_graph(gd.read_graph(tmp_path / "g.parquet", lazy=True), G)


def with_columns(of_vertices: bool = True) -> gd.Graph:
    """Edges with parallel ones and loops, and columns of edges and vertices of several types."""
    rng = np.random.default_rng(8)
    src, dst = rng.integers(3, 30, (2, 900))
    columns = pa.table({
        "number": rng.integers(0, 99, 900), "time": pa.array(rng.integers(0, 10**9, 900), pa.timestamp("us", "UTC")),
        "word": [None if k % 7 == 0 else f"w{k % 50}" for k in range(900)], "list": [[k, 2] for k in range(900)],
        "kind": pa.array([f"k{k % 3}" for k in range(900)]).dictionary_encode(),
    })  # fmt: skip
    people = pa.table({"id": np.arange(3, 31), "name": [f"v{v}" for v in range(3, 31)]})
    return gd.from_edges(
        src, dst, rng.integers(1, 5, 900), vertices=np.arange(3, 31), edge_columns=columns,
        vertex_columns=people if of_vertices else None,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["g.parquet", "g.gdg", "folder/"])
@pytest.mark.parametrize("multi_edges", ["keep", "merge"])
@pytest.mark.parametrize("directed", [True, False])
def test_columns_come_and_duplicates_merge_as_in_the_whole_file(name, multi_edges, directed, store, tmp_path):
    address = sent(with_columns(name != "g.parquet"), name, store, tmp_path)
    of_vertices = None if name == "g.parquet" else True
    options = {"multi_edges": multi_edges, "directed": directed, "edge_columns": True, "vertex_columns": of_vertices}
    whole, lazy = gd.read_graph(address, **options), gd.read_graph(address, lazy=True, **options)
    assert lazy.edge_columns == whole.edge_columns
    assert lazy.to_arrow().equals(whole.to_arrow())
    if of_vertices:
        assert lazy.to_arrow("vertices").equals(whole.to_arrow("vertices"))
    for parts in (1, 3):
        one, other = (gd.sample.neighbors(each.partition(parts), [3, 4, 29], fanouts=[-1]) for each in (lazy, whole))
        assert len(one.src) == len(other.src)
        assert one.to_frame(columns=None).equals(other.to_frame(columns=None))
        assert gd.sssp(lazy.partition(parts), 3).distance.tolist() == gd.sssp(whole, 3).distance.tolist()
    few = gd.read_graph(address, lazy=True, edge_columns=["list", "number"])
    assert list(few.edge_columns) == ["list", "number"]
    assert few.to_arrow()["list"].equals(gd.read_graph(address, edge_columns=["list"]).to_arrow()["list"])


def test_ends_of_a_table_are_named(tmp_path):
    table = pa.table({"x": [0.5, 1.5], "from": [0, 1], "to": [1, 2], "cost": [3, 4]})
    pq.write_table(table, tmp_path / "g.parquet")
    options = {"columns": ["from", "to", "cost"], "edge_columns": ["x"], "num_vertices": 3}
    lazy = gd.read_graph(tmp_path / "g.parquet", lazy=True, **options)
    assert lazy.to_arrow().equals(gd.read_graph(tmp_path / "g.parquet", **options).to_arrow())
    gd.from_edges([0], [1]).write(tmp_path / "g.gdg")
    with pytest.raises(InputError, match=r"columns=\['src', 'dst'\]: .*g.gdg is a native file, which names its ends"):
        gd.read_graph(tmp_path / "g.gdg", lazy=True, columns=["src", "dst"])


@pytest.mark.parametrize("name", ["g.parquet", "g.gdg", "folder/"])
def test_columns_that_memory_cannot_hold_are_refused_before_they_are_read(name, store, tmp_path, free_memory):
    address = sent(with_columns(name != "g.parquet"), name, store, tmp_path)
    free_memory(8 << 10)
    with pytest.raises(gd.OverBudget, match=r"edge_columns= needs .* GiB in this process.* name fewer columns"):
        gd.read_graph(address, lazy=True, edge_columns=True)
    assert gd.read_graph(address, lazy=True).num_edges == 900


def test_damaged_columns_are_found(tmp_path):
    G = with_columns()
    G.write(tmp_path / "g.gdg")
    data = bytearray((tmp_path / "g.gdg").read_bytes())
    at = data.index(b"w13w14w15")
    data[at] ^= 1
    (tmp_path / "g.gdg").write_bytes(data)
    with pytest.raises(FormatError, match="edge_columns is damaged: the checksum"):
        gd.read_graph(tmp_path / "g.gdg", lazy=True, edge_columns=True)


def test_a_file_that_states_no_vertices_takes_their_number(tmp_path):
    gd.io.write_edges(gd.io.EdgeList(np.array([0, 1]), np.array([1, 2])), tmp_path / "g.parquet")
    with pytest.raises(InputError, match=r"does not state .*give num_vertices=, or read it with lazy=False"):
        gd.read_graph(tmp_path / "g.parquet", lazy=True)
    assert gd.read_graph(tmp_path / "g.parquet", lazy=True, num_vertices=3).degrees().tolist() == [1, 1, 0]
    with pytest.raises(VertexNotFound, match=r"2 is not in the graph"):
        gd.bfs(gd.read_graph(tmp_path / "g.parquet", lazy=True, num_vertices=2), 0)


def test_damage_is_found_by_the_rank_that_reads_it(tmp_path):
    G = made(500, False, True)
    G.write(tmp_path / "g.gdg")
    data = bytearray((tmp_path / "g.gdg").read_bytes())
    at = len(data) // 2
    data[at] ^= 1
    (tmp_path / "g.gdg").write_bytes(data)
    lazy = gd.read_graph(tmp_path / "g.gdg", lazy=True)
    with pytest.raises(FormatError, match=r"(src|dst) is damaged: the checksum"):
        gd.bfs(lazy, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"self_loops": "drop"}, "self_loops='drop' is not for lazy=True.* give self_loops='keep'"),
        ({"multi_edges": "error"}, "multi_edges='error' is not for lazy=True.* 'merge', which ranks do"),
        ({"multi_edges": 3}, "multi_edges=3 is not one of keep, merge, error"),
        ({"comment": "#"}, "comment='#' is not for lazy=True, which reads no text"),
        ({"skip_rows": 1}, "skip_rows=1 is not for lazy=True"),
        ({"edge_columns": ["t"]}, "edge_columns: there is no column 't'"),
        ({"edge_columns": np.array([1, 2])}, "edge_columns=.* is not a list of names"),
        ({"vertex_columns": True}, "parquet holds no columns of vertices"),
        ({"columns": ["src"]}, r"columns=\['src'\]: give source and target"),
        ({"weights": "auto"}, "weights='auto' is not for lazy=True"),
        ({"directed": 3}, "directed=3"),
        ({"weights": True}, "weight"),
        ({"num_vertices": -1}, "num_vertices=-1"),
        ({"storage_options": {"key": 1}}, "storage_options="),
        ({"lazy": 2}, "lazy=2"),
    ],
)
def test_what_is_refused(options, message, tmp_path):
    made(20, False, True).write(tmp_path / "g.parquet")
    with pytest.raises(InputError, match=message):
        gd.read_graph(tmp_path / "g.parquet", **({"lazy": True} | options))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n")
    with pytest.raises(
        InputError, match=r"lazy=True reads parquet and native files, not edgelist, .* state .*read_csv"
    ):
        gd.read_graph(tmp_path / "g.txt", lazy=True)
    with pytest.raises(InputError, match="no such file"):
        gd.read_graph(tmp_path / "none.parquet", lazy=True)
    gd.from_edges(["a"], ["b"]).write(tmp_path / "names.parquet")
    with pytest.raises(InputError, match="has names; lazy=True is for ids that are whole numbers"):
        gd.read_graph(tmp_path / "names.parquet", lazy=True)
    gd.from_edges(["a"], ["b"]).write(tmp_path / "names.gdg")
    with pytest.raises(InputError, match="are names; lazy=True is for ids that are whole numbers"):
        gd.read_graph(tmp_path / "names.gdg", lazy=True)
    (tmp_path / "bad.parquet").write_bytes(b"no such file" * 100)
    with pytest.raises(InputError, match="cannot be read by ranges"):
        gd.read_graph(tmp_path / "bad.parquet", lazy=True)
