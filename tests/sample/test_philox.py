"""Philox4x32-10 against the known answers that its authors publish with Random123."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.kernels.common.philox import philox

ONES = 0xFFFFFFFF
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter, key, answer):
    wide = [np.uint64(low | high << 32) for low, high in (key, counter[:2])]
    first, second = philox(*wide, np.uint64(counter[2]), np.uint64(counter[3]))
    assert (int(first), int(second)) == (answer[0] | answer[1] << 32, answer[2] | answer[3] << 32)
