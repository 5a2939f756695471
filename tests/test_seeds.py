"""A seed is a whole number from 0 to 2**64 - 1 for every function that takes one; none takes others modulo 2**64."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from click.testing import CliRunner
from public_calls import CALLS, Fuzzed
from public_functions import found
from tiny_world import World

import graphdask as gd
from graphdask.cli import cli

DRAWN = {"betweenness": {"sources": 2}, "Graph.partition": {"by": "random"}, "DynamicGraph.partition": {"by": "random"}}
"""What makes a function draw that else refuses any seed."""
RANGE = r"is not a whole number from 0 to 2\*\*64 - 1"


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def called(name: str, world: World, seed: object) -> object:
    fuzzed = Fuzzed.of(name, world)
    placed, given = fuzzed.call.placed, fuzzed.call.arguments(world) | DRAWN.get(name, {}) | {"seed": seed}
    before = [given.pop(each) for each in ("function", "G", *placed)] if placed else []
    with fuzzed.call.within():
        return fuzzed.call.then(fuzzed.function(*before, **given))


def takes_a_seed(name: str) -> bool:
    return "seed" in CALLS[name].more or "seed" in inspect.signature(found()[name]).parameters


SEEDED = [name for name in CALLS if takes_a_seed(name)]


def test_the_functions_with_seeds_are_found():
    assert len(SEEDED) > 25
    assert {"sample.random_walk", "sample.neighbors", "generate.rmat", "betweenness", "scale.run"} <= set(SEEDED)


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_that_no_64_bits_hold_is_refused(name, world):
    for seed in (-1, 2**64, 2**64 + 1, np.int64(-1)):
        with pytest.raises(gd.InputError, match=f"seed={seed} {RANGE}"):
            called(name, world, seed)


@pytest.mark.parametrize("name", SEEDED)
def test_the_largest_seed_of_64_bits_is_taken(name, world):
    called(name, world, np.uint64(2**64 - 1))


@pytest.mark.parametrize("command", ["walk graph.txt", "neighbors graph.txt", "nodes graph.txt --count 2"])
@pytest.mark.parametrize("seed", [-1, 2**64])
def test_the_command_line_refuses_it_too(command, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text("0 1\n1 2\n")
    result = CliRunner().invoke(cli, ["sample", *command.split(), "--seed", str(seed)])
    assert result.exit_code == 2
    assert str(seed) in result.stderr
    assert "from 0 to 2**64 - 1" in result.stderr
