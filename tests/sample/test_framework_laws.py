"""Samplers that functions describe draw from the law that the functions state, against its enumeration in Python."""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np
import pytest
from set_laws import by_weight_anywhere
from specs import FIRE, Rows, agree, by_weight, metropolis, orders, restart, second_order, specs

import graphdask as gd
from graphdask.errors import FunctionError, InputError
from graphdask.sample.spec import Spec
from graphdask.sample.tuning import SAMPLE

N = 6
SRC = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 1])
DST = np.array([1, 2, 3, 0, 0, 2, 4, 1, 3, 4, 0, 2, 0, 1, 5, 4])
WEIGHTS = np.array([1, 2, 3, 1, 5, 0, 1, 2, 2, 7, 1, 1, 0, 3, 1, 2])
TRIALS = 40_000


def graph(weights=WEIGHTS):
    return gd.from_edges(SRC, DST, weights, num_vertices=N).partition(1, device="cpu")


def paths(result, trials):
    """The destinations of each instance, as tuples."""
    dst, bounds = result.dst.tolist(), result.edge_offsets.tolist()
    return [tuple(dst[bounds[i] : bounds[i + 1]]) for i in range(trials)]


def onward(edge):
    return [(edge.destination, 1.0)]


def metropolis_moves(edge):
    accepted = min(1.0, edge.source_degree / edge.destination_degree) if edge.destination_degree else 1.0
    return [(edge.destination, accepted), (edge.source, 1.0 - accepted)]


def restart_moves(edge):
    return [(edge.seed, 0.25), (edge.destination, 0.75)]


@pytest.mark.parametrize(
    ("name", "bias", "moves", "weights"),
    [
        ("simple walk", None, onward, WEIGHTS),
        ("walk by weight", by_weight, onward, WEIGHTS),
        ("walk by weight", by_weight, onward, WEIGHTS / 7),
        ("walk by keys", by_weight, onward, WEIGHTS / 7),
        ("walk by aliases", by_weight, onward, WEIGHTS),
        ("walk by aliases", by_weight, onward, WEIGHTS / 7),
        ("walk from some", lambda e: int(e.source % 3 != 2), onward, WEIGHTS),
        ("walk by weight", by_weight, onward, WEIGHTS.astype(np.float32) * 1e-30),
        ("node2vec", second_order, onward, WEIGHTS),
        ("node2vec, all edges looked at", second_order, onward, WEIGHTS),
        ("Metropolis-Hastings", None, metropolis_moves, WEIGHTS),
        ("restart", None, restart_moves, WEIGHTS),
    ],
)
def test_walks(name, bias, moves, weights):
    law = Rows(N, SRC, DST, weights).walks(bias, 1, 3, moves)
    found = gd.sample.run(graph(weights), specs(3)[name], [1], instances=TRIALS, seed=5).verify()
    agree(paths(found, TRIALS), law)


@pytest.mark.slow
def test_auto_draws_by_aliases_where_edges_are_drawn_again_and_again():
    """And by sums where not, or where a function fails on an edge that nobody comes to, or biases are too large."""

    def unreached(edge):
        return 9 + edge.destination + 1 // (edge.source - 5)

    def large(edge):
        return 2**60 * edge.destination

    src, dst = np.array([0, 0, 1, 1, 5]), np.array([0, 1, 0, 1, 0])
    graph = gd.from_edges(src, dst, num_vertices=6)
    for bias, often, like in (
        (lambda e: e.destination + 1, 5, "alias"),
        (lambda e: e.destination + 1, 4, "inverse"),
        (unreached, 5, "inverse"),
        (large, 5, "inverse"),
    ):
        for parts in (1, 2):
            divided = graph.partition(parts, device="cpu")
            for size, replace in ((1, False), (1, True)):
                found, expected = (
                    gd.sample.run(
                        divided, Spec(edge_bias=bias, neighbor_size=size, depth=1, replace=replace, select=select),
                        [0], instances=often, placement="partitioned" if parts > 1 else "auto",
                    )
                    for select in ("auto", like)
                )  # fmt: skip
                np.testing.assert_array_equal(found.dst, expected.dst)
                assert found.sampler.how.name == ("inverse" if often == 4 else "alias")
    with pytest.raises(FunctionError):
        gd.sample.run(graph, Spec(edge_bias=unreached, depth=1, select="alias"), [0])
    with pytest.raises(InputError, match="add up to about"):
        gd.sample.run(graph, Spec(edge_bias=large, depth=1, select="alias"), [0])
    assert gd.sample.run(graph, Spec(edge_bias=large, depth=1), [0], instances=9).dst.tolist() == [1] * 9


