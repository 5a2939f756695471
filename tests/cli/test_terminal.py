"""Tables and numbers for people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from graphdask.commands.options import Whole
from graphdask.display import terminal


def test_columns_are_aligned(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = terminal.table(
        ("step", "seconds", "result"), [["read", "1.5", "a b"], ["verify", "10.25", "c"]], right=(1,)
    )
    assert shown.splitlines() == [
        "  step    seconds  result",
        "  -----------------------",
        "  read        1.5  a b",
        "  verify    10.25  c",
    ]


def test_the_last_column_is_wrapped_to_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    shown = terminal.table(("", ""), [["name", "word " * 20]]).splitlines()
    assert len(shown) > 1
    assert all(len(line) <= 44 for line in shown)
    assert all(line.startswith(" " * 8) for line in shown[1:])


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5, "0.5"), (999, "999"), (999.9, "1 k"), (1e6, "1 M"), (12_345_678, "12.3 M"), (2e9, "2 G")]
)
def test_quantities_have_three_digits(value, shown):
    assert terminal.quantity(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1020 << 10, "1020 KiB"), (3 << 30, "3 GiB")]
)
def test_sizes_have_binary_units(value, shown):
    assert terminal.size(value) == shown


@pytest.mark.parametrize(("number", "shown"), [(1, "1 vertex"), (0, "0 vertices"), (2000, "2,000 vertices")])
def test_counts_agree_with_their_noun(number, shown):
    assert terminal.count(number, "vertex") == shown


def test_json_has_words_for_what_it_has_no_numbers_for():
    record = {"a": np.float32(0.5), "b": [np.inf, -np.inf, float("nan")], "c": Path("x"), "d": np.arange(2), "e": None}
    expected = {"a": 0.5, "b": ["inf", "-inf", "nan"], "c": "x", "d": [0, 1], "e": None}
    assert json.loads(terminal.to_json(record)) == expected


@pytest.mark.parametrize(("text", "value"), [("1_000", 1000), ("1,000,000", 10**6), ("1e6", 10**6), ("-3", -3)])
def test_whole_numbers_may_be_written_in_several_ways(text, value):
    assert Whole().convert(text, None, None) == value


@pytest.mark.slow
def test_bench_writes_a_header_and_a_record_for_each_measurement(call, tmp_path):
    file = tmp_path / "records.jsonl"
    result = call("bench", "generate", "--vertices", "2000", "--no-peers", "--repeats", "1", "--output", file, "--json")
    assert result.exit_code == 0, result.output
    lines = file.read_text().splitlines()
    assert result.stdout.splitlines() == lines
    header, *records = map(json.loads, lines)
    assert header["record"] == "header"
    assert header["benchmark"] == "generate"
    assert header["versions"]["graphdask"]
    assert records[0]["edges"] == 6 + 1996 * 4
