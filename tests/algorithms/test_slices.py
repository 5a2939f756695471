"""Edges in slices, and weights as codes: the sums of rows without either, bit for bit, as kernels and in PageRank."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from emulated import emulated, stand_in
from kernel_launch import ordered_sum, rows_of_all_lengths
from memory import DevicePeak

import graphdask as gd
from graphdask.comm.tuning import COMM
from graphdask.engine import row_sums
from graphdask.engine.codes import Codes
from graphdask.engine.row_sums import Rows
from graphdask.engine.slices import Slices
from graphdask.engine.tuning import ENGINE
from graphdask.partition.part import Csr

POISON = -77.0
TINY, LARGE = 5e-324, 2.0**1023

WEIGHTS = {  # values, of which every edge has one, and how they are held by ranks of float64 and of float32
    "whole numbers": ([1, 2, 64], "uint8", "uint8"),
    "as many as a byte holds": ([0, 1, 255], "uint8", "uint8"),
    "one more": ([0, 1, 256], "uint16", "uint16"),
    "one more, but even": ([0, 2, 256, 510], "uint8", "uint8"),
    "as many as two bytes hold": ([1, 65535], "uint16", "uint16"),
    "more": ([1, 65537], "float32", "float32"),
    "more than float32": ([1, 2**24 + 1], "float64", "float32"),
    "halves": ([0.5, 1.5, 100.0], "uint8", "uint8"),
    "quarters": ([0.25, 63.75], "uint8", "uint8"),
    "eighths of large ones": ([0.125, 8191.875], "uint16", "uint16"),
    "thirds": ([1 / 3, 2 / 3], "float64", "float32"),
    "one third": ([np.float32(1 / 3)], "float32", "float32"),
    "all alike": ([0.1], "float64", "float32"),
    "only 0": ([0.0, -0.0], "uint8", "uint8"),
    "minus 0 among others": ([-0.0, 3.0], "uint8", "uint8"),
    "minus 0 among others without codes": ([-0.0, 1 / 3], "float64", "float32"),
    "large powers of two": ([2.0**900, 2.0**902], "uint8", None),
    "small powers of two": ([2.0**-900, 2.0**-902], "uint8", "uint8"),
    "the smallest and a large one": ([TINY, LARGE], "float64", None),
    "the smallest": ([TINY, 3 * TINY], "float64", "uint8"),
    "negative": ([-1.0, 3.0], "float32", "float32"),
}


@pytest.fixture
def in_slices(monkeypatch, backend):
    """On a CPU, too."""
    if backend is emulated():
        stand_in(monkeypatch, backend)
    # The twins of a CPU are tested too, which never lays edges out in slices.
    monkeypatch.setattr(row_sums, "sliced", lambda csr: True)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("name", WEIGHTS)
def test_codes_are_the_narrowest_that_hold_every_weight(env, name, real, rng):
    values, *held = WEIGHTS[name]
    dtype = held[int(real == np.float32)]
    if dtype is None:
        pytest.skip("too large for float32")
    with np.errstate(under="ignore"):
        seen = np.array(values, np.float64).astype(real).astype(np.float64)
    weights = np.concatenate([values, rng.choice(values, 900)])
    sent = env.backend.from_host(weights)
    codes = Codes.of(env, sent, real)
    assert codes.dtype == dtype
    found = env.backend.to_host(codes.write(env, sent))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found[: len(values)].astype(np.float64) * codes.unit, seen)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_codes_are_of_weights_of_every_dtype(env, dtype, rng):
    for most, expected in ((256, "uint8"), (65536, "uint16"), (2**24, "float32")):
        weights = rng.integers(0, most, 500).astype(dtype)
        codes = Codes.of(env, env.backend.from_host(weights), np.float64)
        assert codes.dtype == expected
        made = env.backend.to_host(codes.write(env, env.backend.from_host(weights)))
        np.testing.assert_array_equal(made * codes.unit, weights)
    assert Codes.of(env, env.backend.from_host(np.zeros(0, dtype)), np.float64).dtype == "uint8"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_has_no_code(env, value):
    assert Codes.of(env, env.backend.from_host(np.array([1.0, value])), np.float64).dtype.kind == "f"


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("weights", [None, "quarters", "as many as two bytes hold", "thirds", "minus 0 among others"])
@pytest.mark.parametrize("ordered", [False, True])
def test_sums_in_slices_are_those_of_rows(env, dtype, weights, real, ordered, rng):
    slots, backend = 700, env.backend
    indptr, indices = rows_of_all_lengths(rng, dtype, slots)
    weight = None if weights is None else rng.choice(WEIGHTS[weights][0], len(indices)).astype(np.float64)
    x, place = (rng.random(slots) ** 9).astype(real), rng.permutation(slots).astype(dtype)
    goes = rng.permutation(len(indptr) - 1).astype(dtype)
    sent = [None if array is None else backend.from_host(array) for array in (indptr, indices, weight)]
    more = {"goes": backend.from_host(goes)} if ordered else {}
    rows = Rows.of(env, Csr(*sent), weights is not None, real, backend.from_host(place), **more)
    assert rows.slices.nbytes <= Slices.memory(rows.csr, rows.slices.weights.dtype.itemsize if weights else 0)[0]
    expected, sums = np.zeros(len(goes)), np.where(np.diff(indptr), POISON, 0.0)
    terms = x[place[indices]].astype(np.float64)
    if weights:
        terms = weight.astype(real).astype(np.float64) * terms
    at = goes if ordered else np.arange(len(goes))
    expected[at] = [ordered_sum(terms[a:b].tolist()) for a, b in pairwise(indptr)]
    sums[at] = sums.copy()
    sums, workspace = backend.from_host(sums), rows.workspace(backend.xp)
    workspace.fill(POISON)
    rows.sum(backend.from_host(x), sums, workspace)
    for gathered, wanted in ((x, 2**64 - 1), (x + 1, 0)):  # the last sums are not wanted
        rows.sum(backend.from_host(gathered), sums, workspace, backend.from_host(np.array([wanted], np.uint64)))
    backend.synchronize()
    found = backend.to_host(sums)
    np.testing.assert_array_equal(found, expected)
    assert not np.signbit(found).any()


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize(
    "lengths", [[], [0, 0], [1], [8] * 33, [9], [9] * 5, [256], [257], [12, 300, 4], [3] * 32 + [40]]
)
def test_few_rows_are_sums_too(env, lengths, rng):
    backend, indptr = env.backend, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices, x = rng.integers(0, 50, indptr[-1]).astype(np.int32), rng.random(50)
    csr = Csr(backend.from_host(indptr), backend.from_host(indices))
    rows = Rows.of(env, csr, False, np.float64, backend.from_host(np.arange(50, dtype=np.int32)))
    assert rows.slices.nbytes <= Slices.memory(csr, 0)[0]
    sums = backend.from_host(np.where(lengths, POISON, 0.0))
    rows.sum(backend.from_host(x), sums, rows.workspace(backend.xp))
    backend.synchronize()
    expected = [ordered_sum(x[indices[a:b]].tolist()) for a, b in pairwise(indptr)]
    np.testing.assert_array_equal(backend.to_host(sums), expected)


def graph_of(rng, directed, weights, n=500, m=6000):
    src, dst = (n * rng.random((2, m)) ** 2).astype(np.int64)
    return gd.from_edges(src, dst, rng.choice(weights, m), num_vertices=n, directed=directed)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("weights", [[1, 2, 63], [0.5, 0.25, 3.0], [0.0, -0.0, 300.0], [1 / 3, 0.7]])
def test_ranks_have_the_same_bits_on_a_device(parts, directed, dtype, weights, rng, monkeypatch, tuned):
    graph = graph_of(rng, directed, weights)
    options = {"weighted": True, "dtype": dtype, "tol": 1e-6}
    expected = gd.pagerank(graph.partition(1, device="cpu"), **options)
    stand_in(monkeypatch, emulated())
    tuned(ENGINE, staged_from=0)
    found = gd.pagerank(graph.partition(parts, device="cuda"), **options).verify()
    np.testing.assert_array_equal(found.rank, expected.rank)
    assert found.iterations == expected.iterations


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, [1, 2, 63], [0.5, 1000.0], [1 / 3]])
def test_their_memory_is_announced(parts, directed, weights, rng, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(COMM, first_buffer=1 << 10)
    graph = graph_of(rng, directed, weights or [1], 20_000, 200_000).partition(parts, device="cuda").persist()
    gd.pagerank(graph, tol=0.2)  # which makes the in-edges, too
    for part in graph.built.parts.values:
        while part.tables.forget():
            pass
    for _ in range(2):
        with DevicePeak(monkeypatch) as peak:
            found = gd.pagerank(graph, tol=0.2, weighted=weights is not None)
        # what out-edges weigh is summed from floats, which are counted as if they were of 8 bytes
        assert (0.6 if directed and weights else 0.8) < peak.bytes / parts / found.stats.memory <= 1.0


def test_weights_that_are_refused_are_refused_on_a_device(monkeypatch):
    stand_in(monkeypatch, emulated())
    for value in (-1.0, np.inf):
        graph = gd.from_edges([0, 1], [1, 2], [1.0, value]).partition(1, device="cuda")
        with pytest.raises(gd.InputError, match="weight"):
            gd.pagerank(graph, weighted=True)
