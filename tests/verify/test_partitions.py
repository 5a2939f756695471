"""Graph.verify: partitions that hold the graph's edges pass; one changed entry does not."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.verify.tuning import VERIFY

PARTS = (1, 3, 7)


@pytest.fixture(params=["one piece", "many pieces"], autouse=True)
def piece(request, tuned):
    """Also with edges hashed a few at a time, as those of large graphs are."""
    if request.param == "many pieces":
        tuned(VERIFY, stored_edges=16)


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", PARTS)
def test_partitions_of_random_edges_pass(parts, directed, ghosts, rng):
    src, dst = rng.integers(0, 90, 400), rng.integers(0, 90, 400)
    for by in ("range", "random", "biased-random"):
        graph = gd.from_edges(src, dst, directed=directed, num_vertices=95)
        graph = graph.partition(parts, by=by, ghosts=ghosts, device="cpu")
        assert graph.verify() is graph


@pytest.mark.parametrize("parts", PARTS)
def test_generated_and_merged_partitions_pass(parts):
    for multi_edges in ("keep", "merge"):
        graph = gd.generate.preferential_attachment(500, degree=3, seed=3, multi_edges=multi_edges)
        graph.partition(parts, device="cpu").verify()
    gd.from_edges([], [], num_vertices=0).partition(parts, device="cpu").verify()


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("parts", PARTS)
def test_one_changed_entry_is_found(parts, ghosts, rng):
    graph = gd.from_edges(rng.integers(0, 90, 400), rng.integers(0, 90, 400), num_vertices=90)
    graph = graph.partition(parts, by="random", ghosts=ghosts, device="cpu").persist()
    part = next(part for part in graph.built.parts.values if part.out.num_edges)
    true = part.out.indices.copy()
    for place in (0, len(true) // 2, len(true) - 1):
        part.out.indices[place] = (true[place] + 1) % part.num_slots
        with pytest.raises(gd.VerificationError, match="the partitions hold other edges than the graph has"):
            graph.verify()
        part.out.indices[:] = true
    for slot in (-1, part.num_slots):
        part.out.indices[0] = slot
        with pytest.raises(gd.VerificationError, match="a partition names a slot that does not exist"):
            graph.verify()
        part.out.indices[:] = true
    graph.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_lost_edges_are_counted(parts):
    graph = gd.from_edges(np.arange(50), np.arange(50) + 1, directed=False).partition(parts, device="cpu").persist()
    part = max(graph.built.parts.values, key=lambda part: part.out.num_edges)
    part.out.indices = part.out.indices[:-1]
    part.out.indptr[-1] -= 1
    with pytest.raises(gd.VerificationError, match="the partitions hold 99 directed edges, the graph has 100"):
        graph.verify()
