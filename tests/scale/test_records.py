"""The file of an experiment: lines as they were written, a torn one cut off, files of others left as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphdask.errors import FormatError, InputError, WriteError
from graphdask.scale.records import RecordFile, opened, read

MADE = {
    "kind": "strong", "algorithm": "bfs", "scale": 5, "edge_factor": 4, "workers": 1, "transport": "single",
    "machine": {"processor": "none", "gpus": []},
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    with opened(tmp_path / "scale.jsonl") as file:
        file.append(MADE | {"seconds": 1.5})
    return tmp_path / "scale.jsonl"


def test_what_is_written_is_read(path):
    with opened(path) as file:
        assert (len(file.records), file.cut) == (1, 0)
        file.append(MADE | {"workers": 2, "failed": "OverBudget", "reason": "too large"})
        file.append(MADE | {"workers": 2, "seconds": 0.5})
    assert [(found["workers"], found["seconds"]) for found in read(path)] == [(1, 1.5), (2, 0.5)]


@pytest.mark.parametrize("torn", ['{"exp', '{"experiment": "scale", "format": 1, "kind": "str'])
def test_a_line_that_was_not_written_to_its_end_is_cut_off(path, torn):
    whole = path.read_text()
    path.write_text(whole + torn)
    assert len(read(path)) == 1  # which leaves the file as it is
    assert path.read_text() == whole + torn
    with opened(path) as file:
        assert file.cut == len(torn)
    assert path.read_text() == whole


def test_only_the_end_of_the_last_line_may_be_missing(path):
    whole = path.read_text()
    path.write_text(whole.rstrip("\n"))
    with opened(path) as file:
        file.append(MADE | {"workers": 2})
    assert [found["workers"] for found in read(path)] == [1, 2]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1 2\n2 3\n", 1, "the line does not begin as its lines do"),
        ("1 2", 1, "the line does not begin as its lines do"),
        ('{"experiment": "scale", "form\n', 1, "the line is no JSON object"),
        ('{"experiment": "scale", "format": 7}\n', 1, "a measurement of format 7"),
        ('{"experiment": "scale", "format": 1, "kind": "strong"}\n', 1, "a measurement of format 1 with all of"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path, text, line, message):
    file = tmp_path / "other.txt"
    file.write_text(text)
    for call in (read, lambda path: opened(path).__enter__()):
        with pytest.raises(FormatError, match=f"other.txt:{line}: .*{message}"):
            call(file)
    assert file.read_text() == text


def test_a_file_that_cannot_be_written_or_read_is_named(tmp_path, path):
    with (
        pytest.raises(InputError, match=r"nowhere/a.jsonl cannot be written: there is no directory"),
        opened(tmp_path / "nowhere" / "a.jsonl"),
    ):
        pass
    with pytest.raises(InputError, match="is a directory; name a file"), opened(tmp_path):
        pass
    with pytest.raises(InputError, match="cannot be read: no such file"):
        read(tmp_path / "a.jsonl")
    with opened(path), pytest.raises(InputError, match="is being written by another run"), opened(path):
        pass


def test_a_file_without_a_measurement_is_not_left_behind(tmp_path):
    with opened(tmp_path / "a.jsonl"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_with_what_to_do():
    with open("/dev/full", "ab", buffering=0) as full:
        file = RecordFile(Path("a.jsonl"), full, [], 0)
        with pytest.raises(WriteError, match=r"a.jsonl cannot be written: no space left on device; .* goes on"):
            file.append(MADE)
