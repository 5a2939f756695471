"""Rows of the edges of samples: `feat[s.edge]` are their features, for every sampler, wherever it draws; and of
parallel edges each is taken as often as it is to be."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError, Unsupported

S = gd.sample
N, M = 50, 400
RNG = np.random.default_rng(21)
SRC, DST, WEIGHTS = RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.integers(0, 4, M)
SEEDS = np.arange(N)
TWO = S.Spec(neighbor_size=2, depth=2)
AGAIN = S.Spec(neighbor_size=1, depth=5, replace=True, revisit=True)
SAMPLERS = {
    "neighbors": lambda G, **how: S.neighbors(G, SEEDS, [3, 2], **how),
    "neighbors by weight": lambda G, **how: S.neighbors(G, SEEDS, [3, 2], bias="weight", direction="in", **how),
    "neighbors with rows": lambda G, **how: S.neighbors(G, SEEDS, [3, 2], edge_rows=True, bias="degree", **how),
    "snowball": lambda G, **how: S.snowball(G, [0, 1], 2, edge_rows=True, **how),
    "forest fire": lambda G, **how: S.forest_fire(G, SEEDS, 0.5, 2, **how),
    "temporal": lambda G, **how: S.temporal_neighbors(G, SEEDS, [3, 2], seed_times=2, **how),
    "layer": lambda G, **how: S.layer(G, SEEDS, [3, 2], **how),
    "layer inwards": lambda G, **how: S.layer(
        G, [SEEDS[:9], SEEDS[9:]], [30, 20], bias="degree", direction="in", **how
    ),
    "walk": lambda G, **how: S.random_walk(G, SEEDS, 10, **how),
    "walk by weight": lambda G, **how: S.random_walk(G, SEEDS, 10, bias="weight", walks_per_start=2, **how),
    "node2vec": lambda G, **how: S.node2vec(G, SEEDS, 10, p=0.5, q=2, weighted=True, **how),
    "metapath": lambda G, **how: S.metapath_walk(G, SEEDS, 10, metapath=[1, 2], **how),
    "frontier": lambda G, **how: S.frontier_sampling(G, [list(range(5))] * 4, 20, **how),
    "edges": lambda G, **how: S.random_edges(G, 50, **how),
    "saint": lambda G, **how: S.saint_walks(G, 3, 4, instances=5, **how),
    "spec": lambda G, **how: S.run(G, TWO, SEEDS, **how),
    "spec of walks": lambda G, **how: S.run(G, AGAIN, SEEDS, **how),
}
ANYWHERE = ("neighbors", "neighbors by weight", "neighbors with rows", "snowball", "forest fire", "walk", "node2vec")


def ends(s):
    """The sampled edges, by the caller's ids, and their rows."""
    if isinstance(s, S.Walks):
        there = s.walks[:, 1:] >= 0
        return s.walks[:, :-1][there], s.walks[:, 1:][there], s.edge[there], s.edge
    if isinstance(s, S.Frontiers):
        there = s.src >= 0
        return s.src[there], s.dst[there], s.edge[there], s.edge
    inward = s.sampler.inward if hasattr(s.sampler, "inward") else False
    return *((s.dst, s.src) if inward else (s.src, s.dst)), s.edge, s.edge


def check(s, src, dst, directed):
    u, v, rows, every = ends(s)
    there, back = (src[rows] == u) & (dst[rows] == v), (src[rows] == v) & (dst[rows] == u)
    assert (rows >= 0).all()
    assert (there if directed else there | back).all()
    assert len(rows) == (every >= 0).sum() > 0
    return every


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SAMPLERS)
def test_rows_are_right_and_the_same_wherever_samples_are_drawn(name, directed):
    draw, expected = SAMPLERS[name], None
    for parts, by in ((1, "range"), (1, "random"), (2, "range"), (3, "biased-random")):
        G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=directed).partition(parts, by=by)
        for placement in ("replicated", "partitioned", "streamed"):
            s = draw(G, placement=placement)
            found = check(s, SRC, DST, directed)
            expected = found if expected is None else expected
            np.testing.assert_array_equal(found, expected)
            s.verify()


