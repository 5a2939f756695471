"""What covering combinations cover."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from covering import pairs


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2, 2), (5, 3), (4, 2, 2, 5, 2), (5, 4, 3, 2)])
def test_every_two_values_meet_in_few_combinations(sizes):
    values = [[(place, k) for k in range(size)] for place, size in enumerate(sizes)]
    chosen = pairs(*values)
    for one, other in combinations(values, 2):
        assert {(a, b) for c in chosen for a in c for b in c} >= set(product(one, other))
    assert all(c[place] in values[place] for c in chosen for place in range(len(sizes)))
    assert len(chosen) <= 1.5 * max(a * b for a, b in combinations(sizes, 2))
