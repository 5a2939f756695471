"""Random neighbourhoods, and the pack of the kernels that list pairs within two hops."""

from __future__ import annotations

import numpy as np
from kernel_launch import POISON, Packed

from graphdask.kernels.similarity.two_hops_pack import SMALL, TwoHopRows

__all__ = ["NAMES", "POISON", "packed", "random_sets"]

NAMES = ("jaccard", "overlap", "cosine", "sorensen")


def random_sets(rng, n, hub=0):
    """Out-neighbours of all vertices, each once, and the vertices that each is a neighbour of, ascending."""
    rows = [sorted(set(rng.integers(0, n, rng.integers(0, 9)).tolist())) for _ in range(n)]
    if hub:
        rows[3] = sorted(rng.choice(n, hub, replace=False).tolist())
    back = [[] for _ in range(n)]
    for u, row in enumerate(rows):
        for w in row:
            back[w].append(u)
    return rows, back


def packed(backend, dtype, count_t, rows, back, sources, **options):
    """The pack of some sources, with outputs that are poisoned."""
    n, edges = len(rows), [(u, w) for u in sources for w in rows[u]]
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in back])]).astype(np.int64)
    middle = np.array([w for _, w in edges], dtype)
    paths = [sum(len(back[w]) for w in rows[u]) for u in sources]
    slots = [0 if 2 * p <= SMALL else 1 << (2 * min(p, n) - 1).bit_length() for p in paths]
    of_all = {
        "size": np.array([len(row) for row in rows]),
        "begins": np.concatenate([[0], np.cumsum(slots)]).astype(np.int64),
        "table": np.full(max(sum(slots), 1), -1, dtype), "tallies": np.zeros(max(sum(slots), 1), count_t),
        "least": -1.0, "least_first": 0, "least_second": 0, "keep": 0, "onward": 0, "measure": 0,
    } | options  # fmt: skip
    total = sum(paths) + 1
    return Packed(
        backend, TwoHopRows, source=np.array(sources, dtype),
        begin=np.concatenate([[0], np.cumsum([len(rows[u]) for u in sources])]).astype(np.int64), middle=middle,
        looped=np.array([w in rows[w] for _, w in edges], np.uint8), first=ptr[middle], last=ptr[middle + 1],
        entries=np.array([v for row in back for v in row], dtype),
        count=np.zeros(n, count_t), touched=np.full(n + 1, POISON, dtype), ranked=np.full(n, np.nan),
        bits=np.zeros((n >> 6) + 1, np.uint64), summary=np.zeros((n >> 12) + 1, np.uint64),
        out_first=np.full(total, POISON, dtype), out_second=np.full(total, POISON, dtype),
        out_score=np.full(total, np.nan), out_common=np.full(total, POISON, np.int64), counters=np.array([1]),
        **of_all,
    )  # fmt: skip
