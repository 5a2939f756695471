"""Sequential model, waiting queues of any schedule, CUDA kernel and the definition in plain integers: one graph."""

import itertools
from functools import cache

import copy_model as definition
import numpy as np
import pytest

from graphdask.device.backend import get_backend
from graphdask.generate.copy_model import COLUMNS, PASSES, STATE
from graphdask.generate.preferential_attachment import coin_threshold
from graphdask.kernels.generate.cuppa_pack import CopyTargets

POISON = -77
CPU = get_backend("cpu")
# n, degree
SIZES = [(2, 1), (3, 1), (900, 1), (4, 2), (500, 2), (5, 4), (400, 4), (90, 16), (101, 100), (140, 100)]
PROBABILITIES = [0.0, 0.1, 0.5, 1.0]
THREADS = [1, 2, 7, 64]
# segment, factor, capacity
SCHEDULES = [(0, 1, 16), (0, 2, 2), (1, 1, 16), (7, 3, 4), (1 << 40, 1, 1)]


@cache
def from_definition(n, degree, p, attempts=None):
    return np.array(definition.copy_model(n, degree, p, n + degree, attempts)).ravel()


def draws(n, degree, p, attempts=None):
    return (
        n - degree,
        degree,
        np.uint64(coin_threshold(p)),
        np.uint64(n + degree),
        64 * degree if attempts is None else attempts,
    )


def run_queue(backend, dtype, graph, threads, segment, factor, capacity, rows=500):
    """Targets and log of one run; what lies around them is poisoned and must stay."""
    count = (graph[0] - graph[1]) * graph[1]
    out = backend.xp.full(count + 2, POISON, dtype)
    out[1:-1] = -1
    state, log = backend.xp.zeros(STATE, np.int64), backend.xp.zeros(rows * COLUMNS + 1, np.int64)
    log[-1] = POISON
    kernels = backend.kernels("cuppa", cooperative=True, index_t=np.dtype(dtype))
    n, degree, threshold, seed, attempts = draws(*graph)
    pack = CopyTargets(
        degree=degree, threshold=threshold, seed=seed, attempts=attempts, out=out[1:-1], state=state, log=log[:-1]
    )  # fmt: skip
    kernels.cuppa_targets(n, threads, segment, factor, capacity, rows, pack)
    backend.synchronize()
    out, state, log = map(backend.to_host, (out, state, log))
    assert out[0] == out[-1] == log[-1] == POISON
    return out[1:-1], log[:-1].reshape(-1, COLUMNS)[: state[PASSES]]


def check_log(log, graph, segment, factor):
    """What holds for every schedule, on every machine."""
    first, stop, number, vertices, waiting, held, finished, most = log.T
    n, degree = graph[:2]
    begins = number == 0
    assert first[0] == 0
    assert stop[-1] == n - degree
    np.testing.assert_array_equal(first[begins][1:], stop[begins][:-1])
    assert finished.sum() == (n - degree) * degree
    assert (vertices[np.append(begins[1:], True)] == 0).all()
    assert (vertices[~begins] < vertices[np.flatnonzero(~begins) - 1]).all()
    left = np.where(begins, (stop - first) * degree, np.roll(waiting + held, 1))
    np.testing.assert_array_equal(waiting + held, left - finished)
    assert (waiting >= vertices).all()
    assert ((most <= waiting) & ((most > 0) == (waiting > 0))).all()
    if factor == 1 and segment:
        assert (stop - first)[begins].tolist()[:-1] == [segment] * (begins.sum() - 1)


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_sequential_copy_model_follows_the_definition(size, p):
    for dtype in (np.int32, np.int64):
        out = np.full(len(from_definition(*size, p)) + 2, POISON, dtype)
        CPU.kernels("copy_model").scm_targets(*draws(*size, p), out[1:-1])
        np.testing.assert_array_equal(out[1:-1], from_definition(*size, p))
        assert out[0] == out[-1] == POISON


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_sequential_barabasi_albert_model_follows_the_definition(size):
    for attempts in (128 * size[1], 1):
        expected = np.array(definition.barabasi_albert(*size, 7, attempts)).ravel()
        out = np.full(len(expected) + 2, POISON, np.int32)
        CPU.kernels("copy_model").sba_targets(size[0] - size[1], size[1], np.uint64(7), attempts, out[1:-1])
        np.testing.assert_array_equal(out[1:-1], expected)
        assert out[0] == out[-1] == POISON


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_schedule_changes_the_graph(backend, size, p):
    graph = (*size, p)
    for threads, (segment, factor, capacity) in itertools.product(THREADS, SCHEDULES):
        out, log = run_queue(backend, np.int32, graph, threads, segment, factor, capacity)
        np.testing.assert_array_equal(out, from_definition(*graph))
        if len(log) < 500:
            check_log(log, graph, segment, factor)


