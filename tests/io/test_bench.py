"""The reading benchmark measures every reader that is installed, on one file, with equal results."""

from __future__ import annotations

from graphdask.bench.io import run


def test_every_reader_is_measured_or_skipped_with_a_reason():
    rows = run(size_mb=0.5, repeats=1)
    assert [row["reader"] for row in rows] == ["graphdask"] * 2 + ["pandas.read_csv"] + ["pyarrow.csv"] * 2
    for row in rows:
        assert row.get("skipped") or row["mb_per_s"] > 0
