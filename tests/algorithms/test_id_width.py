"""Ids of 64 bits where 32 would do. That every algorithm gives the same answers: test_common.py."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import Plan, make_vertex_map


def graph(directed):
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 120, (2, 500))
    weights = rng.integers(1, 9, 500).astype(np.int32) if directed else None
    return gd.from_edges(src, dst, weights, num_vertices=130, directed=directed)


@pytest.mark.parametrize("by", ["range", "random", "biased-random", np.arange(130) % 3])
def test_partitions_hold_ids_of_the_width_that_was_asked_for(by):
    for width in (32, 64):
        held = graph(False).partition(3, by=by, device="cpu", ghosts="1-hop", id_width=width).persist()
        for part in held.built.parts.values:
            assert isinstance(part, Part)
            assert {part.out.indices.dtype, part.ids.dtype, part.ghosts.dtype} == {np.dtype(f"int{width}")}


def test_widths_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="id_width=16 is neither 32 nor 64"):
        graph(True).partition(id_width=16)
    with pytest.raises(InputError, match="id_width=32 is too narrow for 3,000,000,000 vertices"):
        make_vertex_map(Plan(2, id_width=32), 3_000_000_000, 2, False, lambda: (np.zeros(1), np.zeros(0)))
