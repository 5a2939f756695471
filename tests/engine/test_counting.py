"""What is set in a mask is counted as NumPy counts it, wherever the mask begins."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

from graphdask.device.counting import all_set, any_set, count_set

LENGTHS = [0, 1, 7, 8, 9, 31, 1000, 4097]


@pytest.mark.parametrize("first", [0, 1, 4, 8])
@pytest.mark.parametrize("length", LENGTHS)
def test_the_kernel_counts_bytes_that_are_set(backend, rng, length, first):
    mask = rng.random(first + length) < 0.4
    found = backend.from_host(np.array([5], np.int64))
    backend.kernels("counting").counting_set(64, length, backend.from_host(mask)[first:], found)
    backend.synchronize()
    assert backend.to_host(found).tolist() == [5 + np.count_nonzero(mask[first:])]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("length", LENGTHS)
def test_masks(device, rng, length, share, monkeypatch):
    mask = rng.random(length) < share
    there = mask
    if device == "emulated":
        stand_in(monkeypatch, emulated())
        there = emulated().from_host(mask)
    assert count_set(there) == np.count_nonzero(mask)
    assert count_set(there.view(np.uint8)) == np.count_nonzero(mask)
    assert all_set(there) == mask.all()
    assert any_set(there) == mask.any()
    assert count_set(there[::2]) == np.count_nonzero(mask[::2])
