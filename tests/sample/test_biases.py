"""Tables of biases against NumPy's sums and exact fractions; on the emulator and on a GPU they are made by kernels."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from biased_rows import DTYPES, METHODS, biased_rows, csr_of, on_host, tables
from memory import OTHERS

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError
from graphdask.kernels.choice import pick
from graphdask.partition.part import WeightFacts
from graphdask.sample import biases
from graphdask.sample.biases import BITS, EdgeBiases, checked_biases, method_for
from graphdask.sample.tuning import SAMPLE

KINDS = pytest.mark.parametrize("bias", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
INTEGERS = pytest.mark.parametrize("bias", [np.int32, np.int64])
FLOATS = pytest.mark.parametrize("bias", [np.float32, np.float64])
CPU = get_backend("cpu")


def row_slices(indptr):
    return [slice(int(a), int(b)) for a, b in pairwise(indptr)]


def made_on(backend, indptr, weights, method, index=np.int32):
    return on_host(backend, tables(backend, csr_of(backend, indptr, weights, dtype=index), method=method))


def parts_of_rows(made, indptr):
    """Of each row how often its alias table gives each edge, in degree * total; and the total."""
    for row, edges in enumerate(row_slices(indptr)):
        total, degree = int(made.totals[row]), edges.stop - edges.start
        share = made.alias_share[edges].astype(object)
        other = made.alias_other[edges]
        assert all(0 <= s <= total for s in share)
        assert ((other >= 0) & (other < max(degree, 1))).all()
        parts = share.copy()
        np.add.at(parts, other, total - share)
        yield edges, parts, total


@KINDS
def test_greatest_biases_are_those_of_the_rows(rng, backend, bias):
    indptr, weights = biased_rows(rng, bias)
    made = made_on(backend, indptr, weights, "rejection")
    assert made.greatest.dtype == bias
    expected = [weights[edges].max(initial=0) for edges in row_slices(indptr)]
    np.testing.assert_array_equal(made.greatest, expected)


@INTEGERS
@pytest.mark.parametrize("method", METHODS)
def test_totals_of_integers_are_exact(rng, backend, bias, method):
    indptr, weights = biased_rows(rng, bias)
    made = made_on(backend, indptr, weights, method)
    assert made.values.dtype == bias
    assert made.totals.tolist() == [int(weights[edges].sum(dtype=np.int64)) for edges in row_slices(indptr)]
    assert not made.shifts.any()


@INTEGERS
def test_prefix_sums_of_integers_begin_anew_in_each_row(rng, backend, bias, dtype):
    indptr, weights = biased_rows(rng, bias)
    if dtype == np.int64 and bias == np.int64:
        bias = np.int32  # of 64-bit indices with every bias nothing new is learnt
        weights = weights.astype(bias)
    expected = np.concatenate([np.cumsum(weights[edges], dtype=np.uint64) for edges in row_slices(indptr)])
    np.testing.assert_array_equal(made_on(backend, indptr, weights, "inverse", dtype).prefix, expected)
    np.testing.assert_array_equal(made_on(backend, indptr, weights, "rejection", dtype).sparse, expected[31::32])


@INTEGERS
def test_alias_tables_of_integers_give_every_edge_its_exact_probability(rng, backend, bias):
    indptr, weights = biased_rows(rng, bias)
    made = made_on(backend, indptr, weights, "alias")
    for edges, parts, total in parts_of_rows(made, indptr):
        degree, of_row = len(parts), weights[edges].astype(object)
        assert total == of_row.sum()
        assert (parts == degree * of_row).all()
        if 0 < degree < 40 and total:
            found = [Fraction(int(part), degree * total) for part in parts]
            assert found == [Fraction(int(w), int(of_row.sum())) for w in of_row]
            assert sum(found) == 1


def exact_units(weights, shift):
    """Nearest multiples of 2^-shift, one at least of what is above 0, halves upward."""
    scale = Fraction(2) ** int(shift)
    return [max((Fraction(float(w)) * scale + Fraction(1, 2)).__floor__(), 1) if w > 0 else 0 for w in weights]


@FLOATS
def test_floats_are_rounded_to_units_of_their_row(rng, backend, bias):
    indptr, weights = biased_rows(rng, bias, (1, 2, 31, 33, 1025), 40)
    made = made_on(backend, indptr, weights, "inverse")
    assert made.values.dtype == bias
    for row, edges in enumerate(row_slices(indptr)):
        units = np.diff(np.concatenate([[0], made.prefix[edges].astype(object)]))
        assert units.tolist() == exact_units(weights[edges], made.shifts[row])
        total, degree = int(made.totals[row]), len(units)
        assert total == units.sum()
        if not total:
            continue
        bits = degree.bit_length()
        assert 2 ** (BITS - 2 - bits) < total < 2 ** (BITS + 1 - bits)
        whole = sum(Fraction(float(w)) for w in weights[edges])
        for unit, w in zip(units, weights[edges], strict=True):
            assert abs(Fraction(int(unit), total) - Fraction(float(w)) / whole) <= Fraction(2 * degree, total)


@FLOATS
def test_alias_tables_of_floats_give_the_probabilities_of_the_prefix_sums(rng, backend, bias):
    indptr, weights = biased_rows(rng, bias)
    prefix = made_on(backend, indptr, weights, "inverse").prefix
    made = made_on(backend, indptr, weights, "alias")
    for edges, parts, total in parts_of_rows(made, indptr):
        units = np.diff(np.concatenate([[0], prefix[edges].astype(object)]))
        assert total == units.sum()
        assert (parts == len(parts) * units).all()


@KINDS
def test_tables_are_the_same_on_every_device(rng, backend, bias):
    indptr, weights = biased_rows(rng, bias)
    for method in METHODS:
        expected, found = (made_on(where, indptr, weights, method) for where in (CPU, backend))
        for name in ("greatest", "totals", "shifts", "sparse", "prefix", "alias_share", "alias_other"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@KINDS
@pytest.mark.parametrize("method", ["inverse", "alias"])
def test_tables_of_a_row_do_not_depend_on_the_rows_around_it(rng, backend, bias, method):
    indptr, weights = biased_rows(rng, bias, (5, 2000, 3, 1500), 100)
    whole = made_on(backend, indptr, weights, method)
    cut = 40
    at = indptr[cut]
    for some, rows, edges in (
        (made_on(backend, indptr[: cut + 1], weights[:at], method), slice(cut), slice(at)),
        (made_on(backend, indptr[cut:] - at, weights[at:], method), slice(cut, None), slice(at, None)),
    ):
        for name in ("greatest", "totals", "shifts"):
            np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[rows])
        for name in ("prefix",) if method == "inverse" else ("alias_share", "alias_other"):
            np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[edges])


@pytest.mark.parametrize(
    "weights",
    [
        [5e-324, 1e-323, 0, 5e-324],
        [1.7e308, 1.7e308, 5e-324, 1e300],
        [1.0, 1e-300, 0.0, 0.5],
        [1.0, 1.5 * 2.0**-55, 2.5 * 2.0**-55, 3.5 * 2.0**-55],  # halves of a unit
        [3.0, 3.0, 3.0, 3.0],
        [-0.0, 1.0, -0.0, 2.0],
    ],
)
def test_floats_of_every_size_keep_their_proportions(backend, weights):
    weights = np.array(weights)
    made = made_on(backend, [0, 4], weights, "inverse")
    units = np.diff(np.concatenate([[0], made.prefix.astype(object)]))
    assert units.tolist() == exact_units(weights, made.shifts[0])
    if weights[1] == 1.5 * 2.0**-55:
        assert units[1:].tolist() == [2, 3, 4]
    assert ((units > 0) == (weights > 0)).all()
    assert int(made.totals[0]) == units.sum() > 2**50
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(made.sums(np), [weights.sum()], rtol=1e-15)


def test_integers_that_no_alias_table_holds_exactly_are_rounded_there_alone(rng, backend):
    degree = 3000
    weights = rng.integers(0, 1 << 46, degree)
    weights[7], weights[9] = 1, 0
    assert degree * int(weights.sum()) > 1 << 64
    made = made_on(backend, [0, degree], weights, "alias")
    shift = int(made.shifts[0])
    assert shift < 0
    units = [max((int(w) + (1 << (-shift - 1))) >> -shift, 1) if w else 0 for w in weights]
    ((_, parts, total),) = parts_of_rows(made, [0, degree])
    assert total == sum(units)
    assert parts.tolist() == [degree * unit for unit in units]
    exact = made_on(backend, [0, degree], weights, "inverse")
    assert int(exact.totals[0]) == int(weights.sum())


@pytest.mark.parametrize("degrees", [[], [0], [0, 0, 0]])
@pytest.mark.parametrize("method", METHODS)
def test_rows_without_edges_have_empty_tables(backend, degrees, method):
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    made = made_on(backend, indptr, np.zeros(0, np.int32), method)
    assert made.totals.tolist() == made.greatest.tolist() == degrees
    assert len(made.prefix) == len(made.sparse) == len(made.alias_share) == 0


@pytest.mark.parametrize("method", METHODS)
def test_degrees_of_neighbours_are_biases(rng, backend, method):
    degrees = rng.integers(0, 9, 50).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 70, 20))]).astype(np.int64)
    indices = rng.integers(0, 50, indptr[-1]).astype(np.int32)
    csr = csr_of(backend, indptr, None, indices)
    made = on_host(backend, tables(backend, csr, "degree", method, backend.from_host(degrees)))
    np.testing.assert_array_equal(made.values, degrees[indices])
    assert made.totals.tolist() == [int(degrees[indices[edges]].sum()) for edges in row_slices(indptr)]
    assert made.nbytes >= made.values.nbytes


def test_without_biases_there_are_no_tables(backend):
    made = tables(backend, csr_of(backend, [0, 2, 2], None), None)
    assert (made.method, made.values, made.nbytes) == ("uniform", None, 0)
    assert EdgeBiases.memory(csr_of(CPU, [0, 2, 2], None), None) == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bias", [np.int32, np.float64])
@pytest.mark.parametrize("degree", [1, 40])
@pytest.mark.usefixtures("alone")
def test_no_more_memory_is_taken_than_announced(rng, method, bias, degree):
    indptr = np.arange(0, 1_000_001, degree)
    weights = rng.integers(1, 9, 1_000_000).astype(bias)
    csr = csr_of(CPU, indptr, weights)
    tables(CPU, csr_of(CPU, [0, 2], weights[:2]), method=method)  # compiles
    tracemalloc.start()
    made = tables(CPU, csr, method=method)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.nbytes <= peak <= EdgeBiases.memory(csr, "weight", method) + OTHERS


def test_the_method_follows_from_what_all_ranks_know():
    assert method_for(None) == method_for(None, "uniform") == "uniform"
    assert method_for("weight") == method_for("degree", reuse=0.5) == "rejection"
    assert method_for("weight", reuse=1.0) == "alias"
    assert [method_for("weight", method, 5) for method in METHODS] == list(METHODS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("size",), "bias='size' is not one of"),
        (("weight", "walker"), "method='walker' is not one of"),
        ((None, "alias"), "method='alias' is for edges with biases"),
        (("degree", "uniform"), "method='uniform' leaves bias='degree' out"),
    ],
)
def test_methods_and_biases_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        method_for(*arguments)


def test_biases_that_are_not_there_are_refused():
    csr = csr_of(CPU, [0, 2], None)
    with pytest.raises(InputError, match="the edges of this graph have no weights"):
        tables(CPU, csr, "weight")
    with pytest.raises(InputError, match="needs the degrees"):
        tables(CPU, csr, "degree")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-2, "the weight -2 of the edge from a to c is negative"),
        (-0.5, r"the weight -0.5 of the edge from a to c is negative"),
        (np.inf, "the weight inf of the edge from a to c is infinite"),
        (1 << 59, r"is an integer bias of 2\*\*59 or more; scale the weights down"),
    ],
)
def test_weights_that_are_no_biases_are_refused(weight, message):
    src, dst, weights = np.array(["b", "a", "a"]), np.array(["c", "b", "c"]), np.array([1, 1, weight])
    graph = gd.from_edges(src, dst, weights, directed=True)
    numbers = graph.ids.to_internal(src, "src"), graph.ids.to_internal(dst, "dst")
    with pytest.raises(InputError, match=message):
        checked_biases(graph, WeightFacts.of(np, *numbers, weights))


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_too_large_a_sum_is_refused_before_it_overflows(backend, method):
    weights = np.full(64, 1 << 58)
    with pytest.raises(InputError, match=r"add up to about 2\*\*59 or more"):
        made_on(backend, [0, 32, 64], weights, method)
    light = np.ones(1 << 12, np.int64)
    light[5] = 1 << 57  # a bound by degree * greatest would refuse it
    made = made_on(backend, [0, len(light)], light, "inverse")
    assert int(made.totals[0]) == (1 << 57) + len(light) - 1


def test_rows_of_too_many_edges_are_refused(tuned, backend):
    tuned(SAMPLE, most_degree=3)
    made_on(backend, [0, 3, 6], np.ones(6, np.int32), "alias")
    with pytest.raises(InputError, match="more than 3 edges"):
        made_on(backend, [0, 2, 6], np.ones(6, np.int32), "alias")


def test_kernels_and_tables_agree_on_their_constants():
    assert biases.METHODS == {
        "uniform": pick.UNIFORM, "rejection": pick.REJECTION, "inverse": pick.INVERSE, "alias": pick.ALIAS,
        "reservoir": pick.RESERVOIR,
    }  # fmt: skip


def test_the_method_is_chosen_where_none_is_given():
    csr = csr_of(CPU, [0, 2], np.array([1, 2]))
    assert [tables(CPU, csr, reuse=reuse).method for reuse in (0.1, 3)] == ["rejection", "alias"]
