"""What a process takes while it builds and streams, as the operating system counts it, against what it was given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphdask as gd

HELPERS = Path(__file__).parent.parent / "helpers"
PROGRAM = """
import ctypes, gc, json, sys
import numpy as np, graphdask as gd

ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # no huge pages, which take memory that nothing asked for

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

def grown(call):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back, and does not hide what is taken
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak is counted from here
    before = status("VmRSS:")
    result = call()
    return status("VmHWM:") - before, result

folder, memory = sys.argv[1], int(sys.argv[2])
calls = {
    "bfs": lambda S: gd.bfs(S, S.store.header["root"]), "components": gd.connected_components,
    "sssp": lambda S: gd.sssp(S, S.store.header["root"]), "pagerank": lambda S: gd.pagerank(S, max_iter=3, tol=0.5),
    "labels": lambda S: gd.label_propagation(S, 2), "cores": gd.core_number, "triangles": gd.triangles,
    "set": gd.maximal_independent_set, "colors": lambda S: gd.greedy_coloring(S, 0, "largest_first"),
}
sys.path.append(sys.argv[3])
from some_programs import programs

program, _ = programs()["rank"]
calls["program"] = lambda S: gd.run(S, program, max_supersteps=3)

def graph(scale):
    return gd.generate.rmat(scale, 16, seed=0).partition(device="cpu")

small = gd.stream.build(graph(6), folder + "/small.gdl", memory="1MiB")
graph(13).write(folder + "/small.txt")
gd.stream.build(folder + "/small.txt", folder + "/text.gdl", memory="8MiB")
for call in calls.values():
    call(small)
found = {}
found["build"], S = grown(lambda: gd.stream.build(graph(17), folder + "/large.gdl", memory=memory, chunk="512KiB"))
graph(17).write(folder + "/edges.txt")
found["build from text"], _ = grown(
    lambda: gd.stream.build(folder + "/edges.txt", folder + "/text.gdl", memory=memory, chunk="512KiB", overwrite=True)
)
for name, call in calls.items():
    found[name], _ = grown(lambda: call(gd.stream.open(folder + "/large.gdl", memory, device="cpu")))
print(json.dumps({"grown": found, "file": S.nbytes}))
"""


PARQUET = (
    PROGRAM.split("folder, memory")[0]
    + """
import pyarrow as pa
from pyarrow import parquet

folder, memory = sys.argv[1], int(sys.argv[2])
rng, n = np.random.default_rng(0), 1 << 18
schema = pa.schema({"src": pa.int64(), "dst": pa.int64(), "weight": pa.float64()})
with parquet.ParquetWriter(folder + "/large.parquet", schema) as writer:
    for _ in range(4):
        src, dst = rng.integers(0, n, (2, 4 * n))
        table = pa.table({"src": src, "dst": dst, "weight": rng.random(4 * n)}, schema)
        writer.write_table(table)
parquet.write_table(table.slice(0, 1000), folder + "/small.parquet")
del src, dst, table
build = lambda name: gd.stream.build(f"{folder}/{name}.parquet", f"{folder}/{name}.gdl", memory=memory)
build("small")
pa.default_memory_pool().release_unused()
size, S = grown(lambda: build("large"))
assert S.num_edges == 16 * n
print(size)
"""
)


@pytest.mark.slow
def test_parquet_is_read_piece_by_piece(tmp_path, alone):
    memory, libraries = 32 << 20, 16 << 20
    done = subprocess.run(
        [sys.executable, "-c", PARQUET, str(tmp_path), str(memory)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "clear_refs" in done.stderr:
        pytest.skip("the peak of a process cannot be reset here")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 1.1 * memory + libraries < (tmp_path / "large.parquet").stat().st_size


LOOPS = (
    PROGRAM.split("calls = {")[0]
    + """
import warnings

def rank(S, **how):
    return gd.pagerank(S, max_iter=3, tol=9, dangling="self-loop", **how)

def weighted(scale, directed):
    src, dst, _ = gd.generate.rmat(scale, 16, seed=0, directed=directed).edges("cpu")
    weights = np.random.default_rng(0).random(len(src)).astype(np.float32)
    return gd.from_edges(src, dst, weights, directed=directed, num_vertices=1 << scale)

found = {}
ways = {"loops": {"weighted": False}, "weights": {}, "from one": {"personalization": {0: 1.0}}}
for directed in (False, True):
    path = f"{folder}/small.gdl"
    small = gd.stream.build(weighted(6, directed), path, memory="1MiB", overwrite=True)
    for how in ways.values():
        rank(small, **how)
    gd.stream.build(weighted(15, directed), path, memory="64MiB", chunk="256KiB", overwrite=True)
    for name, how in ways.items():
        found[f"{name}, {directed}"], _ = grown(lambda: rank(gd.stream.open(path, memory, device="cpu"), **how))
