"""An option of a wrong kind is refused with its name, the value and what it takes, in the words of its function."""

from __future__ import annotations

import inspect
import re

import pytest
from odd_options import Bare
from public_calls import CALLS, Fuzzed
from tiny_world import World

import graphdask as gd
from graphdask.interface.kinds import Options

FREE = {
    "title", "xlabel", "ylabel", "x", "host", "scheduler", "name", "source", "description", "weight", "src", "dst",
    "vertex_id", "vertex_type",
}  # fmt: skip
"""Options that take any text."""


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def refused(world: World, name: str, argument: str) -> str:
    with pytest.raises(gd.GraphdaskError) as error:
        Fuzzed.of(name, world).with_value(argument, Bare())
    return str(error.value)


@pytest.mark.parametrize("name", CALLS)
def test_what_takes_some_words_says_which(name, world):
    options = Options(inspect.unwrap(Fuzzed.of(name, world).function), None)
    for argument in Fuzzed.of(name, world).arguments:
        if "str" in options.named.get(argument, ()) and argument not in FREE:
            assert not re.search(r"is not (a whole number or )?text( or None)?$", refused(world, name, argument))


@pytest.mark.parametrize(
    ("name", "argument", "takes"),
    [
        ("read_graph", "multi_edges", "not one of keep, merge, error"),  # its docstring refers to that of from_edges
        ("read_graph", "ids", "not one of int, str or None"),
        ("Graph.edge_blocks", "device", "not one of auto, cpu, cuda"),
        ("Graph.edge_blocks", "max_bytes", 'not a number of bytes, such as 268435456 or "256MiB"'),
        ("DynamicGraph.to_undirected", "multi_edges", "not one of keep, merge"),
        ("PreferentialAttachment", "multi_edges", "not one of keep, merge, redraw"),
        ("sample.forest_fire", "collisions", "not one of auto, linear, bitmap, strided"),
        ("sample.random_walk_with_jump", "method", "not one of auto, rejection, inverse, alias, reservoir"),
        ("sample.random_walk", "seed", "not a whole number from 0 to 2**64 - 1"),
        ("bfs", "allocation", "not one of maximal, just-enough, fixed nor a number"),
        ("core_number", "allocation", "not one of maximal, just-enough"),
        ("plot.curves", "yscale", "not one of linear, log, symlog"),
        ("scale.draw", "format", "not one of png, svg, pdf"),
        ("stream.build", "memory", 'not a number of bytes, such as 268435456 or "256MiB"'),
        ("betweenness", "normalized", "neither True nor False"),
        ("pagerank", "damping", "not a number"),
    ],
)
def test_the_message_is_that_of_the_option(name, argument, takes, world):
    text = refused(world, name, argument)
    assert re.match(rf"{argument}=.*Bare object at .* is {re.escape(takes)}$", text), text


def test_a_whole_number_that_is_too_large_is_not_called_negative():
    G = gd.from_edges([0], [1], directed=False)
    with pytest.raises(gd.InputError, match=r"k=4611686018427387904 is not a whole number from 0 to 2\*\*62 - 1$"):
        gd.k_core(G, 2**62)
    with pytest.raises(gd.InputError, match=r"k=-1 is not a whole number of 0 or more$"):
        gd.k_core(G, -1)
