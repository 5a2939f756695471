"""Kernels that are compiled ahead: what calls name, and threads that compile it."""

from __future__ import annotations

import operator
import threading
import time
from contextlib import nullcontext

import numpy as np
import pytest
from device_arrays import DeviceNumpy
from emulated import EmulatedCuda, stand_in

import graphdask as gd
from graphdask.device.ahead import SEVERAL, Ahead, Jobs, family, kernels_of_cupy
from graphdask.device.backend import macro_of
from graphdask.kernels.common import compiling

QUIET = {"progress": False}
CALLS = {
    "bfs": lambda G: gd.bfs(G, 0, **QUIET),
    "components": lambda G: gd.connected_components(G, **QUIET),
    "pagerank": lambda G: gd.pagerank(G, **QUIET),
    "pagerank of float32": lambda G: gd.pagerank(G, dtype="float32", tol=1e-4, **QUIET),
    "core numbers": lambda G: gd.core_number(G, **QUIET),
    "labels": lambda G: gd.label_propagation(G, **QUIET),
    "betweenness": lambda G: gd.betweenness(G, sources=[0], **QUIET),
    "triangles": lambda G: gd.triangles(G, **QUIET),
}


class Asked(EmulatedCuda):
    """Notes which families are named ahead, and which are called."""

    def __init__(self):
        super().__init__()
        self.named, self.called = set(), set()

    def ahead(self, families):
        self.named |= {(name, tuple(sorted((t, macro_of(v)) for t, v in types))) for name, _, types in families}

    def kernels(self, name, *, cooperative=False, functions=None, **types):
        self.called.add((name, tuple(sorted((t, macro_of(v)) for t, v in types.items()))))
        return super().kernels(name, cooperative=cooperative, functions=functions, **types)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_names_the_kernels_that_it_uses(name, monkeypatch):
    backend = Asked()
    stand_in(monkeypatch, backend)
    CALLS[name](gd.generate.rmat(8, edge_factor=8, seed=1).partition(1, device="cuda"))
    small = {("counting", ())}  # which of masks are counted depends on the graph
    made = {each for each in backend.called if each[0] == "rmat"}  # at once, as the first kernels of all
    assert backend.named - small == backend.called - made - small


def test_shortest_paths_name_the_kernels_of_their_tree(monkeypatch):
    backend, rng = Asked(), np.random.default_rng(0)
    stand_in(monkeypatch, backend)
    src, dst = rng.integers(0, 200, (2, 900))
    G = gd.from_edges(src, dst, weights=rng.random(900).astype(np.float32), directed=False)
    gd.sssp(G.partition(1, device="cuda"), 0, **QUIET)
    assert ("sssp_tree", (("dist_t", "double"), ("index_t", "int"), ("weight_t", "float"))) in backend.named
    assert {name for name, _ in backend.named} == {"sorted_rows", "sssp_team", "sssp_tree"}


def test_jobs_are_done_by_no_more_threads_than_processors_and_urgent_ones_first(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(2))
    jobs, begun, lock, go, done = Jobs(9), [], threading.Lock(), threading.Event(), threading.Semaphore(0)

    def job(number):
        with lock:
            begun.append(number)
        go.wait(30.0)
        done.release()

    jobs.give([lambda n=n: job(n) for n in range(4)])
    while len(begun) < 2:
        time.sleep(0.001)
    jobs.give([lambda: job(10)], before_others=True)
    assert sorted(begun) == [0, 1]
    assert len([thread for thread in threading.enumerate() if thread.name == "graphdask-compile"]) == 2
    go.set()
    for _ in range(5):
        assert done.acquire(timeout=30.0)
    assert begun[2] == 10
    assert sorted(begun[3:]) == [2, 3]


def test_a_job_that_fails_ends_no_thread():
    jobs, done = Jobs(1), threading.Event()
    jobs.give([lambda: operator.truediv(1, 0), done.set])
    assert done.wait(30.0)


def test_what_is_used_of_cupy_works_on_arrays_of_a_device(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(16))
    uses = kernels_of_cupy(DeviceNumpy())
    assert len(uses) > 60
    for use in uses:
        use()


class Cupy(DeviceNumpy):
    """Arrays, and streams."""

    class cuda:
        @staticmethod
        def Stream(non_blocking):
            assert non_blocking
            return nullcontext()


class Device:
    """A backend that notes which families are asked for, and what is compiled while it is active."""

    def __init__(self):
        self.xp, self.asked, self.active, self.done = Cupy(), [], 0, threading.Event()

    def activate(self):
        self.active += 1
        self.done.set()
        return nullcontext()

    def kernels(self, name, *, cooperative, **types):
        self.asked.append((name, cooperative, types))
        self.done.set()


def test_cupy_is_compiled_ahead_when_it_has_compiled_several_kernels_for_calls(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(16))
    device = Device()
    ahead = Ahead(device, lambda: True)
    for _ in range(SEVERAL - 1):
        ahead.compiled(True)
        ahead.compiled(False)
    with ahead.by_us():
        ahead.compiled(False)
    assert not device.done.wait(0.05)
    ahead.compiled(False)
    while device.active < len(kernels_of_cupy(device.xp)):
        assert device.done.wait(30.0)
        time.sleep(0.001)


def test_a_family_is_compiled_ahead_once_by_a_process_of_one_device():
    device, wide = Device(), family("bfs", cooperative=True, index_t=np.int64)
    Ahead(device, lambda: False).families([wide])
    ahead = Ahead(device, lambda: True)
    ahead.families([wide])
    assert device.done.wait(30.0)
    ahead.families([wide])
    assert device.asked == [("bfs", True, {"index_t": np.int64})]


def test_few_processors_compile_nothing_of_cupy_ahead(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(2))
    assert kernels_of_cupy(DeviceNumpy()) == []


def test_who_waits_for_a_kernel_of_another_thread_has_compiled_it():
    lock, before = threading.Lock(), compiling.account()
    with compiling.waited(lock):
        pass
    assert compiling.since(before) == compiling.NOTHING
    held = threading.Event()

    def hold():
        with lock:
            held.set()
            time.sleep(0.05)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(30.0)
    with compiling.waited(lock):
        other.join()
    waited = compiling.since(before)
    assert waited.kernels == 1
    assert 0.0 < waited.seconds < 30.0


def test_a_family_is_named_by_its_types():
    assert family("bfs", index_t=np.int32) == family("bfs", index_t=np.int32)
    assert family("bfs", index_t=np.int32) != family("bfs", index_t=np.int64)
