"""Ends of links of several batches at once: what each batch would have by itself."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.sample.link_ends import Blocks, distinct


@pytest.mark.parametrize("below", [1, 7, 1000, 2**62, 2**63 - 1])  # keys of the last two have up to 66 bits
@pytest.mark.parametrize(("batches", "width", "last"), [(1, 5, 5), (4, 6, 6), (7, 3, 1), (30, 1, 1)])
def test_distinct_values_are_those_of_numpy(rng, below, batches, width, last):
    offsets = np.concatenate((np.arange(batches) * width, [(batches - 1) * width + last]))
    values = rng.integers(0, below, offsets[-1])
    found, begins, numbers = distinct(values, offsets, below)
    for b in range(batches):
        mine = slice(offsets[b], offsets[b + 1])
        expected, places = np.unique(values[mine], return_inverse=True)
        assert np.array_equal(found[begins[b] : begins[b + 1]], expected)
        assert np.array_equal(numbers[mine], places)
    assert found.dtype == numbers.dtype == begins.dtype == np.int64


@pytest.mark.parametrize("triplets", [False, True])
@pytest.mark.parametrize("links", [1, 4, 8, 11])
def test_ends_stand_side_by_side_in_each_batch(links, triplets):
    src, dst = np.arange(links), 100 + np.arange(links)
    negative = 1000 + np.arange(2 * links).reshape(-1, 2), 2000 + np.arange(2 * links).reshape(-1, 2)
    blocks = Blocks(4, links, lambda k: 2 * k if triplets else -(-3 * k // 2))
    expected, labels, firsts = [], [], []
    for begin in range(0, links, 4):
        mine = range(begin, min(begin + 4, links))
        count = blocks.extra(len(mine))
        drawn = [[side[k, number] for number in (0, 1) for k in mine][:count] for side in negative]
        sides = [src[mine], dst[mine], drawn[1]] if triplets else [src[mine], drawn[0], dst[mine], drawn[1]]
        expected += np.concatenate(sides).tolist()
        labels += [*mine, *[0] * count]
        firsts += [mine[k % len(mine)] for k in range(len(mine) + count)]
    assert blocks.ends(src, dst, negative, triplets).tolist() == expected
    assert blocks.labels(src[:, None]).tolist() == [[label] for label in labels]
    assert blocks.repeated(src, 1, lambda k: k + blocks.extra(k)).tolist() == firsts
    assert blocks.offsets(lambda k: k + blocks.extra(k))[-1] == len(labels)
    assert blocks.bounds.tolist() == [*range(0, links, 4), links]
