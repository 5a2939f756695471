"""True centralities by power iteration pass; a changed score, former score or claim is found."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd

IDS = [10, 20, 30, 40, 50, 60]
SRC = [10, 20, 20, 30, 30, 40, 50, 50, 60]
DST = [20, 10, 30, 10, 40, 60, 10, 60, 30]
WAYS = {
    "eigenvector_centrality": {},
    "katz_centrality": {"alpha": 0.2},
    "hits": {},
}
COLUMNS = {"hits": ("hub", "authority")}


def found(name, parts=3, **options):
    graph = gd.from_edges(SRC, DST, np.arange(1, 10) / 4).partition(parts, by="random", ghosts="1-hop", device="cpu")
    return getattr(gd, name)(graph, **WAYS[name], **options)


def change(result, column, vertex, factor):
    """Alter a value where the partitions keep it."""
    rank, place = result.built.vertex_map.locate(IDS.index(vertex))
    result.parts.values[rank].columns[column][place] *= factor


@pytest.mark.parametrize("name", WAYS)
def test_true_scores_pass_and_a_changed_one_is_named(name):
    result = found(name)
    assert result.verify() is result
    for column in COLUMNS.get(name, ("score",)):
        vertex = IDS[int(getattr(result, column).argmax())]
        for factor, what in ((1 + 1e-6, r"\d+ has another \w+ after"), (np.nan, f"{vertex} has a score that is no")):
            change(result, column, vertex, factor)
            with pytest.raises(gd.VerificationError, match=f"vertex {what}"):
                result.verify()
            result = found(name)


@pytest.mark.parametrize("name", WAYS)
def test_changed_scores_of_the_iteration_before_are_found(name):
    result = found(name)
    change(result, "before", 10, 1 + 1e-6)
    with pytest.raises(gd.VerificationError, match=r"after its last iteration|the last iteration changes"):
        result.verify()


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(
    ("said", "message"),
    [({"residual": 3e-6}, "the last iteration changes the scores by"), ({"converged": False}, "do not go together"),
     ({"iterations": 501}, "do not go together")],
)  # fmt: skip
def test_a_result_that_contradicts_itself_is_found(name, said, message):
    result = found(name)
    for kept in (result.parts.values, result.parts.summary):
        for of_rank in kept:
            of_rank.values.update(said)
    with pytest.raises(gd.VerificationError, match=message):
        result.verify()


@pytest.mark.parametrize("signs", [(-0.2, 1.0), (0.2, -1.0)])
def test_katz_scores_of_either_sign_pass(signs):
    gd.katz_centrality(gd.from_edges(SRC, DST).partition(2, device="cpu"), *signs, normalized=False).verify()
