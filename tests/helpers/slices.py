"""Which tests a run takes: all of them, or those that every run takes and one of ten slices of the others.

Cases of a matrix, which is a test with several, and tests with one of the markers TURNS are divided into SLICES slices,
or as many as there are cases. Slices that follow each other hold every case between them. Up to TOGETHER cases of a
slow test are in one slice, as they share kernels. A slice has the cases of the same types in all matrices, first those
of narrow ids, and those of the same programs, specs and algorithms: what kernels cost is compiling them, for each
combination of types and each function of a user again. Cases that need a GPU are a matrix of their own, so that a slice
has others too. Tests with the marker `learn` are all in slice LEARN, so that one run in ten installs PyTorch for them.
A run takes one slice where it runs the whole suite; `pytest --all`, and a run of named files, of `-k` or of a marker,
take all.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

SLICES = 10
LEARN = 5
"""The slice of all tests that need PyTorch Geometric; .ci/run installs it for this one."""
TYPES = re.compile(
    r"(?<![a-z0-9])(?:(?:u?int|float)(?:8|16|32|64)|(?:32|64)-bit|none|integers|above zero|single|double|floats)"
    r"(?![a-z0-9])"
)
"""In the name of a case; those that are words say of what type weights are."""
IDS = re.compile(r"(?:32|64)-bit|u?int\d+")
"""Those that may be the type of ids."""
DEVICES = ("cpu", "emulated", "cuda")
"""Words in the name of a case that say where it runs."""
ON_GPUS = ("gpu", "multigpu")
TURNS = ("slow", "chaos", "slurm")
"""Markers of tests that take turns."""
TOGETHER = 3
"""Cases of a test with the marker `slow` that one slice has: they share the kernels that are compiled for them."""
APART = ("notebooks", "cluster", "gang", "cli", "io")
"""Folders where such cases share no kernels, or each takes long."""
VARIABLE = "GRAPHDASK_TEST_SLICE"


def chosen(config: pytest.Config, seed: int) -> str:
    """What the processes of a run are told in the variable: a number, or "all"."""
    option, given = config.option, os.environ.get(VARIABLE, "")
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS or option.keyword
    if named or option.all or option.markexpr not in ("", "not quiet") or given == "all":
        return "all"
    return str(int(given or seed) % SLICES)


def described() -> str:
    number = os.environ.get(VARIABLE, "all")
    return "all tests" if number == "all" else f"slice {number} of {SLICES} (pytest --all runs all tests)"


def types_of(name: str) -> tuple[str, ...]:
    """Types that the name of a case names, and before them the bits of ids: it says them, or they are the first
    integer."""
    found = TYPES.findall(name.partition("[")[2])
    ids = sorted(filter(IDS.fullmatch, found), key=lambda each: "-bit" not in each)
    return (*(re.sub(r"\D", "", each) for each in ids[:1]), *sorted(set(found)))


def subject_of(name: str) -> str:
    """The longest word in the name of a case that is no device: a program, a spec or an algorithm, as a rule."""
    words = name.partition("[")[2].rstrip("]").split("-")
    return max((word for word in words if word not in DEVICES), key=lambda word: (len(word), word), default="")


def _spread(names: Iterable[str]) -> list[str]:
    """By types, by subjects, and within these in an order that has nothing to do with that of the parameters."""

    def key(name: str) -> tuple[Any, ...]:
        return types_of(name), zlib.crc32(subject_of(name).encode()), zlib.crc32(name.encode()), name

    return sorted(names, key=key)


def _marked(item: pytest.Item, names: Iterable[str]) -> bool:
    return any(item.get_closest_marker(name) is not None for name in names)


def dealt(turns: Iterable[tuple[str, str]]) -> list[str]:
    """Tests that take turns, given with what they share with those beside them, in the order of their slices."""
    units: list[list[str]] = []
    last = ""
    for name, shared in sorted(turns):
        if not shared or shared != last or len(units[-1]) == TOGETHER:
            units.append([])
        units[-1].append(name)
        last = shared
    return [name for first in range(SLICES) for unit in units[first::SLICES] for name in unit]


def _groups(items: Iterable[pytest.Item]) -> Iterator[tuple[list[str], int]]:
    """Names of the tests that are divided together, and into how many parts."""
    cases: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    turns = []
    for item in items:
        if _marked(item, ["quiet", "learn"]):
            continue
        if _marked(item, TURNS):
            alone = item.path.parent.name in APART or not _marked(item, ["slow"])
            turns.append((item.nodeid, "" if alone else item.nodeid.partition("[")[0]))
        else:
            name = getattr(item, "originalname", item.name)
            cases[str(item.path), name, _marked(item, ON_GPUS)].append(item.nodeid)
    yield dealt(turns), SLICES
    for names in cases.values():
        if len(names) > 1:
            yield _spread(names), min(SLICES, len(names))


def left_out(items: Iterable[pytest.Item]) -> set[str]:
    """Names of the tests that another slice than that of this run holds."""
    number = os.environ.get(VARIABLE, "all")
    if number == "all":
        return set()
    items = list(items)
    out = {item.nodeid for item in items if _marked(item, ["learn"]) and int(number) != LEARN}
    turn = 7 * int(number) % SLICES  # ids have other bits after one or two slices
    for names, parts in _groups(items):
        part = turn * parts // SLICES
        out.update(name for place, name in enumerate(names) if place * parts // len(names) != part)
    return out
