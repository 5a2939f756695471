"""The fit of power laws: known exponents are found, and the `powerlaw` package finds the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from graphdask.errors import InputError
from graphdask.graph.power_law import counted, fit_power_law


def draws(rng, exponent, first, size):
    """Clauset, Shalizi, Newman (2009), equation D.6: nearly the discrete law, for `first` from about 6 on."""
    return np.floor((first - 0.5) * (1 - rng.random(size)) ** (-1 / (exponent - 1)) + 0.5).astype(np.int64)


@pytest.mark.parametrize("exponent", [1.8, 2.5, 3.5])
def test_the_exponent_of_numpy_zipf_draws_is_found(exponent):
    found = fit_power_law(np.minimum(np.random.default_rng(1).zipf(exponent, 100_000), 1 << 40), first=1)
    assert found.exponent == pytest.approx(exponent, abs=4 * found.error)
    assert found.tail == 100_000
    assert found.error == pytest.approx((found.exponent - 1) / np.sqrt(100_000))


def test_the_beginning_of_the_tail_is_found():
    rng = np.random.default_rng(2)
    body = rng.integers(1, 20, 30_000)
    found = fit_power_law(np.concatenate([body, draws(rng, 2.5, 20, 20_000)]))
    assert 18 <= found.first <= 26
    assert found.exponent == pytest.approx(2.5, abs=0.05)


@pytest.mark.parametrize(("exponent", "first"), [(2.5, 1), (2.2, 10), (2.9, 30)])
def test_the_powerlaw_package_finds_the_same(exponent, first):
    powerlaw = pytest.importorskip("powerlaw")
    rng = np.random.default_rng(3)
    degrees = rng.zipf(exponent, 20_000) if first == 1 else draws(rng, exponent, first, 20_000)
    ours = fit_power_law(degrees, first=first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of its own first guess
        theirs = powerlaw.Fit(degrees, discrete=True, xmin=first, estimate_discrete=False, verbose=False).power_law
    assert ours.exponent == pytest.approx(theirs.alpha, abs=1e-3)
    assert ours.distance == pytest.approx(theirs.D, abs=1e-3)


def test_the_p_value_tells_a_power_law_from_an_exponential():
    rng = np.random.default_rng(4)
    law = fit_power_law(draws(rng, 2.5, 10, 5000), bootstrap=40)
    other = fit_power_law(1 + rng.geometric(0.05, 5000), first=5, bootstrap=40)
    assert law.p_value > 0.1
    assert other.p_value == 0
    assert law == fit_power_law(draws(np.random.default_rng(4), 2.5, 10, 5000), bootstrap=40)


@pytest.mark.parametrize("degrees", [[], [0, 0], [3], [5] * 1000, [1, 2, 3]])
def test_where_there_is_no_tail_there_is_no_fit(degrees):
    assert fit_power_law(degrees) is None


def test_degrees_that_hardly_differ_have_no_power_law():
    assert fit_power_law(np.random.default_rng(6).poisson(100, 10_000)) is None


def test_counts_are_as_good_as_degrees():
    degrees = np.random.default_rng(5).zipf(2.5, 5000)
    assert fit_power_law(degrees) == fit_power_law(np.unique(degrees, return_counts=True))
    assert [part.tolist() for part in counted([0, 2, 2, 1])] == [[1, 2], [1, 2]]


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="first=0"):
        fit_power_law([1, 2], first=0)
    with pytest.raises(InputError, match="bootstrap=-1"):
        fit_power_law([1, 2], bootstrap=-1)
