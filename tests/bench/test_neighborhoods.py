"""The benchmark of traversal sampling measures every way to draw, and draws as many edges by all of them."""

from __future__ import annotations

import pytest

from graphdask.bench import neighborhoods
from graphdask.errors import InputError


def test_every_way_is_measured():
    rows = neighborhoods.run(6, instances=20, fanouts=[(2,), (3, 2)], repeats=1)
    assert len(rows) == 2 * (len(neighborhoods.CASES) + 1)
    assert all(row["edges"] > 0 and row["mseps"] > 0 for row in rows)
    for bias in (None, "weight"):
        one_hop = [
            row["edges"]
            for row in rows
            if (row["sampler"], row["bias"], row["fanouts"]) == ("neighbors", bias, [2]) and row["method"] != "replace"
        ]
        assert len(one_hop) == 4
        assert len(set(one_hop)) == 1


def test_numbers_below_1_are_refused():
    with pytest.raises(InputError, match="instances=0"):
        neighborhoods.run(5, instances=0)
