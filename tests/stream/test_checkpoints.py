"""A run over a graph on disk goes on from a checkpoint, on any number of ranks, with the bits that it has without."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS
from streams import equal, weights_of

import graphdask as gd
from graphdask.errors import InputError, Unsupported

HALVES = gd.Program(
    state={"x": (float, lambda v: 1.0 + v.id)},
    message=(float, "sum"),
    send=lambda e: e.source.x / 3.0,
    apply=lambda v, m: {"x": 0.5 * v.x + m / (1.0 + v.total)},
    activity="all",
    aggregate={"total": ("sum", lambda old, new: new.x)},
    max_supersteps=23,
)
SMALLEST = gd.Program(
    state={"label": (int, lambda v: v.id)},
    message=(int, "min"),
    send=lambda e: e.source.label,
    apply=lambda v, m: m < v.label and {"label": m},
    direction="both",
)
CALLS = {
    "pagerank": (lambda S, **how: gd.pagerank(S, **how), 10),
    "pagerank, odd": (lambda S, **how: gd.pagerank(S, tol=0, max_iter=31, **how), 7),
    "pagerank, float32, weights": (lambda S, **how: gd.pagerank(S, dtype="float32", weighted=True, **how), 3),
    "pagerank, from a vertex": (lambda S, **how: gd.pagerank(S, personalization={3: 1.0}, norm="linf", **how), 9),
    "katz": (lambda S, **how: gd.katz_centrality(S, alpha=0.01, **how), 2),
    "hits": (lambda S, **how: gd.hits(S, **how), 5),
    "program that pulls": (lambda S, **how: gd.run(S, HALVES, **how), 6),
    "program that pushes": (lambda S, **how: gd.run(S, SMALLEST, **how), 1),
    "closeness": (lambda S, **how: gd.closeness_centrality(S, weight=None, **how), 11),
    "betweenness": (lambda S, **how: gd.betweenness(S, weight=None, **how), 11),
    "closeness by weight": (lambda S, **how: gd.closeness_centrality(S, **how), 11),
    "betweenness by weight": (lambda S, **how: gd.betweenness(S, **how), 11),
}


def graph(name="sparse random, directed"):
    n, src, dst, directed = GRAPHS[name]()
    return gd.from_edges(src, dst, weights_of("whole", len(src)), num_vertices=n, directed=directed)


@pytest.mark.parametrize("parts", [(1, 3), (3, 1), (2, 2)])
@pytest.mark.parametrize("name", CALLS)
def test_a_later_run_on_other_ranks_goes_on_with_the_same_bits(stored, tmp_path, name, parts):
    call, every = CALLS[name]
    S = stored(graph(), "1MiB", inward=True)
    before, after = (S.partition(count) for count in parts)
    expected = call(after)
    first = call(before, checkpoint=tmp_path / "c", every=every)
    assert first.stats.checkpoints["written"] > 0
    r = call(after, checkpoint=tmp_path / "c", every=every)
    assert r.stats.checkpoints["source"] == "files"
    assert 0 < r.stats.checkpoints["resumed"] <= len(first.stats)
    assert len(r.stats) < len(expected.stats)
    equal(first, expected)
    equal(r, expected)
    r.verify()


def test_a_checkpoint_is_of_one_file(stored, tmp_path):
    """The same edges in chunks of another size are another file, and so is the graph in memory."""
    G = graph()
    gd.pagerank(stored(G, "1MiB", inward=True), checkpoint=tmp_path / "c", every=5)
    with pytest.raises(InputError, match="another run: its edges is"):
        gd.pagerank(stored(G, "1MiB", inward=True, chunk=4096), checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="another run: its edges is"):
        gd.pagerank(G, checkpoint=tmp_path / "c")


def test_betweenness_with_another_memory_is_refused(stored, tmp_path):
    """As many sources as the memory holds go together, and their sums have the order of these batches."""
    G = gd.generate.rmat(12, edge_factor=4, seed=3)
    gd.betweenness(stored(G, "64MiB"), sources=70, seed=1, checkpoint=tmp_path / "c", every=5)
    with pytest.raises(InputError, match="went through 64 sources at a time, and here memory= is for"):
        gd.betweenness(stored(G, "4MiB"), sources=70, seed=1, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("name", ["bfs", "sssp", "core_number", "label_propagation"])
def test_other_streamed_runs_refuse_checkpoints(stored, tmp_path, name):
    arguments = (3,) if name in ("bfs", "sssp") else ()
    with pytest.raises(Unsupported, match=r"of a graph on disk does not support checkpoints.*S\.in_memory\(\)"):
        getattr(gd, name)(stored(graph("sparse random, undirected"), "1MiB"), *arguments, checkpoint=tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_every_without_a_folder_is_refused(stored):
    with pytest.raises(InputError, match="say checkpoint= too"):
        gd.pagerank(stored(graph(), "1MiB", inward=True), every=5)
    assert np.isfinite(gd.pagerank(stored(graph(), "1MiB", inward=True)).rank).all()


@pytest.mark.slow
@pytest.mark.parametrize("first", ["cpu", "device"])
@pytest.mark.parametrize(
    "name",
    [
        "pagerank",
        "pagerank, odd",
        "pagerank, float32, weights",
        "program that pulls",
        "closeness",
        "closeness by weight",
    ],
)
def test_a_device_goes_on_where_a_cpu_stopped_and_the_other_way_round(streamed, tmp_path, name, first):
    call, every = CALLS[name]
    on_device = streamed(graph(), "1MiB", inward=True, parts=2)
    on_cpu = gd.stream.open(on_device.store.path, "1MiB", device="cpu")
    before, after = (on_cpu, on_device) if first == "cpu" else (on_device, on_cpu)
    call(before, checkpoint=tmp_path / "c", every=every)
    r = call(after, checkpoint=tmp_path / "c", every=every)
    assert r.stats.checkpoints["source"] == "files"
    assert ("device" in r.stats.streamed) == (first == "cpu")
    equal(r, call(on_cpu))


LATEST = gd.Program(
    state={"x": (float, 0.0)},
    message=(float, "max"),
    send=lambda e: e.source.x + e.time,
    apply=lambda v, m: m > v.x and {"x": m},
    max_supersteps=12,
)


@pytest.mark.parametrize("memory", ["1MiB", "24KiB"])
def test_a_program_that_reads_columns_goes_on(stored, tmp_path, memory):
    """Where these stay in memory, and where they are read from the file again."""
    n, src, dst, _ = GRAPHS["sparse random, directed"]()
    G = gd.from_edges(src, dst, num_vertices=n, edge_columns={"time": np.arange(len(src)) % 7 + 0.5})
    S = stored(G, memory, inward=True, edge_columns=True)
    expected = gd.run(S, LATEST)
    gd.run(S, LATEST, checkpoint=tmp_path / "c", every=5)
    r = gd.run(S, LATEST, checkpoint=tmp_path / "c")
    assert r.stats.checkpoints["resumed"] == 10
    equal(r, expected)
    equal(r, gd.run(G, LATEST))
