"""Numba's options are equal, and have the hash, as they would without what graphdask does to compare them sooner."""

from __future__ import annotations

from itertools import product

import pytest
from numba.core.compiler import Flags
from numba.core.targetconfig import Option, TargetConfig

from graphdask.kernels.common import options, twin

NAMES = ("nrt", "no_cpython_wrapper", "forceinline", "release_gil")


class Other(TargetConfig):
    """Options of something else."""

    nrt = Option(type=bool, default=False, doc="One that Flags has too.")


def made(kind: type, *values: bool | None) -> TargetConfig:
    """Options of which some are set, to what they are if they are not set, too."""
    found = kind()
    for name, value in zip(NAMES, values, strict=False):
        if value is not None:
            setattr(found, name, value)
    return found


def test_kernels_are_compiled_with_it():
    assert twin.compare_what_was_set is options.compare_what_was_set
    assert TargetConfig.__eq__ is options._equal


def test_all_combinations_are_equal_as_before():
    every = [made(Flags, *values) for values in product((None, False, True), repeat=len(NAMES))]
    for one, other in product(every, repeat=2):
        equal = one.values() == other.values()
        assert (one == other, one != other) == (equal, not equal)
        assert not equal or hash(one) == hash(other)


@pytest.mark.parametrize("value", [None, False, True])
def test_the_hash_is_the_same(value):
    one = made(Flags, value)
    assert hash(one) == hash(tuple(sorted(one.values())))


def test_options_of_something_else_are_not_equal():
    assert made(Flags) != made(Other)
    assert made(Other) == made(Other, False)
    assert made(Flags) != 3
