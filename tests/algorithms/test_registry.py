"""An algorithm is one file: what is declared in it is public, a command, suggested, and tested as all others."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from common_checks import (
    GRAPHS,
    SHAPES,
    no_vertices,
    one_answer_from_disk,
    one_answer_on_devices,
    one_answer_over_partitions,
    takes_no_other_graph,
)
from emulated import emulated, stand_in

import graphdask as gd
import graphdask.interface.registry
from graphdask.bench.analysis.algorithms import measured
from graphdask.cli import cli
from graphdask.commands.meant import commands
from graphdask.interface.suggest import names
from graphdask.nx import backend
from graphdask.nx.offered import OFFERS, offered
from graphdask.stream.everywhere import first_wrong, streams
from graphdask.stream.forms import PROOFS
from graphdask.stream.run import STREAMED


@pytest.fixture
def toy():
    """The toy algorithm, registered while the test runs."""
    sys.modules.pop("toy_algorithm", None)
    importlib.import_module("toy_algorithm")
    yield graphdask.interface.registry.ALGORITHMS["in_degrees"]
    vars(gd).pop("in_degrees", None)
    graphdask.interface.registry.ALGORITHMS.pop("in_degrees")


def test_gd_has_it(toy):
    assert "in_degrees" in gd.__all__
    assert "in_degrees" in dir(gd)
    assert gd.in_degrees.__module__ == "graphdask"
    assert inspect.signature(gd.in_degrees) == inspect.signature(toy.function)
    assert "progress : bool, optional" in inspect.getdoc(gd.in_degrees)
    assert pickle.loads(pickle.dumps(gd.in_degrees)) is gd.in_degrees
    with pytest.raises(gd.ArgumentError, match="in_degrees has no argument zzzz=; it has G, exchange, client"):
        gd.in_degrees(gd.from_edges([0], [1]), zzzz=3)


def test_it_is_what_the_names_of_other_packages_mean(toy):
    assert names()["in_degrees"] == "indegree in_degree_centrality"
    with pytest.raises(AttributeError, match=r"did you mean graphdask\.in_degrees\?"):
        gd.in_degree_centrality  # noqa: B018
    assert commands()["in_degrees"] == "in-degrees"


@pytest.mark.parametrize("command", ["run", "profile"])
def test_the_command_line_has_it(toy, command, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text("0 1\n2 1\n1 2\n")
    options = ["--partitions", "2", "--device", "cpu", "--json", *(["--verify"] if command == "run" else [])]
    done = CliRunner().invoke(cli, [command, "in-degrees", str(file), *options])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["answer"] == {"vertices": 3, "largest_in_degree": 2, "at": 1}
    assert "in-degrees" in CliRunner().invoke(cli, [command, "--help"]).output


def test_the_common_tests_take_it(toy, monkeypatch):
    for shape in SHAPES:
        one_answer_over_partitions(toy, shape)
    no_vertices(toy, "cpu")
    takes_no_other_graph(toy)
    stand_in(monkeypatch, emulated())
    for parts in (1, 3):
        one_answer_on_devices(toy, SHAPES["scale-free"](), parts)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["sparse random, directed", "star inward"])
def test_its_answer_is_numpys(toy, name, parts):
    n, src, dst, _ = GRAPHS[name]()
    found = gd.in_degrees(gd.from_edges(src, dst, num_vertices=n).partition(parts, device="cpu"))
    np.testing.assert_array_equal(found.in_degree, np.bincount(dst, minlength=n))
    found.parts.values[0].columns["in_degree"][0] += 1
    with pytest.raises(gd.VerificationError, match=r"in-degrees: the in-degrees add up to \+1 beside"):
        found.verify()


def test_from_disk_it_is_refused_with_what_to_do(toy, tmp_path):
    gd.stream.build(gd.from_edges([0], [1]), tmp_path / "graph.gdl")
    with pytest.raises(gd.Unsupported, match=r"in-degrees has no streamed form .*S.in_memory\(\)"):
        gd.in_degrees(gd.stream.open(tmp_path / "graph.gdl"))


@pytest.fixture
def streamed(toy):
    """The toy algorithm, with a streamed form."""
    primitive = sys.modules["toy_algorithm"].InDegrees

    @streams(primitive, lambda work, primitive, result: first_wrong(result.columns["in_degree"] < 0, "{vertex}"))
    def counted(work, primitive):
        state, count = work.open(8), np.zeros(work.num_vertices, np.int64)
        for rows in work.rows("out"):
            np.add.at(count, rows.targets[rows.indptr[0] : rows.indptr[-1]], 1)
        work.join(count, np.add)
        return {"in_degree": work.answer(count)}, state

    yield toy
    for table in (STREAMED, PROOFS):
        table.pop(primitive, None)


def test_from_disk_it_has_the_answer_of_memory_once_it_has_a_streamed_form(streamed, tmp_path):
    for shape in ("only self-loops", "star inward", "sparse random, directed", "dense random, undirected"):
        one_answer_from_disk(streamed, shape, tmp_path / "graph.gdl")
    gd.stream.build(gd.from_edges([0], [1]), tmp_path / "small.gdl")
    del STREAMED[sys.modules["toy_algorithm"].InDegrees]
    with pytest.raises(gd.Unsupported, match=r"no streamed form \(betweenness, bfs, .*, sssp.* and triangles have\)"):
        gd.in_degrees(gd.stream.open(tmp_path / "small.gdl"))


def test_the_benchmark_measures_it(toy):
    (case,) = [each for each in measured() if each.name == "in-degrees"]
    assert case.run(gd.from_edges([0], [1])).in_degree.tolist() == [0, 1]
    assert case.fits(directed=True)
    assert not case.takes("allocation")


def test_the_networkx_backend_offers_a_function_where_it_is_defined(toy):
    @offered(edges=1, converted=1)
    def in_degrees(G):
        return dict(zip(G.nodes, gd.in_degrees(G.plain()).in_degree.tolist(), strict=True))

    try:
        G = nx.DiGraph([("a", "b"), ("c", "b")])
        assert backend.can_run("in_degrees", (G,), {}) is True
        assert backend.should_run("in_degrees", (G,), {}) is True
        converted = backend.convert_from_nx(G, name="in_degrees")
        assert backend.in_degrees(converted) == dict(G.in_degree()) == {"a": 0, "b": 2, "c": 0}
    finally:
        del OFFERS["in_degrees"]
    with pytest.raises(AttributeError, match="in_degrees"):
        backend.in_degrees  # noqa: B018
