"""Options that would do nothing are refused, by name, with what they are for."""

from __future__ import annotations

import inspect
from unittest.mock import Mock

import numpy as np
import pytest
from distributed import Client

import graphdask as gd
from graphdask.io import read_edges

PATH = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
MERGED = gd.generate.preferential_attachment(50, 3, seed=1, multi_edges="merge")
CLIENT = Mock(spec=Client)
"""Never asked for anything."""


@pytest.fixture
def streamed(tmp_path):
    with gd.stream.build(PATH, tmp_path / "path.gdl") as S:
        yield S


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gd.betweenness(PATH, seed=1), r"seed=1 is of the draw of sources=k.*every vertex is a source"),
        (lambda: gd.betweenness(PATH, [0, 1], seed=0), "seed=0 .*these are the sources"),
        (lambda: PATH.partition(2, "range", seed=3), "seed=3 is of by='random'.*by='range' draws nothing"),
        (lambda: PATH.partition(2, "metis", seed=3), "by='metis' draws nothing"),
        (lambda: PATH.partition(2, [0, 0, 1, 1], seed=3), "by= of owners draws nothing"),
        (lambda: PATH.edges(client=CLIENT), "client= is where partitions are built"),
        (lambda: PATH.edge_blocks(client=CLIENT), "leave client= out"),
        (lambda: PATH.to_dask_array(client=CLIENT), "leave client= out"),
        (lambda: PATH.to_dask_dataframe(client=CLIENT), "leave client= out"),
        (lambda: MERGED.partition(2, device="cpu").to_dask_array(device="cuda"), "device='cuda' is where edges are"),
        (lambda: MERGED.partition(2, device="cuda").to_dask_array(device="cuda"), "come as NumPy arrays"),
        (lambda: MERGED.partition(2, device="cuda").to_dask_dataframe(device="cpu"), "device='cpu' is where edges are"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(call, words):
    with pytest.raises(gd.InputError, match=words):
        call()


def test_edges_of_partitions_are_written_from_their_device(tmp_path):
    with pytest.raises(gd.InputError, match="device='cuda' is where edges are made, and these come from partitions"):
        MERGED.partition(2, device="cpu").write(tmp_path / "graph.txt", device="cuda")
    MERGED.partition(2, device="cpu").write(tmp_path / "graph.txt", device="cpu")
    assert gd.read_graph(tmp_path / "graph.txt").num_edges == MERGED.num_edges


@pytest.mark.parametrize("name", ["graph.npz", "graph.gdg"])
def test_threads_are_of_what_is_parsed(tmp_path, name):
    PATH.write(tmp_path / name)
    with pytest.raises(gd.InputError, match="threads=2 means nothing for the format"):
        read_edges(tmp_path / name, threads=2)


@pytest.mark.parametrize("inward", [True, False])
def test_in_edges_are_of_directed_graphs(tmp_path, inward):
    with pytest.raises(gd.InputError, match=f"inward={inward} is for a directed graph"):
        gd.stream.build(PATH, tmp_path / "path.gdl", inward=inward)


def test_a_file_is_checked_in_this_process(streamed, capsys):
    with pytest.raises(gd.Unsupported, match="client= is for a graph in memory"):
        streamed.verify(client=CLIENT)
    assert streamed.verify(progress=False) is streamed


def test_a_snowball_has_no_seed():
    assert "seed" not in inspect.signature(gd.sample.snowball).parameters


def test_seeds_are_taken_where_something_is_drawn():
    draws = [tuple(gd.betweenness(PATH, 2, seed=seed).score) for seed in range(20)]
    assert tuple(gd.betweenness(PATH, 2).score) == draws[0]
    assert len(set(draws)) > 1
    owners = gd.bfs(PATH.partition(2, "random", seed=5), 0).depth
    np.testing.assert_array_equal(owners, [0, 1, 2, 3])
    assert PATH.partition(2, seed=5).plan.seed == 5
    assert PATH.partition(2).plan.seed == 0


def test_seeds_of_the_command_line_are_taken_where_something_is_drawn(call_with_graph):
    done = call_with_graph("sample", "snowball", "--seed", 3)
    assert done.exit_code == 2
    assert "--seed is of random numbers, and `sample snowball` draws none without --number" in done.stderr
    assert call_with_graph("sample", "snowball", "--seed", 3, "--number", 2).exit_code == 0
    done = call_with_graph("run", "betweenness", "--seed", 3)
    assert done.exit_code == 2
    assert "--seed 3 is of the draw of --sources k" in " ".join(done.stderr.split())
    assert call_with_graph("run", "betweenness", "--seed", 3, "--sources", 2).exit_code == 0


@pytest.fixture
def call_with_graph(tmp_path):
    from click.testing import CliRunner

    from graphdask.cli import cli

    file = tmp_path / "path.txt"
    file.write_text("0 1\n1 2\n2 3\n")

    def call(group, name, *options):
        arguments = [group, name, file, *options]
        return CliRunner(env={"COLUMNS": "200"}).invoke(cli, list(map(str, arguments)), prog_name="graphdask")

    return call
