"""Words such as NULL in columns of strings of files that others wrote are missing ids, as in texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphdask as gd
from graphdask.io import read_edges, spilled_edges

SRC, DST = ["ann", "NULL", "cid", "NULL"], ["bob", "cid", "\\N", "dan"]


def parquet(folder, src, dst, dictionary=False):
    columns = {"src": pa.array(src), "dst": pa.array(dst)}
    if dictionary:
        columns = {name: column.dictionary_encode() for name, column in columns.items()}
    pq.write_table(pa.table(columns), folder / "graph.parquet")
    return folder / "graph.parquet"


def npz(folder, src, dst):
    np.savez(folder / "graph.npz", src=np.array(src), dst=np.array(dst))
    return folder / "graph.npz"


def coded(folder, src, dst):
    return parquet(folder, src, dst, True)


FILES = pytest.mark.parametrize("write", [parquet, coded, npz])


@FILES
def test_they_are_an_error_that_names_column_row_count_and_argument(write, tmp_path):
    with pytest.raises(gd.FormatError) as refused:
        gd.read_graph(write(tmp_path, SRC, DST))
    text = str(refused.value)
    for part in ("row 1: ", "src", "'NULL'", "in 2 rows", "ids='str'", "na_values=()", "graph."):
        assert part in text


@FILES
def test_every_word_that_is_missing_in_a_text_is_missing_there(write, tmp_path):
    for word in ("#N/A", "NULL", "NaN", "None", "nan", "null", "<NA>", "\\N", "nil", "-", "?", "N.A.", "#DIV/0!"):
        with pytest.raises(gd.FormatError, match=r"row 2: .*dst.* in 1 row;"):
            read_edges(write(tmp_path, ["a", "b", "c"], ["b", "c", word]))


@FILES
@pytest.mark.parametrize("options", [{"ids": "str"}, {"na_values": ()}, {"na_values": ["none of them"]}], ids=str)
def test_the_arguments_say_that_they_are_names(write, options, tmp_path):
    edges = read_edges(write(tmp_path, SRC, DST), **options)
    assert list(zip(edges.src, edges.dst, strict=True)) == list(zip(SRC, DST, strict=True))


@FILES
def test_other_words_can_be_named(write, tmp_path):
    path = write(tmp_path, ["a", "gone"], ["b", "c"])
    assert read_edges(path).src.tolist() == ["a", "gone"]
    with pytest.raises(gd.FormatError, match="'gone'"):
        read_edges(path, na_values="gone")


@pytest.mark.parametrize("name", ["graph.parquet", "graph.npz", "folder.parquet/", "folder.npz/", "graph.gdg"])
def test_what_graphdask_writes_is_read_back_with_such_names(name, tmp_path):
    G = gd.from_edges(SRC, DST)
    options = {"format": name.split(".")[1].rstrip("/"), "files": 2} if name.endswith("/") else {}
    G.write(f"{tmp_path}/{name}", **options)
    again = gd.read_graph(f"{tmp_path}/{name}")
    assert sorted(zip(*again.edges()[:2], strict=True)) == sorted(zip(SRC, DST, strict=True))


@FILES
def test_converted_edges_are_too(write, tmp_path):
    edges = read_edges(write(tmp_path, SRC, DST), ids="str")
    for name in ("again.parquet", "again.npz"):
        gd.io.write_edges(edges, tmp_path / name)
        assert read_edges(tmp_path / name).src.tolist() == SRC
        with pytest.raises(gd.FormatError, match="'ann'"):
            read_edges(tmp_path / name, na_values="ann")


@FILES
def test_ids_that_do_not_fit_the_column_are_refused(write, tmp_path):
    with pytest.raises(gd.InputError, match="ids='str'"):
        read_edges(write(tmp_path, [0, 1], [1, 2]), ids="str")
    with pytest.raises(gd.InputError, match="ids='int'"):
        read_edges(write(tmp_path, ["a"], ["b"]), ids="int")


def test_streams_refuse_them_too(tmp_path):
    path = parquet(tmp_path, SRC, DST)
    (tmp_path / "parts").mkdir()
    with pytest.raises(gd.FormatError, match="'NULL'"):
        spilled_edges(path, tmp_path / "parts", 1 << 20)
    with pytest.raises(gd.FormatError, match="'NULL'"):
        gd.stream.build(path, tmp_path / "graph.gdl")
    assert gd.stream.build(path, tmp_path / "graph.gdl", ids="str").num_vertices == 6
