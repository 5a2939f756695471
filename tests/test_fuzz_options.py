"""Whatever is given for any argument of any public function is taken, or refused by an error of graphdask.

Each argument of a valid call is replaced by each odd value. A run of the tests draws some of these pairs, by its seed;
GRAPHDASK_FUZZ=all runs all of them.
"""

from __future__ import annotations

import inspect
import itertools
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd_options import ODD, Bare
from public_calls import CALLS, LEFT_OUT, Fuzzed
from public_functions import found
from tiny_world import World

import graphdask as gd
from graphdask.errors import FunctionError, GraphdaskError, shown
from graphdask.interface.kinds import Options

PAIRS = 60
"""Drawn of each function."""
ROOM = 4 << 30
"""Bytes of address space that calls may take."""
LONGEST = 3000
"""Characters of a message."""
OF_THE_DATA = (gd.OverBudget, gd.VertexNotFound, gd.FormatError, FunctionError)
"""Errors that name what does not fit, which need not be the argument itself: bytes, a vertex, a file, a function."""

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::graphdask.GraphdaskWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory, three levels below one in which nothing else may appear: a path may lead two up."""
    inner = tmp_path / "outer" / "middle" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return inner


@contextmanager
def little_memory() -> Iterator[None]:
    """No more address space than some GiB above what is taken already."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def checked_by_kind(fuzzed: Fuzzed, argument: str) -> bool:
    """Whether the annotation of an argument says all that it takes."""
    return argument in Options(inspect.unwrap(fuzzed.function), None).named


def names(text: str, argument: str) -> bool:
    """Whether a message names an argument, or one of what it holds: `seed` of `seeds`."""
    return re.search(rf"\b({argument}|{argument.removesuffix('s')})\b", text) is not None


def fault_free(function: Any, value: Any) -> str:
    """What a function of a value is; the text of a value that refuses, which no message has, where it raises."""
    try:
        return str(function(value))
    except Exception:
        return "\0"


def says_what_is_wrong(fuzzed: Fuzzed, argument: str, value: Any, error: GraphdaskError) -> bool:
    """Whether an error names the argument; or, where it takes such values, the value, or an argument beside it."""
    text = str(error)
    if names(text, argument):
        return True
    if checked_by_kind(fuzzed, argument) and (
        isinstance(value, list | tuple | dict | set) or (isinstance(value, np.ndarray) and value.ndim)
    ):
        return False
    if isinstance(error, OF_THE_DATA) or isinstance(value, gd.Graph):
        return True
    if isinstance(value, str | os.PathLike) and (shown(value) in text or fault_free(os.fsdecode, value) in text):
        return True
    others = {*fuzzed.arguments, *fuzzed.call.words.get(argument, ())} - {argument}
    return any(names(text, other) for other in others)


def fault(fuzzed: Fuzzed, argument: str, name: str) -> str:
    """What is wrong with how an odd value of an argument is met; empty for nothing."""
    value = ODD[name]()
    where = f"{fuzzed.name}({argument}={name})"
    try:
        fuzzed.with_value(argument, value)
    except GraphdaskError as error:
        if len(str(error)) > LONGEST:
            return f"{where}: the message has {len(str(error)):,} characters"
        if not says_what_is_wrong(fuzzed, argument, value, error):
            return f"{where}: the message does not name the argument: {error}"
    except Exception as error:
        of_the_user = argument in fuzzed.call.called and callable(value)
        if not of_the_user and not isinstance(error, fuzzed.call.raises):
            return f"{where}: {type(error).__name__}: {shown(error)}"
    return ""


def pairs(fuzzed: Fuzzed, rng: np.random.Generator) -> list[tuple[str, str]]:
    every = list(itertools.product(fuzzed.arguments, ODD))
    if os.environ.get("GRAPHDASK_FUZZ") == "all" or len(every) <= PAIRS:
        return every
    return [every[place] for place in rng.choice(len(every), PAIRS, replace=False)]


def test_every_public_function_has_a_call_to_vary():
    public = set(found())
    assert public == CALLS.keys() | LEFT_OUT.keys(), "tests/helpers/public_calls.py has the calls"
    assert not CALLS.keys() & LEFT_OUT.keys()


@pytest.mark.parametrize("name", CALLS)
def test_no_value_of_an_argument_leads_to_a_bare_exception(name, world, folder, rng):
    fuzzed = Fuzzed.of(name, world)
    fuzzed.with_value()
    with little_memory():
        faults = [found for pair in pairs(fuzzed, rng) if (found := fault(fuzzed, *pair))]
    assert not faults, "\n".join(faults)
    assert [path.name for path in folder.parents[2].iterdir()] == ["outer"]


@pytest.mark.parametrize("name", CALLS)
def test_an_object_of_no_use_is_refused_for_every_argument(name, world, folder):
    fuzzed = Fuzzed.of(name, world)
    for argument in fuzzed.arguments:
        with pytest.raises(GraphdaskError) as refused:
            fuzzed.with_value(argument, Bare())
        assert says_what_is_wrong(fuzzed, argument, Bare(), refused.value), argument


@pytest.mark.parametrize("later", ["delayed", "a future", "a coroutine", "a coroutine function"])
def test_what_only_promises_a_graph_is_refused(later, world, folder):
    for name in CALLS:
        fuzzed = Fuzzed.of(name, world)
        for argument in {"G", "H"} & set(fuzzed.arguments):
            with pytest.raises(GraphdaskError) as refused:
                fuzzed.with_value(argument, ODD[later]())
            assert names(str(refused.value), argument), name
