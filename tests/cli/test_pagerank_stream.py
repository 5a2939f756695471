"""`graphdask pagerank-stream`: batches of a temporal file, in order, with PageRank and its error after each."""

from __future__ import annotations

import json

import numpy as np
import pytest

import graphdask as gd


@pytest.fixture
def temporal(tmp_path):
    """40 edges among 12 vertices at times that are not in order, and the edges in the order of time."""
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 12, (2, 40))
    times = rng.permutation(40)
    file = tmp_path / "temporal.txt"
    file.write_text("".join(f"{u} {v} {t}\n" for u, v, t in zip(src, dst, times, strict=True)))
    order = np.argsort(times)
    return file, src[order], dst[order]


def records(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.slow
def test_every_batch_has_a_line_of_json(call, temporal, tmp_path):
    file, src, dst = temporal
    output = tmp_path / "lines.jsonl"
    options = (
        "--preload",
        0.5,
        "--batch",
        0.2,
        "--batches",
        9,
        "--method",
        "static",
        "--method",
        "dfp",
        "--partitions",
        2,
    )
    result = call("pagerank-stream", file, *options, "--json", "--output", output)
    found = records(result)
    assert result.stderr == ""
    assert found == [json.loads(line) for line in output.read_text().splitlines()]
    # 20 edges are left, so the third batch has but four
    named = [(record["batch"], record["method"], record["edges"]) for record in found]
    assert named == [(k, method, size) for k, size in enumerate((8, 8, 4)) for method in ("static", "dfp")]
    for record in found:
        known = 20 + 8 * record["batch"]
        edges = set(zip(src[: known + 8].tolist(), dst[: known + 8].tolist(), strict=True))
        before = set(zip(src[:known].tolist(), dst[:known].tolist(), strict=True))
        assert record["num_edges"] == len(edges)
        assert record["inserted"] == len(edges) - len(before)
        assert record["inserted"] + record["duplicates"] == record["edges"]
        assert record["vertices"] == len(set(src.tolist()) | set(dst.tolist()))
        assert record["converged"]
        assert 0 <= record["error"] < (1e-4 if record["method"] == "dfp" else 1e-8)
        assert record["affected"] <= record["vertices"]


def test_errors_are_the_distance_to_the_ranks_from_scratch(call, temporal):
    file, src, dst = temporal
    options = ("--preload", 0.8, "--batch", 0.2, "--method", "nd", "--tol", 1e-3, "--appear")
    (found,) = records(call("pagerank-stream", file, *options, "--json"))
    D = gd.DynamicGraph(gd.from_edges(src[:32], dst[:32]))
    gd.pagerank(D, method="static", tol=1e-3)
    assert found["appeared"] == D.update(insert=(src[32:], dst[32:])).vertices
    rank = gd.pagerank(D, method="nd", tol=1e-3).rank
    exact = gd.pagerank(D, dangling="self-loop", tol=1e-15).rank
    assert found["error"] == pytest.approx(np.abs(rank - exact).sum(), rel=1e-9)


def test_without_json_there_is_a_line_for_each_batch_and_a_table_of_means(call, temporal):
    result = call("pagerank-stream", temporal[0], "--batch", 0.025, "--batches", 2, "--no-error")
    assert result.exit_code == 0, result.output
    assert "temporal.txt: 2 batches of 1 edge; " in result.stdout
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[0] == ["batch", "method", "update", "ms", "pagerank", "ms", "affected", "iterations", "by", "method"]
    assert [line[:2] for line in lines[1:3]] == [["0", "dfp"], ["1", "dfp"]]
    assert lines[-1][0] == "dfp"


def test_the_line_of_a_batch_says_its_error_and_to_which_methods_it_fell_back(call, temporal, tmp_path):
    output = tmp_path / "lines.jsonl"
    methods = [option for name in ("nd", "dfp") for option in ("--method", name)]
    tolerances = ("--frontier-tol", 0.5, "--prune-tol", 0.5)
    options = ("--batch", 0.025, "--batches", 3, "--l1-error", 1e-9, *methods, *tolerances, "--output", output)
    result = call("pagerank-stream", temporal[0], *options)
    assert result.exit_code == 0, result.output
    head, *lines = [line for line in result.stdout.splitlines() if line.strip()][:7]
    kept = [json.loads(line) for line in output.read_text().splitlines()]
    assert head.split("iterations")[1].split() == ["L1", "error", "at", "most", "by", "method"]
    assert all("nd" in record["steps"] for record in kept)
    for line, record in zip(lines, kept, strict=True):
        cells = line.split(maxsplit=8)
        done = ", ".join(f"{name} {count}" for name, count in record["steps"].items())
        assert cells[:2] == [str(record["batch"]), record["method"]]
        assert cells[4:6] == [str(record["affected"]), str(record["iterations"])]
        assert cells[6:] == [f"{record['error']:.1e}", f"{record['bound']:.1e}", done]


def test_methods_stand_beside_each_other_at_the_same_error_and_are_drawn(call, temporal, tmp_path):
    picture = tmp_path / "batches.png"
    methods = [option for name in ("nd", "auto") for option in ("--method", name)]
    options = ("--batch", 0.025, "--l1-error", 1e-5, *methods, "--plot", picture, "--json")
    for record in records(call("pagerank-stream", temporal[0], *options)):
        assert record["error"] <= record["bound"] <= 1e-5
        assert sum(record["steps"].values()) == record["iterations"]
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--preload", 1), "preload=1.0 is not a share of 0 or more and below 1"),
        (("--batch", 0), "batch=0.0 is not a share above 0 and up to 1"),
        (("--method", "df", "--prune-tol", 1e-3), "--prune-tol is of dfp and auto, which --method does not name"),
        (("--method", "auto"), "say --l1-error"),
        (("--tol", 1e-9, "--l1-error", 1e-3), "both say when to stop"),
        (("--plot", "no/such/folder.png"), "there is no directory"),
        (("--plot", "batches.doc"), "--plot batches.doc: the name of a picture ends in .png, .pdf or .svg"),
        (("--preload", 0.999), "no edge is left of 40 for a batch; take a smaller preload"),
        (("--damping", 2), "--damping 2.0 is not a number in [0, 1)"),
    ],
)
def test_options_that_cannot_be_are_refused(call, temporal, options, reason):
    result = call("pagerank-stream", temporal[0], *options)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())


def test_a_file_without_times_is_refused(call, tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("1 2\n2 3\n")
    result = call("pagerank-stream", file)
    assert result.exit_code == 2
    assert "edges.txt" in result.stderr