@pytest.mark.slow
def test_64_bit_ids_give_the_same_graph(backend):
    for size, p in itertools.product(SIZES, PROBABILITIES):
        out, _ = run_queue(backend, np.int64, (*size, p), 0, 0, 2, 16)
        np.testing.assert_array_equal(out, from_definition(*size, p))


@pytest.mark.parametrize("attempts", [1, 2])
@pytest.mark.parametrize("size", [(300, 4), (120, 16), (101, 100)], ids=str)
def test_slots_without_a_free_candidate_take_the_first_free_vertex(backend, size, attempts):
    for p in PROBABILITIES:
        graph = (*size, p, attempts)
        rows = from_definition(*graph).reshape(-1, size[1])
        assert all(len(set(row)) == size[1] for row in rows.tolist())
        for threads in (1, 64):
            out, _ = run_queue(backend, np.int32, graph, threads, 0, 2, 4)
            np.testing.assert_array_equal(out, rows.ravel())
        scm = np.empty(rows.size, np.int32)
        CPU.kernels("copy_model").scm_targets(*draws(*graph), scm)
        np.testing.assert_array_equal(scm, rows.ravel())


@pytest.mark.parametrize("v", [5, 1000, (1 << 31) - 1, 1 << 31, 1 << 45])
@pytest.mark.parametrize("attempt", [0, 1, 300])
def test_draws_of_any_vertex_follow_the_definition(v, attempt):
    from graphdask.kernels.generate import copy_model as twins

    keys = tuple(map(np.uint64, twins.copy_keys(np.uint64(2**64 - 1))))
    threshold = np.uint64(coin_threshold(0.4))
    for edge in range(5):
        u, k, direct = definition.copy_draw(v, 5, 0.4, 2**64 - 1, v * 5 + edge, attempt)
        assert twins.copy_draw(keys, v * 5 + edge, attempt, v, 5, threshold) == (u, -1 if direct else k)


def test_one_thread_never_waits(backend):
    for segment in (1, 50, 1000):
        _, log = run_queue(backend, np.int32, (1000, 2, 0.1), 1, segment, 1, 16, rows=2000)
        assert (log[:, 2] == 0).all()
        assert (log[:, 3:6] == 0).all()


@pytest.mark.gpu
@pytest.mark.parametrize(("n", "degree", "p"), [(3_000_000, 4, 0.5), (1_000_000, 3, 0.0), (100_001, 17, 0.01)])
def test_a_large_graph_is_the_same_on_both_devices(n, degree, p):
    cuda = get_backend("cuda")
    graph = (n, degree, p)
    expected = np.empty((n - degree) * degree, np.int32)
    CPU.kernels("copy_model").scm_targets(*draws(*graph), expected)
    for dtype in (np.int32, np.int64):
        for segment, factor in ((0, 2), (0, 1), (1 << 40, 1), (100_000, 2)):
            out, log = run_queue(cuda, dtype, graph, 0, segment, factor, 16, rows=20_000)
            np.testing.assert_array_equal(out, expected)
            check_log(log, graph, min(segment, n), factor)


def test_the_check_finds_the_first_wrong_entry(backend, rng):
    graph = (300, 4, 0.3)
    right = from_definition(*graph)

    def first_bad(out):
        found = backend.xp.full(1, 1 << 62, np.int64)
        kernels = backend.kernels("cuppa", cooperative=True, index_t=np.dtype(np.int32))
        kernels.cuppa_check(*draws(*graph), backend.from_host(out), found)
        backend.synchronize()
        return int(found[0])

    assert first_bad(right.astype(np.int32)) == 1 << 62
    for entry in rng.integers(0, len(right), 30):
        for wrong in (-1, -5, right[entry] + 1, right[entry - 1] if entry % 4 else 10**6):
            out = right.astype(np.int32)
            out[entry] = wrong
            assert first_bad(out) == entry
