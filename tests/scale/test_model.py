"""The cost model: it finds the constants that measurements were made with, and goes on from them as it says."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from scaling import measured

from graphdask import scale
from graphdask.errors import InputError


def test_the_constants_of_exact_measurements_are_found():
    records = [measured(size, v=1e-10) for size in (1, 2, 4)]
    [found] = scale.fit(records)
    assert (found.algorithm, found.transport, found.measurements, found.own) == ("bfs", "shm", 3, True)
    assert found.edge_seconds == pytest.approx(2e-11)
    assert found.step_seconds == pytest.approx(2e-5)
    assert found.vertex_seconds == pytest.approx(1e-10)
    assert found.byte_seconds == pytest.approx(1e-10, rel=1e-2)
    assert found.meeting_seconds == pytest.approx(6e-5, rel=1e-2)
    assert found.residual < 1e-3
    [along_a_tree] = scale.fit(records, "tree")  # which these were not
    assert along_a_tree.residual > 10 * found.residual


def test_constants_are_never_negative():
    records = [measured(size) for size in (1, 2)]
    for step in records[1]["steps"]:
        step[5] = step[4]  # nothing but computation
    [found] = scale.fit(records)
    assert (found.byte_seconds, found.meeting_seconds) == (0, 0)


def test_where_supersteps_are_alike_the_transport_decides():
    several = [measured(size) for size in (1, 2)]
    alike = [measured(size, algorithm="pagerank", edges=(5e7,) * 8) for size in (1, 2)]
    found = {one.algorithm: one for one in scale.fit([*several, *alike])}
    assert (found["bfs"].own, found["pagerank"].own) == (True, False)
    assert found["pagerank"].byte_seconds == pytest.approx(1e-10, rel=0.05)
    assert found["pagerank"].meeting_seconds == pytest.approx(6e-5, rel=0.05)


def test_failed_and_lonely_measurements_make_no_model():
    failed = {**measured(2), "failed": "OverBudget", "reason": "too large"}
    assert scale.fit([]) == scale.fit([measured(1), failed]) == []
    with pytest.raises(InputError, match="meeting='ring' is not one of direct, tree"):
        scale.fit([], "ring")


def copies(degree, ranks):
    """Ranks other than its own that the neighbours of a vertex are on, on the mean over all placements."""
    placements = list(product(range(ranks), repeat=degree + 1))
    return sum(len(set(others) - {own}) for own, *others in placements) / len(placements)


@pytest.mark.parametrize(("degree", "ranks"), [(1, 3), (2, 3), (3, 4)])
def test_bytes_grow_as_the_copies_of_vertices_in_a_random_partition(degree, ranks):
    [found] = scale.fit([measured(1), measured(2)])
    free = dict.fromkeys(("edge_seconds", "vertex_seconds", "step_seconds", "meeting_seconds"), 0.0)
    of_bytes = replace(found, byte_seconds=1.0, **free)
    record = measured(2) | {"degrees": [[10, 10 * degree]]}
    for exchange, grown in (
        ("selective", copies(degree, ranks) / copies(degree, 2)),
        ("broadcast", ranks - 1),
    ):
        given = record | {"exchange": exchange}
        sent = [scale.extrapolated(of_bytes, given, workers) for workers in (1, 2, ranks)]
        assert sent[0] == 0
        assert ranks * sent[2] == pytest.approx(2 * sent[1] * grown)


def test_what_it_says_beyond_the_measurements():
    degrees = {"degrees": [[1000, 2000]]}
    records = [measured(size, v=1e-10) | degrees for size in (1, 2)]
    [found] = scale.fit(records)
    edges, sent, steps = sum(step[0] for step in records[1]["steps"]), sum(step[2] for step in records[1]["steps"]), 6
    grown = (7 * (1 - (7 / 8) ** 2)) / (1 - (1 / 2) ** 2)  # copies of a vertex with two neighbours: P = 8 over P = 2
    strong = 2e-11 * edges / 8 + 2e-5 * steps + 1e-10 * sent * grown / 8 + 6e-5 * steps * 7 + 1e-10 * 2**23 / 8
    assert scale.extrapolated(found, records[1], 8) == pytest.approx(strong, rel=1e-2)
    assert scale.extrapolated(found, records[1], 2) == pytest.approx(records[1]["seconds"], rel=1e-2)
    weak = measured(2, kind="weak-vertex") | degrees
    twice = 2e-11 * edges + 2e-5 * steps + 1e-10 * (2 * sent) * 4 * grown / 8 + 6e-5 * steps * 7 + 1e-10 * 2**23
    assert scale.extrapolated(found, weak, 8) == pytest.approx(twice, rel=1e-2)