print(json.dumps(found))
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [6 << 20, 12 << 20])
def test_windows_of_pagerank_are_not_there_at_the_same_time(tmp_path, alone, memory):
    done = subprocess.run(
        [sys.executable, "-c", LOOPS, str(tmp_path), str(memory)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "clear_refs" in done.stderr:
        pytest.skip("the peak of a process cannot be reset here")
    assert done.returncode == 0, done.stderr
    assert {name: size for name, size in json.loads(done.stdout).items() if size > 1.1 * memory} == {}


@pytest.mark.slow
def test_the_peak_is_below_the_budget_and_a_tenth(tmp_path, alone):
    memory = 12 << 20
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(memory), str(HELPERS)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "clear_refs" in done.stderr:
        pytest.skip("the peak of a process cannot be reset here")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["file"] > memory
    assert {name: size for name, size in found["grown"].items() if size > 1.1 * memory} == {}


LIMITED = """
import os, resource, sys, threading
threading.stack_size(1 << 18)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:4])  # each core has a thread, and that a stack
import numpy as np, graphdask as gd

path, parts, memory, limit, which = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
calls = {
    "searches": (
        lambda S: gd.bfs(S, S.store.header["root"]), gd.connected_components,
        lambda S: gd.sssp(S, S.store.header["root"]), lambda S: gd.pagerank(S, max_iter=3, tol=0.5),
    ),
    "undirected": (
        lambda S: gd.label_propagation(S, 2), gd.core_number, gd.triangles, gd.local_clustering_coefficient,
        gd.maximal_independent_set, lambda S: gd.greedy_coloring(S, 0, "largest_first"),
    ),
    "directed": (
        lambda S: gd.label_propagation(S, 2), gd.strongly_connected_components, gd.local_clustering_coefficient,
    ),
}[which]
graph = gd.generate.rmat(6, 16, seed=0, directed=which == "directed")
small = gd.stream.build(graph, path + ".small", memory="1MiB", overwrite=True)
for call in calls:
    call(small.partition(parts))
together = threading.Barrier(17)  # the C library keeps the stacks of these threads for those that read ahead
threads = [threading.Thread(target=together.wait) for _ in range(16)]
for thread in threads:
    thread.start()
together.wait()
for thread in threads:
    thread.join()
with open("/proc/self/status") as lines:
    taken = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
resource.setrlimit(resource.RLIMIT_DATA, (taken + limit, taken + limit))
for call in calls:
    call(gd.stream.open(path, memory, device="cpu").partition(parts))
print("done")
"""


def limited(path, parts, memory, limit, which="searches"):
    """What became of a process that may take no more than `limit` bytes beside what it had before.

    The limit counts address space, so the stacks of its threads are part of what it had before: they are no memory that
    a run is granted, and take more than the tenth that is left beside that.
    """
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(parts), str(memory), str(limit), which],
        capture_output=True, text=True, timeout=600, check=False, env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_ranks_keep_within_what_the_operating_system_grants_them(tmp_path):
    G = gd.generate.rmat(17, 16, seed=0).partition(device="cpu")
    S, memory = gd.stream.build(G, tmp_path / "graph.gdl", memory="16MiB", chunk="256KiB"), 12 << 20
    assert S.nbytes > memory
    for parts in (1, 2):
        limited(S.store.path, parts, memory, 1 << 40)  # compiles what is not compiled yet, which takes memory too
        done = limited(S.store.path, parts, memory, int(1.1 * memory * parts))
        assert done.stdout.endswith("done\n"), done.stderr
    assert "MemoryError" in limited(S.store.path, 1, 4 * memory, memory).stderr


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("which", ["undirected", "directed"])
def test_what_knows_of_all_vertices_keeps_within_what_it_is_granted(tmp_path, which):
    G = gd.generate.rmat(17, 16, seed=0, directed=which == "directed").partition(device="cpu")
    S, memory = gd.stream.build(G, tmp_path / "graph.gdl", memory="16MiB", chunk="256KiB"), 9 << 20
    assert S.nbytes > memory
    for parts in (1, 2):
        limited(S.store.path, parts, memory, 1 << 40, which)
        done = limited(S.store.path, parts, memory, int(1.1 * memory * parts), which)
        assert done.stdout.endswith("done\n"), done.stderr


PROOFS = (
    PROGRAM.split("calls = {")[0]
    + """
found = {}
for directed in (False, True):
    calls = [lambda S: gd.label_propagation(S, 2), gd.local_clustering_coefficient, gd.connected_components]
    calls += [gd.strongly_connected_components] if directed else [
        gd.core_number, gd.triangles, gd.maximal_independent_set, gd.greedy_coloring
    ]
    for scale, path in ((6, folder + "/small.gdl"), (17, folder + "/large.gdl")):
        graph = gd.generate.rmat(scale, 16, seed=0, directed=directed).partition(device="cpu")
        S = gd.stream.build(graph, path, memory="64MiB", chunk="256KiB", overwrite=True)
        for call in calls:
            result = call(gd.stream.open(path, memory, device="cpu"))
            size, _ = grown(result.verify)
            if scale == 6:
                continue  # what is compiled and imported takes memory, too
            found[f"{result!r}, {directed}"] = size + sum(c.nbytes for c in result.parts.values[0].columns.values())
print(json.dumps({"grown": found, "file": S.nbytes}))
"""
)


@pytest.mark.slow
def test_proofs_keep_within_the_budget_with_what_they_prove(tmp_path, alone):
    memory = 9 << 20
    done = subprocess.run(
        [sys.executable, "-c", PROOFS, str(tmp_path), str(memory)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "clear_refs" in done.stderr:
        pytest.skip("the peak of a process cannot be reset here")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["file"] > memory
    assert {name: size for name, size in found["grown"].items() if size > 1.1 * memory} == {}
