"""The kernels that peel a truss against plain Python, which counts all triangles again in each round."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from kernel_launch import POISON, Packed

from graphdask.kernels.subgraphs.truss_pack import TrussArcs


def rounds_of(pairs, k):
    """The round in which each pair goes, 0 if it stays."""
    gone, left = dict.fromkeys(pairs, 0), set(pairs)
    number = 0
    while True:
        near = {}
        for u, v in left:
            near.setdefault(u, set()).add(v)
            near.setdefault(v, set()).add(u)
        going = [pair for pair in left if len(near[pair[0]] & near[pair[1]]) < k - 2]
        if not going:
            return gone
        number += 1
        for pair in going:
            gone[pair] = number
        left -= set(going)


@pytest.mark.parametrize("k", [4, 5, 7])
def test_pairs_go_in_the_rounds_in_which_they_are_in_too_few_triangles(backend, dtype, rng, k):
    n = 80
    number = rng.permutation(n)
    pairs = {pair for pair in combinations(range(60), 2) if rng.random() < (0.6 if max(pair) < 20 else 0.12)}
    pairs |= {(u, u + step) for u in range(60, 78) for step in (1, 2)}  # a strip, which goes in rounds if k is 4
    near = [{v for v in range(n) if (min(u, v), max(u, v)) in pairs} for u in range(n)]
    rows = [sorted(near[u], key=lambda v: number[v]) for u in range(n)]
    order = rng.permutation(n)
    arcs = [(u, v) for u in range(n) for v in rows[u]]
    lower = np.array([order[v] < order[u] for u, v in arcs])
    support = [len(near[u] & near[v]) if low else POISON for (u, v), low in zip(arcs, lower.tolist(), strict=True)]
    first = np.flatnonzero(lower & (np.array(support) < k - 2))
    expected = rounds_of(pairs, k)
    assert len(first) > 3
    assert k > 4 or max(expected.values()) > 1
    queue = np.concatenate([first, np.full(len(pairs) - len(first), POISON)])
    d = Packed(
        backend, TrussArcs, keys=np.array([u * n + number[v] for u, v in arcs]),
        indptr=np.concatenate([[0], np.cumsum([len(row) for row in rows])]), slot=np.array([v for _, v in arcs], dtype),
        lower=lower.astype(np.uint8), number=number.astype(dtype), removed=np.zeros(len(arcs), np.int64),
        support=np.array(support), queue=queue, n=n, least=k - 2, counters=np.array([len(first)]),
    )  # fmt: skip
    kernels, begin, end, now = backend.kernels("truss", index_t=dtype), 0, len(first), 0
    while begin < end:
        now += 1
        d.pack.assign(first=begin, now=now)
        kernels.truss_mark(end - begin, d.pack)
        kernels.truss_peel(end - begin, d.pack, per_item=32)
        begin, end = end, d.counts().listed
    removed = d.host("removed").tolist()
    assert removed == [expected[min(arc), max(arc)] for arc in arcs]
    gone = sum(went > 0 for went in expected.values())
    assert sorted(d.host("queue")[:gone].tolist()) == [i for i in np.flatnonzero(lower).tolist() if removed[i]]
    assert (d.host("queue")[gone:] == POISON).all()
