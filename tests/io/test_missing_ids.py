"""Words that stand for a missing id are an error that names the line, unless the caller says otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning, InputError
from graphdask.io import read_edges

PANDAS = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
    "NaN", "None", "n/a", "nan", "null",
]  # fmt: skip
"""What `pandas.read_csv` takes for missing, besides the empty field."""


def file(tmp_path, name, *lines):
    path = tmp_path / name
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_errors_speak_of_strings_where_a_format_has_them(tmp_path):
    for name, lines, line in (
        ("g.adjlist", ["ann bob", "bob cleo"], 1), ("g.adjlist", ["1 2", "2 NULL"], 2),
        ("g.graph", ["2 1", "2", "x"], 3), ("g.gr", ["p sp 2 1", "a 1 x 3"], 2),
        ("g.gr", ["p sp 2 1", f"a 1 {2**63} 3"], 2), ("g.mtx", ["%%MatrixMarket matrix coordinate pattern general",
         "2 2 1", "1 1.5"], 3),
    ):  # fmt: skip
        with pytest.raises(FormatError, match=rf"{name}:{line}: ") as caught:
            read_edges(file(tmp_path, name, *lines))
        assert "ids=" not in str(caught.value)
    with pytest.raises(FormatError, match="is not an integer; pass ids='str' if it is a name"):
        read_edges(file(tmp_path, "g.txt", "1 2", "3 9606.E01"))


@pytest.mark.parametrize("word", [*PANDAS, "\\N", "", "N.A.", "<nil>", "--"])
@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("ids", [["1", "2", "3"], ["ann", "bob", "cleo"]], ids=["numbers", "names"])
@pytest.mark.parametrize("end", [0, 1])
def test_a_missing_id_is_an_error_that_names_the_line(tmp_path, word, row, ids, end):
    rows = [[ids[0], ids[1]], [ids[1], ids[2]], [ids[2], ids[0]]]
    rows[row][end] = word
    path = file(tmp_path, "g.csv", "source,target", *(",".join(pair) for pair in rows))
    with pytest.raises(FormatError, match=rf"g\.csv:{row + 2}: a vertex id is missing"):
        read_edges(path)
    with pytest.raises(FormatError, match=rf"g\.csv:{row + 2}: a vertex id is missing"):
        gd.stream.build(path, tmp_path / "g.gdl", memory="64MiB")


@pytest.mark.parametrize("word", [word for word in PANDAS if " " not in word and word[0] != "#"] + ["\\N"])
@pytest.mark.parametrize("first", [True, False])
def test_edge_lists_of_white_space_as_well(tmp_path, word, first):
    rows = [f"1 {word}", "2 3"] if first else ["2 3", f"1 {word}"]
    with pytest.raises(FormatError, match=rf"g\.txt:{2 - first}: a vertex id is missing"):
        read_edges(file(tmp_path, "g.txt", *rows))


def test_large_files_too(tmp_path):
    path = file(tmp_path, "g.txt", *["1 2"] * 100_000, "3 NULL", *["1 2"] * 9)
    with pytest.raises(FormatError, match=r"g\.txt:100001: a vertex id is missing \('NULL'\).*ids='str' or na_values="):
        read_edges(path)


@pytest.mark.parametrize("how", [{"ids": "str"}, {"na_values": []}, {"na_values": ["-"]}, {"na_values": "?"}])
def test_the_caller_says_that_such_words_are_names(tmp_path, how):
    path = file(tmp_path, "g.csv", "source,target", "DE,NA", "NA,None")
    for read in (
        lambda path, **how: read_edges(path, **how).dst,
        lambda path, **how: gd.read_graph(path, **how).edges().dst,
    ):
        assert [str(name) for name in read(path, **how)] == ["NA", "None"]
    S = gd.stream.build(path, tmp_path / "g.gdl", memory="64MiB", **how)
    assert S.num_vertices == 3


def test_the_caller_says_which_words_are_missing(tmp_path):
    path = file(tmp_path, "g.csv", "source,target", "ann,bob", "ann,!")
    assert read_edges(path).num_edges == 2
    for how in ({}, {"ids": "str"}):
        with pytest.raises(FormatError, match=r"g\.csv:3: a vertex id is missing \('!'\)"):
            read_edges(path, na_values=["!", "-"], **how)


@pytest.mark.parametrize("word", ["unknown", "missing", ".", "*"])
def test_other_words_among_numbers_warn(tmp_path, word):
    path = file(tmp_path, "g.txt", f"1 {word}", "2 3", f"4 {word}")
    with pytest.warns(GraphdaskWarning, match="ids are read as strings because of .* but the others are integers"):
        read_edges(path)


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("names", [True, False])
def test_arrays_and_frames_with_missing_ids(nothing, names):
    ids = ["a", nothing] if names else [1, nothing]
    others = ["b", "c"] if names else [2, 3]
    for dtype in (object, "string") if names else (object,):
        frame = pd.DataFrame({"src": pd.Series(ids, dtype=dtype), "dst": others})
        with pytest.raises(InputError, match=r"src\[1\].* is missing"):
            gd.from_edges(frame["src"], frame["dst"])
    with pytest.raises(InputError, match=r"dst\[1\].* is missing"):
        gd.from_edges(others, np.array(ids, object))


def test_strings_of_numpy_with_missing_ids():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("this NumPy has no StringDType")
    ids = np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan))
    with pytest.raises(InputError, match=r"src\[1\] is missing"):
        gd.from_edges(ids, ["b", "c"])


def test_parquet_with_missing_names(tmp_path):
    pd.DataFrame({"src": ["a", None], "dst": ["b", "c"]}).to_parquet(tmp_path / "g.parquet")
    with pytest.raises(FormatError, match="row 1: column 'src' is null"):
        gd.read_graph(tmp_path / "g.parquet")


def test_an_npz_of_objects_is_refused(tmp_path):
    np.savez(tmp_path / "g.npz", src=np.array(["a", None], object), dst=np.array(["b", "c"]))
    with pytest.raises(FormatError):
        gd.read_graph(tmp_path / "g.npz")


@pytest.mark.parametrize("sign", ["#", "%", "@"])
def test_rows_of_csv_below_a_header_may_begin_with_any_character(tmp_path, sign):
    rows = [f"{sign}loja,{sign}news", f"{sign}news,{sign}loja", f"ann,{sign}loja"]
    path = file(tmp_path, "tags.csv", "# made by x", "Source,Target", *rows)
    edges = read_edges(path)
    assert [f"{a},{b}" for a, b in zip(edges.src, edges.dst, strict=True)] == rows
    assert edges.report["comments"] == 1
    assert read_edges(path, comment="#%").num_edges == (3 if sign == "@" else 1)
    only = file(tmp_path, "only.csv", "Source,Target", *rows[:2])
    assert read_edges(only).num_edges == 2


def test_lines_that_are_left_out_as_comments_are_counted(tmp_path):
    path = file(tmp_path, "g.csv", "ann,#b", "#b,#c", "%c,ann")
    with pytest.warns(GraphdaskWarning, match="2 of the lines, which begin with '#' or '%', are left out as comments"):
        G = gd.read_graph(path)
    assert (G.num_edges, G.report["comments"]) == (1, 2)
    assert gd.read_graph(path, comment="", header=False).num_edges == 3
    path = file(tmp_path, "all.csv", "#a,#b", "#b,#c")
    with pytest.warns(GraphdaskWarning, match="2 of the lines"):
        assert gd.read_graph(path).report["comments"] == 2
    for name in ("g.txt", "g.adj"):
        assert gd.read_graph(file(tmp_path, name, "# x", "1 2", "% y", "2 3")).report["comments"] == 2
    gd.from_edges([0], [1]).write(tmp_path / "parts/", "edgelist")
    assert gd.read_graph(tmp_path / "parts").report["comments"] > 0
