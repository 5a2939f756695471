"""`graphdask run FILE.py:NAME` and `graphdask profile FILE.py:NAME`: programs of the caller's own."""

from __future__ import annotations

import csv
import io
import json
import sys

import networkx as nx
import numpy as np
import pytest

from graphdask.program.tuning import PROGRAM

PROGRAMS = """\
import math
import graphdask as gd
from limits import few

def hop(e):
    return e.source.hops + 1

hops = gd.Program(
    state={"hops": (int, -1), "seen": (bool, False)},
    message=(int, "min"),
    send=hop,
    apply=lambda v, m: v.hops < 0 and {"hops": m, "seen": True},
    aggregate={"found": ("count", lambda old, new: new.seen)},
    until=few,
)
shortest = gd.Program(
    state={"distance": (float, math.inf)},
    message=(float, "min"),
    send=lambda e: e.source.distance + e.weight,
    apply=lambda v, m: m < v.distance and {"distance": m},
)
number = 7
"""
EDGES = [("a", "b", 1), ("b", "c", 2), ("a", "c", 5), ("c", "d", 1), ("d", "a", 1), ("e", "f", 1)]


@pytest.fixture
def programs(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "limits", raising=False)
    (tmp_path / "limits.py").write_text("LEAST = 1\n\ndef few(a):\n    return a.found < LEAST\n")
    file = tmp_path / "my_own.py"
    file.write_text(PROGRAMS)
    return file


@pytest.fixture
def letters(tmp_path):
    file = tmp_path / "letters.csv"
    file.write_text("".join(f"{a},{b},{c}\n" for a, b, c in EDGES))
    return file


def expected():
    g = nx.DiGraph()
    g.add_weighted_edges_from(EDGES)
    found = nx.single_source_dijkstra_path_length(g, "a")
    return [found.get(name, np.inf) for name in "abcdef"]


def ok(result):
    assert result.exit_code == 0, result.output
    return result


def said(result, code=2):
    assert result.exit_code == code, result.output
    return " ".join(result.stderr.split())


def test_a_program_of_a_file_is_run_and_its_state_is_written(call, programs, letters, tmp_path):
    where = ("run", f"{programs}:shortest", letters, "--partitions", 2, "--active", "a", "--init", "distance:a=0")
    output = tmp_path / "found.npz"
    ok(call(*where, "--verify", "--output", output))
    with np.load(output) as found:
        assert found["vertex"].tolist() == list("abcdef")
        assert found["distance"].tolist() == expected()
    record = json.loads(ok(call(*where, "--json")).stdout)
    assert record["weights"] == "used"
    assert record["answer"]["state"] == {"distance": {"least": 0.0, "greatest": "inf"}}
    once = ok(call(*where, "--max-supersteps", 1)).stdout
    assert "my_own.py:shortest" in once
    assert "1 superstep; distance 0 to inf" in " ".join(once.split())
    assert "frontier" in ok(call("profile", *where[1:], "--no-warm-up")).stdout


@pytest.mark.parametrize("ending", ["csv", "txt", "parquet", "npz"])
def test_what_was_written_is_where_a_run_goes_on(call, programs, letters, tmp_path, ending):
    first, rest = tmp_path / f"first.{ending}", tmp_path / f"rest.{ending}"
    where = ("run", f"{programs}:shortest", letters)
    begin = ("--active", "a", "--init", "distance:a=0", "--max-supersteps", 1)
    ok(call(*where, *begin, "--output", first))
    ok(call(*where, "--init", first, "--init", "distance:e=7.5", "--output", rest))
    again = ok(call(*where, "--init", rest, "--output", "-")).stdout
    values = [float(row["distance"]) for row in csv.DictReader(io.StringIO(again))]
    assert values == [*expected()[:4], 7.5, 8.5]


@pytest.mark.slow
def test_a_file_of_some_vertices_leaves_the_others_as_the_program_says(call, programs, letters, tmp_path):
    some = tmp_path / "some.csv"
    some.write_text("vertex,hops,other\nb,4,1\n")
    options = ("--active", "b", "--init", some, "--init", "seen:b=true", "--init", "hops:f=9", "--json")
    answer = json.loads(ok(call("run", f"{programs}:hops", letters, *options)).stdout)["answer"]
    assert answer["state"] == {"hops": {"least": -1, "greatest": 9}, "seen": {"true": 4}}
    assert answer["aggregates"] == {"found": 2}  # b and c, to which a sends


