"""Kernels of betweenness against plain Python, outputs poisoned first; on a GPU the CUDA twins likewise.

Queues have no order on a GPU: they are compared as sets. Sums that must not depend on an order are of whole numbers.
"""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from kernel_launch import Packed, bring_back, sent

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.betweenness import Betweenness
from graphdask.engine.tuning import SEARCH
from graphdask.kernels.betweenness.betweenness_pack import COUNTS as LEVEL
from graphdask.kernels.betweenness.betweenness_pack import Lanes
from graphdask.kernels.common.candidates_pack import COUNTS, CandidateLists

POISON = 77
HUB = 64
"""So few that every kernel has rows for it: a chunk is of half as many edges."""
LENGTHS = (0, 1, 2, 7, 8, 9, 16, 31, 32, 33, 40, 63, 64, 65, 96, 97, 128, 129, 700, 2100)
LANES = (1, 2, 7, 8, 32, 64)
SLOTS, OWNED = 900, 140
HUB_THREADS = 1 << 12


class Case:
    """Rows over slots of which some are in the front, and all that the kernels may write, poisoned."""

    def __init__(self, rng, dtype, lanes, share=0.4):
        self.lanes, self.dtype, self.full = lanes, dtype, (1 << lanes) - 1
        self.shown, self.columns = self.full, np.arange(lanes)
        self.mask = np.uint8 if lanes <= 8 else np.uint64
        lengths = rng.permutation([*LENGTHS, *rng.integers(0, 12, OWNED - len(LENGTHS))])
        self.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = (np.sort(rng.integers(0, SLOTS, length)) for length in lengths)  # with parallel edges
        self.indices = np.concatenate(list(rows)).astype(dtype)
        self.lengths, self.inside = lengths, rng.random(SLOTS) < share
        self.frontier = np.where(self.inside, self.masks(rng, SLOTS), 0).astype(self.mask)
        self.bits = np.packbits(np.pad(self.inside, (0, -SLOTS % 32)), bitorder="little").view(np.uint32)
        self.value = np.where(self.table(self.frontier, self.inside), rng.integers(1, 1000, (SLOTS, lanes)), 0.0)
        self.value[~self.inside] = np.nan
        self.rows = rng.permutation(OWNED)[: OWNED - 3].astype(dtype)

    def masks(self, rng, count):
        drawn = rng.integers(1, self.full, count, np.uint64, endpoint=True)
        return np.where(rng.random(count) < 0.3, 1 << rng.integers(0, self.lanes, count), drawn).astype(self.mask)

    def table(self, masks, rows=True):
        """Which lanes are in the masks of which rows."""
        return (masks.astype(np.uint64)[:, None] >> np.arange(self.lanes, dtype=np.uint64) & 1 > 0) & np.reshape(
            rows, (-1, 1)
        )

    def neighbours(self, v):
        row = self.indices[self.indptr[v] : self.indptr[v + 1]]
        return row[self.inside[row]]

    def poisoned(self, count, dtype=None):
        return np.full(count, POISON, self.dtype if dtype is None else dtype)

    def call(self, backend, n, *arguments, names, per_item=1, family="betweenness"):
        kernels = backend.kernels(family, index_t=self.dtype, mask_t=self.mask)
        given = [sent(backend, argument) for argument in arguments]
        for name in names:
            hubs = name.endswith("_hubs")
            getattr(kernels, name)(HUB_THREADS if hubs else n, *given, per_item=1 if hubs else per_item)
        backend.synchronize()
        for mine, theirs in zip(arguments, given, strict=True):
            bring_back(backend, mine, theirs)

    def show(self, shown):
        """Leave columns to these lanes only, and nobody else in the front."""
        self.shown, self.frontier = shown, self.frontier & self.mask(shown)
        self.inside = self.frontier > 0
        self.bits = np.packbits(np.pad(self.inside, (0, -SLOTS % 32)), bitorder="little").view(np.uint32)
        self.columns = np.flatnonzero(self.table(np.array([shown], np.uint64))[0])

    def gather(self, backend, rows, masks):
        edges = len(self.indices)
        chunks, out = edges // (HUB // 2) + edges // HUB, self.poisoned((OWNED, self.lanes), float)
        value, shown = np.ascontiguousarray(self.value[:, self.columns]), np.uint64(self.shown)
        self.call(
            backend, len(rows), rows, masks, Lanes(
                indptr=self.indptr, indices=self.indices, bits=self.bits, frontier=self.frontier, value=value,
                shown=shown, lanes=self.lanes, out=out, hub=HUB, chunks=self.poisoned((chunks, 2)),
                partial=self.poisoned((chunks, self.lanes), float), counters=np.zeros(len(LEVEL), np.int64),
            ), names=("bc_gather", "bc_gather_hubs", "bc_sum_hubs"), per_item=32,
        )  # fmt: skip
        return out


