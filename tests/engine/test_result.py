"""Results: the same values as arrays, as a data frame, as Dask arrays and in a file, in the caller's order and ids."""

from __future__ import annotations

from pathlib import Path

import dask
import numpy as np
import pyarrow.parquet
import pytest

import graphdask as gd

PARTS = (1, 2, 3, 9)


def graph_of(kind, parts):
    src, dst, isolated = ["d", "b", "x"], ["b", "c", "y"], "a"
    if kind == "numbers":
        code = {"a": 3, "b": 10, "c": 11, "d": 2**40, "x": 2**41, "y": 2**42}
        src, dst, isolated = [code[x] for x in src], [code[x] for x in dst], code[isolated]
    graph = gd.from_edges(src, dst, vertices=[*src, *dst, isolated])
    return graph.partition(parts, by="random", device="cpu"), src[0]


@pytest.fixture(params=["strings", "numbers"])
def kind(request):
    return request.param


@pytest.mark.parametrize("parts", PARTS)
def test_a_frame_has_a_row_for_each_vertex(kind, parts):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    graph, source = graph_of(kind, parts)
    for result in (gd.bfs(graph, source), gd.connected_components(graph)):
        frame = result.to_frame()
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame.columns) == ["vertex", *result.columns]
        assert frame["vertex"].tolist() == graph.vertex_ids.tolist()
        for name in result.columns:
            values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
            assert values == getattr(result, name).tolist()


@pytest.mark.parametrize("parts", PARTS)
def test_a_parquet_file_holds_the_result(kind, parts, tmp_path):
    graph, source = graph_of(kind, parts)
    for result in (gd.bfs(graph, source), gd.connected_components(graph)):
        result.to_parquet(tmp_path / "result.parquet", overwrite=True)
        table = pyarrow.parquet.read_table(tmp_path / "result.parquet").to_pydict()
        assert list(table) == ["vertex", *result.columns]
        assert table["vertex"] == graph.vertex_ids.tolist()
        for name in result.columns:
            assert table[name] == getattr(result, name).tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["result.parquet"]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path, fault):
    graph, source = graph_of("strings", 2)
    result = gd.bfs(graph, source)
    with pytest.raises(gd.InputError, match="absent"):
        result.to_parquet(tmp_path / "absent" / "result.parquet")

    fault(pyarrow.parquet, "write_table", MemoryError, lambda table, path: Path(path).write_bytes(b"PAR1"))
    with pytest.raises(MemoryError):
        result.to_parquet(tmp_path / "result.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("parts", PARTS)
def test_dask_arrays_have_a_chunk_for_each_partition(kind, parts):
    graph, source = graph_of(kind, parts)
    for result in (gd.bfs(graph, source), gd.connected_components(graph)):
        arrays = result.to_dask()
        assert set(arrays) == {"vertex", *result.columns}
        with dask.config.set(scheduler="synchronous"):
            values = {name: array.compute() for name, array in arrays.items()}
        order = np.argsort(values["vertex"])
        assert values["vertex"][order].tolist() == graph.vertex_ids.tolist()
        for name, array in arrays.items():
            assert array.chunks == (tuple(len(part.ids) for part in graph.built.parts.values if len(part.ids)),)
            assert array.dtype == values[name].dtype
            if name != "vertex":
                assert values[name].dtype == getattr(result, name).dtype
                assert values[name][order].tolist() == getattr(result, name).tolist()


@pytest.mark.parametrize("parts", [1, 3])
def test_results_of_the_empty_graph(parts, tmp_path):
    result = gd.connected_components(gd.from_edges([], []).partition(parts, device="cpu"))
    assert result.label.shape == (0,)
    result.to_parquet(tmp_path / "empty.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "empty.parquet").num_rows == 0
    assert result.to_dask()["label"].compute(scheduler="synchronous").shape == (0,)


def test_values_are_gathered_once_and_stay_what_they_are():
    graph, source = graph_of("numbers", 3)
    result = gd.bfs(graph, source)
    first = result.depth
    assert result.depth is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7
    other = gd.bfs(graph, 10)
    assert result.depth.tolist() != other.depth.tolist()


def test_repr_says_what_ran():
    graph, source = graph_of("strings", 3)
    text = repr(gd.bfs(graph, source))
    assert text.startswith("<BfsResult: depth, parent of 6 vertices; ")
    assert "3 ranks over threads" in text
