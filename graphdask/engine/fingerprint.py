"""A number that two graphs have in common only if they are the same, for checkpoints.

Each row of out-edges is summed up, by hashes of the ids at the other ends times the weights. The sums are hashed with
the ids of the rows, and added up over all vertices. So it does not depend on how the graph is divided.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.partition.part import Part

TABLE = "fingerprint"
BLOCK = 1 << 24
"""Edges that are summed up at a time."""


def fingerprint(part: Part, env: Any) -> str:
    """Return the fingerprint of the graph. Every rank calls it, before the first superstep."""
    assert env.comm is not None
    known = part.tables.get(TABLE)
    if env.least(known is not None):
        return str(known)
    xp = env.xp
    ids = env.fetch_ghosts(part, [part.ids])[0] if part.size > 1 else part.ids
    other, own, csr = _mixed(ids.astype(np.uint64)), _mixed(part.ids.astype(np.uint64)), part.out
    total = np.zeros(1, np.uint64)
    indptr = env.backend.to_host(csr.indptr)
    begin = 0
    with np.errstate(over="ignore"):
        while begin < part.num_owned:
            end = int(np.searchsorted(indptr, indptr[begin] + BLOCK, side="right")) - 1
            end = min(max(end, begin + 1), part.num_owned)
            a, b = int(indptr[begin]), int(indptr[end])
            terms = other[csr.indices[a:b]]
            if csr.weights is not None:
                terms = terms * (_mixed(_bits(csr.weights[a:b])) | np.uint64(1))
            sums = xp.zeros(b - a + 1, np.uint64)
            xp.cumsum(terms, out=sums[1:])
            rows = csr.indptr[begin : end + 1] - a
            each = _mixed(own[begin:end] ^ (sums[rows[1:]] - sums[rows[:-1]]))
            total += np.uint64(int(each.sum(dtype=np.uint64)))
            begin = end
    parts = env.comm.allgather(total.view(np.int64)).reshape(-1).view(np.uint64)
    found = f"{sum(parts.tolist()) % 2**64:016x}"
    return str(part.tables.keep(TABLE, found, 0))


def _bits(weights: Any) -> Any:
    """Weights as whole numbers of 64 bits that differ where they do."""
    return weights.astype(np.float64).view(np.uint64) if weights.dtype.kind == "f" else weights.astype(np.uint64)


def _mixed(numbers: Any) -> Any:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014), of uint64."""
    numbers = (numbers + np.uint64(0x9E3779B97F4A7C15)).copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))
