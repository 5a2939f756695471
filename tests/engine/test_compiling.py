"""Compilation is counted apart from the run, in every thread, process and worker; and a person is told of it."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import numba
import numpy as np
import pytest
from gangs import dask_cluster

import graphdask as gd
from graphdask.display.first_use import FirstUse
from graphdask.display.tuning import DISPLAY
from graphdask.engine.loop import RankResult, Superstep
from graphdask.kernels.common import compiling
from graphdask.kernels.common.compiling import NOTHING, Compiled, account, charge, clock, in_parallel, since
from graphdask.results.stats import Stats

ROOT = Path(gd.__file__).parent.parent

CALLS = """
import json, time
import graphdask as gd
from graphdask.results.bsp import seconds_of

def told(stats, wall):
    ranks = stats.ranks_detail
    compiled = max(sum(step.compile for step in steps) for steps in ranks)
    both = max(sum(seconds_of(step) + step.compile for step in steps) for steps in ranks)
    return {"compile": stats.compile_seconds, "kernels": stats.compiled, "seconds": stats.seconds, "wall": wall,
            "steps": compiled, "both": both, "bsp": stats.bsp.seconds}

def timed(call):
    begin = time.perf_counter()
    made = call()
    return told(made.stats, time.perf_counter() - begin)

G = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False).partition(PARTS).persist()
found = [timed(lambda: gd.bfs(G, 0)) for _ in range(2)]
found += [timed(lambda: gd.sample.random_walk(G, [0, 1], 3, seed=1)) for _ in range(2)]
D = gd.DynamicGraph(G)
updates = [D.update(insert=([0], [2])), D.update(insert=([1], [3]))]
found += [{"compile": one.compile_seconds, "seconds": one.seconds} for one in updates]
print(json.dumps(found))
"""


def plain():
    """A kernel that no process has compiled: nothing is kept on disk."""
    made = numba.njit(nogil=True)(lambda x: x + 1)
    compiling.listen_to_numba()
    return made


def in_new_process(script: str, cache: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with Numba's files in a folder."""
    settings = os.environ | {"NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)} | environment
    command = [sys.executable, "-c", script, *arguments] if script else [sys.executable, "-m", "graphdask", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=settings, check=True)


@pytest.fixture
def reported(tuned) -> list[str]:
    """What a person is told, of any compilation however short."""
    tuned(DISPLAY, compiling=0.0)
    return []


@pytest.mark.slow
def test_the_first_call_compiles_and_the_second_does_not(tmp_path):
    script = CALLS.replace("PARTS", "2")
    first = json.loads(in_new_process(script, tmp_path).stdout)
    for begin in 0, 2:
        cold, warm = first[begin : begin + 2]
        assert cold["compile"] > 0.1
        assert cold["kernels"] > 0
        assert (warm["compile"], warm["kernels"]) == (0, 0)
        for run in cold, warm:
            assert run["compile"] + run["seconds"] <= run["wall"]
            assert run["steps"] <= run["wall"] + 0.01
            assert run["bsp"] <= run["seconds"]
            assert run["both"] <= run["wall"] + 0.01
        assert cold["seconds"] < cold["compile"], "most of a first call on four vertices is compilation"
    assert first[4]["compile"] > 0.1 > first[5]["compile"] == 0
    again = json.loads(in_new_process(script, tmp_path).stdout)
    assert [run["compile"] for run in again] == [0] * 6, "loading from Numba's files is not compiling"


def test_supersteps_take_no_longer_than_the_run():
    def step(number: int, compute: float, wait: float) -> Superstep:
        return Superstep(number, 1, 1, 0, 0, (), compute=compute, code=0.0, exchange=0.0, wait=wait)

    waits = RankResult({}, supersteps=[step(0, 0.1, 2.0), step(1, 0.1, 0.0)])
    compiles = RankResult({}, supersteps=[step(0, 0.1, 0.0), step(1, 0.1, 0.0)])
    stats = Stats.of("BFS", [waits, compiles], "selective", "1-hop", 0.5, compiled=Compiled(3, 2.0))
    assert stats.seconds == stats.bsp.seconds == pytest.approx(2.2)
    assert stats.seconds + stats.compile_seconds == pytest.approx(2.5), "the wall time stays"
    warm = Stats.of("BFS", [compiles], "selective", "1-hop", 0.5)
    assert (warm.seconds, warm.compile_seconds) == (0.5, 0.0)


@pytest.mark.slow
def test_each_worker_compiles_and_the_longest_counts(tmp_path):
    env = {"NUMBA_CACHE_DIR": str(tmp_path)}
    with dask_cluster(2, env=env) as client:
        G = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False).partition(2).persist(client=client)
        here = account()
        cold, warm, warmer = (gd.bfs(G, 0, client=client).stats for _ in range(3))
    assert cold.compile_seconds > 0.1
    assert cold.compiled > 0
    assert [warm.compile_seconds, warmer.compile_seconds, warm.compiled] == [0, 0, 0]
    assert since(here).seconds >= cold.compile_seconds, "the caller's clock stands still while workers compile"
    for steps in cold.ranks_detail:
        assert 0 < sum(step.compile for step in steps) <= 2 * cold.compile_seconds
    assert cold.bsp.seconds <= cold.seconds
    assert max(step["exchange"] for step in cold) < cold.compile_seconds, "who waits for a compiler does not exchange"


