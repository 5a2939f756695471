"""Trees of the vertices of a store, on the CPU or on a device."""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array, Backend

SAMPLES = 1024
"""Vertices that are asked for their tree to find the largest."""
SHARE = 32
"""Part of the vertices that a tree must have before its rows are passed over: isolated ones often stand first."""


def largest(backend: Backend, tree: Array) -> int:
    """The root of the tree that most of some positions are in; -1 where it holds fewer than one in SHARE of them."""
    n = len(tree)
    samples = np.unique(np.linspace(0, max(n - 1, 0), min(n, SAMPLES)).astype(np.int32))
    roots, kernels = backend.xp.empty(len(samples), np.int32), backend.kernels("layered_trees", index_t=np.int32)
    kernels.layered_roots(len(samples), backend.from_host(samples), tree, roots)
    values, counts = np.unique(backend.to_host(roots), return_counts=True)
    return int(values[counts.argmax()]) if n and counts.max() * SHARE >= len(samples) else -1
