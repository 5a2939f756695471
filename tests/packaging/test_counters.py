"""Counters of kernels have names (kernels/common/packs.py): neither kernels nor their callers know places by heart."""

from __future__ import annotations

import re

import pytest
from source_tree import ROOT

BY_NUMBER = re.compile(r"(?<![A-Za-z0-9]_)counters(?:\[\s*:?\s*\d|\s*\+\s*\d)")
"""`counters[2]`, `a.counters[:2]`, `self._counters[1]`, `counters + 2`."""
FOLDERS = "graphdask", "kernels", "tests"


def by_number(text: str) -> list[str]:
    return [found[0] for found in BY_NUMBER.finditer(text)]


def test_no_counter_is_read_by_a_literal_number():
    found = {
        str(path.relative_to(ROOT)): places
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".cu", ".cuh") and path.name != "test_counters.py"
        if (places := by_number(path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "a.counters[2] += 1",
        "int(counters[0])",
        "counters[:2] = 0",
        "atomicAdd(a.counters + 3, n)",
        "self._counters[1, 0]",
    ],
)
def test_what_has_no_name_is_found(line):
    assert len(by_number(line)) == 1


@pytest.mark.parametrize(
    "line",
    ["a.counters.edges += 1", "a.counters.hubs[2]", "counters[COUNTS.place.edges]", "state.counters[turn]",
     "&a.counters->edges + 1", "`a_counters[1]`"],
)  # fmt: skip
def test_names_are_no_numbers(line):
    assert by_number(line) == []
