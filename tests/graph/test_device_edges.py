"""Edges that are given on a GPU stay there; those of the host that are checked there come back. Both give what the host
gives: the same numbers, reports, errors and answers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from emulated import emulated, stand_in
from gangs import active
from scipy import sparse
from scipy.sparse import csgraph

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, VertexNotFound
from graphdask.graph import placing
from graphdask.graph.tuning import GRAPH

EDGES = 400


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    """What stands for CuPy."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    return get_backend("cuda").xp


@pytest.fixture(params=["given", "borrowed"])
def put(request, gpu, tuned):
    """Gives an array so that it is checked on the GPU."""
    if request.param == "given":
        return gpu.asarray
    tuned(GRAPH, device_edges=1)
    return np.asarray


def on_host(tuned) -> None:
    tuned(GRAPH, device_edges=1 << 60)


def edges_of(kind: str, rng: np.random.Generator, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ends with self-loops and parallel edges, by ids that are consecutive, shifted, with gaps, or far apart."""
    most = {"consecutive": 30, "shifted": 30, "gaps": 200, "far": 60}[kind]
    ends = rng.integers(0, most, (2, EDGES))
    ends[:, 0], ends[:, 1], ends[:, 2] = 0, most - 1, most - 2
    if kind == "consecutive":
        ends[0, :most] = np.arange(most)
    scaled = {"shifted": ends + 70, "far": ends * 30_000_000}.get(kind, ends)
    src, dst = scaled.astype(dtype)
    return src, dst


@pytest.mark.parametrize(
    ("kind", "dtype"), [("consecutive", np.int32), ("shifted", np.uint64), ("gaps", np.int64), ("far", np.int32)]
)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(
    ("loops", "parallel"), [("keep", "keep"), ("drop", "keep"), ("keep", "merge"), ("drop", "merge")]
)
def test_a_graph_of_a_gpu_is_that_of_the_host(put, tuned, rng, dtype, kind, directed, loops, parallel):
    src, dst = edges_of(kind, rng, dtype)
    weights = rng.integers(1, 6, EDGES).astype(np.float32)
    options = {"directed": directed, "self_loops": loops, "multi_edges": parallel}
    G = gd.from_edges(put(src), put(dst), put(weights), **options)
    on_host(tuned)
    H = gd.from_edges(src, dst, weights, **options)
    assert G.report == H.report
    assert isinstance(G.source.src, np.ndarray) == (put is np.asarray)
    for one, other in zip(G.edges(), H.edges(), strict=True):
        np.testing.assert_array_equal(one, other)
    expected = _distances(src, dst, weights, G.vertex_ids, directed)
    for parts in (1, 3):
        found = gd.sssp(G.partition(parts, device="cuda"), int(src[0])).distance
        np.testing.assert_array_equal(found, expected)


def _distances(src: Any, dst: Any, weights: Any, ids: np.ndarray, directed: bool) -> np.ndarray:
    """By SciPy, with the lightest of parallel edges."""
    np.testing.assert_array_equal(ids, np.unique(np.concatenate([src, dst])))
    a, b = np.searchsorted(ids, src), np.searchsorted(ids, dst)
    dense = np.full((len(ids), len(ids)), np.inf)
    np.minimum.at(dense, (a, b), weights)
    return csgraph.dijkstra(sparse.csr_array(np.where(np.isinf(dense), 0, dense)), directed=directed, indices=a[0])


@pytest.mark.parametrize(
    "known", [{"num_vertices": 50}, {"vertices": np.arange(3, 50)}, {"vertices": np.arange(50) * 2}]
)
def test_known_vertices_number_the_edges(put, tuned, known):
    src, dst = np.array([4, 6, 48, 4]), np.array([6, 8, 4, 46])
    given = {name: put(value) if name == "vertices" else value for name, value in known.items()}
    G = gd.from_edges(put(src), put(dst), **given)
    for end, place in (("source", 0), ("destination", 1)):
        ends = [src, dst]
        ends[place] = np.array([4, 6, 1, 120])
        with pytest.raises(VertexNotFound) as caught:
            gd.from_edges(*map(put, ends), **given)
        assert f"edge {end}" in str(caught.value)
        with GRAPH.varied(device_edges=1 << 60), pytest.raises(VertexNotFound) as expected:
            gd.from_edges(*ends, **known)
        assert str(caught.value) == str(expected.value)
    on_host(tuned)
    H = gd.from_edges(src, dst, **known)
    assert G.vertex_ids.tolist() == H.vertex_ids.tolist()
    assert [ends.tolist() for ends in G.edges()[:2]] == [src.tolist(), dst.tolist()]
    assert gd.bfs(G, 4).depth.tolist() == gd.bfs(H, 4).depth.tolist()


def test_errors_are_those_of_the_host(put):
    cases = [
        ((np.array([1, -2]), np.array([1, 1])), {}),
        ((np.array([1, 2**63 + 4], np.uint64), np.array([1, 1], np.uint64)), {}),
        ((np.array([1, 2]), np.array([3, 2])), {"self_loops": "error"}),
        ((np.array([1, 2, 5, 2]), np.array([3, 2, 1, 2])), {"multi_edges": "error"}),
        ((np.array([1, 2, 3, 1]), np.array([3, 2, 1, 7])), {"multi_edges": "error", "directed": False}),
        ((np.array([1, 2]), np.array([3, 2]), np.array([1.0, np.nan])), {}),
        ((np.array([1, 2]), np.array([3, 2]), np.array([1.0])), {}),
        ((np.array([1, 2]), np.array([3])), {}),
        ((np.array([1.5, 2.0]), np.array([3.0, 2.0])), {}),
        ((np.array([[1], [2]]), np.array([[3], [4]])), {}),
    ]
    for arrays, options in cases:
        with pytest.raises(InputError) as caught:
            gd.from_edges(*map(put, arrays), **options)
        with GRAPH.varied(device_edges=1 << 60), pytest.raises(InputError) as expected:
            gd.from_edges(*arrays, **options)
        assert str(caught.value) == str(expected.value)


def test_a_column_of_the_host_follows_the_others(gpu):
    G = gd.from_edges(gpu.asarray(np.array([0, 1])), [1, 2], [0.5, 2.0], vertices=range(4))
    assert isinstance(G.source.dst, gpu.ndarray)
    assert isinstance(G.source.weights, gpu.ndarray)
    assert gd.sssp(G, 0).distance.tolist() == [0.0, 0.5, 2.5, np.inf]
    assert gd.from_edges([0, 1], [1, 2], gpu.asarray(np.array([0.5, 2.0]))).num_edges == 2


def test_what_the_caller_changes_later_changes_nothing(gpu):
    src, dst, weights = (gpu.asarray(np.array(values, np.int32)) for values in ([0, 1], [1, 2], [5, 7]))
    G = gd.from_edges(src, dst, weights)
    for array in (src, dst, weights):
        array[...] = 0
    assert gd.sssp(G, 0).distance.tolist() == [0, 5, 12]


def test_a_graph_of_a_gpu_travels_and_is_divided_as_that_of_the_host(gpu, rng):
    src, dst = edges_of("gaps", rng, np.int64)
    G = gd.from_edges(gpu.asarray(src), gpu.asarray(dst), directed=False)
    H = pickle.loads(pickle.dumps(G))
    assert isinstance(H.source.src, np.ndarray)
    piece = pickle.loads(pickle.dumps(G.source.piece(1, 3)))
    assert isinstance(piece.dst, np.ndarray)
    assert piece.dst.tolist() == H.source.piece(1, 3).dst.tolist()
    assert [ends.tolist() for ends in H.edges()[:2]] == [ends.tolist() for ends in G.edges()[:2]]
    assert H.source.skewed == G.source.skewed
    hub = gpu.asarray(np.zeros(3000, np.int32)), gpu.asarray(np.arange(3000, dtype=np.int32))
    assert gd.from_edges(*hub).source.skewed
    for parts in (2, 4):
        for device in ("cpu", "cuda"):
            found = gd.connected_components(G.partition(parts, device=device)).label
            assert found.tolist() == gd.connected_components(H).label.tolist()


def test_no_memory_of_the_gpu_leaves_edges_on_the_host(gpu, free_memory):
    free_memory(1000, "cuda")
    G = gd.from_edges(gpu.asarray(np.arange(300)), gpu.asarray(np.arange(300)[::-1].copy()))
    assert isinstance(G.source.src, np.ndarray)
    assert G.num_vertices == 300


def test_edges_of_the_host_stay_for_workers(gpu, two_workers, tuned, watched):
    """The GPU is a worker's where a client is open."""
    tuned(GRAPH, device_edges=1)
    asked = watched(placing, "get_backend", lambda name, *more: name)
    gd.from_edges(np.arange(5), np.arange(5))
    assert "auto" in asked
    asked.clear()
    with active(two_workers):
        gd.from_edges(np.arange(5), np.arange(5))
    assert "auto" not in asked
