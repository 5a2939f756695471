"""The superstep loop: what its statistics count, how it ends, and how a failure of one rank reaches the caller."""

from __future__ import annotations

import json
import pickle
import threading
import time

import dask
import numpy as np
import pytest
from graphs import GRAPHS
from reference import adjacency, search

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.engine.loop import Messages

PARTS = (1, 2, 3, 7)


def divided(name, parts, **options):
    n, src, dst, directed = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    return graph.partition(parts, device="cpu", **options), adjacency(n, src, dst, directed)


@pytest.mark.parametrize("exchange", ["selective", "broadcast"])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", ["sparse random, directed", "scale-free", "duplicates both ways", "star outward"])
def test_a_search_looks_at_each_edge_of_each_reached_vertex_once(name, parts, exchange):
    graph, matrix = divided(name, parts, by="random")
    depth, _ = search(matrix, 0)
    stats = gd.bfs(graph, 0, exchange=exchange, direction="push").stats
    assert stats.edges == np.asarray(matrix.sum(axis=1)).ravel()[depth >= 0].sum()
    levels = np.bincount(depth[depth >= 0])
    frontiers = [step["frontier"] for step in stats if step["frontier"]]
    assert frontiers == levels.tolist()
    assert [step["superstep"] for step in stats] == list(range(len(stats)))
    assert all(step[name] >= 0 for step in stats for name in ("compute", "code", "exchange", "wait"))


@pytest.mark.parametrize("name", ["scale-free", "binary tree"])
def test_one_rank_sends_nothing(name):
    graph, _ = divided(name, 1)
    for result in (gd.bfs(graph, 0), gd.connected_components(graph)):
        assert (result.stats.bytes_sent, result.stats.ranks, result.stats.transport) == (0, 1, "single")
        assert all(step["messages"] == 0 and step["codes"] == [] for step in result.stats)


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_messages_are_the_vertices_reached_for_others(parts):
    graph, matrix = divided("dense random, directed", parts, by="random", ghosts="all")
    depth, _ = search(matrix, 5)
    result = gd.bfs(graph, 5, exchange="selective", direction="push")
    owner = np.empty(len(depth), int)
    for rank, part in enumerate(graph.built.parts.values):
        owner[part.ids] = rank
    src, dst = matrix.tocoo().row, matrix.tocoo().col
    # a rank tells the owner of v once, when it first reaches v
    reported = {(owner[u], v) for u, v in zip(src, dst, strict=True) if depth[u] >= 0 and owner[u] != owner[v]}
    assert sum(step["messages"] for step in result.stats) == len(reported)
    assert result.stats.bytes_sent > 0
    assert result.stats.transport == "threads"
    rank_sums = sum(step.bytes_sent for rank in result.stats.ranks_detail for step in rank)
    assert result.stats.bytes_sent == rank_sums
    for step in result.stats:
        assert (step["messages"] > 0) == (step["bytes_sent"] > 0) == bool(step["codes"])


def test_broadcast_tells_everyone():
    graph, _ = divided("star outward", 4, by="range")
    selective, broadcast = (
        gd.bfs(graph, 0, exchange=how, direction="push").stats for how in ("selective", "broadcast")
    )
    remote = 60 - len(graph.built.parts[0].ids)  # leaves that the source's rank does not own
    assert [step["messages"] for step in selective] == [0, remote, 0]
    assert broadcast.bytes_sent > selective.bytes_sent
    assert broadcast[0]["messages"] == 3  # the source, to the three others


def test_components_of_one_rank_take_one_superstep():
    graph, _ = divided("scale-free", 1)
    assert len(gd.connected_components(graph).stats) == 1


def test_statistics_are_plain_values_and_a_table():
    graph, _ = divided("scale-free", 3)
    stats = gd.bfs(graph, 0).stats
    values = json.loads(json.dumps(stats.to_dict()))
    assert values["edges"] == stats.edges == sum(step["edges"] for step in values["supersteps"])
    assert (values["algorithm"], values["ranks"], values["devices"]) == ("BFS", 3, ["CPU"] * 3)
    assert len(str(stats).splitlines()) == len(stats) + 4
    assert str(stats).endswith(str(stats.bsp))
    assert values["bsp"]["supersteps"] == len(stats)
    assert stats.seconds > 0
    assert stats.restarts == 0


class Failing(BreadthFirstSearch):
    """Raises on one rank, in one superstep."""

    def __init__(self, rank, superstep, error):
        super().__init__((0,))
        self.rank, self.at, self.error = rank, superstep, error

    def init(self, part, env):
        if self.at == 0 and env.rank == self.rank:
            raise self.error
        return super().init(part, env)

    def superstep(self, part, state, inbox, env):
        if state.frontier.level + 1 == self.at and env.rank == self.rank:
            raise self.error
        return super().superstep(part, state, inbox, env)


@pytest.mark.parametrize("error", [gd.KernelError("kernel bfs.bfs_push failed"), ZeroDivisionError("by zero")])
@pytest.mark.parametrize("superstep", [0, 1, 2])
@pytest.mark.parametrize(("parts", "rank"), [(1, 0), (3, 0), (3, 1), (3, 2)])
def test_the_error_of_a_rank_is_raised_to_the_caller_at_once(parts, rank, superstep, error):
    graph, _ = divided("short path", parts, by="range")
    started = time.monotonic()
    with pytest.raises(type(error), match=str(error)):
        execute.run(graph, Failing(rank, superstep, error))
    assert time.monotonic() - started < 60
    assert gd.bfs(graph, 0).depth.max() == 49  # the gang works on


