"""The laws of random walks, against exact probabilities; and that tests of them notice what is drawn wrong.

Seeds are fixed: a right law fails with a probability of 1e-4 once, when a seed is chosen, and never again.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from mutants import Mutants, fails
from walk_laws import (
    LEAST_P,
    adjacency,
    key_of,
    node2vec_matrix,
    p_of_counts,
    p_of_independence,
    philox,
    simple_walk,
    stochastic,
    transitions,
)

import graphdask as gd

N = 7
SRC = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 6, 6, 3])
DST = np.array([1, 2, 3, 4, 2, 5, 3, 6, 4, 5, 6, 0, 6, 1, 6])
WEIGHTS = np.array([1, 2, 60, 4, 5, 1, 9, 0, 3, 1, 2, 7, 1, 1, 30])
MATRIX = adjacency(N, SRC, DST, directed=False)
"""Undirected, 6 with a self-loop."""
ROWS = [[int(v) for v in np.flatnonzero(row)] for row in MATRIX]


def graph(weights=None, directed=False):
    return gd.from_edges(SRC, DST, weights, num_vertices=N, directed=directed).partition(1, device="cpu")


def starts(count):
    return np.arange(count) % N


def test_the_first_word_as_a_fraction_names_the_neighbour():
    check_definition()


def check_definition():
    for seed in (0, 2**64 - 1, 2**63 + 5):
        walks = gd.sample.random_walk(graph(), starts(40), 12, seed=seed).walks
        for instance, walk in enumerate(walks.tolist()):
            assert walk == simple_walk(ROWS, instance % N, 12, seed, instance)


@pytest.mark.parametrize("method", ["rejection", "inverse", "alias"])
def test_numbers_below_sums_of_weights_name_the_neighbour(method):
    check_definition_by_weight(method)


def check_definition_by_weight(method):
    seed, length = 3, 12
    found = gd.sample.random_walk(graph(WEIGHTS), starts(40), length, bias="weight", method=method, seed=seed)
    part, key = found.built.parts[0], key_of(seed)
    tables, indptr = part.tables.get(("edge biases", "weight", method)), part.out.indptr.tolist()
    for instance, walk in enumerate(found.walks.tolist()):
        for step, (v, u) in enumerate(pairwise(walk), 1):
            row = slice(indptr[v], indptr[v + 1])
            weights, draw = part.out.weights[row].tolist(), 0
            first, second = philox(key, instance, step, 0)
            if method == "inverse":
                place = np.searchsorted(np.cumsum(weights), first * sum(weights) >> 64, side="right")
            elif method == "alias":
                place = first * len(weights) >> 64
                if second * sum(weights) >> 64 >= tables.alias_share[row][place]:
                    place = tables.alias_other[row][place]
            else:
                while second * max(weights) >> 64 >= weights[place := first * len(weights) >> 64]:
                    draw += 1
                    first, second = philox(key, instance, step, draw)
            assert u == part.out.indices[row][place]


def test_simple_walks():
    check_simple()


def check_simple():
    walks = gd.sample.random_walk(graph(), starts(7000), 80, seed=4).walks
    assert p_of_counts(transitions(walks, N), stochastic(MATRIX)) > LEAST_P
    # the vertex before does not matter
    expected = np.broadcast_to(stochastic(MATRIX), (N, N, N))
    assert p_of_counts(transitions(walks, N, order=2), expected) > LEAST_P


def test_walks_and_their_steps_are_independent():
    check_independence()


def check_independence():
    """In a complete graph with self-loops, every vertex that a walk visits is drawn from all."""
    n = 8
    src, dst = np.divmod(np.arange(n * n), n)
    complete = gd.from_edges(src, dst, num_vertices=n).partition(1, device="cpu")
    walks = gd.sample.random_walk(complete, np.zeros(4000, int), 40, seed=2).walks[:, 1:]
    for one, other in (
        (walks[:, :-1], walks[:, 1:]), (walks[:, :-2], walks[:, 2:]), (walks[:-1], walks[1:]), (walks[:-1, 1:],
        walks[1:, :-1]), (walks[:-1, :-1], walks[1:, 1:]), (walks[:2000], walks[2000:]),
    ):  # fmt: skip
        assert p_of_independence(one.ravel(), other.ravel()) > LEAST_P
    assert p_of_counts(np.bincount(walks.ravel(), minlength=n)[None], np.full((1, n), 1 / n)) > LEAST_P


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("method", ["rejection", "inverse", "alias", "reservoir"])
def test_walks_by_weights(method, kind):
    weights = WEIGHTS.astype(kind) / kind(8) if np.dtype(kind).kind == "f" else WEIGHTS.astype(kind)
    check_by_weight(method, weights)


def check_by_weight(method, weights=WEIGHTS):
    walks = gd.sample.random_walk(graph(weights), starts(3500), 80, bias="weight", method=method, seed=6).walks
    expected = stochastic(adjacency(N, SRC, DST, WEIGHTS, directed=False))
    assert p_of_counts(transitions(walks, N), expected) > LEAST_P


@pytest.mark.parametrize("method", ["rejection", "alias"])
def test_walks_by_degrees(method):
    walks = gd.sample.random_walk(graph(), starts(3500), 80, bias="degree", method=method, seed=7).walks
    degrees = (MATRIX > 0).sum(axis=1)
    assert p_of_counts(transitions(walks, N), stochastic(MATRIX * degrees)) > LEAST_P


def test_parallel_edges_count_as_often_as_they_stand_there():
    src, dst = np.array([0, 0, 0, 0, 1, 2]), np.array([1, 1, 1, 2, 0, 0])
    doubled = gd.from_edges(src, dst, num_vertices=3).partition(1, device="cpu")
    walks = gd.sample.random_walk(doubled, [0] * 500, 40, seed=1).walks
    assert p_of_counts(transitions(walks, 3), stochastic(adjacency(3, src, dst))) > LEAST_P


@pytest.mark.parametrize(("restart", "jump"), [(0.25, 0), (0, 0.3), (0.125, 0.5), (1, 0), (0, 1)])
@pytest.mark.parametrize("bias", [None, "weight"])
def test_restart_and_jump(restart, jump, bias):
    check_moves(restart, jump, bias)


def check_moves(restart, jump, bias):
    """Directed, so that 5 -> 6 alone leaves 5, and with vertex 7, from which there is no edge."""
    n, start = N + 1, 2
    src, dst = np.append(SRC, [5, 6]), np.append(DST, [7, 7])
    weights = np.append(WEIGHTS, [4, 9])
    divided = gd.from_edges(src, dst, weights, num_vertices=n).partition(1, device="cpu")
    walks = gd.sample.random_walk(
        divided, np.full(4000, start), 60, bias=bias, restart=restart, jump=jump, seed=8
    )  # fmt: skip
    assert (walks.lengths == 60).all()
    follow = stochastic(adjacency(n, src, dst, weights if bias else None))
    leave = np.zeros((n, n))
    leave[:, start] += restart
    leave += jump / n
    law = np.where(follow.any(axis=1, keepdims=True), (1 - restart - jump) * follow + leave, stochastic(leave))
    assert p_of_counts(transitions(walks.walks, n), law) > LEAST_P


def test_metropolis_hastings_is_uniform():
    check_metropolis()


def check_metropolis():
    walks = gd.sample.metropolis_hastings(graph(), starts(7000), 80, seed=9).walks
    degrees = MATRIX.sum(axis=1)
    law = MATRIX / degrees[:, None] * np.minimum(1, degrees[:, None] / degrees[None])
    law += np.diag(1 - law.sum(axis=1))
    np.testing.assert_allclose(np.ones(N) @ law, 1)  # so the uniform law is stationary
    assert p_of_counts(transitions(walks, N), law) > LEAST_P
    walks = gd.sample.metropolis_hastings(graph(), np.zeros(40000, int), 60, seed=10).walks
    assert p_of_counts(np.bincount(walks[:, -1], minlength=N)[None], np.full((1, N), 1 / N)) > LEAST_P


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("p", "q"), [(2, 0.5), (0.25, 4), (8, 8), (0.1, 1), (1, 0.1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_node2vec(p, q, weighted, directed):
    check_node2vec(p, q, weighted, directed)


@pytest.mark.parametrize("method", ["rejection", "inverse", "alias"])
def test_node2vec_by_all_methods(method):
    check_node2vec(0.25, 4, True, False, method)


def check_node2vec(p, q, weighted, directed, method="auto"):
    divided = graph(WEIGHTS if weighted else None, directed)
    walks = gd.sample.node2vec(divided, starts(3500), 80, p, q, method=method, seed=11).walks
    plain = adjacency(N, SRC, DST, directed=directed)
    matrix = adjacency(N, SRC, DST, WEIGHTS if weighted else None, directed)
    law = node2vec_matrix(plain, p, q) * np.where(plain > 0, matrix / np.maximum(plain, 1), 0)[None]
    assert p_of_counts(transitions(walks, N, order=2), stochastic(law)) > LEAST_P
    assert p_of_counts(transitions(walks[:, :2], N), stochastic(matrix)) > LEAST_P


WALK = "philox(key, np.uint64(first + base + j), number, _0)"
TAKEN = "pick_uniform(row[j], row[j] + degree[j], one[j])"
AMONG = "pick_uniform(begin, end, first)"
OTHERS = "multiply_high(second, np.uint64(others))"
BOTH = "first, coin = philox(key, instance, step, draw)"


def check_restart():
    check_moves(0.25, 0, None)


def check_jump():
    check_moves(0, 0.3, None)


def check_node2vec_plain():
    check_node2vec(2, 0.5, False, False)


def by_weight(method):
    return partial(check_by_weight, method)


def digits(method):
    return partial(check_definition_by_weight, method)


MUTANTS = {
    "pick": {
        "modulo by sums": (
            "multiply_high(number, prefix[end - 1])", "number % prefix[end - 1]", digits("inverse"),
        ),
        "CTPS off by one": (
            "prefix[middle] > digit", "prefix[middle] >= digit", by_weight("inverse"), digits("inverse"),
        ),
        "modulo in alias tables": (
            "multiply_high(first, np.uint64(end - begin))", "first % np.uint64(end - begin)", digits("alias"),
        ),
        "shares off by one": (
            "multiply_high(second, total) < share[e]", "multiply_high(second, total) <= share[e]", by_weight("alias"),
            digits("alias"),
        ),
        "modulo of trials": ("multiply_high(first, degree)", "first % degree", digits("rejection")),
        "trials kept once too often": (
            "multiply_high(second, most) < units(values[e], shift)",
            "multiply_high(second, most) <= units(values[e], shift)", by_weight("rejection"), digits("rejection"),
        ),
        "the number of the edge for its trial": (
            "multiply_high(second, most) < units(values[e], shift)",
            "multiply_high(first, most) < units(values[e], shift)", by_weight("rejection"), digits("rejection"),
        ),
    },
    "walk": {
        "modulo": (TAKEN, "row[j] + np.int64(one[j] % np.uint64(degree[j]))", check_definition),
        "never the last": (
            TAKEN, TAKEN.replace("degree[j]", "max(degree[j] - 1, 1)"), check_definition, check_simple,
            check_independence,
        ),
        "never the last among moves": (AMONG, AMONG.replace("end", "max(end - 1, begin + 1)"), check_restart),
        "one generator for all steps": (
            WALK, WALK.replace("number", "_1"), check_definition, check_simple, check_independence,
        ),
        "one generator for all walks": (
            WALK, WALK.replace("np.uint64(first + base + j)", "_1"), check_definition, check_independence,
        ),
        "one number for two decisions": ("coin = second", "coin = first", check_restart, check_jump),
        "one number for two decisions of Metropolis": (OTHERS, OTHERS.replace("second", "first"), check_metropolis),
    },
    "second_order": {
        "the number of the edge for the coin": (
            BOTH, "first, coin = philox(key, instance, step, draw)[0], philox(key, instance, step, draw)[0]",
            check_node2vec_plain,
        ),
        "one generator for all steps": (BOTH, BOTH.replace("step", "_0"), check_node2vec_plain),
        "one generator for all walks": (BOTH, BOTH.replace("instance", "_0"), check_node2vec_plain),
        "a bound of half the height": ("coin[j] >= high", "coin[j] > high >> _1", check_node2vec_plain),
    },
}  # fmt: skip
"""Of each module its mutants: what is right, what stands there instead, and the checks that fail."""


@pytest.mark.slow
@pytest.mark.parametrize("family", MUTANTS)
def test_a_wrong_draw_is_noticed(family, tmp_path):
    mutants = Mutants(tmp_path, family, {name: pieces[:2] for name, pieces in MUTANTS[family].items()})
    for name, (_, _, *checks) in MUTANTS[family].items():
        for check in checks:
            with mutants.running(None):
                check()
            with mutants.running(name):
                noticed = fails(check)
            assert noticed, f"{name}: {check} does not notice it"
