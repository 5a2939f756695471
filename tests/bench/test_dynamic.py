"""The benchmark of changing graphs measures every method on every stream, and their errors."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.bench import dynamic
from graphdask.bench.dynamic import METHODS, SUITES, Suite
from graphdask.errors import InputError


@pytest.fixture(autouse=True)
def tiny(sized):
    sized(SUITES, "quick", Suite(6, (1e-2,), 2, (6,), (1e-2,), 2))


@pytest.mark.slow
def test_every_method_is_measured_at_the_same_tolerance_and_at_the_same_error(tmp_path):
    kept = []
    rows = dynamic.run(device="cpu", error=1e-4, errors=1, plot=tmp_path, each=kept.append)
    assert rows == kept
    streams = [("temporal", "R-MAT 6"), ("temporal", "PA 2^6"), ("random", "R-MAT 6")]
    expected = [
        (*stream, stop, method)
        for stream in streams
        for stop, methods in (("tolerance", METHODS), ("error", (*METHODS, "auto")))
        for method in methods
    ]
    assert [(row["experiment"], row["graph"], row["stop"], row["method"]) for row in rows] == expected
    for row in rows:
        assert row["error"] <= row["bound"] * (1 + 1e-6) + 1e-12
        assert row["stop"] == "tolerance" or row["bound"] <= 1e-4
        assert row["batches"] == 2
        assert 0 < row["affected"] <= row["vertices"]
        assert sum(row["done"].values()) == round(row["iterations"] * row["batches"])
        assert row["method"] == "static" or row["static_over_it"] > 0
    assert len(list(tmp_path.glob("*.png"))) == 6


@pytest.mark.slow
def test_temporal_files_are_followed_in_the_order_of_time(tmp_path):
    file = tmp_path / "times.txt"
    file.write_text("".join(f"{100 + k % 9} {100 + k * k % 11} {(k * 7) % 100}\n" for k in range(100)))
    rows = dynamic.run(files=(str(file),), experiments=("temporal",), methods=("nd",), device="cpu", ranks=(1, 2))
    times = sorted(range(100), key=lambda k: (k * 7) % 100)[:93]
    edges = {(k % 9, k * k % 11) for k in times}
    assert {row["graph"] for row in rows} == {"times.txt"}
    assert {row["edges"] for row in rows} == {len(edges)}
    assert [row["ranks"] for row in rows] == [1] * 4 + [2] * 4
    np.testing.assert_array_equal([row["iterations"] for row in rows[:4]], [row["iterations"] for row in rows[4:]])


@pytest.mark.slow
def test_generated_graphs_are_followed_on_several_ranks():
    rows = dynamic.run(
        experiments=("generated",), methods=("dfp",), stops=("tolerance",), shares=(1e-3,), ranks=(1, 3), errors=1,
        device="cpu",
    )  # fmt: skip
    assert [(row["ranks"], row["method"]) for row in rows] == [(r, m) for r in (1, 3) for m in ("static", "nd", "dfp")]
    assert {(row["graph"], row["batch"], row["batch_edges"]) for row in rows} == {("R-MAT 6", 1e-3, 1)}
    for one, other in zip(rows[:3], rows[3:], strict=True):
        assert one["edges"] == other["edges"]
        assert one["iterations"] == other["iterations"]
    assert all(row["iteration_ms"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"suite": "slow"}, "suite="),
        ({"methods": ("fast",)}, "methods: 'fast'"),
        ({"stops": ("soon",)}, "stops: 'soon'"),
        ({"batches": 0}, "batches=0"),
        ({"shares": (0.0,)}, "shares: 0.0"),
        ({"ranks": (0,)}, "ranks=0"),
        ({"error": 0.0}, "error=0.0"),
        ({"partition_by": "out"}, "partition_by='out'"),
        ({"files": ("x",), "experiments": ("random",)}, "files are for the temporal experiment"),
    ],
)
def test_what_cannot_be_measured_is_refused(wrong, reason):
    with pytest.raises(InputError, match=reason):
        dynamic.run(device="cpu", **wrong)


def test_batches_are_random_in_a_graph_of_a_file_too(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text(
        "".join(f"{a} {(a * 7 + 3) % 50}\n" for a in range(50)) + "".join(f"{a} {(a + 1) % 50}\n" for a in range(50))
    )
    rows = dynamic.run(
        graphs=(str(path),), shares=(0.1,), batches=2, methods=("dfp",), stops=("error",), errors=1, device="cpu"
    )
    assert [(row["experiment"], row["graph"], row["vertices"], row["method"]) for row in rows] == [
        ("random", "plain.txt", 50, method) for method in ("static", "nd", "dfp")
    ]
    assert all(row["clock"] for row in rows)
