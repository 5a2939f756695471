"""The benchmark of programs times both sides, and refuses answers that differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.bench import program
from graphdask.bench.program_peers import PEERS
from graphdask.errors import VerificationError


@pytest.mark.slow
def test_each_case_has_both_sides_with_the_same_answer():
    rows = program.run(7, iterations=4, repeats=1, peers=False)
    sides = [(case, side) for case in program.CASES[:-1] for side in ("algorithm", "program")]
    assert [(row["case"], row["side"]) for row in rows] == [*sides, ("katz", "program")]
    for row in rows:
        assert row["ms"] >= row["ms_min"] > 0
        assert ("over_algorithm" in row) == (row["side"] == "program" and row["case"] != "katz")


@pytest.mark.slow
def test_peers_have_the_same_answers_or_say_why_there_are_none():
    rows = program.run(6, iterations=4, repeats=1)
    names = [peer.name for peer in PEERS]
    for name in names:
        mine = [row for row in rows if row["side"] == name]
        assert [row["case"] for row in mine] == list(program.CASES)
        for row in mine:
            assert row.get("skipped") == "graphblas is not installed" or row["over_program"] > 0 < row["ms"]
    assert any("version" in row for row in rows if row["side"] == "networkx")


def test_a_large_graph_is_not_given_to_networkx(compared_with):
    compared_with(program, replace(PEERS[0], most=10))
    rows = program.run(5, cases=("bfs",), repeats=1)
    assert "more than the 10 that it is given" in rows[-1]["skipped"]


def test_another_answer_of_a_peer_is_refused(compared_with):
    wrong = replace(PEERS[0], read=lambda case, answer, vertices: np.zeros(vertices))
    compared_with(program, wrong)
    with pytest.raises(VerificationError, match="depth of networkx"):
        program.run(5, cases=("bfs",), repeats=1)


def test_other_answers_are_refused(watched):
    watched(BreadthFirstSearch, "result", answer=lambda columns: columns["depth"].__iadd__(1))
    with pytest.raises(VerificationError, match="depth of the program"):
        program.run(7, cases=("bfs",), repeats=1, peers=False)
