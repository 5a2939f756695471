"""The laws of random walks, against exact probabilities; and that tests of them notice what is drawn wrong.

Seeds are fixed: a right law fails with a probability of 1e-4 once, when a seed is chosen, and never again.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from walk_laws import (
    LEAST_P,
    adjacency,
    node2vec_matrix,
    p_of_counts,
    p_of_independence,
    simple_walk,
    stochastic,
    transitions,
)

import graphdask as gd
import graphdask.kernels.walk
from graphdask.backend import CpuBackend, _cpu_kernels, _CpuKernels

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
    for seed in (0, -1, 2**70 + 5):
        walks = gd.sample.random_walk(graph(), starts(40), 12, seed=seed).walks
        for instance, walk in enumerate(walks.tolist()):
            assert walk == simple_walk(ROWS, instance % N, 12, seed, instance)


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
    divided = graph(WEIGHTS if weighted else None, directed)
    walks = gd.sample.node2vec(divided, starts(3500), 80, p, q, seed=11).walks
    plain = adjacency(N, SRC, DST, directed=directed)
    matrix = adjacency(N, SRC, DST, WEIGHTS if weighted else None, directed)
    law = node2vec_matrix(plain, p, q) * np.where(plain > 0, matrix / np.maximum(plain, 1), 0)[None]
    assert p_of_counts(transitions(walks, N, order=2), stochastic(law)) > LEAST_P
    assert p_of_counts(transitions(walks[:, :2], N), stochastic(matrix)) > LEAST_P


PICK = "pick_uniform(row[j], row[j] + degree[j], one[j])"
AMONG = "pick_uniform(begin, end, first)"
FIRST = "philox(key, np.uint64(first + base + j), number, _0)"
OTHERS = "multiply_high(second, np.uint64(others))"
UNBIASED = ("edge, _ = pick(", "edge, _ = begin, (")
"""Compiles sooner."""
MUTANTS = {
    "modulo": (PICK, "row[j] + np.int64(one[j] % np.uint64(degree[j]))"),
    "never the last": (PICK, PICK.replace("degree[j]", "max(degree[j] - 1, 1)")),
    "never the last among moves": (AMONG, AMONG.replace("end", "max(end - 1, begin + 1)")),
    "no step": (FIRST, "philox(key, np.uint64(first + base + j), _1, _0)"),
    "no instance": (FIRST, "philox(key, _1, number, _0)"),
    "one number for two decisions": ("coin = second", "coin = first"),
    "one number for two decisions of Metropolis": (OTHERS, OTHERS.replace("second", "first")),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_draw_is_noticed(name, tmp_path, monkeypatch):
    source = Path(graphdask.kernels.walk.__file__).read_text()
    for right, wrong in (MUTANTS[name], UNBIASED):
        assert right in source
        source = source.replace(right, wrong)
    (tmp_path / "mutant.py").write_text(source)
    spec = importlib.util.spec_from_file_location("mutant", tmp_path / "mutant.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    mutant = _CpuKernels("walk")
    mutant._module = module
    monkeypatch.setattr(
        CpuBackend, "kernels", lambda self, family, **types: mutant if family == "walk" else _cpu_kernels(family)
    )
    checks = {
        "modulo": [check_definition],
        "never the last": [check_definition, check_simple, check_independence],
        "never the last among moves": [lambda: check_moves(0.25, 0, None)],
        "no step": [check_definition, check_simple, check_independence],
        "no instance": [check_definition, check_independence],
        "one number for two decisions": [lambda: check_moves(0.25, 0, None), lambda: check_moves(0, 0.3, None)],
        "one number for two decisions of Metropolis": [check_metropolis],
    }
    for check in checks[name]:
        with pytest.raises(AssertionError):
            check()
