"""An algorithm is one file: what is declared in it is public, a command, suggested, and tested as all others."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from common_checks import (
    GRAPHS,
    SHAPES,
    no_vertices,
    one_answer_on_devices,
    one_answer_over_partitions,
    takes_no_other_graph,
)
from emulated import emulated, stand_in

import graphdask as gd
import graphdask.interface.registry
from graphdask.cli import cli
from graphdask.commands.meant import commands
from graphdask.interface.suggest import names


@pytest.fixture
def toy(monkeypatch):
    """The toy algorithm, registered while the test runs."""
    monkeypatch.setattr(graphdask.interface.registry, "ALGORITHMS", dict(graphdask.interface.registry.algorithms()))
    sys.modules.pop("toy_algorithm", None)
    importlib.import_module("toy_algorithm")
    yield graphdask.interface.registry.ALGORITHMS["in_degrees"]
    vars(gd).pop("in_degrees", None)


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
