"""The benchmark of samplers measures every case, and draws as many edges by every method."""

from __future__ import annotations

import pytest

from graphdask.bench import sample
from graphdask.bench.minibatches import AT_ONCE, WAYS
from graphdask.bench.sample import FROM_RANGE, NEIGHBORHOODS, SUITES, WALKS, Suite
from graphdask.bench.specs import SAMPLE_SPECS, WALK_SPECS
from graphdask.errors import InputError


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setitem(SUITES, ("quick", "cpu"), Suite(6, ((30, 5),), ((20, (2,)), (20, (3, 2)))))


def test_every_way_is_measured():
    kept = []
    rows = sample.run(device="cpu", repeats=1, each=kept.append)
    assert rows == kept
    ours = [row for row in rows if "like" not in row]
    assert len(ours) == len(WALKS) + len(WALK_SPECS) + len(FROM_RANGE) + 2 * (len(NEIGHBORHOODS) + len(SAMPLE_SPECS))
    walks = [row for row in ours if row["size"] == 5 and row["starts"] == "array"]
    assert len({row["edges"] for row in walks}) == 1  # of undirected graphs: none ends but where it starts
    assert all(row["edges"] > 0 and row["host_mseps"] > 0 for row in ours)
    assert all(row["run_ms"] <= row["ms"] <= row["host_ms"] for row in ours)
    assert {row["sampler"] for row in rows if "like" in row} == {"igraph", "networkx"}
    for bias in (None, "weight"):
        one_hop = [
            row["edges"]
            for row in ours
            if (row["sampler"], row["bias"], row["size"]) == ("neighbors", bias, [2]) and row["method"] != "replace"
        ]
        assert len(one_hop) == 4
        assert len(set(one_hop)) == 1


def test_ranks_and_placements():
    some = {"device": "cpu", "repeats": 1, "peers": False, "samplers": ("node2vec",)}
    rows = sample.run(ranks=(1, 2), placement="partitioned", **some)
    assert [(row["ranks"], row["placement"]) for row in rows] == [(1, "partitioned")] * 3 + [(2, "partitioned")] * 3
    for starts in ("array", "range"):
        assert len({row["edges"] for row in rows if row["starts"] == starts}) == 1


def test_walks_may_be_as_many_as_one_says_and_stay_where_they_are():
    some = {"device": "cpu", "repeats": 1, "peers": False, "samplers": ("random_walk",)}
    rows = sample.run(walks=(40, 200), gather=False, **some)
    told = [(row["starts"], row["instances"]) for row in rows if row["sampler"] == "random_walk" and not row["bias"]]
    assert told == [("array", 40), ("range", 40), ("array", 200), ("range", 200)]  # of 64 vertices
    assert all("host_ms" not in row and row["ms"] >= row["draw_ms"] for row in rows)


def test_minibatches_are_drawn_by_each_way(monkeypatch):
    monkeypatch.setitem(SUITES, ("quick", "cpu"), Suite(6, ((30, 5),), ((20, (2,)),), ((3, 10, (3, 2)),)))
    rows = sample.run(device="cpu", repeats=1, peers=False, samplers=("loader",))
    assert [(row["bias"], row["at_once"], row["method"]) for row in rows] == [
        (bias, at_once, way) for bias in (None, "weight") for at_once in AT_ONCE for way in WAYS
    ]
    for bias in (None, "weight"):
        assert len({row["edges"] for row in rows if row["bias"] == bias}) == 1
    assert all(row["instances"] == 3 and row["edges"] and row["mseps"] > 0 for row in rows)


@pytest.mark.parametrize(
    "wrong", [{"suite": "slow"}, {"repeats": 0}, {"samplers": ("walk",)}, {"ranks": (0,)}, {"walks": (0,)}]
)
def test_what_cannot_be_measured_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong)).rstrip("s")):
        sample.run(device="cpu", **wrong)


def test_schemes_stand_beside_what_is_in_memory(monkeypatch):
    monkeypatch.setitem(SUITES, ("out-of-memory", "cpu"), Suite(6, ((30, 5),), ((20, (3, 2)),)))
    rows = sample.run("out-of-memory", device="cpu", repeats=1, peers=False)
    assert len(rows) == 2 * 6 + 3 * 5
    for first in range(0, 12, 6):
        streamed = rows[first + 1 : first + 6]
        assert [row["scheme"] for row in streamed] == ["baseline", "BA", "WS", "BAL", "in-place"]
        assert len({row["edges"] for row in streamed}) == 1
    for row in rows:
        assert row["placement"] == ("replicated" if row["scheme"] == "in memory" else "streamed")
        assert ("transfers" in row) == (row["scheme"] != "in memory")
    with pytest.raises(InputError, match="placement"):
        sample.run("out-of-memory", device="cpu", placement="partitioned")
