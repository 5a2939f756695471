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
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    slot, is_lower = np.array([v for _, v in arcs], dtype), lower.astype(np.uint8)
    none = np.zeros(0, dtype)
    d = Packed(
        backend, TrussArcs, keys=np.array([u * n + number[v] for u, v in arcs]), indptr=indptr, slot=slot,
        lower=is_lower, number=number.astype(dtype), removed=np.zeros(len(arcs), np.int64), support=np.array(support),
        queue=queue, ptr=indptr, third=number.astype(dtype)[slot], below=is_lower, holder=none, other=none, owned=n,
        n=n, whole=1, least=k - 2, counters=np.array([len(first), 0]),
    )  # fmt: skip
    d.pack.went = d.pack.removed
    back = np.array([arcs.index((v, u)) for u, v in arcs])
    kernels, begin, end, now = backend.kernels("truss", index_t=dtype), 0, len(first), 0
    while begin < end:
        now += 1
        going = d.host("queue")[begin:end]
        d.pack.assign(first=begin, now=now, row=backend.from_host(np.full(len(going), POISON)))
        kernels.truss_mark(end - begin, d.pack)
        assert d.host("row").tolist() == slot[going].tolist()
        assert np.flatnonzero(d.host("removed") == now).tolist() == sorted([*going.tolist(), *back[going].tolist()])
        kernels.truss_peel(end - begin, d.pack, per_item=32)
        begin, end = end, d.counts().listed
    removed = d.host("removed").tolist()
    assert removed == [expected[min(arc), max(arc)] for arc in arcs]
    gone = sum(went > 0 for went in expected.values())
    assert sorted(d.host("queue")[:gone].tolist()) == [i for i in np.flatnonzero(lower).tolist() if removed[i]]
    assert (d.host("queue")[gone:] == POISON).all()


def test_triangles_of_pairs_of_other_ranks_are_written_down_and_taken_off_there(backend, dtype):
    """Own are 0 and 1, neighbours of each other and of the slots 2 and 3; the pair 1, 0 goes."""
    number, n = np.array([10, 11, 12, 13]), 20
    slot = np.array([1, 2, 3, 0, 2, 3], dtype)
    keys = np.repeat([0, n], 3) + number[slot]
    removed = np.array([1, 0, 0, 1, 0, 0])
    lower = np.array([0, 0, 1, 1, 0, 1], np.uint8)
    poison = np.full(4, POISON).astype(dtype)
    d = Packed(
        backend, TrussArcs, keys=keys, indptr=np.array([0, 3, 6]), slot=slot, lower=lower, number=number.astype(dtype),
        removed=removed, support=np.array([POISON, POISON, 2, 0, POISON, 5]), queue=np.array([3, POISON, POISON]),
        first=0, row=np.zeros(1, np.int64), ptr=np.array([0, 2]), third=np.array([12, 13], dtype),
        went=np.zeros(2, np.int64), below=np.array([0, 1], np.uint8), holder=poison, other=poison.copy(),
        lost=np.zeros(0, np.int64), owned=2, n=n, whole=0, now=1, least=2, counters=np.array([1, 0]),
    )  # fmt: skip
    kernels = backend.kernels("truss", index_t=dtype)
    kernels.truss_peel(1, d.pack, per_item=32)
    assert (d.counts().listed, d.counts().sent) == (2, 2)
    assert sorted(zip(d.host("holder")[:2].tolist(), d.host("other")[:2].tolist(), strict=True)) == [(12, 10), (12, 11)]
    assert d.host("support").tolist() == [POISON, POISON, 1, 0, POISON, 4]
    d.pack.lost = backend.from_host(np.array([5, 5, 5]))
    kernels.truss_lose(3, d.pack)
    assert d.host("support").tolist() == [POISON, POISON, 1, 0, POISON, 1]
    assert d.host("queue").tolist() == [3, 2, 5]
