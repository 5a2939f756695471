"""`convert --renumber` writes consecutive ids, and beside them the ids that they were."""

from __future__ import annotations

import csv
import json

import fsspec
import pytest

import graphdask as gd


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text('src,dst,weight\nzoe,"a, b",1\nann,zoe,2\n', encoding="utf-8")
    return path


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["number", "id"]
    return {int(number): given for number, given in rows[1:]}


def test_names_become_numbers_and_a_table_says_which(names, call, tmp_path):
    out = tmp_path / "out.txt"
    told = json.loads(call("convert", names, out, "--renumber", "--json").stdout)
    assert told["ids"] == f"{out}.ids.csv"
    found = table(told["ids"])
    assert found == {0: "a, b", 1: "ann", 2: "zoe"}
    G = gd.read_graph(out, weights=True)
    ends = [[found[v] for v in column.tolist()] for column in G.edges()[:2]]
    assert ends == [["zoe", "ann"], ["a, b", "zoe"]]
    assert G.edges().weights.tolist() == [1, 2]
    assert "the id that each number was" in call("convert", names, out, "--renumber", "--overwrite").stdout


def test_formats_that_count_from_1_do(names, call, tmp_path):
    assert call("convert", names, tmp_path / "g.graph", "--renumber", "--undirected").exit_code == 0
    assert (tmp_path / "g.graph").read_text() == "3 2 001\n3 1\n3 2\n1 1 2 2\n"
    assert min(table(tmp_path / "g.graph.ids.csv")) == 1


def test_sparse_ids_and_isolated_vertices(call, tmp_path):
    gd.from_edges([7, 100], [100, 9], num_vertices=None, vertices=[7, 9, 50, 100]).write(tmp_path / "g.npz")
    assert call("convert", tmp_path / "g.npz", tmp_path / "h.npz", "--renumber").exit_code == 0
    H = gd.read_graph(tmp_path / "h.npz")
    assert (H.num_vertices, H.edges().src.tolist(), H.edges().dst.tolist()) == (4, [0, 3], [3, 1])
    assert table(tmp_path / "h.npz.ids.csv") == {0: "7", 1: "9", 2: "50", 3: "100"}


def test_what_is_there_is_not_replaced_and_standard_output_has_no_place_beside_it(names, call, tmp_path):
    (tmp_path / "out.txt.ids.csv").write_text("mine")
    found = call("convert", names, tmp_path / "out.txt", "--renumber")
    assert found.exit_code != 0
    assert (tmp_path / "out.txt.ids.csv").read_text() == "mine"
    assert not (tmp_path / "out.txt").exists()
    found = call("convert", names, "-", "--renumber")
    assert found.exit_code != 0
    assert "--renumber writes a table beside OUT" in str(found.exception) + found.output


def test_at_an_address(names, call):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    assert call("convert", names, "memory://there/g.csv", "--renumber").exit_code == 0
    assert memory.cat("/there/g.csv.ids.csv") == b'number,id\n0,"a, b"\n1,ann\n2,zoe\n'
    memory.store.clear()
