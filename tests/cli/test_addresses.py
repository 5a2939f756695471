"""Commands read addresses and patterns, and name them as they were given."""

from __future__ import annotations

import json

import fsspec
import pytest

import graphdask as gd


@pytest.fixture
def there(tmp_path):
    """A folder with two files, which are also in the memory of fsspec."""
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("1 2\n2 3\n")
        memory.pipe(f"/here/{name}", b"1 2\n2 3\n")
    yield tmp_path
    memory.store.clear()


def test_run_reads_an_address_and_says_it(there, call):
    for given in (f"file://{there}/a.txt", "memory://here/a.txt"):
        told = json.loads(call("run", "bfs", given, "--source", "1", "--json").stdout)
        assert (told["edges"], told["file"]) == (2, given)
    for given in ("memory://here/*.txt", there / "?.txt"):
        assert json.loads(call("run", "bfs", given, "--source", "1", "--json").stdout)["edges"] == 4


def test_other_commands(there, call):
    assert call("convert", "memory://here/a.txt", there / "out.csv").exit_code == 0
    assert gd.read_graph(there / "out.csv").edges().dst.tolist() == [2, 3]
    assert "3, 0 isolated" in call("info", "memory://here/a.txt").stdout
    found = call("info", "memory://here/none.txt")
    assert found.exit_code != 0
    assert "memory://here/none.txt: no such file" in found.output + str(found.exception)


def test_convert_writes_to_an_address_and_reads_a_pattern(there, call):
    made = call("convert", "memory://here/*.txt", "memory://made/g.parquet", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["out"]["file"] == "memory://made/g.parquet"
    assert gd.read_graph("memory://made/g.parquet").num_edges == 4
    again = call("convert", "memory://here/a.txt", "memory://made/g.parquet")
    assert again.exit_code != 0
    assert "is there already" in again.output + str(again.exception)
    assert call("convert", there / "a.txt", "memory://made/g.parquet", "--overwrite").exit_code == 0
    assert gd.read_graph("memory://made/g.parquet").num_edges == 2