@pytest.mark.parametrize("name", ["neighbors", "temporal", "snowball", "edges", "saint", "layer", "spec"])
def test_parallel_edges_that_are_taken_have_their_own_rows(name):
    s = SAMPLERS[name](gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N))
    instance = np.zeros(50) if name == "edges" else s.instance
    assert not pd.DataFrame({"instance": instance, "row": s.edge}).duplicated().any()


def test_edges_of_types_have_their_types():
    s = SAMPLERS["metapath"](gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N))
    there = s.edge >= 0
    assert (WEIGHTS[s.edge] == np.tile([1, 2], (N, 5)))[there].all()


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", ["neighbors by weight", "walk by weight", "metapath", "frontier", "saint", "layer"])
def test_rows_on_a_gpu_are_the_same(name, monkeypatch, device):
    G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N)
    expected = SAMPLERS[name](G).edge
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    for where in (G.partition(1, device="cuda"), G.partition(1, by="random", device="cuda")):
        np.testing.assert_array_equal(SAMPLERS[name](where).edge, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["walk by weight", "saint", "edges", "neighbors with rows", "spec"])
def test_workers_of_a_cluster_tell_the_same_rows_and_keep_them(name, two_workers, tmp_path):
    expected = SAMPLERS[name](gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N)).edge
    for placement in ("replicated", "partitioned"):
        G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N).partition(3, by="random")
        s = SAMPLERS[name](G, placement=placement, client=two_workers).with_edges()
        assert s.columns[-1] == "edge"
        np.testing.assert_array_equal(two_workers.compute(s.to_dask()["edge"]).result(), expected)
        s.to_parquet(tmp_path / placement)
        written = pd.read_parquet(tmp_path / placement).edge
        np.testing.assert_array_equal(np.array(written.tolist()), expected)


def test_samples_that_travel_have_the_rows_that_they_had():
    G = gd.from_edges(SRC, DST, num_vertices=N)
    s = S.random_walk(G, SEEDS, 4)
    there = pickle.loads(pickle.dumps(s.with_edges()))
    assert there.edge.tolist() == s.edge.tolist()
    with pytest.raises(Unsupported, match="sent here"):
        _ = pickle.loads(pickle.dumps(s)).edge


def test_without_rows_samples_have_no_such_column_and_nothing_is_kept():
    G = gd.from_edges(SRC, DST, num_vertices=N).partition(1)
    s = S.neighbors(G, SEEDS, [3, 2])
    assert s.columns == ("src", "dst", "hop", "instance")
    assert G.replicas.held[0].out.rows is None
    with_rows = S.neighbors(G, SEEDS, [3, 2], edge_rows=True)
    assert with_rows.columns == (*s.columns, "edge")
    assert with_rows.dst.tolist() == s.dst.tolist()
    assert with_rows.edge.tolist() == s.edge.tolist()
    assert G.replicas.held[0].out.rows is not None


def test_what_has_no_edges_has_no_rows():
    G = gd.from_edges(SRC, DST, num_vertices=N)
    with pytest.raises(Unsupported, match="are no edges"):
        _ = S.personalized_pagerank(G, [0]).edge
    with pytest.raises(InputError, match="edge_rows=3 is neither True nor False"):
        S.neighbors(G, [0], edge_rows=3)


def test_a_walk_that_goes_back_has_no_row_where_no_edge_leads():
    G = gd.from_edges([0, 1, 2], [1, 2, 3])
    s = S.random_walk_with_restart(G, 0, 8, 0.4, walks_per_start=50)
    expected = {(0, 1): 0, (1, 2): 1, (2, 3): 2}
    found = [expected.get(pair, -1) for pair in zip(s.walks[:, :-1].flat, s.walks[:, 1:].flat, strict=True)]
    assert s.edge.ravel().tolist() == found


# 0 => 1 four times, of the weights 0, 1, 2 and 5, and twice back
MANY = gd.from_edges([0, 1, 0, 0, 1, 0], [1, 0, 1, 1, 0, 1], [5, 1, 0, 2, 3, 1])
SHARES = {0: 5 / 8, 2: 0.0, 3: 2 / 8, 5: 1 / 8}