@pytest.mark.slow
def test_a_command_says_what_was_compiled_and_not_on_standard_output(tmp_path):
    (tmp_path / "graph.txt").write_text("0 1\n1 2\n2 0\n")
    order = ["run", "bfs", str(tmp_path / "graph.txt"), "--source", "0", "--json"]
    done = in_new_process("", tmp_path / "cache", *order, GRAPHDASK_STEPS="lines")
    record = json.loads(done.stdout)
    assert record["stats"]["compile_seconds"] > 0.1
    (step,) = [step for step in record["steps"] if step["step"].startswith("bfs")]
    assert step["compiled"] > 0
    assert 0 < step["compile_seconds"] <= step["seconds"]
    assert "compiling kernels" in done.stderr
    assert "the next call does not" in done.stderr
    again = in_new_process("", tmp_path / "cache", *order[:-1])
    assert again.stderr == ""
    assert "compil" not in again.stdout


def test_the_clock_stands_still_and_the_account_grows():
    kernel, before, begun = plain(), account(), clock()
    assert kernel(1) == 2
    spent = since(before)
    assert spent.kernels == 1
    assert spent.seconds > 0
    assert clock() - begun < spent.seconds + 0.5


def test_a_call_of_a_kernel_that_is_there_counts_nothing():
    kernel = plain()
    kernel(1)
    before = account()
    for number in range(100):
        kernel(number)
    assert account() == before


def test_a_kernel_that_calls_others_counts_once():
    compiling.listen_to_numba()
    inner = numba.njit(lambda x: x * 2)
    outer, before = numba.njit(lambda x: inner(x) + inner(x + 1)), account()
    assert outer(1) == 6
    assert since(before).kernels == 1


@pytest.mark.parametrize("collected", [True, False])
def test_no_garbage_is_collected_while_numba_compiles(collected, watched):
    seen, kernel, was = [], plain(), gc.isenabled()
    watched(numba.core.compiler, "compile_extra", note=lambda *given, **named: seen.append(gc.isenabled()))
    (gc.enable if collected else gc.disable)()
    try:
        assert kernel(1) == 2
        assert seen == [False]
        assert gc.isenabled() == collected
    finally:
        (gc.enable if was else gc.disable)()


def test_garbage_is_collected_again_when_the_last_of_several_threads_has_compiled():
    garbage, was = compiling._Garbage(), gc.isenabled()
    gc.enable()
    try:
        garbage.collect()  # what began before anybody listened
        garbage.keep()
        garbage.keep()
        garbage.collect()
        assert not gc.isenabled()
        garbage.collect()
        assert gc.isenabled()
    finally:
        (gc.enable if was else gc.disable)()


