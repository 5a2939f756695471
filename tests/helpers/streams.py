"""What the tests of graphs on disk share: weights, graphs with them, what is drawn from these, copies that are late,
results that are wrong."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
from graphs import GRAPHS

import graphdask as gd
from graphdask.stream.copies import Copies

WALKS = {
    "uniform": lambda G, at: gd.sample.random_walk(G, at, 40, seed=3),
    "rejection": lambda G, at: gd.sample.random_walk(G, at, 7, bias="weight", method="rejection"),
    "inverse": lambda G, at: gd.sample.random_walk(G, at, 7, bias="weight", method="inverse", restart=0.2, jump=0.2),
    "alias": lambda G, at: gd.sample.random_walk(G, at, 7, bias="degree", method="alias"),
    "node2vec": lambda G, at: gd.sample.node2vec(G, at, 7, 0.5, 2.0),
    "node2vec, unweighted": lambda G, at: gd.sample.node2vec(G, at, 7, 0.5, 2.0, weighted=False, walks_per_start=2),
    "of no steps": lambda G, at: gd.sample.random_walk(G, at, 0),
}
NEIGHBOURHOODS = {
    "neighbors": lambda G, at: gd.sample.neighbors(G, at, [5, 3]),
    "of in-edges": lambda G, at: gd.sample.neighbors(G, [at, at[:3]], [3, 3], direction="in", bias="weight"),
    "by degree": lambda G, at: gd.sample.neighbors(G, at, [4], bias="degree", replace=True),
    "snowball": lambda G, at: gd.sample.snowball(G, at[::9], 3),
    "forest fire": lambda G, at: gd.sample.forest_fire(G, at, direction="in"),
    "temporal": lambda G, at: gd.sample.temporal_neighbors(G, at, [3, 2], seed_times=5, strategy="last"),
}


def weights_of(kind, count):
    """Whole numbers above 0; some of them 0; floats; or none."""
    rng = np.random.default_rng(7)
    drawn = {"whole": rng.integers(1, 9, count), "zeros": rng.integers(0, 3, count), "floats": rng.random(count)}
    return drawn.get(kind)


def weighted(name):
    """A graph of `GRAPHS` with weights, some of them 0."""
    n, src, dst, directed = GRAPHS[name]()
    weights = np.random.default_rng(7).integers(0, 9, len(src))
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def equal(found, expected):
    """All columns of a result are those expected, to the last bit."""
    for name in expected.columns:
        a, b = getattr(found, name), getattr(expected, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, err_msg=name)


def changed(result, **columns):
    """A result with other values at some vertices."""
    (one,) = result.parts.values
    values = dict(one.columns)
    for name, (vertex, value) in columns.items():
        values[name] = values[name].copy()
        values[name][vertex] = value
    result.parts.values[0] = replace(one, columns=values)
    return result


class Late(Copies):
    """Copies that destroy at once what was there, and come only when somebody waits for them."""

    def __init__(self, backend):
        super().__init__()
        self.backend, self.lock, self.coming = backend, threading.RLock(), []

    def copy(self, place, out, array):
        out.fill(0xA5)
        with self.lock:
            self.coming.append((place, out, array))
        count = len(self.coming)
        return lambda: self.come(count)

    def come(self, count):
        with self.lock:
            for place, out, array in self.coming[:count]:
                super().copy(place, out, array)
            self.backend.synchronize()  # CuPy does not wait for what is page-locked
            del self.coming[:count]

    def visit(self, place):
        while any(place == number for number, _, _ in self.coming):
            self.come(1)

    def finish(self):
        self.come(len(self.coming))