class Endless(BreadthFirstSearch):
    """Always has something left to do."""

    def superstep(self, part, state, inbox, env):
        none = state.search.parent[:0]
        return Messages(none, none, {"parent": state.search.parent}, active=True)


class Stuck(Endless):
    """Goes through ten supersteps of a sixth of a second, and then through one of two seconds."""

    def superstep(self, part, state, inbox, env):
        threading.Event().wait(1 / 6 if len(env.history) < 10 else 2.0)
        return super().superstep(part, state, inbox, env)


@pytest.mark.parametrize(
    ("primitive", "limits", "says", "least"),
    [
        (Endless, {"graphdask.time-limit": 0.3}, r"time limit of 0\.3 s|did not end within 0\.3 s", 0.2),
        (Stuck, {"graphdask.deadline": 1.0}, r"deadline of 1 s without|did not end within 1\.0 s without", 2.0),
    ],
)
@pytest.mark.parametrize("parts", [1, 3])
def test_a_run_ends_at_its_limits(parts, primitive, limits, says, least):
    graph, _ = divided("short path", parts)
    gd.bfs(graph, 0)
    with dask.config.set(limits):
        graph = graph.partition(parts, device="cpu").persist()
        started = time.monotonic()
        with pytest.raises(gd.DeadlineExceeded, match=says):
            execute.run(graph, primitive((0,)))
        assert least < time.monotonic() - started < 60
    for thread in threading.enumerate():
        if thread.name.startswith("rank-"):  # it may still be on its way out
            thread.join(120)
            assert not thread.is_alive()


def test_the_votes_of_all_ranks_decide_the_end():
    class OneWaits(BreadthFirstSearch):
        def superstep(self, part, state, inbox, env):
            state.frontier.level += 1
            busy = env.rank == 1 and state.frontier.level < 25
            return Messages(
                state.search.parent[:0], state.search.parent[:0], {"parent": state.search.parent}, active=busy
            )

    graph, _ = divided("no edges", 3)
    stats = execute.run(graph, OneWaits((0,))).stats
    assert len(stats) == 26


@pytest.mark.parametrize("parts", [1, 3])
def test_a_run_beyond_the_budget_is_refused_before_it_starts(parts):
    graph, _ = divided("scale-free", parts)
    with dask.config.set({"graphdask.memory-fraction": 1e-12}), pytest.raises(gd.OverBudget, match="memory-fraction"):
        gd.bfs(graph, 0)
    assert gd.bfs(graph, 0).depth[0] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"graphdask.memory-fracton": 0.5}, "unknown setting graphdask.memory_fracton; known are .*memory_fraction"),
        ({"graphdask.exchange": "all"}, "exchange='all' is not one of auto, selective, broadcast"),
        ({"graphdask.device": "tpu"}, "device='tpu'"),
        ({"graphdask.deadline": -1}, "deadline=-1 must not be negative"),
    ],
)
def test_settings_that_are_not_known_are_refused(settings, message):
    graph = gd.from_edges([0], [1])
    with dask.config.set(settings), pytest.raises(gd.InputError, match=message):
        gd.bfs(graph, 0)


def test_the_exchange_of_a_call_wins_over_the_setting():
    graph, _ = divided("scale-free", 2)
    with dask.config.set({"graphdask.exchange": "broadcast"}):
        assert gd.bfs(graph, 0).stats.exchange == "broadcast"
        assert gd.bfs(graph, 0, exchange="selective").stats.exchange == "selective"
    with pytest.raises(gd.InputError, match="exchange='some' is not one of"):
        gd.bfs(graph, 0, exchange="some")


def test_a_device_that_is_not_there_is_refused():
    from graphdask.device.backend import cuda_device_count

    if cuda_device_count():
        pytest.skip("there is a CUDA device")
    with pytest.raises(gd.InputError, match='device "cuda" was asked for'):
        gd.bfs(gd.from_edges([0], [1]).partition(device="cuda"), 0)


def test_each_algorithm_names_its_ghosts_and_the_plan_wins():
    assert gd.bfs(divided("cycle", 2)[0], 0).stats.ghosts == "all"
    assert gd.connected_components(divided("cycle", 2)[0]).stats.ghosts == "1-hop"
    assert gd.bfs(divided("cycle", 2, ghosts="1-hop")[0], 0).stats.ghosts == "1-hop"


def test_runs_from_several_threads_do_not_mix():
    graph, matrix = divided("scale-free", 3)
    found = {}

    def work(source):
        found[source] = gd.bfs(graph, source).depth

    graph.persist()
    threads = [threading.Thread(target=work, args=(source,)) for source in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for source in range(6):
        np.testing.assert_array_equal(found[source], search(matrix, source)[0])


def test_a_graph_travels_without_its_partitions():
    graph, matrix = divided("scale-free", 3)
    depth = gd.bfs(graph, 0).depth
    again = pickle.loads(pickle.dumps(graph))
    assert again.built is None
    assert graph.built is not None
    np.testing.assert_array_equal(gd.bfs(again, 0).depth, search(matrix, 0)[0])
    np.testing.assert_array_equal(depth, search(matrix, 0)[0])


def test_the_size_of_partitions_counts_in_edges_once_they_are_there():
    graph, _ = divided("sparse random, directed", 3)
    gd.bfs(graph, 0)
    before = graph.built.nbytes
    gd.connected_components(graph)
    assert graph.built.nbytes == [part.nbytes for part in graph.built.parts.values]
    assert sum(graph.built.nbytes) > sum(before)
