"""Supersteps that a GPU goes through without the host: aggregates that it adds up itself, and failures among them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from emulated import emulated, stand_in
from kernel_launch import bring_back, sent

import graphdask as gd
from graphdask.errors import FunctionError
from graphdask.kernels.program.exact import add_float
from graphdask.kernels.program.program_pack import (
    ANY,
    BINS,
    COUNT,
    COUNTS,
    KIND_BITS,
    LEAST,
    LEAST_FLOAT,
    MOST,
    MOST_FLOAT,
    PROGRESS,
    SUM,
    Program,
)

LARGEST = np.finfo(float).max
TINY = 5e-324
SUMS = [
    [], [0.0, -0.0], [1.0, 2.0**-53], [1.0, 2.0**-53, TINY], [1.0 + 2.0**-52, 2.0**-53], [1e300, 1.0, -1e300],
    [-1.0, -(2.0**-53), -TINY], [TINY] * 3, [-TINY, TINY], [2.0**-1022, -TINY], [2.0**-1022, TINY],
    [2.0**-1022 - TINY, TINY], [LARGEST, LARGEST], [-LARGEST] * 3, [LARGEST, 2.0**969], [LARGEST, 2.0**970],
    [LARGEST, 2.0**970, -TINY], [math.inf, 1.0], [-math.inf, LARGEST], [math.inf, -math.inf],
    [LARGEST, LARGEST, -LARGEST], [2.0**32, 2.0**-32, -(2.0**32)],
]  # fmt: skip


def between(backend, words, kinds, failures):
    """The values, the progress, the words and the counters after the kernel."""
    values, progress = np.full(len(kinds), -1, np.int64), np.zeros(len(PROGRESS), np.int64)
    coded = sum(kind << KIND_BITS * k for k, kind in enumerate(kinds))
    pack = Program(sums=words, counters=np.full(len(COUNTS), 7, np.int64), progress=progress)
    kernels = backend.kernels("program", index_t=np.int32, state0_t=np.int64, message0_t=np.int64)
    mine = np.array(failures, np.int64), values, pack
    given = [sent(backend, argument) for argument in mine]
    kernels.program_between(1, len(kinds), len(failures), coded, *given)
    backend.synchronize()
    for argument, changed in zip(mine, given, strict=True):
        bring_back(backend, argument, changed)
    return values, progress, pack


def rounded_once(numbers):
    """The float that is nearest to the exact sum."""
    if not all(map(math.isfinite, numbers)):
        return math.fsum(numbers) if len({x for x in numbers if not math.isfinite(x)}) == 1 else math.nan
    exact = sum(map(Fraction, numbers))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def test_sums_of_floats_are_rounded_once(backend, rng):
    drawn = [(rng.standard_normal(9) * 2.0 ** rng.integers(-1070, 1020, 9)).tolist() for _ in range(40)]
    near = [[x, -np.nextafter(x, 0.0), y] for x, y in rng.standard_normal((20, 2))]
    cases = [*SUMS, *drawn, *near]
    for first in range(0, len(cases), 4):
        some = cases[first : first + 4]
        words = np.zeros(len(some) * BINS, np.int64)
        for k, numbers in enumerate(some):
            for number in numbers:
                add_float(words, k, number)
        expected = [rounded_once(numbers) for numbers in some]
        for numbers, value in zip(some, expected, strict=True):
            if max(map(abs, numbers), default=0.0) < 1e300:
                assert value == math.fsum(numbers)
        values, _, pack = between(backend, words, [SUM] * len(some), [])
        np.testing.assert_array_equal(values.view(np.float64), expected)
        assert not pack.sums.any()
        assert pack.counters[COUNTS.place.changed] == 0


def test_other_aggregates_and_the_first_function_that_failed(backend):
    words = np.zeros(4 * BINS, np.int64)
    words[[0, BINS, 2 * BINS, 2 * BINS + 1, 3 * BINS]] = -5, ~12, 2**32 + 3, 4, np.iinfo(np.int64).max
    values, progress, pack = between(backend, words, [LEAST, MOST, COUNT, LEAST_FLOAT], [0, 33, 17])
    assert values[:3].tolist() == [-5, 12, (5 << 32) + 3]
    assert values.view(np.float64)[3] == math.inf
    assert (PROGRESS.of(progress).failed, PROGRESS.of(progress).failure) == (2, 33)
    assert pack.sums[::BINS].tolist() == [np.iinfo(np.int64).max] * 2 + [0, np.iinfo(np.int64).max]
    words[[0, BINS, 2 * BINS, 3 * BINS]] = 0, 1, np.iinfo(np.int64).max, ~np.float64(2.5).view(np.int64)
    values, progress, _ = between(backend, words, [ANY, ANY, MOST_FLOAT, MOST_FLOAT], [0, 0])
    assert values[:2].tolist() == [0, 1]
    assert values.view(np.float64)[2:].tolist() == [-math.inf, 2.5]
    assert not progress.any()


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


def graph():
    src, dst = np.array([0, 1, 2, 3, 4, 0, 2, 2]), np.array([1, 2, 3, 4, 0, 2, 0, 2])
    return gd.from_edges(src, dst, num_vertices=7)


@pytest.mark.slow
def test_many_supersteps_read_the_aggregates_of_the_one_before(gpu):
    program = gd.Program(
        state={"x": (float, lambda v: 1.0 / (1 + v.id)), "k": (int, lambda v: v.id)},
        message=(float, "sum"),
        send=lambda e: e.source.x / e.source.degree,
        apply=lambda v, m: {
            "x": 0.5 * m + 0.125 * v.total + (0.25 if v.even % 2 else 0.375) + 0.01 * v.least if v.superstep else m,
            "k": (v.k * 3 + v.superstep) % 11,
        },
        activity="all",
        max_supersteps=150,
        aggregate={
            "total": ("sum", lambda old, new: new.x - old.x),
            "largest": ("max", lambda old, new: new.x),
            "even": ("count", lambda old, new: new.k % 2 == 0),
            "least": ("min", lambda old, new: new.x),
        },
    )  # fmt: skip
    expected = gd.run(graph().partition(1, device="cpu"), program)
    found = gd.run(graph().partition(1, device="cuda"), program)
    assert found.iterations == expected.iterations == 150
    assert len(found.stats) == 4 < len(expected.stats)  # 64, 64 and 22, and what is sent first
    assert sum(step["edges"] for step in found.stats) == sum(step["edges"] for step in expected.stats)
    assert found.aggregates == expected.aggregates
    for name in ("x", "k"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    found.verify()


def test_a_failure_among_them_names_the_function_that_failed_first(gpu):
    program = gd.Program(
        state={"x": (int, 0)},
        message=(int, "sum"),
        send=lambda e: e.source.x,
        apply=lambda v, m: {"x": v.x + 1 + 1 // (1_000_000 if v.superstep < 20 else 0)},
        aggregate={"gone": ("max", lambda old, new: 1 // (11 - new.x))},
        activity="all",
        max_supersteps=50,
    )
    errors = []
    for device in ("cpu", "cuda"):
        with pytest.raises(FunctionError, match="division by zero") as error:
            gd.run(graph().partition(1, device=device), program)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    assert "gone" in errors[0]
