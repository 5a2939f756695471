"""The benchmark of streams measures what it says, and notices another answer."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from memory import uncounted

from graphdask.bench import stream, stream_device
from graphdask.bench.memory import HighWater
from graphdask.bench.tuning import BENCH
from graphdask.errors import VerificationError
from graphdask.generate.rmat import rmat


def test_every_run_is_measured_beside_memory_and_a_sequential_read(tmp_path):
    rows = stream.run(8, shares=(0.5,), chunks=(1 << 12, 1 << 13), repeats=1, directory=tmp_path)
    names = [row["record"] for row in rows]
    assert names.count("build") == names.count("sequential read") == 2
    assert {row["read_ahead"] for row in rows if "read_ahead" in row} == {0, 2}
    measured = [row for row in rows if "in_memory" in row]
    assert len(measured) == 5
    assert all(row["over_least"] >= 1 and row["of_sequential"] > 0 and row["times"] > 0 for row in measured)
    for row in measured:
        rate = max(row["cached_mb_per_s"], row["direct_mb_per_s"])
        assert row["of_sequential"] == pytest.approx(row["mb_per_s"] / rate)
    assert all(row["ns_per_edge"] > 0 and 0 < row["within_reach"] <= 1 for row in measured)
    states = {
        "bfs from the root": 18,
        "bfs from elsewhere": 18,
        "components": 16,
        "pagerank, 5 iterations": 52,
        "sssp from the root": 37,
    }
    for row in measured:  # the edges of R-MAT 8 are fewer bytes than a few chunks
        assert states[row["record"]] * 256 < row["budget_mb"] * 1e6 < states[row["record"]] * 256 + 100_000
        assert row["of_budget"] is None or row["of_budget"] >= 0  # Linux counts many pages at a time
    assert sum("ns_per_edge" in row for row in rows if row["record"] == "sum over ends") == 1
    assert all(row["of_csr"] < 1.5 for row in rows if row["record"] == "build")
    assert list(tmp_path.iterdir()) == []


def test_what_a_call_takes_at_its_peak_is_what_the_operating_system_says():
    size = 64 << 20
    with HighWater() as memory:
        np.ones(size, np.uint8).sum()
    if memory.bytes is None:
        pytest.skip("the peak of a process cannot be reset here")
    assert 0.9 * size - uncounted() < memory.bytes < 1.5 * size + uncounted()


def test_another_answer_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(np, "array_equal", lambda a, b: False)
    with pytest.raises(VerificationError, match="bfs from the root: depth is not what it is in memory"):
        stream.run(6, shares=(0.5,), chunks=(1 << 12,), repeats=1, directory=tmp_path)


@pytest.mark.slow
def test_streaming_through_a_device_is_measured_beside_its_link(tmp_path, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(BENCH, link_bytes=1 << 14)
    graph = rmat(7, 4, seed=0)
    rows = list(stream_device.measured(graph, (0.5,), 1, tmp_path, 1 << 12, (1 << 13,)))
    assert [row["read_ahead"] for row in rows if "read_ahead" in row] == [0, 1, 2, 3, 0, 2]
    measured = [row for row in rows if "in_memory" in row]
    assert len(measured) == 8
    assert [row["record"] for row in measured if row["in_place"]] == [
        "bfs from the root",
        "bfs from elsewhere",
        "components",
    ]
    assert all(row["of_link"] > 0 and row["over_least"] > 0 and row["from_disk"] == 0 for row in measured)
    assert list(tmp_path.iterdir()) == []


def test_a_graph_of_a_file_is_streamed_and_its_weights_are_used(tmp_path):
    path = tmp_path / "weighted.txt"
    path.write_text("".join(f"{a} {(a * 7 + 3) % 50} {1 + a % 5}\n" for a in range(50)))
    rows = stream.run(graph_file=path, shares=(0.5,), chunks=(1 << 12,), repeats=1, directory=tmp_path)
    assert {(row["graph"], row["clock"]) for row in rows} == {("weighted.txt", "call")}
    (paths,) = [row for row in rows if row["record"] == "sssp from the root"]
    assert paths["seconds"] > 0 < paths["in_memory"]
    assert paths["vertices"] == 50
