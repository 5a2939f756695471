"""Commands read addresses and patterns, and name them as they were given."""

from __future__ import annotations

import json

import fsspec
import numpy as np
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


ADDRESS = "memory://made/"


def test_run_generate_and_sample_write_to_addresses(there, call):
    written = (
        ("run", "components", "memory://here/a.txt", "--output", f"{ADDRESS}labels.npz"),
        ("generate", "er", "--vertices", "10", "--edges", "20", "--output", f"{ADDRESS}er.parquet"),
        ("sample", "nodes", "memory://here/a.txt", "--count", "2", "--output", f"{ADDRESS}nodes.txt"),
        ("sample", "walk", there / "a.txt", "--length", "2", "--output", f"{ADDRESS}walks"),
    )  # fmt: skip
    for line in written:
        made = call(*line, "--json")
        assert made.exit_code == 0, made.output
        assert json.loads(made.stdout)["output"] == line[-1]
        if line[-1] != f"{ADDRESS}walks":
            again = call(*line)
            assert again.exit_code == 2
            assert f"{line[-1]} is there already" in again.output + str(again.exception)
            assert call(*line, "--overwrite").exit_code == 0
    with fsspec.open(f"{ADDRESS}labels.npz") as file, np.load(file) as columns:
        assert (columns["vertex"].tolist(), columns["label"].tolist()) == ([1, 2, 3], [1, 1, 1])
    assert gd.read_graph(f"{ADDRESS}er.parquet").num_edges == 20
    with fsspec.open(f"{ADDRESS}nodes.txt", "rt") as file:
        assert len(file.read().splitlines()) == 3
    assert any(each.endswith(".parquet") for each in fsspec.filesystem("memory").ls("/made/walks", detail=False))


def test_a_folder_of_parts_is_generated_at_an_address(there, call):
    line = ("generate", "er", "--vertices", "10", "--edges", "20", "--format", "csv", "--output", f"{ADDRESS}er/")
    made = call(*line)
    assert made.exit_code == 0, made.output
    assert f"{ADDRESS}er/, csv, a folder of 1 part" in made.output
    assert gd.read_graph(f"{ADDRESS}er/").num_edges == 20
    wrong = call(*line[:-3], "metis", "--output", f"{ADDRESS}other/")
    assert wrong.exit_code == 2
    assert "a graph is written as one of" in wrong.output + str(wrong.exception)


def test_outputs_that_need_a_disk_refuse_an_address_before_any_work(there, call):
    lines = (
        ("stream", "build", there / "a.txt", "s3://bucket/a.gdl"),
        ("generate", "er", "--vertices", "10", "--edges", "20", "--plot", "s3://bucket/a.png"),
        ("demo", "--output", "s3://bucket/pictures"),
    )
    for line in lines:
        refused = call(*line)
        assert refused.exit_code == 2
        said = " ".join((refused.output + str(refused.exception)).split())
        assert f"'{line[-1]}' is an address, and this output is written to a disk of this host" in said
    walks = call("sample", "walk", there / "a.txt", "--length", "2", "--chunk", "1", "--output", f"{ADDRESS}few")
    assert walks.exit_code == 2
    assert f"{ADDRESS}few is an address; leave --chunk out" in " ".join((walks.output + str(walks.exception)).split())


def test_a_streamed_graph_is_built_from_an_address_and_checked_at_one(there, call):
    assert call("stream", "build", "memory://here/a.txt", there / "a.gdl").exit_code == 0
    fsspec.filesystem("memory").pipe("/here/a.gdl", (there / "a.gdl").read_bytes())
    checked = call("stream", "check", "memory://here/a.gdl", "--json")
    assert json.loads(checked.stdout)["file"] == "memory://here/a.gdl"
    assert json.loads(call("run", "components", "memory://here/a.gdl", "--json").stdout)["edges"] == 2
    refused = call("stream", "build", "memory://here/*.txt", there / "b.gdl")
    assert refused.exit_code == 2
    assert "a pattern, which 2 files fit" in refused.output + str(refused.exception)
    with pytest.raises(gd.InputError, match=r"memory://here/a\.gdl is an address, .* copy it to a disk"):
        gd.stream.open("memory://here/a.gdl")


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
