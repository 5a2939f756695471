"""One answer everywhere: on clusters of 1 to 3 workers what this process computes, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import dask
import networkx as nx
import numpy as np
import pytest
from common_checks import run, same
from gangs import active, generated, hide_processes, named, scipy_depth
from ranks import needs_ucx

import graphdask as gd
from graphdask.comm.ucx.communicator import ucx_available
from graphdask.errors import InputError, Unsupported
from graphdask.gang.worker import Ability
from graphdask.interface.registry import algorithms

GRAPHS = {"generated": (generated, 0), "named": (named, "v5")}


@cache
def answers(which: str) -> dict[str, np.ndarray]:
    make, source = GRAPHS[which]
    G = make()
    r = gd.bfs(G, source)
    s = gd.sssp(G, source)
    return {
        "depth": r.depth,
        "parent": r.parent,
        "label": gd.connected_components(G).label,
        "strong": gd.strongly_connected_components(G).label,
        "rank": gd.pagerank(G, tol=1e-4).rank,
        "distance": s.distance,
        "before": s.parent,
    }


def test_the_answer_of_one_process_is_scipys():
    G, pairs = generated(), gd.generate.preferential_attachment(2000, degree=3, seed=7).source.piece(0, 1)
    from graphdask.device.backend import get_backend

    src, dst, _ = pairs.edges(get_backend("cpu"))
    assert np.array_equal(gd.bfs(G, 0).depth, scipy_depth(src, dst, 2000, 0))


@pytest.mark.parametrize("which", GRAPHS)
def test_a_cluster_has_the_answer_of_one_process_from_every_algorithm(two_workers, which):
    make, _ = GRAPHS[which]
    for algorithm in algorithms().values():
        G = make()
        G = G.to_undirected() if algorithm.undirected else G
        expected = run(algorithm, G)
        with active(two_workers):
            same(run(algorithm, G.partition(parts=3)).verify(), expected, algorithm.name)


def weighted(directed: bool, kind: type) -> tuple[gd.Graph, np.ndarray]:
    """A graph with names and edges of small weights, many of them ties, and NetworkX's betweenness."""
    rng = np.random.default_rng(5)
    names = np.array([f"v{v}" for v in range(30)])
    src, dst = rng.integers(0, 30, (2, 110))
    weights = rng.integers(1, 5, 110).astype(kind)
    g = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    g.add_weighted_edges_from(zip(names[src], names[dst], weights.tolist(), strict=True))
    G = gd.from_edges(names[src], names[dst], weights, directed=directed)
    scores = nx.betweenness_centrality(g, normalized=False, weight="weight")
    return G, np.array([scores[name] for name in G.vertex_ids])


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(("directed", "kind"), [(True, np.int32), (False, np.float64)])
def test_betweenness_by_weight_and_by_hops_has_the_bits_of_one_process(cluster_of, workers, directed, kind):
    G, scores = weighted(directed, kind)
    alone = gd.betweenness(G)
    np.testing.assert_allclose(alone.score, scores, rtol=1e-11, atol=1e-11)
    some, hops = gd.betweenness(G, 9, seed=2).score, gd.betweenness(G, weight=None).score
    for parts in (2, 3):
        divided = G.partition(parts=parts, ghosts="all" if parts == 3 else "1-hop")
        for comm, exchange in ways("named" if parts == 3 else "generated", parts, workers):
            if comm == "ucx" and not ucx_available()[0]:
                continue
            with active(cluster_of(workers)), dask.config.set({"graphdask.comm": comm}):
                found = gd.betweenness(divided, exchange=exchange)
                drawn = gd.betweenness(divided, 9, seed=2, exchange=exchange)
                by_hops = gd.betweenness(divided, weight=None, exchange=exchange)
            assert found.stats.ranks == parts
            assert found.stats.transport == ("threads" if workers == 1 else comm)
            np.testing.assert_array_equal(found.score, alone.score)
            np.testing.assert_array_equal(drawn.score, some)
            np.testing.assert_array_equal(by_hops.score, hops)
        found.verify(), drawn.verify(), by_hops.verify()


def test_workers_name_the_edge_without_length_that_leaves_betweenness_undefined(two_workers):
    G = gd.from_edges(["a", "b", "c"], ["b", "c", "d"], [1, 0, 2], directed=False).partition(parts=3)
    with active(two_workers), pytest.raises(InputError, match="from b to c"):
        gd.betweenness(G)