def near(counts, shares, draws):
    """Within five standard deviations of what is expected."""
    for count, share in zip(counts, shares, strict=True):
        assert abs(count - draws * share) <= 5 * np.sqrt(draws * share * (1 - share)) + 1e-9, (counts, shares)


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"bias": "weight"}, {"bias": "degree"}, {"p": 0.5}, {"p": 0.5, "weighted": False}])
@pytest.mark.parametrize("parts", [1, 2])
def test_walks_take_parallel_edges_by_their_law(how, parts):
    draw = S.node2vec if "p" in how else S.random_walk
    by_weight = how.get("bias") == "weight" or (draw is S.node2vec and how.get("weighted") is None)
    s = draw(MANY.partition(parts), [0] * 4000, 6, seed=3, placement="partitioned", **how)
    for steps, there in ((s.edge[:, 0::2], [0, 2, 3, 5]), (s.edge[:, 1::2], [1, 4])):
        counts = [int((steps == row).sum()) for row in there]
        assert sum(counts) == steps.size == 12_000
        shares = np.array([SHARES[row] for row in there] if there[0] == 0 else [1 / 4, 3 / 4])
        near(counts, shares if by_weight else np.full(len(there), 1 / len(there)), steps.size)
    pairs = pd.crosstab(s.edge[:, 0], s.edge[:, 2]).to_numpy()  # steps are independent
    near(pairs.ravel(), np.outer(pairs.sum(axis=1), pairs.sum(axis=0)).ravel() / 4000**2, 4000)


def test_every_set_of_parallel_edges_is_taken_alike():
    G = gd.from_edges([0] * 5, [1] * 5)
    for s in (S.layer(G, [0] * 6000, [2], seed=1), S.run(G, S.Spec(neighbor_size=2, depth=1), [0] * 6000, seed=1)):
        rows = np.sort(s.edge.reshape(-1, 2), axis=1)
        sets = [int((rows == pair).all(axis=1).sum()) for pair in combinations(range(5), 2)]
        assert sum(sets) == 6000
        near(sets, [0.1] * 10, 6000)


@pytest.mark.slow
def test_weights_of_very_different_sizes_keep_their_shares():
    src = np.repeat(np.arange(40), 3)
    weights = (np.array([1.0, 2.0, 5.0])[None, :] * 10.0 ** np.linspace(-150, 150, 40)[:, None]).ravel()
    G = gd.from_edges(src, np.full(120, 40), weights)
    s = S.random_walk(G, np.repeat(np.arange(40), 500), 1, bias="weight", seed=2)
    assert (src[s.edge[:, 0]] == s.walks[:, 0]).all()
    near([int((s.edge % 3 == k).sum()) for k in range(3)], [1 / 8, 2 / 8, 5 / 8], 20_000)


BY_FUNCTION = S.Spec(edge_bias=lambda e: e.weight, depth=3, replace=True, revisit=True)
TWICE = S.Spec(edge_bias=lambda e: e.weight, neighbor_size=2, depth=1)
BY_LAYER = S.Spec(edge_bias=lambda e: e.weight, neighbor_size=2, depth=2, per="layer")
HALF = S.Spec(edge_bias=lambda e: e.weight, vertex_bias=lambda v: v.degree + 1, frontier_size=1, depth=3)


@pytest.mark.parametrize("parts", [1, 2])
def test_functions_of_the_caller_take_parallel_edges_of_different_weights_by_their_law(parts):
    s = S.run(MANY.partition(parts), BY_FUNCTION, [0] * 4000, seed=5, placement="partitioned").verify()
    steps = s.edge.reshape(4000, 3)
    for column, shares in ((0, SHARES), (1, {1: 1 / 4, 4: 3 / 4}), (2, SHARES)):
        counts = [int((steps[:, column] == row).sum()) for row in shares]
        assert sum(counts) == 4000
        near(counts, list(shares.values()), 4000)
    s = S.layer(MANY.partition(parts), [0] * 4000, [1], bias="weight", seed=6, placement="partitioned").verify()
    near([int((s.edge == row).sum()) for row in SHARES], list(SHARES.values()), 4000)
    s = S.layer(MANY.partition(parts), [0] * 3000, [2], bias="weight", seed=6, placement="partitioned").verify()
    pairs = np.sort(s.edge.reshape(-1, 2), axis=1)  # one after the other, in proportion among those that are left
    shares = {
        (u, v): a * b / (1 - a) + b * a / (1 - b)
        for (u, a), (v, b) in combinations(((row, share) for row, share in SHARES.items() if share), 2)
    }
    near([int((pairs == np.sort(pair)).all(axis=1).sum()) for pair in shares], list(shares.values()), 3000)