@pytest.mark.slow
def test_a_program_and_what_stands_beside_its_file_travel_to_workers(call, programs, letters, tmp_path):
    output = tmp_path / "hops.csv"
    where = ("--active", "a", "--init", "hops:a=0", "--workers", 2, "--device", "cpu", "--output", output)
    ok(call("run", f"{programs}:hops", letters, *where))
    rows = [line.split(",") for line in output.read_text().splitlines()[1:]]
    assert [int(row[1]) for row in rows] == [0, 1, 1, 2, -1, -1]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (":missing", (), "has no 'missing'; its Programs are hops, shortest"),
        ("", (), "its Programs are hops, shortest; name a Program"),
        (":number", (), "my_own.py:22: number is a int, not a gd.Program number = 7"),
        (":hop", (), "my_own.py:5: hop is a function, not a gd.Program def hop(e):"),
        (":few", (), "my_own.py:3: few is a function, not a gd.Program from limits import few"),
        (":shortest", ("--no-weights",), "my_own.py:19: send asks for the weight of an edge"),
        (":shortest", ("--active", "z"), "active vertex 'z' is not in the graph"),
        (":shortest", ("--init", "distance=3"), "neither FIELD:ID=VALUE nor the name of a file"),
        (":shortest", ("--init", "distanc:a=3"), "there is no field 'distanc' of the state; fields: distance"),
        (":shortest", ("--init", "distance:a=far"), "ends in 'far', which is no number"),
        (":shortest", ("--init", "distance:a=nan"), "init['distance']['a'] is nan, which is no float64"),
        (":shortest", ("--init", "distance:a=1", "--init", "distance:a=2"), "gives distance of the vertex a twice"),
        (":shortest", ("--init", "distance:z=1"), "init['distance']: vertex 'z' is not in the graph"),
        (":shortest", ("--init", "none.csv"), "none.csv: no such file"),
        (":hops", ("--init", "seen:a=2"), "ends in '2'; write true or false"),
        (":hops", ("--init", "hops:a=1.5"), "ends in '1.5', which is no whole number"),
        (":hops", ("--source", "a"), "No such option '--source'"),
    ],
)
def test_what_is_wrong_is_said(call, programs, letters, name, options, message):
    assert message in said(call("run", f"{programs}{name}", letters, *options))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,distance\na,1\n", "some.csv: there is no column vertex; columns: x, distance"),
        ("vertex,far\na,1\n", "no column (far) is a field of the state; fields: distance"),
        ("vertex,distance\na,1\na,2\n", "names a vertex twice"),
        ("vertex,distance\nz,1\n", "vertex 'z' is not in the graph"),
        ("vertex,distance\na,x\n", "init['distance']['a'] is 'x', which is no float64"),
        ("vertex,distance\na\n", "some.csv: no columns can be read"),
    ],
)
def test_a_file_of_states_that_cannot_be_is_refused(call, programs, letters, tmp_path, text, message):
    some = tmp_path / "some.csv"
    some.write_text(text)
    assert message in said(call("run", f"{programs}:shortest", letters, "--init", some))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = x / 0\n", "mine.py:2: raises ZeroDivisionError: division by zero y = x / 0"),
        ("import graphdask as gd\np = gd.Program(state={}, message='any')\n", "mine.py:2: raises InputError: state={}"),
        ("x = 1\n", "mine.py has no 'p'; it has x"),
    ],
)
def test_a_file_that_fails_is_named_with_its_line(call, letters, tmp_path, text, message):
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert message in said(call("run", f"{file}:p", letters))


def test_a_program_is_a_command_of_jobs_too(call, programs, letters):
    dry = ("submit", "--slurm", "--dry-run", "run", f"{programs}:hops", letters)
    assert f"{programs}:hops" in ok(call(*dry, "--active", "a")).stdout
    assert "did you mean --active?" in said(call(*dry, "--activ", "a"))
    assert "no such file" in said(call("run", "none.py:hops", letters))


def test_the_order_in_which_vertices_sent_is_shown(call, programs, letters, tuned):
    arguments = "run", f"{programs}:shortest", letters, "--active", "a", "--init", "distance:a=0.0", "--device", "cpu"
    assert "best states first" not in ok(call(*arguments)).stdout
    tuned(PROGRAM, ordered_edges={"cpu": 1, "cuda": 1 << 62})
    assert "order       best states first" in ok(call(*arguments)).stdout
    assert "best states first" not in ok(call(*arguments, "--partitions", 2)).stdout
