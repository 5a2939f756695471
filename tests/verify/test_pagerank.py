"""True ranks pass; one value changed, and verify says what is wrong, with the vertex by the caller's id."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd

PARTS = (1, 3)
IDS = [10, 20, 30, 40, 50, 60]
# 60 has no edges out, 50 none in
SRC = [10, 20, 20, 30, 30, 40, 50, 50]
DST = [20, 10, 30, 10, 40, 60, 10, 60]


def ranked(parts, directed=True, **arguments):
    graph = gd.from_edges(SRC, DST, directed=directed)
    return gd.pagerank(graph.partition(parts, by="random", ghosts="1-hop", device="cpu"), **arguments)


def change(result, vertex, amount=0.0, factor=1.0):
    """Alter a rank where the partitions keep it."""
    rank, place = result.built.vertex_map.locate(IDS.index(vertex))
    result.parts.values[rank].columns["rank"][place] = (
        result.parts.values[rank].columns["rank"][place] * factor + amount
    )


def claim(result, **values):
    """Alter what every rank says of the run."""
    for kept in (result.parts.values, result.parts.summary):
        for of_rank in kept:
            of_rank.values.update(values)


WAYS = {
    "plain": {},
    "undirected": {"directed": False},
    "self-loops": {"dangling": "self-loop"},
    "personal": {"personalization": {10: 1, 50: 3}},
    "no damping": {"damping": 0},
    "single": {"dtype": "float32", "tol": 1e-5},
    "largest change": {"norm": "linf", "tol": 1e-8},
}


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("way", WAYS)
def test_true_ranks_pass_and_a_changed_one_is_named(way, parts):
    result = ranked(parts, **WAYS[way])
    assert result.verify() is result
    for vertex in IDS:
        kept = result.rank.copy()
        change(result, vertex, 1e-3)
        with pytest.raises(gd.VerificationError, match=f"one more iteration .* vertex {vertex} changes most"):
            result.verify()
        change(result, vertex, -1e-3)
        np.testing.assert_allclose(result.rank, kept)
    result.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(("amount", "factor"), [(np.nan, 1), (np.inf, 1), (0, 0), (0, -1), (0, 0.5), (7, 1)])
def test_a_rank_below_its_teleport_share_is_named(amount, factor, parts):
    result = ranked(parts)
    change(result, 50, amount, factor)
    with pytest.raises(gd.VerificationError, match=r"vertex 50 has the rank .*, less than its teleport share"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("by", [1e-7, 1e-9])
def test_small_changes_show_in_the_next_iteration(by, parts):
    result = ranked(parts, tol=1e-14)
    change(result, 10, by)
    change(result, 30, -by)
    with pytest.raises(gd.VerificationError, match="one more iteration changes the ranks by"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    "said",
    [
        {"iterations": 0},
        {"iterations": 501},
        {"residual": 1e-3},
        {"converged": False},
        {"residual": 1e-11, "change": 0.0},
    ],
)
def test_a_result_that_contradicts_itself_is_found(said, parts):
    result = ranked(parts)
    claim(result, **said)
    with pytest.raises(gd.VerificationError, match=r"do not go together|one more iteration"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_ranks_of_another_sum_are_found(parts):
    # a last change that would excuse them is claimed as well
    result = ranked(parts)
    for vertex in IDS:
        change(result, vertex, factor=1.001)
    claim(result, change=1.0)
    with pytest.raises(gd.VerificationError, match=r"the ranks sum to 1\.001, not to 1"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_iterations_that_were_cut_short_are_no_error_but_hide_none(parts):
    with pytest.warns(gd.GraphdaskWarning, match=r"stopped after max_iter=3 iterations .* above tol=1e-10"):
        result = ranked(parts, max_iter=3)
    result.verify()
    claim(result, change=result.error / 20)
    with pytest.raises(gd.VerificationError, match="one more iteration"):
        result.verify()
