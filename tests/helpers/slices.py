"""Which tests a run takes: all of them, or those that every run takes and one of ten slices of the others.

Cases of a matrix, which is a test with more than MANY cases, and tests with one of the markers TURNS are divided into
SLICES slices. Slices that follow each other hold every case between them. Cases that need a GPU are a matrix of their
own, so that a slice has others too. A run takes one slice where it runs the whole suite; `pytest --all`, and a run of
named files, of `-k` or of a marker, take all.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

SLICES = 10
MANY = 3
"""Cases of a test that every run takes whole."""
FEWEST = 2
"""Cases of a matrix that a run takes at least."""
ON_GPUS = ("gpu", "multigpu")
TURNS = ("slow", "chaos", "slurm")
"""Markers of tests that take turns."""
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


def _spread(names: Iterable[str]) -> list[str]:
    """In an order that has nothing to do with that of the parameters."""
    return sorted(names, key=lambda name: (zlib.crc32(name.encode()), name))


def _marked(item: pytest.Item, names: Iterable[str]) -> bool:
    return any(item.get_closest_marker(name) is not None for name in names)


def _groups(items: Iterable[pytest.Item]) -> Iterator[tuple[list[str], int]]:
    """Names of the tests that are divided together, and into how many parts."""
    cases: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    turns = []
    for item in items:
        if _marked(item, ["quiet"]):
            continue
        if _marked(item, TURNS):
            turns.append(item.nodeid)
        else:
            name = getattr(item, "originalname", item.name)
            cases[str(item.path), name, _marked(item, ON_GPUS)].append(item.nodeid)
    yield sorted(turns), SLICES
    for names in cases.values():
        if len(names) > MANY:
            yield _spread(names), min(SLICES, len(names) // FEWEST)


def left_out(items: Iterable[pytest.Item]) -> set[str]:
    """Names of the tests that another slice than that of this run holds."""
    number = os.environ.get(VARIABLE, "all")
    if number == "all":
        return set()
    out: set[str] = set()
    for names, parts in _groups(items):
        first = zlib.crc32(names[0].encode()) if names else 0
        out.update(name for place, name in enumerate(names) if (place + first) % parts != int(number) % parts)
    return out