def test_the_functions_of_the_tests_state_these_laws():
    """metropolis and restart, on a grid of their random number."""
    rng = np.arange(2000) / 2000
    for edge, _ in Rows(N, SRC, DST).biases(None, 0, -1, 0, 3):
        for update, moves in ((metropolis, metropolis_moves), (restart, restart_moves)):
            chosen = []
            for number in rng:
                edge.random = number
                chosen.append(update(edge))
            for vertex, chance in moves(edge):
                same = sum(c for v, c in moves(edge) if v == vertex)
                assert abs(np.mean(np.array(chosen) == vertex) - same) < 1e-3, (vertex, chance)


def test_steps_and_instances_are_independent():
    found = gd.sample.run(graph(), Spec(depth=2, replace=True), [0], instances=TRIALS)
    first = found.dst[found.hop == 0]
    pairs = zip(first[:-1:2].tolist(), first[1::2].tolist(), strict=True)
    agree(pairs, dict.fromkeys(product([0, 1, 2, 3], repeat=2), 1 / 16))


def test_frontier_sampling():
    """Which vertex of the pool by degree, then one of its neighbours, which takes its place."""
    rows, pool, law = Rows(N, SRC, DST), (0, 2, 3), {}
    todo = [((), 1.0, pool)]
    while todo:
        edges, chance, here = todo.pop()
        degrees = [len(rows.rows[v]) for v in here]
        if len(edges) == 3:
            law[edges] = law.get(edges, 0.0) + chance
            continue
        for place, vertex in enumerate(here):
            for neighbour, _ in rows.rows[vertex]:
                after = (*here[:place], neighbour, *here[place + 1 :])
                todo.append(((*edges, (vertex, neighbour)), chance / sum(degrees), after))
    found = gd.sample.run(graph(), specs(3)["frontier sampling"], [list(pool)], instances=TRIALS).verify()
    pairs, bounds = list(zip(found.src.tolist(), found.dst.tolist(), strict=True)), found.edge_offsets
    agree([tuple(pairs[bounds[i] : bounds[i + 1]]) for i in range(TRIALS)], law)


@pytest.mark.parametrize("bound", [6.0, 5e4])
@pytest.mark.parametrize(
    "weights", [[1, 2, 3, 4], [5, 0, 1, 0, 2], [0.125, 0.7, 1e-3, 2.5, 0.0, 0.4], [1, 1, 1, 1, 1, 6]]
)
def test_neighbours_by_rejection_with_bounds_that_are_too_large(weights, bound):
    weights = np.array(weights)
    for k in (1, 2, 3):
        if np.count_nonzero(weights) <= k:
            continue
        star = gd.from_edges(np.zeros(len(weights), int), np.arange(1, len(weights) + 1), weights).partition(
            1, device="cpu"
        )
        limit = bound if weights.dtype.kind == "f" else int(bound)
        spec = Spec(edge_bias=by_weight, neighbor_size=k, depth=1, edge_bound=limit)
        found = gd.sample.run(star, spec, [0], instances=20_000, seed=k).verify()
        agree(map(tuple, (found.dst.reshape(-1, k) - 1).tolist()), orders(weights, k))


@pytest.mark.parametrize("select", ["inverse", "alias", "reservoir"])
@pytest.mark.parametrize("weights", [[3, 0, 1, 2], [0.5, 0.25, 0.0, 1e-9]])
def test_neighbours_with_replacement(weights, select):
    weights = np.array(weights)
    star = gd.from_edges(np.zeros(4, int), np.arange(1, 5), weights).partition(1, device="cpu")
    found = gd.sample.run(
        star,
        Spec(edge_bias=by_weight, neighbor_size=2, depth=1, replace=True, select=select),
        [0],
        instances=TRIALS,
    )
    share = weights / weights.sum()
    law = {(a, b): share[a] * share[b] for a, b in product(range(4), repeat=2) if share[a] * share[b]}
    agree(map(tuple, (found.dst.reshape(-1, 2) - 1).tolist()), law)


@pytest.mark.parametrize("bias", [None, by_weight])
@pytest.mark.parametrize("degree", [31, 33, 1025])
def test_first_and_last_of_long_rows(degree, bias):
    """40 of a row, so with a table of what is chosen: each neighbour as often as any other."""
    k, trials = min(40, degree - 1), 2000
    star = gd.from_edges(np.zeros(degree, int), np.arange(1, degree + 1), np.full(degree, 0.1)).partition(
        1, device="cpu"
    )
    found = gd.sample.run(star, Spec(edge_bias=bias, neighbor_size=k, depth=1), [0], instances=trials).verify()
    often = np.bincount(found.dst, minlength=degree + 1)[1:]
    deviation = np.sqrt(trials * k / degree * (1 - k / degree))
    assert (abs(often - trials * k / degree) < 6 * deviation).all()


