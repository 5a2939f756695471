"""The benchmark of writing measures every writer, and notices other lines."""

from __future__ import annotations

import pytest

from graphdask.bench import write
from graphdask.errors import VerificationError


def test_every_writer_is_measured_on_the_same_edges(tmp_path):
    rows = write.run(2000, repeats=1, directory=tmp_path)
    assert {row["writer"] for row in rows} == {"graphdask", "graphdask, generating", "pandas", "pyarrow"}
    assert {row["format"] for row in rows} == {"txt", "csv", "parquet", "gdg", "npz"}
    assert {row["edges"] for row in rows} == {6 + 4 * 496}
    assert all(row["seconds"] > 0 and row["mb_per_s"] > 0 for row in rows)
    assert not list(tmp_path.iterdir())


def test_other_lines_are_an_error(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas", reason="needs pandas, which the extra 'test' installs")
    usual = pandas.DataFrame.to_csv
    monkeypatch.setattr(pandas.DataFrame, "to_csv", lambda frame, *given, **named: usual(frame[::-1], *given, **named))
    with pytest.raises(VerificationError, match="pandas wrote other txt lines"):
        write.run(2000, repeats=1, directory=tmp_path)
