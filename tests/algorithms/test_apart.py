"""GPUs that do not share memory exchange messages superstep by superstep, and find what a CPU finds, bit for bit.

The GPUs are emulated, the ranks are threads. What they send goes from thread to thread, or through a stand-in for NCCL.
"""

from __future__ import annotations

import numpy as np
import pytest
from covering import pairs
from emulated import emulated, stand_in
from graphs import GRAPHS
from nccl_stand_in import StandInPlane, World
from relayed import apart

import graphdask as gd
from graphdask.algorithms.bfs import DIRECTIONS
from graphdask.comm.nccl import NcclCommunicator
from graphdask.comm.threads import ThreadGroup
from graphdask.comm.tuning import COMM

NAMES = [
    "only self-loops",
    "star inward",
    "short path",
    "sparse random, directed",
    "dense random, undirected",
    "scale-free",
]
CALLS = {
    "components": (lambda graph: gd.connected_components(graph), ("label",)),
    "pagerank": (lambda graph: gd.pagerank(graph, max_iter=5, tol=0.0), ("rank",)),
    "sssp": (lambda graph: gd.sssp(graph, 0), ("distance", "parent")),
    "betweenness": (lambda graph: gd.betweenness(graph, sources=[0, 1]), ("score",)),
    "unweighted betweenness": (lambda graph: gd.betweenness(graph, sources=[0, 1]), ("score",)),
    "unweighted betweenness of one": (lambda graph: gd.betweenness(graph, sources=[0]), ("score",)),
    **{
        f"bfs {way}": (lambda graph, way=way: gd.bfs(graph, 0, direction=way), ("depth", "parent"))
        for way in DIRECTIONS
    },
}
TRANSPORTS = ("threads", "nccl")
SIZES = ("as they are", "small")

pytestmark = pytest.mark.filterwarnings("ignore:pagerank stopped", "ignore:sssp counts every edge")


@pytest.fixture
def transport(request, monkeypatch):
    """GPUs without memory of each other, whose ranks exchange through threads or NCCL."""
    stand_in(monkeypatch, emulated())
    apart(monkeypatch)
    if request.param == "nccl":
        plain, world = ThreadGroup.communicator, World()

        def over_nccl(group, rank, backend):
            control = plain(group, rank, backend)
            if backend.name != "cuda":
                return control
            return NcclCommunicator(control, StandInPlane(backend, world), timeout=30.0, owns_control=True)

        # NCCL wants a GPU for each rank.
        monkeypatch.setattr(ThreadGroup, "communicator", over_nccl)
    return request.param


@pytest.fixture
def sizes(request, tuned):
    if request.param == "small":
        tuned(COMM, counted=2, riding=16, head=32, bitmap_saves=0)


@pytest.mark.parametrize(
    ("call", "name", "parts", "transport", "sizes"),
    pairs(CALLS, NAMES, [2, 3, 4], TRANSPORTS, SIZES),
    indirect=["transport", "sizes"],
)
def test_gpus_of_different_hosts_find_what_a_cpu_finds(call, name, parts, transport, sizes):
    weighted = not call.startswith("unweighted")
    call, columns = CALLS[call]
    n, src, dst, directed = GRAPHS[name]()
    weights = np.random.default_rng(n).integers(1, 9, len(src)) if weighted else None
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    expected = call(graph.partition(1, device="cpu"))
    by, ghosts = ("random", "1-hop") if parts == 3 else ("range", "all")
    found = call(graph.partition(parts, by=by, ghosts=ghosts, device="cuda"))
    assert found.stats.transport == transport
    for column in columns:
        one, other = getattr(expected, column), getattr(found, column)
        np.testing.assert_allclose(other, one, rtol=0.0 if column != "score" else 1e-12)  # sums of paths in any order
        assert one.dtype == other.dtype
    found.verify()