def test_a_heavy_edge_and_light_ones():
    weights = np.full(300, 1e-6)
    weights[[0, 299]] = 1.0, 3.0
    star = gd.from_edges(np.zeros(300, int), np.arange(1, 301), weights).partition(1, device="cpu")
    found = gd.sample.run(star, Spec(edge_bias=by_weight, depth=1, replace=True), [0], instances=TRIALS)
    kinds = np.searchsorted([2, 300], found.dst, side="right")
    light = 298e-6 / (4 + 298e-6)
    agree(kinds.tolist(), {0: (1 - light) / 4, 1: light, 2: 3 * (1 - light) / 4})


def test_layers():
    """Two of all edges that leave the pool, as sets of edges."""
    edges = [(u, v, w) for u, v, w in zip(SRC.tolist(), DST.tolist(), WEIGHTS.tolist(), strict=True) if u in (1, 3)]
    law = {}
    for order, chance in orders(np.array([w for _, _, w in edges]), 2).items():
        key = tuple(sorted(edges[number][:2] for number in order))
        law[key] = law.get(key, 0.0) + chance
    spec = Spec(edge_bias=by_weight, neighbor_size=2, depth=1, per="layer")
    found = gd.sample.run(graph(), spec, [[3, 1]], instances=TRIALS).verify()
    pairs = list(zip(found.src.tolist(), found.dst.tolist(), strict=True))
    agree([tuple(sorted(pairs[i : i + 2])) for i in range(0, len(pairs), 2)], law)


def test_a_pool_is_chosen_from_without_replacement():
    def bias(v):
        return v.id * 0.5

    spec = Spec(vertex_bias=bias, frontier_size=2, neighbor_size=-1, depth=1)
    cycle = gd.from_edges(np.arange(5), (np.arange(5) + 1) % 5).partition(1, device="cpu")
    found = gd.sample.run(cycle, spec, [[4, 0, 1, 3]], instances=TRIALS).verify()
    law = {}
    for order, chance in orders(np.array([4, 0, 1, 3]), 2).items():
        key = tuple(sorted(order))
        law[key] = law.get(key, 0.0) + chance
    place = {4: 0, 0: 1, 1: 2, 3: 3}
    agree([tuple(place[v] for v in row) for row in found.src.reshape(-1, 2).tolist()], law)


@pytest.mark.slow
@pytest.mark.parametrize("revisit", [False, True])
def test_rows_of_an_array_are_pools(revisit):
    graph = gd.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 1])
    spec = Spec(frontier_size=1, depth=3, replace=True, revisit=revisit)
    pools = np.array([[0, 3], [2, 2], [1, 0]])
    rows, arrays = (gd.sample.run(graph, spec, seeds, seed=4).verify() for seeds in (pools, list(pools)))
    for column in ("src", "dst", "hop", "instance"):
        assert getattr(rows, column).tolist() == getattr(arrays, column).tolist()
    assert set(rows.instance.tolist()) == {0, 1, 2}
    assert len(gd.sample.run(graph, spec, pools[:0]).dst) == len(gd.sample.run(graph, spec, pools[:, :0]).dst) == 0
    with pytest.raises(InputError, match="3 dimensions"):
        gd.sample.run(graph, spec, np.zeros((2, 2, 2), int))


@pytest.mark.parametrize("revisit", [False, True])
def test_pools_stand_in_whatever_has_a_length_and_an_order(revisit):
    import pandas

    graph = gd.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 1])
    spec = Spec(frontier_size=1, depth=3, replace=True, revisit=revisit)
    pools = {7: np.array([0, 3]), 0: np.array([2]), 1: np.array([1, 0])}
    expected = gd.sample.run(graph, spec, list(pools.values()), seed=4)
    for given in (pools.values(), deque(pools.values()), pandas.Series(pools), [list(pool) for pool in pools.values()]):
        found = gd.sample.run(graph, spec, given, seed=4)
        for column in ("src", "dst", "hop", "instance"):
            assert getattr(found, column).tolist() == getattr(expected, column).tolist()


def test_a_fire_burns_a_geometric_number():
    star = gd.from_edges(np.zeros(4, int), np.arange(1, 5)).partition(1, device="cpu")
    found = gd.sample.run(star, specs(1)["forest fire"], [0], instances=TRIALS).verify()
    law = {k: FIRE**k * (1 - FIRE) for k in range(4)} | {4: FIRE**4}
    agree(np.diff(found.edge_offsets).tolist(), law)