def ways(which: str, parts: int, workers: int) -> list[tuple[str, str]]:
    """Data planes and exchanges to try; the two graphs share the combinations."""
    if parts == 1 or workers == 1:
        return [("auto", "selective" if which == "named" else "broadcast")]
    return [("tcp", "selective"), ("ucx", "broadcast")] if which == "named" else [("shm", "selective"), ("ucx", "auto")]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("which", GRAPHS)
def test_every_cluster_gives_the_answer_of_one_process(cluster_of, workers, which, ghosts):
    make, source = GRAPHS[which]
    expected = answers(which)
    has_ucx = ucx_available()[0]
    for parts in (1, 2, 3, 4, 7):
        G = make().partition(parts=parts, ghosts=ghosts)
        for comm, exchange in ways(which, parts, workers):
            if comm == "ucx" and not has_ucx:
                continue
            with active(cluster_of(workers)), dask.config.set({"graphdask.comm": comm}):
                r = gd.bfs(G, source, exchange=exchange)
                c = gd.connected_components(G, exchange=exchange)
                p = gd.pagerank(G, tol=1e-4, exchange=exchange)
                s = gd.sssp(G, source, exchange=exchange)
                strong = gd.strongly_connected_components(G, exchange=exchange)
            found = {"depth": r.depth, "parent": r.parent, "label": c.label, "rank": p.rank}
            found |= {"distance": s.distance, "before": s.parent, "strong": strong.label}
            for name, values in found.items():
                assert values.dtype == expected[name].dtype
                assert np.array_equal(values, expected[name]), (name, parts, comm)
            used = "single" if parts == 1 else "threads" if workers == 1 else comm
            assert {r.stats.transport, c.stats.transport, p.stats.transport} == {used}
            assert r.stats.ranks == parts
        r.verify()
        c.verify()
        p.verify()
        s.verify()
        strong.verify()


def test_workers_of_one_host_share_memory(two_workers):
    assert gd.bfs(generated(200), 0, client=two_workers).stats.transport == "shm"


def test_ucx_is_chosen_among_hosts_where_every_worker_has_it(two_workers):
    needs_ucx()
    G = generated(200).persist(client=two_workers)
    gang = G.built.gang
    address = gang.hosts[0].address
    gang._abilities[address] = replace(gang._abilities[address], host="elsewhere")
    assert gd.bfs(G, 0, client=two_workers).stats.transport == "ucx"
    with (
        dask.config.set({"graphdask.comm": "shm"}),
        pytest.raises(Unsupported, match="comm shm was asked for, but the workers are not on one host"),
    ):
        gd.bfs(G, 0, client=two_workers)


@pytest.mark.parametrize("comm", ["auto", "shm"])
def test_memory_that_cannot_be_mapped(two_workers, comm):
    """A rank finds it out; all give way, or fail with the reason."""
    G = generated(200).persist(client=two_workers)
    expected = gd.bfs(generated(200), 0).depth
    two_workers.run(hide_processes, True)
    try:
        with dask.config.set({"graphdask.comm": comm}):
            if comm == "shm":
                with pytest.raises(Unsupported, match="shared memory cannot be used"):
                    gd.bfs(G, 0, client=two_workers)
            else:
                r = gd.bfs(G, 0, client=two_workers)
                assert r.stats.transport in ("ucx", "tcp")
                assert np.array_equal(r.depth, expected)
    finally:
        two_workers.run(hide_processes, False)


def test_tcp_is_chosen_where_a_worker_has_no_ucx(two_workers):
    lacking = Ability(cuda=False, ucx=False, why_not_ucx="no ucxx here", encrypted=False)
    G = generated(200).persist(client=two_workers)
    gang = G.built.gang
    gang._abilities[gang.hosts[0].address] = lacking
    assert gd.bfs(G, 0, client=two_workers).stats.transport == "tcp"
    with (
        dask.config.set({"graphdask.comm": "ucx"}),
        pytest.raises(InputError, match="a worker cannot use UCX: no ucxx here"),
    ):
        gd.bfs(G, 0, client=two_workers)


def test_a_built_graph_follows_the_settings(two_workers):
    needs_ucx()
    G = generated(200)
    for comm in ("tcp", "ucx", "tcp"):
        with dask.config.set({"graphdask.comm": comm}):
            assert gd.bfs(G, 0, client=two_workers).stats.transport == comm


def test_large_arrays_do_not_travel_in_the_task_graph(two_workers):
    """Dask warns of a large graph, and warnings are errors here."""
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 50_000, (2, 400_000))
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1MB"}):
        r = gd.bfs(gd.from_edges(src, dst, num_vertices=50_000, directed=False), 0, client=two_workers)
    assert np.array_equal(r.depth, scipy_depth(src, dst, 50_000, 0))
