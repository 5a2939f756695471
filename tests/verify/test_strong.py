"""True strong components pass; merged, split and misnamed ones are found, and the message names a vertex of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import graphdask as gd
from graphdask.algorithms.tuning import STRONG

# 100 -> 110 -> 120 -> 100 is a cycle; 130 <-> 140 is one that it leads to; 150 follows both; 160 -> 170 is apart
SRC = [100, 110, 120, 120, 130, 140, 140, 160, 100]
DST = [110, 120, 100, 130, 140, 130, 150, 170, 150]
VERTICES = [100, 110, 120, 130, 140, 150, 160, 170]
TRUE = [100, 100, 100, 130, 130, 150, 160, 170]
PARTS = (1, 3, 12)


@pytest.fixture(params=[0, STRONG.few], ids=["all supersteps", "finished at once"], autouse=True)
def few(request, tuned):
    """Of the search for the answer and of the taking apart of the quotient graph."""
    tuned(STRONG, few=request.param)


def result_of(parts, ghosts="all"):
    graph = gd.from_edges(SRC, DST, vertices=VERTICES).partition(parts, by="random", ghosts=ghosts, device="cpu")
    found = gd.strongly_connected_components(graph)
    assert found.label.tolist() == TRUE
    assert found.verify() is found
    return found


def write(result, vertex, label):
    """Write a label where the partitions keep it."""
    rank, place = result.built.vertex_map.locate(VERTICES.index(vertex))
    result.parts.values[rank].columns["label"][place] = VERTICES.index(label) if label in VERTICES else label


def named(error):
    return {int(x) for x in re.findall(r"\d{3}", str(error).partition(":")[2])}


WRONG = {
    "merged along an edge": ({130: 100, 140: 100}, {130, 140}, "does not reach it"),
    "merged with what leads to it": ({170: 160}, {170}, "does not reach it"),
    "merged with what nothing leads to": ({160: 150, 170: 150}, {160, 170}, "does not reach it|which does not reach"),
    "split into one and two": ({110: 110}, {100, 110, 120}, "which does not reach|does not reach it"),
    "split into single vertices": ({110: 110, 120: 120}, {100, 110, 120}, "reach each other"),
    "a split pair": ({140: 140}, {130, 140}, "reach each other"),
    "another representative": ({100: 110, 110: 110, 120: 110}, {100}, "not one up to its own"),
    "another representative of a pair": ({130: 140, 140: 140}, {130}, "not one up to its own"),
    "a representative of another component": ({150: 130}, {150}, "does not reach it"),
    "a label that is no vertex": ({170: 10**6}, {170}, "not one up to its own"),
    "a label below 0": ({170: -1}, {170}, "not one up to its own"),
}


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_label_is_named(what, parts):
    changes, vertices, message = WRONG[what]
    result = result_of(parts, "1-hop" if parts == 3 else "all")
    for vertex, label in changes.items():
        write(result, vertex, label)
    with pytest.raises(gd.VerificationError, match=message) as raised:
        result.verify()
    assert named(raised.value) & vertices, str(raised.value)


@pytest.mark.parametrize("parts", [1, 3])
def test_every_single_wrong_label_is_found(parts, rng):
    n = 40
    graph = gd.from_edges(rng.integers(0, n, 60), rng.integers(0, n, 60), num_vertices=n)
    result = gd.strongly_connected_components(graph.partition(parts, by="random", device="cpu"))
    for vertex in range(n):
        rank, place = result.built.vertex_map.locate(vertex)
        kept = result.parts.values[rank].columns["label"]
        true = kept[place]
        kept[place] = next(x for x in rng.integers(-1, n, 100) if x != true)
        with pytest.raises(gd.VerificationError):
            result.verify()
        kept[place] = true
    result.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_two_long_cycles_joined_both_ways_are_found_split(parts):
    n = 40
    ring = np.arange(n)
    src, dst = np.r_[ring, ring + n, 3, n + 5], np.r_[np.roll(ring, -1), np.roll(ring, -1) + n, n, 7]
    result = gd.strongly_connected_components(gd.from_edges(src, dst).partition(parts, device="cpu"))
    assert result.num_components == 1
    for vertex in range(n, 2 * n):
        rank, place = result.built.vertex_map.locate(vertex)
        result.parts.values[rank].columns["label"][place] = n
    with pytest.raises(gd.VerificationError, match=f"vertices of label (0|{n}) and of another label reach each other"):
        result.verify()
