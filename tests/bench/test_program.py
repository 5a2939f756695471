"""The benchmark of programs times both sides, and refuses answers that differ."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from graphdask.bench import program
from graphdask.errors import VerificationError


def test_each_case_has_both_sides_with_the_same_answer():
    rows = program.run(7, iterations=4, repeats=1)
    sides = [(case, side) for case in program.CASES[:-1] for side in ("algorithm", "program")]
    assert [(row["case"], row["side"]) for row in rows] == [*sides, ("katz", "program")]
    for row in rows:
        assert row["ms"] >= row["ms_min"] > 0
        assert ("over_algorithm" in row) == (row["side"] == "program" and row["case"] != "katz")


def test_other_answers_are_refused(monkeypatch):
    wrong = SimpleNamespace(depth=np.zeros(128, np.int32), stats=())
    real = program._sides

    def sides(case, *arguments):
        found = real(case, *arguments)
        found.program = lambda: wrong
        return found

    monkeypatch.setattr(program, "_sides", sides)
    with pytest.raises(VerificationError, match="depth of the program"):
        program.run(7, cases=("bfs",), repeats=1)