def test_who_waits_for_the_compiler_of_another_thread_does_not_run_either():
    kernel, go, found = plain(), threading.Barrier(2), {}

    def call(rank: int) -> None:
        go.wait(60)
        before = account()
        kernel(3)
        found[rank] = since(before)

    threads = [threading.Thread(target=call, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one.kernels for one in found.values()) == 1
    joint = in_parallel(found.values(), shared=True)
    assert joint.kernels == 1
    assert joint.seconds == max(one.seconds for one in found.values()) > 0


def test_workers_compile_at_the_same_time():
    each = [Compiled(3, 1.5), Compiled(5, 0.5)]
    assert in_parallel(each, shared=False) == (5, 1.5)
    assert in_parallel(each, shared=True) == (8, 1.5)
    assert in_parallel([], shared=True) == NOTHING


def test_what_cupy_compiles_is_counted_and_what_it_loads_is_not():
    calls = []

    def compile_using_nvrtc(source: str, options: tuple[str, ...] = ()) -> str:
        calls.append((source, options))
        if source == "wrong":
            raise ValueError("does not compile")
        return f"{source} compiled"

    compiler = types.SimpleNamespace(compile_using_nvrtc=compile_using_nvrtc)
    compiling.listen_to_cupy(compiler)
    compiling.listen_to_cupy(compiler)
    before = account()
    assert compiler.compile_using_nvrtc("kernel", options=("-O",)) == "kernel compiled"
    assert since(before).kernels == 1
    assert since(before).seconds > 0
    with pytest.raises(ValueError, match="does not compile"):
        compiler.compile_using_nvrtc("wrong")
    assert since(before).kernels == 2
    assert calls == [("kernel", ("-O",)), ("wrong", ())]
    compiling.listen_to_cupy(types.SimpleNamespace())  # a CuPy that has no such function


def test_a_person_is_notified_at_the_beginning_and_at_the_end(reported, capsys):
    with FirstUse("bfs", True, reported.append):
        plain()(1)
    begun, ended = reported
    assert begun == "bfs: compiling kernels, which this machine uses for the first time ..."
    assert ended.startswith("bfs: compiled 1 kernel in ")
    assert ended.endswith(" s; the next call does not")
    with FirstUse("bfs", True):
        plain()(1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("bfs: compil") == 2


def test_nobody_is_notified_who_does_not_watch_or_where_nothing_is_compiled(reported, capsys):
    kernel = plain()
    with FirstUse("bfs", False, reported.append):
        kernel(1)
    with FirstUse("bfs", None, reported.append):  # the tests' standard error is no terminal
        plain()(1)
    with FirstUse("bfs", True, reported.append):
        kernel(2)
    assert not reported
    assert capsys.readouterr() == ("", "")


def test_the_outermost_call_tells(reported):
    with FirstUse("bfs", True, reported.append), FirstUse("partitioning", True, reported.append):
        plain()(1)
    assert [line.partition(":")[0] for line in reported] == ["bfs", "bfs"]


def test_what_workers_compile_is_reported_too(reported):
    with FirstUse("bfs", True, reported.append), FirstUse("partitioning", True, reported.append) as inner:
        inner.elsewhere(1.0)
        inner.elsewhere(2.0)
        charge(Compiled(6, 4.2))
    begun, ended = reported
    assert "compiling" in begun
    assert ended.startswith("bfs: compiled 6 kernels in 4.2 s of ")


def test_every_module_with_kernels_listens():
    """A module that compiles counts it: it listens itself, or imports `twin`, which does."""
    for path in [*(ROOT / "kernels").rglob("*.py"), *(ROOT / "graphdask").rglob("*.py")]:
        text = path.read_text()
        if "njit(" in text and path.name not in ("generated.py", "inserted.py"):
            assert "listen_to_numba()" in text or "kernels.common.twin import" in text, path


def test_statistics_show_it_in_words():
    G = gd.from_edges([0, 1], [1, 2], directed=False)
    stats = gd.bfs(G, 0).stats
    stats.compiled, stats.compile_seconds = 0, 0.0
    assert "compiling" not in repr(stats)
    stats.compiled, stats.compile_seconds = 6, 4.25
    assert "and 4.25 s for compiling 6 kernels" in repr(stats)
    assert {"compiled", "compile_seconds"} <= stats.to_dict().keys()
    assert np.isfinite(stats.to_dict()["compile_seconds"])


def test_what_cupy_compiles_is_counted_once_where_one_function_calls_another():
    def _compile_using_nvrtc_no_warning(source: str) -> str:
        return f"{source} compiled"

    def compile_using_nvrtc(source: str) -> str:
        return compiler._compile_using_nvrtc_no_warning(source)

    compiler = types.SimpleNamespace(
        compile_using_nvrtc=compile_using_nvrtc, _compile_using_nvrtc_no_warning=_compile_using_nvrtc_no_warning
    )
    compiling.listen_to_cupy(compiler)
    before = compiling.account()
    assert compiler.compile_using_nvrtc("kernel") == "kernel compiled"
    assert compiling.since(before).kernels == 1
    assert compiler._compile_using_nvrtc_no_warning("kernel") == "kernel compiled"
    assert compiling.since(before).kernels == 2


@pytest.mark.parametrize(("given", "kept"), [(None, True), ("0", False)])
def test_headers_of_cupy_are_kept_unless_the_environment_says_otherwise(given, kept, monkeypatch):
    monkeypatch.delenv("CUPY_NVRTC_USE_PCH", raising=False)
    if given is not None:
        monkeypatch.setenv("CUPY_NVRTC_USE_PCH", given)
    compiler = types.SimpleNamespace(_use_pch=False)
    compiling.keep_headers(compiler)
    assert compiler._use_pch is kept
    without = types.SimpleNamespace()
    compiling.keep_headers(without)  # a CuPy that cannot
    assert vars(without) == {}
