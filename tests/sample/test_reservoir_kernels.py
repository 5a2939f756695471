"""The edges of a row with the smallest exponential keys, and Algorithm R: short rows and hubs, few edges and many, and
keys that are equal; against the keys of all edges in order, on the CPU and a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from draw_models import numbers_of, vitter
from emulated import emulated, stand_in
from kernel_launch import Packed

import graphdask as gd
from graphdask.kernels.choice.keys import exponential_key
from graphdask.kernels.neighbors.reservoir_pack import Reservoirs
from graphdask.sample.drawing import launch_kept

SEED, POISON = 5, -77
HUB = 4097
"""The shortest row that a block takes on a GPU."""


class Env:
    """What launches need of an environment."""

    def __init__(self, backend):
        self.backend, self.xp, self.kernels = backend, backend.xp, backend.kernels


def biases_of(kind, size, rng):
    """Whole numbers, as sums of them are given to a kernel too."""
    made = rng.integers(1, 65, size)
    if kind == "uneven":  # nearly all of the sum is in one place, so few keys are where they would be looked for
        made[:] = 1
        made[size // 2 : size // 2 + 1] = 2**50
    if kind == "rising":
        made = np.arange(1, size + 1) ** 2
    return made


def in_order(instance, vertex, biases):
    """Places of the edges with biases above 0 by their keys, and the keys."""
    numbers = numbers_of(SEED, instance, vertex, step=2)
    keys = np.array([exponential_key(np.uint64(next(numbers)), bias or 1.0) for bias in biases.tolist()])
    places = np.argsort(keys, kind="stable")
    return places[biases[places] > 0], keys


def launched(backend, way, out, **fields):
    """What a way writes to fields like `out`, which hold poison before."""
    made = {name: np.full(shape, POISON, dtype) for name, (shape, dtype) in out.items()}
    packed = Packed(backend, Reservoirs, seed=np.uint64(SEED), **fields, **made)
    launch_kept(Env(backend), way, len(fields["rows"]), packed.pack)
    return [packed.host(name) for name in out]


class Rows:
    """Rows of some lengths, and an item for each with marks of its own, in another order; `counts` are of rows."""

    def __init__(self, lengths, counts, dtype, rng):
        n = len(lengths)
        self.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.targets = rng.permutation(self.indptr[-1]).astype(dtype)
        self.rows = rng.permutation(n).astype(dtype)
        self.vertices, self.instances, self.tags = self.rows + dtype.type(3), np.arange(n) * 7 + 2, np.arange(n) - 4
        self.counts = np.array(counts, np.int64)[self.rows]
        self.offsets = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    def drawn(self, backend, way, sums=None):
        """The places in the row drawn for each item, with their source and mark as they must be."""
        total, dtype = self.offsets[-1], self.rows.dtype
        src, dst, tag = launched(
            backend, way, {"src": (total, dtype), "dst": (total, dtype), "tag": (total, np.int64)}, rows=self.rows,
            vertices=self.vertices, instances=self.instances, tags=self.tags, indptr=self.indptr, indices=self.targets,
            offsets=self.offsets, sums=sums,
        )  # fmt: skip
        np.testing.assert_array_equal(src, np.repeat(self.vertices, self.counts))
        np.testing.assert_array_equal(tag, np.repeat(self.tags, self.counts))
        places = np.argsort(self.targets)[dst] - np.repeat(self.indptr[self.rows], self.counts)
        return np.split(places, self.offsets[1:-1])

    def keys(self, backend, biases):
        """The keys of each item, and where in the row they are."""
        total = self.offsets[-1]
        found = launched(
            backend, "keys", {"keys": (total, np.float64), "places": (total, np.int64)}, rows=self.rows,
            vertices=self.vertices, instances=self.instances, indptr=self.indptr, values=biases,
            starts=self.offsets[:-1].copy(), counts=self.counts,
        )  # fmt: skip
        return list(zip(*(np.split(column, self.offsets[1:-1]) for column in found), strict=True))


CASES = [
    ([1, 2, 31, 33, 64, 0, 7, 40], [1, 1, 10, 10, 32, 0, 7, 0]),
    ([300, 40, 129, 128], [64, 33, 1, 32]),
    ([HUB - 1, HUB, 3], [2, 1, 3]),
    ([HUB, 5000, HUB], [64, 10, HUB]),
    ([3000], [1300]),
]


@pytest.mark.parametrize("kind", ["even", "uneven", "rising"])
@pytest.mark.parametrize(("lengths", "counts"), CASES)
def test_the_smallest_keys(backend, dtype, lengths, counts, kind, rng):
    made = Rows(lengths, counts, dtype, rng)
    biases = [biases_of(kind, length, rng) for length in lengths]
    sums = np.concatenate([np.cumsum(values) for values in biases]).astype(np.int64)
    drawn = made.drawn(backend, "by_bias", sums)
    keyed = made.keys(backend, np.concatenate(biases).astype(np.float64))
    for i, row in enumerate(made.rows.tolist()):
        order, keys = in_order(made.instances[i], made.vertices[i], biases[row])
        expected = np.arange(lengths[row]) if made.counts[i] == lengths[row] else order[: made.counts[i]]
        np.testing.assert_array_equal(drawn[i], expected)
        np.testing.assert_array_equal(keyed[i][1], expected)
        np.testing.assert_array_equal(keyed[i][0].view(np.int64), keys[expected].view(np.int64))


@pytest.mark.parametrize(("length", "count"), [(20, 7), (20, 20), (700, 20), (700, 100), (HUB, 3), (HUB, 2500)])
def test_keys_of_edges_without_a_bias_and_equal_keys(backend, length, count, rng):
    """Of biases as small as floats can be keys are infinite, and stand in the order of the row."""
    made = Rows([length] * 4, [count] * 4, np.dtype(np.int32), rng)
    biases = np.zeros((4, length))
    biases[0, rng.permutation(length)[: count // 2]] = 1.5
    biases[1] = 5e-324
    biases[2] = np.where(rng.random(length) < 0.02, 0.25, 5e-324)
    keyed = made.keys(backend, biases.ravel())
    for i, row in enumerate(made.rows.tolist()):
        order, keys = in_order(made.instances[i], made.vertices[i], biases[row])
        expected = order[:count]
        if count == length:
            expected = np.where(biases[row] > 0, np.arange(length), -1)
        padded = np.full(count, -1)
        padded[: len(expected)] = expected
        np.testing.assert_array_equal(keyed[i][1], padded)
        there = padded >= 0
        np.testing.assert_array_equal(keyed[i][0][there].view(np.int64), keys[padded[there]].view(np.int64))


@pytest.mark.parametrize(("lengths", "counts"), CASES)
def test_algorithm_r(backend, dtype, lengths, counts, rng):
    made = Rows(lengths, counts, dtype, rng)
    drawn = made.drawn(backend, "alike")
    for i, row in enumerate(made.rows.tolist()):
        numbers = numbers_of(SEED, made.instances[i], made.vertices[i])
        np.testing.assert_array_equal(drawn[i], vitter(numbers, lengths[row], made.counts[i]))


def by_weight(e):
    return e.weight


def from_some(e):
    return e.weight if e.destination < 40 else 0


@pytest.mark.slow
@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("bias", [by_weight, from_some])
def test_functions_of_hubs(device, bias, monkeypatch, rng):
    """Blocks give what a CPU gives: few and many, all that have a bias, and with replacement."""
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    src = np.concatenate([np.zeros(HUB + 900, np.int64), np.full(200, 1), rng.integers(0, 80, 300)])
    weights = rng.integers(0, 9, len(src)) if rng.random() < 0.5 else rng.random(len(src))
    graph = gd.from_edges(src, rng.integers(0, 80, len(src)), weights, num_vertices=80)
    on_cpu, on_gpu = (graph.partition(1, device=where) for where in ("cpu", "cuda"))
    for options in ({"neighbor_size": [3, 40]}, {"neighbor_size": [-1]}, {"neighbor_size": [40, 2], "replace": True}):
        spec = gd.sample.Spec(edge_bias=bias, select="reservoir", **options)
        one, other = (gd.sample.run(where, spec, [0, 1, 0, 5]) for where in (on_cpu, on_gpu))
        assert len(one.src)
        for column in ("src", "dst", "hop", "instance"):
            np.testing.assert_array_equal(getattr(other, column), getattr(one, column))
