"""Rows of edges with biases, and their tables on any backend, for tests of what is drawn from them."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import numpy as np

from graphdask.partition.part import Csr
from graphdask.sample.biases import EdgeBiases

METHODS = ("rejection", "inverse", "alias")
DTYPES = (np.int32, np.int64, np.float32, np.float64)
DEGREES = (0, 0, 1, 2, 31, 32, 33, 0, 1023, 1024, 1025, 1, 40_000, 3, 0)


def biased_rows(rng, dtype, degrees=DEGREES, few=300):
    """indptr and weights: rows of the degrees given and many short ones, some all zero, one edge a million times as
    heavy as others, zeros at the first and the last edge of some."""
    degrees = np.concatenate([degrees, rng.integers(0, 9, few), [0]]).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    m = int(indptr[-1])
    weights = rng.integers(0, 50, m) if np.dtype(dtype).kind == "i" else rng.random(m) ** 4
    weights = weights.astype(dtype)
    weights[rng.random(m) < 0.2] = 0
    rows = np.flatnonzero(degrees)
    for row in rng.choice(rows, 20):
        weights[indptr[row] + rng.integers(degrees[row])] = 10**6
    weights[indptr[rng.choice(rows, 20)]] = 0
    weights[indptr[rng.choice(rows, 20) + 1] - 1] = 0
    for row in rng.choice(rows, 20):
        weights[indptr[row] : indptr[row + 1]] = 0
    return indptr, weights


def environment(backend):
    return SimpleNamespace(backend=backend, xp=backend.xp, kernels=backend.kernels)


def csr_of(backend, indptr, weights, indices=None, dtype=np.int32):
    indices = np.zeros(int(indptr[-1]), dtype) if indices is None else indices
    return Csr(
        backend.from_host(np.asarray(indptr, np.int64)),
        backend.from_host(indices),
        None if weights is None else backend.from_host(weights),
    )


def tables(backend, csr, kind="weight", method="auto", degrees=None, reuse=0.0):
    part = SimpleNamespace(vertex_map=SimpleNamespace(dtype=np.dtype(csr.indices.dtype)))
    made = EdgeBiases.of(environment(backend), part, csr, kind, method, degrees, reuse)
    backend.synchronize()
    return made


def on_host(backend, made):
    """The same tables, with arrays of the host."""
    values = {field.name: getattr(made, field.name) for field in fields(made)}
    host = {name: v if v is None or isinstance(v, str) else backend.to_host(v) for name, v in values.items()}
    return EdgeBiases(**host)


def drawn(backend, made, csr, rows, instances, key=1, step=0, draws=None):
    """Edges drawn, and the next draw of each."""
    draws = backend.from_host(np.zeros(len(rows), np.int32) if draws is None else draws.copy())
    rows = backend.from_host(rows.astype(csr.indices.dtype))
    instances = backend.from_host(instances.astype(np.int64))
    edges = made.draw(environment(backend), csr, rows, instances, key, step, draws)
    backend.synchronize()
    return backend.to_host(edges), backend.to_host(draws)
