"""The benchmark of reading measures each side in a process of its own, on one file, with equal graphs."""

from __future__ import annotations

import pytest

from graphdask.bench import read
from graphdask.errors import GraphdaskError


@pytest.mark.slow
@pytest.mark.parametrize("case", read.CASES)
def test_both_sides_are_measured_or_skipped_with_a_reason(case):
    rows = read.run(3000, vertices=500, scale=8, cases=(case,), repeats=1)
    assert [(row["reader"], row["product"]) for row in rows] == [
        ("graphdask", "rows"), ("graphdask", "graph"), ("pandas, SciPy", "rows"),
    ]  # fmt: skip
    for row in rows:
        if not row.get("skipped"):
            assert row["cpu_s"] > 0
            assert row["again_cpu_s"] > 0
            assert row["peak_mb"] > row["above_import_mb"] > 0


@pytest.mark.slow
def test_what_a_process_fails_with_is_said(tmp_path):
    with pytest.raises(GraphdaskError, match="no such file"):
        read._in_process("graphdask", "graph", tmp_path / "none.txt", "text")