def test_a_snowball_is_that_of_the_sampler():
    rng = np.random.default_rng(2)
    G = gd.from_edges(rng.integers(0, 60, 150), rng.integers(0, 60, 150), num_vertices=60).partition(1, device="cpu")
    seeds = [rng.integers(0, 60, size) for size in (1, 4, 0, 9)]
    one, other = gd.sample.run(G, specs(4)["snowball"], seeds), gd.sample.snowball(G, seeds, 4)
    for column in ("src", "dst", "hop", "instance", "nodes", "row", "col"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))


@pytest.mark.slow
def test_too_few_trials_change_no_law(tuned):
    tuned(SAMPLE, trials=1)
    law = Rows(N, SRC, DST, WEIGHTS).walks(second_order, 1, 3, onward)
    found = gd.sample.run(graph(), specs(3)["node2vec"], [1], instances=TRIALS)
    agree(paths(found, TRIALS), law)
    spec = Spec(edge_bias=by_weight, neighbor_size=2, depth=1, edge_bound=3)
    found = gd.sample.run(graph(), spec, [0], instances=TRIALS)
    row = WEIGHTS[:4]
    agree([tuple([1, 2, 3, 0].index(v) for v in pair) for pair in found.dst.reshape(-1, 2).tolist()], orders(row, 2))


@pytest.mark.parametrize(
    "spec",
    [
        Spec(depth=1, replace=True),
        Spec(edge_bias=lambda e: 3, depth=1, replace=True),
        Spec(edge_bias=lambda e: 0.3, edge_bound=0.7, depth=1, replace=True),
        Spec(neighbor_size=lambda v: int(4 * v.random), depth=1, revisit=True),
        Spec(update=lambda e: 1 + int(4 * e.random), depth=2, replace=True, neighbor_size=1),
    ],
    ids=["uniform", "by sums", "by rejection", "sizes", "updates"],
)
def test_entries_of_a_pool_draw_independently(spec):
    """Two entries of one vertex, whose random numbers are told apart by their places alone."""
    fan = np.arange(1, 5)
    graph = gd.from_edges(np.concatenate([np.zeros(4, int), fan]), np.concatenate([fan, fan])).partition(
        1, device="cpu"
    )
    found = gd.sample.run(graph, spec, [[0, 0]], instances=TRIALS)
    instance, hop = found.instance, found.hop
    if spec.depth == 2:
        drawn = found.src[hop == 1].reshape(-1, 2) - 1
    elif callable(spec.neighbor_size):
        # how many edges there are together: of two independent numbers 0 to 3
        totals = np.bincount(instance, minlength=TRIALS)
        agree(totals.tolist(), {total: (4 - abs(total - 3)) / 16 for total in range(7)})
        return
    else:
        drawn = found.dst.reshape(-1, 2) - 1
    agree(map(tuple, drawn.tolist()), dict.fromkeys(product(range(4), repeat=2), 1 / 16))


def test_edges_of_one_vertex_have_random_numbers_of_their_own():
    spec = Spec(neighbor_size=-1, update=lambda e: int(2 * e.random), depth=2, revisit=True)
    graph = gd.from_edges([0, 0, 1], [0, 1, 1]).partition(1, device="cpu")
    found = gd.sample.run(graph, spec, [0], instances=TRIALS)
    # Sources of step 1 tell what the two edges put into the pool: 0 gives two edges, 1 gives one.
    second = np.bincount(found.instance[found.hop == 1], minlength=TRIALS)
    agree(second.tolist(), {2: 0.25, 3: 0.5, 4: 0.25})


@pytest.mark.parametrize(
    "spec",
    [
        Spec(edge_bias=by_weight, neighbor_size=2, depth=1),
        Spec(edge_bias=by_weight, neighbor_size=2, depth=1, replace=True),
        Spec(edge_bias=by_weight, depth=1, replace=True, revisit=True, select="inverse"),
        Spec(edge_bias=by_weight_anywhere, neighbor_size=2, depth=1, select="inverse"),
    ],
)
def test_large_biases_have_their_shares_to_the_last_digit(spec):
    """What is drawn modulo their sum is not: some are drawn for six of 16 numbers, and others for five."""
    weights = np.array([3, 4, 5]) << 58
    star = gd.from_edges(np.zeros(3, int), np.arange(1, 4), weights).partition(1, device="cpu")
    found = gd.sample.run(star, spec, [0], instances=TRIALS, seed=3).verify()
    k = len(found.dst) // TRIALS
    share = weights / weights.sum()
    law = orders(weights / 2**58, k)
    if spec.replace:
        law = {drawn: float(np.prod(share[list(drawn)])) for drawn in product(range(3), repeat=k)}
    agree(map(tuple, (found.dst.reshape(-1, k) - 1).tolist()), law)
