"""Every figure of README and docs/ stands in a record with the same value, and both sides of a row name one clock."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

import pytest
from pages import PAGES, RECORDS, prose

PAGE_TEXTS = [page.read_text() for page in PAGES]
TEXTS = [*PAGE_TEXTS, (RECORDS / "README.md").read_text()]
BLOCK = re.compile(r"^<!-- figures (?P<file>\S+)(?P<every>[^\n]*)\n(?P<lines>.*?)^-->$", re.MULTILINE | re.DOTALL)
UNITS = {"G edges/s": 1e9, "M edges/s": 1e6, "": 1.0}
MEASURED = re.compile(
    r"\d[\d.,]* ?(?:ms|µs|us|seconds?|s|[GM]/s|[GM]B/s|[GM] edges/s)\b|\b\d[\d.]* times as (?:fast|long)|"
    r"\b[01]\.\d+ (?:to \d[\d.]* )?of (?:what|the rate)"
)
"""What is measured and said in running text."""
SETTINGS = ("300 s", "10 s", "30 s")
"""Deadlines, which are no measurement."""


@dataclass(frozen=True)
class Figure:
    row: str
    shown: str
    clock: str
    field: str
    file: str
    where: dict[str, str]

    @property
    def number(self) -> str:
        return self.shown.split()[0]

    @property
    def unit(self) -> float:
        if self.field.endswith("seconds") and self.clock in ("call", "supersteps"):
            return 1e-3  # shown in milliseconds
        if self.field == "mseps":
            return 1e3  # shown in billions a second
        return UNITS[self.shown.removeprefix(self.number).strip()]

    def records(self) -> list[dict[str, Any]]:
        lines = (json.loads(line) for line in (RECORDS / self.file).read_text().splitlines())
        return [r for r in lines if self.field in r and all(same(r.get(k), v) for k, v in self.where.items())]


def same(value: Any, said: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(said) == value if re.fullmatch(r"[\d.e+-]+", said) else False
    return str(value) == said


def figures() -> list[Figure]:
    found = []
    for block in (block for page in TEXTS for block in BLOCK.finditer(page)):
        every = dict(word.split("=", 1) for word in shlex.split(block["every"]))
        for line in block["lines"].splitlines():
            row, shown, clock, name, where = (part.strip() for part in line.split("|"))
            words = dict(word.split("=", 1) for word in shlex.split(where))
            found.append(Figure(row, shown, clock, name, block["file"], every | words))
    return found


def clock_of(record: dict[str, Any], field: str) -> str:
    """What a record says of its clock, or what those that say nothing were timed by."""
    if "clock" in record:
        return "supersteps" if field.startswith("supersteps_") else str(record["clock"])
    if field in ("call_seconds", "seconds") and record.get("experiment") == "scale":
        return "call" if field == "call_seconds" else "supersteps"
    if field in ("of_link", "edges_per_second"):
        return {"of_link": "link", "edges_per_second": "generate"}[field]
    ours_by_supersteps = record.get("implementation") == "graphdask" and "algorithm" in record
    if field in ("ms", "iteration_ms"):
        return "supersteps" if ours_by_supersteps else "call"
    assert field == "call_ms", f"of {field} no clock is known"
    return "call"


@pytest.mark.parametrize("figure", figures(), ids=lambda figure: f"{figure.row} {figure.shown}".strip())
def test_a_figure_stands_in_a_record(figure):
    places = len(figure.number.partition(".")[2])
    records = figure.records()
    assert records, "no record has it"
    rounded = {f"{record[figure.field] / figure.unit:.{places}f}" for record in records}
    assert figure.number in rounded
    assert len(rounded) == 1 or figure.field == "of_link", f"records differ: {rounded}"
    assert {clock_of(record, figure.field) for record in records} == {figure.clock}


def rows() -> list[list[str]]:
    """Rows of tables of times, which say so in their first cell; each once, where two pages have it."""
    found = []
    for table in re.findall(r"^\| whole call[^\n]*\n(?:\|[^\n]*\n)+", "\n".join(PAGE_TEXTS), re.MULTILINE):
        found += [[cell.strip() for cell in line.strip("|").split("|")][:3] for line in table.splitlines()[2:]]
    return [list(row) for row in dict.fromkeys(map(tuple, found))]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_both_sides_of_a_row_are_of_one_clock_and_one_file(row):
    reported = [figure for figure in figures() if figure.row == row[0]]
    assert [figure.shown for figure in reported] == row[1:3]
    assert {figure.clock for figure in reported} == {"call"}
    assert len({figure.file for figure in reported}) == 1
    records = [figure.records()[0] for figure in reported]
    fields = ["graphdask_edges" if figure.field == "graphdask_ms" else "edges" for figure in reported]
    edges = [record[field] for record, field in zip(records, fields, strict=True)]
    assert max(edges) <= 1.05 * min(edges)
    assert not any("differs" in record for record in records)


def test_no_figure_is_reported_without_its_record():
    text = prose("\n".join(PAGE_TEXTS))
    known = {figure.shown for figure in figures()}
    said = [match for match in MEASURED.findall(text) if match not in SETTINGS]
    assert [match for match in said if not any(match.startswith(each) for each in known)] == []


def test_figures_are_shown_before_the_comment_that_says_where_they_stand():
    for figure in figures():
        shown = figure.number if figure.clock == "generate" else figure.shown
        before = [page.partition(f"<!-- figures {figure.file}")[0] for page in TEXTS if figure.file in page]
        assert any(re.search(rf"(?<![\d.]){re.escape(shown)}(?![\d.])", text) for text in before), figure
