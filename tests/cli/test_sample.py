"""`graphdask sample`: every sampler from a file, in every kind of output, in one process and on workers."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet
import pytest


@pytest.fixture
def chain(tmp_path):
    """The directed path 10 -> 20 -> 30 -> 40."""
    file = tmp_path / "chain.txt"
    file.write_text("10 20\n20 30\n30 40\n")
    return file


@pytest.fixture
def square(tmp_path):
    """The undirected cycle of a, b, c, d, with weights."""
    file = tmp_path / "square.csv"
    file.write_text("a,b,1\nb,c,2\nc,d,3\nd,a,4\n")
    return file


def test_walks_are_written_without_what_is_past_their_end(call, chain, tmp_path):
    output = tmp_path / "walks.txt"
    result = call("sample", "walk", chain, "--starts", "30,10", "--length", 2, "--verify", "--output", output)
    assert result.exit_code == 0, result.output
    assert output.read_text() == "30 40\n10 20 30\n"
    assert "2 walks of 1.5 steps on average" in result.stdout
    assert "verified" in result.stdout


def test_starts_come_from_a_file_and_walks_as_arrays(call, chain, tmp_path):
    starts, output = tmp_path / "starts.txt", tmp_path / "walks.npz"
    starts.write_text("20\n40\n")
    options = ("--starts-file", starts, "--walks-per-start", 2, "--length", 3, "--output", output)
    assert call("sample", "walk", chain, *options).exit_code == 0
    with np.load(output) as found:
        assert found["walks"].tolist() == [[20, 30, 40, -1]] * 2 + [[40, -1, -1, -1]] * 2
        assert found["lengths"].tolist() == [2, 2, 0, 0]


def test_chunks_are_written_one_after_the_other(call, chain, tmp_path):
    output = tmp_path / "walks"
    result = call("sample", "walk", chain, "--length", 2, "--chunk", 3, "--verify", "--output", output)
    assert result.exit_code == 0, result.output
    assert "4 rows in 2 chunks" in result.stdout
    walks = pyarrow.parquet.read_table(output).column("walks").to_pylist()
    assert walks == [[10, 20, 30], [20, 30, 40], [30, 40, -1], [40, -1, -1]]
    for other in ((), ("--output", tmp_path / "walks.npz")):
        result = call("sample", "walk", chain, "--chunk", 3, *other)
        assert result.exit_code != 0
        assert "--chunk writes as it draws" in result.stderr
    assert "say --chunk too" in call("sample", "walk", chain, "--resume", "--output", tmp_path / "new").stderr


def test_a_walk_from_every_vertex_is_the_default(call, chain, tmp_path):
    output = tmp_path / "walks.txt"
    assert call("sample", "walk", chain, "--length", 1, "--output", output).exit_code == 0
    assert output.read_text() == "10 20\n20 30\n30 40\n40\n"


@pytest.mark.slow
def test_neighbours_of_names_in_a_folder_by_each_worker(call, square, tmp_path):
    output = tmp_path / "edges"
    options = ("--undirected", "--seeds", "a,c", "--fanouts", "-1", "--workers", 2, "--verify", "--output", output)
    result = call("sample", "neighbors", square, *options)
    assert result.exit_code == 0, result.output
    assert len(list(output.iterdir())) == 2
    rows = pyarrow.parquet.read_table(output).to_pylist()
    assert {(row["src"], row["dst"], row["hop"], row["instance"]) for row in rows} == {
        ("a", "b", 0, 0), ("a", "d", 0, 0), ("c", "b", 0, 1), ("c", "d", 0, 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sampler", "options", "edges"),
    [
        ("snowball", ("--seeds", "a", "--depth", 2), 6),
        ("layer", ("--seeds", "a", "--sizes", "1,1"), 2),
        ("forest-fire", ("--seeds", "a", "--p", "0.0"), 0),
        ("edges", ("--count", 3), 3),
        ("saint-nodes", ("--nodes", 99, "--instances", 2), 16),
        ("saint-edges", ("--edges", 99), 8),
        ("saint-walks", ("--roots", 9, "--length", 40, "--instances", 3), 24),
        ("temporal", ("--seeds", "a", "--fanouts", "1,1", "--time", "3", "--strategy", "last"), 2),
        ("neighbors", ("--number", 4, "--fanouts", "2", "--bias", "weight"), 8),
    ],
)
def test_samplers_of_edges(call, square, sampler, options, edges):
    result = call("sample", sampler, square, "--undirected", "--weights", "--verify", "--json", *options)
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["answer"] == f"{edges} edges"
    assert record["verified"] is True


@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        ("node2vec", ("--p", "2", "--q", "0.5")),
        ("metropolis-hastings", ()),
        ("walk", ("--bias", "weight", "--method", "alias")),
        ("walk", ("--restart", "0.2", "--jump", "0.1")),
    ],
)
def test_samplers_of_walks(call, square, sampler, options):
    options = ("--undirected", "--weights", "--number", 2, "--length", 9, "--partitions", 2, *options)
    found = [
        call("sample", sampler, square, "--verify", "--json", "--placement", placement, *options)
        for placement in ("replicated", "partitioned")
    ]
    if sampler != "node2vec":
        more = ("--placement", "streamed", "--scheme", "WS", "--device-memory", "1MiB")
        found.append(call("sample", sampler, square, "--verify", "--json", *more, *options))
        assert json.loads(found[-1].stdout)["stats"]["streamed"]["scheme"] == "WS"
    assert [result.exit_code for result in found] == [0] * len(found), [result.output for result in found]
    answers = {json.loads(result.stdout)["answer"] for result in found}
    assert answers == {"2 walks of 9 steps on average"}


def test_ranks_of_the_largest_estimates(call, chain, tmp_path):
    output = tmp_path / "ranks.txt"
    options = ("--sources", "10,40", "--walks", 200, "--restart", "0.5", "--top", 1, "--verify", "--output", output)
    result = call("sample", "pagerank", chain, *options)
    assert result.exit_code == 0, result.stdout
    assert "2 estimates" in result.stdout
    rows = [line.split() for line in output.read_text().splitlines()]
    assert [(source, vertex) for source, vertex, *_ in rows[1:]] == [("10", "10"), ("40", "40")]
    assert rows[2][2:] == ["1.0", "1"]


def test_metapaths_are_of_the_weights_of_a_file(call, square, tmp_path):
    output = tmp_path / "walks.txt"
    options = ("--undirected", "--weights", "--starts", "a,b", "--metapath", "1,2", "--length", 3, "--output", output)
    result = call("sample", "metapath", square, *options, "--verify")
    assert result.exit_code == 0, result.stdout
    assert output.read_text() == "a b c\nb a\n"


@pytest.mark.parametrize(
    ("sampler", "options", "what"), [("temporal", ("--time", 3), "times"), ("metapath", ("--metapath", "0"), "types")]
)
def test_times_and_types_are_asked_for_in_the_words_of_the_command(call, chain, sampler, options, what):
    result = call("sample", sampler, chain, *options)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert f"`graphdask sample {sampler}` takes as the {what} of the edges; give --weights" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--starts", "99"), "99"),
        (("--starts", "x"), "'x' is not a whole number"),
        (("--starts", "10", "--number", "1"), "give one of them"),
        (("--number", "5"), "5"),
        (("--starts", "10", "--output", "walks.csv"), "'.csv' is neither"),
        (("--starts", "10", "--bias", "weight"), "no weights"),
        (("--starts", "10", "--restart", "1.5"), "1.5"),
        (("--starts", "10", "--scheme", "WS"), "--scheme WS is of --placement streamed"),
        (("--starts", "10", "--placement", "streamed", "--device-memory", "much"), "--device-memory"),
        (("--starts-file", "missing.txt"), "missing.txt"),
    ],
)
def test_what_cannot_be_done_is_said(call, chain, options, message):
    result = call("sample", "walk", chain, *options)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())


def test_a_folder_with_files_is_left_alone(call, chain, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "notes").write_text("mine")
    result = call("sample", "walk", chain, "--output", folder)
    assert result.exit_code == 2
    assert "holds what graphdask did not write" in " ".join(result.stderr.split())
    assert [file.name for file in folder.iterdir()] == ["notes"]


@pytest.fixture
def doubled(tmp_path):
    """A directed cycle of a, b, c, whose edge from a to b stands twice."""
    file = tmp_path / "doubled.csv"
    file.write_text("source,target\nb,c\na,b\nc,a\na,b\n")
    return file


def test_edge_rows_are_written_where_they_are_asked_for(call, doubled, tmp_path):
    src, dst = np.array([*"baca"]), np.array([*"cbab"])
    folder, arrays, text = tmp_path / "edges", tmp_path / "walks.npz", tmp_path / "pools.txt"
    assert call("sample", "neighbors", doubled, "--fanouts", "-1", "--edge-rows", "--output", folder).exit_code == 0
    rows = pyarrow.parquet.read_table(folder).to_pandas()
    assert (src[rows.edge] == rows.src).all()
    assert (dst[rows.edge] == rows.dst).all()
    assert sorted(rows.edge) == [0, 1, 2, 3]
    options = ("--length", 3, "--edge-rows", "--output")
    assert call("sample", "walk", doubled, *options, arrays).exit_code == 0
    with np.load(arrays) as found:
        assert (src[found["edge"]] == found["walks"][:, :-1]).all()
        assert (dst[found["edge"]] == found["walks"][:, 1:]).all()
    assert call("sample", "frontier", doubled, "--starts", "a,b", "--pool-size", 2, *options, text).exit_code == 0
    header, *lines = text.read_text().splitlines()
    assert header == "# instance\tsrc\tdst\tedge"
    for _, u, v, row in (line.split("\t") for line in lines):
        assert (src[int(row)], dst[int(row)]) == (u, v)
    chunks = tmp_path / "chunks"
    assert call("sample", "walk", doubled, "--chunk", 2, *options, chunks).exit_code == 0
    assert pyarrow.parquet.read_table(chunks).column_names == ["walks", "lengths", "edge"]


@pytest.mark.parametrize(
    ("output", "message"),
    [((), "say where with --output"), (("--output", "walks.txt"), "has a walk in each line and no place for edges")],
)
def test_edge_rows_that_would_come_to_nothing_are_refused(call, doubled, output, message):
    result = call("sample", "walk", doubled, "--edge-rows", *output)
    assert result.exit_code != 0
    assert message in result.stderr


def test_edge_rows_of_a_file_that_is_streamed(call, doubled, tmp_path):
    built, folder = tmp_path / "doubled.gdl", tmp_path / "edges"
    assert call("stream", "build", doubled, built, "--edge-rows").exit_code == 0
    result = call("sample", "neighbors", built, "--fanouts", "-1", "--edge-rows", "--output", folder)
    assert result.exit_code == 0, result.output
    rows = pyarrow.parquet.read_table(folder).to_pylist()
    assert sorted((row["src"], row["dst"], row["edge"]) for row in rows) == [
        ("a", "b", 1), ("a", "b", 3), ("b", "c", 0), ("c", "a", 2),
    ]  # fmt: skip


def test_parts_of_a_graph_are_written_and_verified(call, chain, tmp_path):
    output = tmp_path / "part.txt"
    for command, options, expected in (
        ("subgraph", ("--seeds", "10,20,40", "--edge-rows"), "# src\tdst\tinstance\tedge\n10\t20\t0\t0\n"),
        ("ego", ("--seeds", "20,30", "--no-center", "--ignore-direction", "--radius", 2),
         "# src\tdst\tinstance\n30\t40\t0\n10\t20\t1\n"),
        ("hops", ("--seeds", "30", "--k", 1, "--neighbors", "both"),
         "# vertex\thop\tinstance\n30\t0\t0\n20\t1\t0\n40\t1\t0\n"),
        ("k-truss", ("--undirected", "--k", 3), "# src\tdst\tinstance\n"),
        ("k-core", ("--undirected",), "# src\tdst\tinstance\n10\t20\t0\n20\t30\t0\n30\t40\t0\n"),
    ):  # fmt: skip
        result = call("sample", command, chain, *options, "--verify", "--output", output, "--overwrite")
        assert result.exit_code == 0, result.output
        assert output.read_text() == expected
    for options, message in (
        (("--placement", "replicated"), "--placement replicated is of samples"),
        (("--chunk", 2, "--output", tmp_path / "folder"), "of all its subgraphs together"),
    ):
        result = call("sample", "subgraph", chain, *options)
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.stderr.split())
