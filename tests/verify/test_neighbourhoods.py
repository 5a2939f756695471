"""True results pass; a value changed, and verify finds it, and names the vertex where it can."""

from __future__ import annotations

import re

import numpy as np
import pytest

import graphdask as gd

# two triangles that share the edge 110 - 120, a tail to 140 and 150, a triangle apart, and 190 alone
SRC = [100, 110, 120, 110, 120, 130, 140, 160, 170, 180]
DST = [110, 120, 100, 130, 130, 140, 150, 170, 180, 160]
VERTICES = [100, 110, 120, 130, 140, 150, 160, 170, 180, 190]
PARTS = (1, 3, 12)


def graph(parts, directed=False, ghosts="all"):
    made = gd.from_edges(SRC, DST, vertices=VERTICES, directed=directed)
    return made.partition(parts, by="random", ghosts=ghosts, device="cpu")


def change(result, vertex, column, value):
    """Write a value where the partitions keep it."""
    rank, place = result.built.vertex_map.locate(VERTICES.index(vertex))
    result.parts.values[rank].columns[column][place] = value


def refused(result):
    with pytest.raises(gd.VerificationError) as raised:
        result.verify()
    return str(raised.value), {int(x) for x in re.findall(r"\d{3}", str(raised.value))}


def spoilt(run, parts, vertex, changes, directed=False):
    """What verify says of a result with changed values, for both kinds of ghosts."""
    for ghosts in ("1-hop", "all"):
        result = run(graph(parts, directed, ghosts))
        assert result.verify() is result
        for column, value in changes.items():
            change(result, vertex, column, value)
        message, named = refused(result)
    return message, named


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    ("vertex", "count", "message"),
    [
        (100, 2, "more triangles than pairs"),
        (190, 1, "more triangles than pairs"),
        (110, -1, "negative"),
        (110, 3, "has 6 edges among its neighbours, not 4"),
        (110, 1, "has 2 edges among its neighbours, not 4"),
        (140, 1, "has 2 edges among its neighbours, not 0"),
    ],
)
def test_a_wrong_count_is_named(vertex, count, message, parts):
    said, named = spoilt(gd.triangles, parts, vertex, {"count": count})
    assert message in said
    assert vertex in named


@pytest.mark.parametrize("parts", [1, 3])
def test_triangles_moved_between_vertices_are_found(parts, rng):
    """The counts stay within their bounds and add up as before, at vertices that hardly any sample has."""
    G = gd.generate.preferential_attachment(600, degree=16, p=0.5, seed=1)
    for run, column in ((gd.triangles, "count"), (gd.local_clustering_coefficient, "links")):
        result = run(G.partition(parts, device="cpu")).verify()
        for u, v in rng.choice(600, (5, 2), replace=False):
            for vertex, by in ((u, 2), (v, -2)):
                rank, place = result.built.vertex_map.locate(int(vertex))
                columns = result.parts.values[rank].columns
                columns[column][place] += by
                if column == "links":
                    degree = columns["degree"][place]
                    columns["coefficient"][place] = columns["links"][place] / (degree * (degree - 1))
            with pytest.raises(gd.VerificationError, match=rf"vertex ({u}|{v}) has"):
                result.verify()
            result = run(G.partition(parts, device="cpu"))


@pytest.mark.parametrize("parts", [1, 3])
def test_counts_are_found_wrong_with_a_wrong_total(parts):
    result = gd.triangles(graph(parts))
    assert result.total == 3
    for value in result.parts.values:
        value.values["triangles"] = 4
    message, _ = refused(result)
    assert "the counts of all vertices add up to 9, not to 12" in message


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"coefficient": 0.25}, "another coefficient"),
        ({"coefficient": np.nan}, "another coefficient"),
        ({"degree": 4, "coefficient": 1 / 3}, "another number of distinct neighbours"),
        ({"links": 99}, "more edges among its neighbours than fit"),
        ({"links": -1}, "more edges among its neighbours than fit"),
        ({"links": 1, "coefficient": 1 / 6}, "has 1 edges among its neighbours"),
    ],
)
def test_a_wrong_coefficient_is_named(changes, message, parts, directed):
    said, named = spoilt(gd.local_clustering_coefficient, parts, 110, changes, directed)
    assert message in said
    assert 110 in named


@pytest.mark.parametrize("parts", PARTS)
def test_every_single_wrong_core_number_is_found(parts):
    result = gd.core_number(graph(parts))
    assert result.core.tolist() == [2, 2, 2, 2, 1, 1, 2, 2, 2, 0]
    for vertex, core in zip(VERTICES, result.core.tolist(), strict=True):
        for wrong in (-1, 1, 10**6, -(10**6)):
            change(result, vertex, "core", core + wrong)
            assert len(refused(result)[1]) == 1
        change(result, vertex, "core", core)
    result.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_core_numbers_too_small_together_are_found(parts):
    """Each vertex has neighbours enough; only the order of removal shows that there are more."""
    result = gd.core_number(graph(parts))
    for vertex in (160, 170, 180):
        change(result, vertex, "core", 1)
    message, named = refused(result)
    assert "removed while it has more neighbours than its core number" in message
    assert named <= {160, 170, 180}


@pytest.mark.parametrize("parts", [1, 3])
def test_core_numbers_that_the_order_contradicts_are_found(parts):
    result = gd.core_number(graph(parts))
    change(result, 110, "order", -1)  # before three neighbours of its core number, 2
    message, named = refused(result)
    assert "removed while it has more neighbours than its core number" in message
    assert named == {110}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("iterations", [0, 1, 3, 100])
def test_every_single_wrong_label_is_named(iterations, parts, directed):
    result = gd.label_propagation(graph(parts, directed), iterations)
    for vertex, label in zip(VERTICES, result._internal("label").tolist(), strict=True):
        for wrong in ((label + 1) % len(VERTICES), (label + 5) % len(VERTICES), 10**6, -20):
            change(result, vertex, "label", wrong)
            assert refused(result)[1] == {vertex}
        change(result, vertex, "label", label)
    result.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("iterations", [1, 3])
def test_a_wrong_label_before_the_last_iteration_is_found(iterations, parts):
    result = gd.label_propagation(graph(parts), iterations)
    change(result, 160, "before", VERTICES.index(180) if iterations > 1 else 0)
    change(result, 170, "before", VERTICES.index(180))
    refused(result)