@pytest.fixture(params=LANES)
def lanes(request):
    return request.param


@pytest.mark.parametrize("share", [0.0, 0.02, 0.6, 1.0])
def test_rows_are_reached_through_neighbours_in_the_front(backend, dtype, lanes, share, rng):
    case = Case(rng, dtype, lanes, share)
    seen = np.where(rng.random(OWNED) < 0.5, 0, case.masks(rng, OWNED)).astype(case.mask)
    before, out_indptr = seen.copy(), np.concatenate([[0], np.cumsum(rng.integers(0, 50, OWNED))])
    queue, left, hubs, masks = *(case.poisoned(OWNED) for _ in range(3)), case.poisoned(OWNED, case.mask)
    counters = np.zeros(len(LEVEL), np.int64)
    case.call(
        backend, len(case.rows), case.rows, masks, Lanes(
            indptr=case.indptr, indices=case.indices, out_indptr=out_indptr, bits=case.bits, frontier=case.frontier,
            alive=np.uint64(case.full), seen=seen, queue=queue, left=left, hub=HUB, hubs=hubs, counters=counters,
        ), names=("bc_reach", "bc_reach_hubs"), per_item=32,
    )  # fmt: skip
    reached, unfinished, after = {}, [], before.copy()
    for v in case.rows:
        want = case.full & ~int(before[v])
        got = reduce(operator.or_, (int(case.frontier[u]) for u in case.neighbours(v)), 0) & want
        if got:
            reached[int(v)] = got
            after[v] |= case.mask(got)
        if got != want:
            unfinished.append(int(v))
    found, remaining, of_hubs, edges, out_edges, _, alive = LEVEL.of(counters)
    assert dict(zip(queue[:found].tolist(), masks[:found].tolist(), strict=True)) == reached
    assert sorted(left[:remaining].tolist()) == sorted(unfinished)
    assert found == len(reached)
    assert alive % 2**64 == reduce(operator.or_, reached.values(), 0)
    for array, count in ((queue, found), (masks, found), (left, remaining), (hubs, of_hubs)):
        assert (array[count:] == POISON).all()
    np.testing.assert_array_equal(seen, after)
    degree, out_degree, list_of = np.diff(case.indptr), np.diff(out_indptr), list(reached)
    assert degree[list_of].sum() <= edges <= degree[list_of].sum() + degree[case.rows].sum()
    assert out_edges == out_degree[list_of].sum()
    assert of_hubs in (0, (degree[case.rows] > HUB).sum())


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("owned", [90, OWNED])
def test_the_ends_of_the_edges_out_of_the_front_are_listed_once(backend, dtype, lanes, share, owned, rng):
    case = Case(rng, dtype, lanes)
    lengths = rng.permutation([0, 1, 300, 4096, 4097, 9000, *rng.integers(0, 12, 60)])
    rows = rng.permutation(len(lengths)).astype(dtype)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = rng.integers(0, OWNED, indptr[-1]).astype(dtype)
    frontier = case.masks(rng, OWNED)
    seen = np.where(rng.random(OWNED) < share, case.mask(case.full), case.masks(rng, OWNED)).astype(case.mask)
    lists = Packed(
        backend, CandidateLists, indptr=indptr, indices=indices, frontier=frontier, seen=seen, owned=owned, slots=OWNED,
        chosen=np.zeros((OWNED + 31) // 32, np.uint32), own=case.poisoned(OWNED), ghosts=case.poisoned(OWNED),
        hubs=case.poisoned(4), counters=np.zeros(len(COUNTS), np.int64),
    )  # fmt: skip
    kernels = backend.kernels("candidates", index_t=dtype, mask_t=case.mask)
    kernels.candidates_list(len(rows), backend.from_host(rows), lists.pack)
    kernels.candidates_list_hubs(HUB_THREADS, lists.pack)
    expected = {
        int(u)
        for v in range(len(lengths))
        for u in indices[indptr[v] : indptr[v + 1]]
        if int(frontier[v]) & ~int(seen[u])
    }
    count, _, edges, others = lists.counts()
    candidates, ghosts = lists.host("own"), lists.host("ghosts")
    assert sorted(candidates[:count].tolist()) == sorted(u for u in expected if u < owned)
    assert sorted(ghosts[:others].tolist()) == sorted(u for u in expected if u >= owned)
    assert (candidates[count:] == POISON).all()
    assert (ghosts[others:] == POISON).all()
    assert edges == indptr[-1]
    reported = rng.permutation(OWNED)[:100].astype(dtype)
    kernels.candidates_take(len(reported), backend.from_host(reported), lists.pack)
    count, expected = lists.counts().own, expected | {int(u) for u in reported if u < owned}
    assert sorted(lists.host("own")[:count].tolist()) == sorted(u for u in expected if u < owned)
    marked = np.unpackbits(lists.host("chosen").view(np.uint8), bitorder="little")[:OWNED]
    assert set(np.flatnonzero(marked).tolist()) == expected
    kernels.candidates_forget(others, lists.pack.ghosts, lists.pack.chosen)
    kernels.candidates_forget(count, lists.pack.own, lists.pack.chosen)
    assert not lists.host("chosen").any()


@pytest.mark.parametrize("share", [0.0, 0.05, 1.0])
def test_values_of_neighbours_in_the_front_are_summed_once(backend, dtype, lanes, share, rng):
    case = Case(rng, dtype, lanes, share)
    masks = case.masks(rng, len(case.rows))
    expected = case.poisoned((OWNED, lanes), float)
    for v, wanted in zip(case.rows, case.table(masks), strict=True):
        sums = case.value[np.unique(case.neighbours(v))].sum(axis=0)
        expected[v] = np.where(wanted, sums, POISON)
    np.testing.assert_array_equal(case.gather(backend, case.rows, masks), expected)


def test_the_order_of_a_sum_is_that_of_its_row(backend, lanes, rng):
    case = Case(rng, np.dtype(np.int32), lanes)
    case.value *= rng.random(case.value.shape)
    masks = case.masks(rng, len(case.rows))
    expected = case.gather(backend, case.rows, masks)
    for _ in range(3):
        some = rng.permutation(len(case.rows))[: rng.integers(1, len(case.rows))]
        found = case.gather(backend, case.rows[some], masks[some])
        np.testing.assert_array_equal(found[case.rows[some]], expected[case.rows[some]])


def shown(case, masks):
    """The front as it is once the rows are in it, and nothing else."""
    bits, frontier = np.zeros(SLOTS, np.uint8), case.poisoned(SLOTS, case.mask)
    bits[case.rows], frontier[case.rows] = 1, masks
    return np.packbits(np.pad(bits, (0, -SLOTS % 32)), bitorder="little").view(np.uint32), frontier


def test_paths_and_letters_are_shown(backend, dtype, lanes, rng):
    case = Case(rng, dtype, lanes)
    masks, count = case.masks(rng, len(case.rows)), len(case.rows)
    sigma, expected = rng.random((OWNED, lanes)), case.poisoned((SLOTS, lanes), float)
    expected[case.rows] = np.where(case.table(masks), sigma[case.rows], 0.0)
    arrived = (case.rows, masks, np.ascontiguousarray(expected[case.rows]))
    before = case.masks(rng, SLOTS)
    seen, known = before.copy(), before.copy()
    known[case.rows] |= masks
    full = np.uint64(case.full)
    paths, arriving = (case.rows, masks, sigma, lanes, full), (*arrived, lanes)
    without = case.rows, masks, None, lanes  # of searches that count no paths
    for name, said, more, values in (
        ("bc_show_paths", paths, (), expected), ("bc_arrive", arriving, (seen,), expected),
        ("bc_arrive", without, (seen,), case.poisoned((SLOTS, lanes), float)),
    ):  # fmt: skip
        bits, frontier = np.zeros_like(case.bits), case.poisoned(SLOTS, case.mask)
        value = case.poisoned((SLOTS, lanes), float)
        case.call(backend, count, *said, bits, frontier, value, *more, names=(name,), per_item=lanes)
        for found, wanted in zip((bits, frontier, value), (*shown(case, masks), values), strict=True):
            np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(seen, known)


@pytest.mark.parametrize("lanes", [2, 7, 64])
@pytest.mark.parametrize("some", [1, 2])
def test_lanes_that_have_ended_have_no_column(backend, lanes, some, rng):
    """What others have is as it was; a row gets nothing in the lanes that have none."""
    case = Case(rng, np.dtype(np.int32), lanes)
    case.show(sum(1 << int(b) for b in rng.permutation(lanes)[:some]))
    count, masks = len(case.rows), case.masks(rng, len(case.rows))
    expected, inside = case.poisoned((OWNED, lanes), float), np.isin(np.arange(lanes), case.columns)
    case.value[~case.table(case.frontier)] = 0.0
    for v, wanted in zip(case.rows, case.table(masks), strict=True):
        sums = case.value[np.unique(case.neighbours(v))].sum(axis=0)
        expected[v] = np.where(wanted, np.where(inside, sums, 0.0), POISON)
    np.testing.assert_array_equal(case.gather(backend, case.rows, masks), expected)
    shown_in, masks = np.uint64(case.shown), np.full(count, case.shown, case.mask)
    sigma, delta, score = 1 + rng.random((OWNED, lanes)), rng.random((OWNED, lanes)), np.zeros(OWNED)
    calls = {
        "bc_show_paths": (sigma, lanes, shown_in),
        "bc_show_dependencies": (sigma, delta, lanes, shown_in, 0, score),
    }
    for name, said in calls.items():
        bits, frontier = np.zeros_like(case.bits), case.poisoned(SLOTS, case.mask)
        value = case.poisoned((SLOTS, some), float)
        case.call(backend, count, case.rows, masks, *said, bits, frontier, value, names=(name,), per_item=some)
        given = sigma if name == "bc_show_paths" else (1 + sigma * delta) / sigma
        np.testing.assert_array_equal(value[case.rows], given[case.rows][:, case.columns])
    np.testing.assert_allclose(score[case.rows], (sigma * delta)[case.rows][:, case.columns].sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("last", [0, 1])
def test_dependencies_are_scored_and_shown(backend, dtype, lanes, last, rng):
    case = Case(rng, dtype, lanes)
    masks, count = case.masks(rng, len(case.rows)), len(case.rows)
    sigma, delta, score = 1 + rng.random((OWNED, lanes)), rng.random((OWNED, lanes)), rng.random(OWNED)
    inside = case.table(masks)
    dependency = np.where(inside, 0.0 if last else (sigma * delta)[case.rows], 0.0)
    scores, expected = score.copy(), case.poisoned((SLOTS, lanes), float)
    scores[case.rows] += dependency.sum(axis=1)
    expected[case.rows] = np.where(inside, (1 + dependency) / sigma[case.rows], 0.0)
    bits, frontier = np.zeros_like(case.bits), case.poisoned(SLOTS, case.mask)
    value = case.poisoned((SLOTS, lanes), float)
    case.call(
        backend, count, case.rows, masks, sigma, delta, lanes, np.uint64(case.full), last, score, bits,
        frontier, value,
        names=("bc_show_dependencies",), per_item=min(lanes, 32),
    )  # fmt: skip
    np.testing.assert_allclose(score, scores, rtol=1e-14)
    for found, wanted in zip((bits, frontier, value), (*shown(case, masks), expected), strict=True):
        np.testing.assert_array_equal(found, wanted)


def hub(directed):
    """Rows that one warp, and several, sum up; parallel edges among them."""
    rng = np.random.default_rng(8)
    src = np.concatenate([np.zeros(5000, np.int64), rng.integers(0, 900, 1500), np.full(300, 5)])
    dst = np.concatenate([rng.integers(0, 900, 5000), rng.integers(0, 900, 1500), rng.integers(0, 900, 300)])
    both = (np.concatenate([src, dst]), np.concatenate([dst, src])) if directed else (src, dst)
    return 900, *both, directed


@pytest.mark.parametrize("make", [lambda: hub(True), lambda: hub(False), GRAPHS["sparse random, directed"]])
@pytest.mark.parametrize("count", [1, 2, 8, 20, 70])
def test_a_gpu_gives_the_same_bits_for_every_number_of_parts(count, make, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(SEARCH, many=0)
    n, src, dst, directed = make()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    sources = np.random.default_rng(count).permutation(n)[:count]
    expected = gd.betweenness(graph.partition(1, device="cpu"), sources).score
    first = gd.betweenness(graph.partition(1, device="cuda"), sources).score
    np.testing.assert_allclose(first, expected, rtol=1e-12, atol=1e-12)
    for parts, by, ghosts, exchange in ((3, "random", "1-hop", "selective"), (2, "range", "all", "broadcast")):
        divided = graph.partition(parts, by=by, ghosts=ghosts, device="cuda")
        np.testing.assert_array_equal(gd.betweenness(divided, sources, exchange=exchange).score, first)


@pytest.mark.slow
def test_lanes_need_not_be_a_power_of_two_on_a_gpu(monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = gd.generate.preferential_attachment(200, degree=3)
    expected = gd.betweenness(graph.partition(1, device="cpu")).score
    found = execute.run(graph.partition(2, device="cuda"), Betweenness(range(200), 7, 0.5))
    np.testing.assert_allclose(found.score, expected, rtol=1e-12)