@pytest.mark.parametrize("name", ["walks", "twice", "per layer", "of pools", "layer", "layer inwards"])
@pytest.mark.parametrize("directed", [True, False])
def test_rows_of_biased_samples_are_the_same_wherever_they_are_drawn(name, directed):
    draw = {
        "walks": lambda G, **how: S.run(G, BY_FUNCTION, SEEDS, **how),
        "twice": lambda G, **how: S.run(G, TWICE, SEEDS, **how),
        "per layer": lambda G, **how: S.run(G, BY_LAYER, [SEEDS[:20], SEEDS[20:]], **how),
        "of pools": lambda G, **how: S.run(G, HALF, [SEEDS[:20], SEEDS[20:]], **how),
        "layer": lambda G, **how: S.layer(G, SEEDS, [3, 2], bias="weight", **how),
        "layer inwards": lambda G, **how: S.layer(G, [SEEDS[:9]], [30, 20], bias="weight", direction="in", **how),
    }[name]  # fmt: skip
    expected = None
    for parts, by, placement in ((1, "range", "replicated"), (1, "random", "partitioned"), (3, "random", "partitioned"),
                                 (1, "range", "streamed")):  # fmt: skip
        G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=directed).partition(parts, by=by)
        s = draw(G, placement=placement)
        found = check(s, SRC, DST, directed)
        assert (WEIGHTS[found] > 0).all()
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(draw(G, placement=placement, edge_rows=True).verify().edge, expected)


def test_a_function_that_takes_all_parallel_edges_has_the_rows_of_all():
    alike = gd.from_edges([0, 0, 0], [1, 1, 2], [2, 2, 3])
    assert sorted(S.run(alike, S.Spec(edge_bias=lambda e: e.weight, neighbor_size=3, depth=1), [0]).edge.tolist()) == [
        0,
        1,
        2,
    ]


@pytest.mark.parametrize("row_t", [np.int32, np.int64])
@pytest.mark.parametrize("some", [False, True])
def test_rows_are_reported_and_put_in_their_places(backend, dtype, rng, row_t, some):
    """Against NumPy's own indexing."""
    n, m = 3000, 500
    kept = np.sort(rng.choice(2 * m, m, replace=False)) if some else None
    rows, indices = rng.integers(0, 2**31 - 1, 2 * m).astype(row_t), rng.integers(0, 99, m).astype(dtype)
    places = rng.integers(0, m, n).astype(dtype)
    reported, numbers = backend.from_host(places.copy()), backend.from_host(np.full(n, -77, row_t))
    kernels = backend.kernels("edge_rows", index_t=dtype, row_t=np.dtype(row_t))
    given = None if kept is None else backend.from_host(kept)
    kernels.edge_rows_reported(n, reported, backend.from_host(indices), given, backend.from_host(rows), numbers)
    backend.synchronize()
    expected = rows[places if kept is None else kept[places]]
    assert backend.to_host(numbers).tolist() == expected.tolist()
    assert backend.to_host(reported).tolist() == indices[places].tolist()
    named = backend.from_host(places.copy() if dtype == row_t else np.full(n, -77, row_t))
    taken = named if dtype == row_t else backend.from_host(places)
    kernels.edge_rows_named(n, taken, given, backend.from_host(rows), named)
    backend.synchronize()
    assert backend.to_host(named).tolist() == expected.tolist()
    instances = np.sort(rng.integers(5, 25, n))
    shifts = np.cumsum(rng.integers(0, 9, 20))
    out = backend.from_host(np.full(n + 200, -77, np.int64))
    columns = (backend.from_host(a) for a in (shifts, instances, np.ascontiguousarray(expected, row_t)))
    kernels.edge_rows_placed(n, 5, *columns, out)
    backend.synchronize()
    reference = np.full(n + 200, -77, np.int64)
    reference[np.arange(n) + shifts[instances - 5]] = expected
    assert backend.to_host(out).tolist() == reference.tolist()
