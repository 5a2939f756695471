"""Samplers of others on the same graph, as their users call them.

igraph's `random_walk`, one call for each walk and one long walk; what a user of NetworkX writes, a loop that calls
Python's `random`; torch-cluster's and pyg-lib's operators, which PyTorch Geometric's loaders and Node2Vec call, on CSR
of tensors that is there already. Slow ones draw fewer instances. Each makes its own graph first, which is not timed.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphdask.bench.analysis.peers import Edges

FEW = 200
"""Instances of those that draw one at a time."""


@dataclass(frozen=True)
class Peer:
    """A way to draw with a library."""

    name: str
    module: str
    """Without which it is skipped."""
    like: str
    """The sampler of ours that draws the same."""
    method: str
    make: Callable[[Edges], Any]
    """Gives its graph."""
    draw: Callable[[Any, np.ndarray, Any], Callable[[], int]]
    """`draw(graph, starts, size)` gives the call that is timed, which returns how many edges it drew."""
    few: bool = False

    @property
    def walks(self) -> bool:
        """Whether it walks."""
        return not self.like.startswith("neighbors")


def peers(
    walks: Sequence[tuple[int, int]],
    samples: Sequence[tuple[int, tuple[int, ...]]],
    graph: Any,
    starts: Callable[[int], np.ndarray],
    repeats: int,
) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """For each case of each peer what it is, and a call that measures it."""
    edges = Edges.of(graph)
    made: dict[tuple[str, Any], Any] = {}
    for peer in PEERS:
        cases: Sequence[tuple[int, Any]] = walks if peer.walks else samples
        for count, size in cases[:1] if peer.few else cases:
            number = min(count, FEW) if peer.few else count
            row: dict[str, Any] = {
                "sampler": peer.name,
                "like": peer.like,
                "bias": None,
                "method": peer.method,
                "instances": number,
            }
            row["size"] = size if peer.walks else list(size)
            if importlib.util.find_spec(peer.module) is None:
                yield row, partial(_skipped, peer.module)
                continue
            if (peer.module, peer.make) not in made:
                made[peer.module, peer.make] = peer.make(edges)
            call = peer.draw(made[peer.module, peer.make], starts(number), row["size"])
            yield row, partial(_timed, call, 1 if peer.few else repeats)


def _skipped(module: str) -> dict[str, Any]:
    return {"skipped": f"{module} is not installed"}


def _timed(call: Callable[[], int], repeats: int) -> dict[str, Any]:
    if repeats > 1:
        call()  # what is made at the first call
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        edges = call()
        seconds.append(time.perf_counter() - started)
    median = statistics.median(seconds)
    return {"edges": edges, "ms": 1e3 * median, "mseps": edges / median / 1e6}


def _igraph_of(edges: Edges) -> Any:
    import igraph

    return igraph.Graph(n=edges.n, edges=np.column_stack([edges.src, edges.dst]).tolist())


def _networkx_of(edges: Edges) -> dict[int, list[int]]:
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(edges.n))
    graph.add_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    return {vertex: list(others) for vertex, others in graph.adjacency()}


def _tensors_of(edges: Edges) -> tuple[Any, Any]:
    """CSR, its rows sorted, as node2vec of torch-cluster needs them."""
    import torch

    src, dst, _ = edges.arcs
    order = np.lexsort((dst, src))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(src, minlength=edges.n)))).astype(np.int64)
    return torch.from_numpy(indptr), torch.from_numpy(dst[order].astype(np.int64))


def _igraph_calls(graph: Any, starts: np.ndarray, length: int) -> Callable[[], int]:
    return lambda: sum(len(graph.random_walk(int(start), length, stuck="return")) - 1 for start in starts[:20])


def _igraph_long(graph: Any, starts: np.ndarray, length: int) -> Callable[[], int]:
    start = next(int(start) for start in starts if graph.degree(int(start)))
    return lambda: len(graph.random_walk(start, length * len(starts), stuck="return")) - 1


def _networkx_walks(neighbours: dict[int, list[int]], starts: np.ndarray, length: int) -> Callable[[], int]:
    def call() -> int:
        drawing, steps = random.Random(0), 0
        for vertex in starts.tolist():
            walk = [vertex]
            while len(walk) <= length and neighbours[walk[-1]]:
                walk.append(drawing.choice(neighbours[walk[-1]]))
            steps += len(walk) - 1
        return steps

    return call


def _networkx_samples(neighbours: dict[int, list[int]], seeds: np.ndarray, sizes: Sequence[int]) -> Callable[[], int]:
    def call() -> int:
        drawing, edges = random.Random(0), 0
        for start in seeds.tolist():
            seen, frontier = {start}, [start]
            for size in sizes:
                reached = []
                for vertex in frontier:
                    for other in drawing.sample(neighbours[vertex], min(size, len(neighbours[vertex]))):
                        edges += 1
                        if other not in seen:
                            seen.add(other)
                            reached.append(other)
                frontier = reached
        return edges

    return call


def _operator(module: str, name: str) -> Any:
    """An operator that a library has registered with PyTorch."""
    import torch

    importlib.import_module(module)
    space, _, operator = name.partition(".")
    return getattr(getattr(torch.ops, space), operator)


def _tensor_walks(module: str, name: str, p: float, q: float) -> Callable[[Any, np.ndarray, int], Callable[[], int]]:
    """Walks; in an undirected graph only those from vertices without edges do not move."""

    def draw(graph: Any, starts: np.ndarray, length: int) -> Callable[[], int]:
        import torch

        (indptr, indices), walk = graph, _operator(module, name)
        begin = torch.from_numpy(starts.astype(np.int64))
        steps = length * int((indptr[begin + 1] > indptr[begin]).sum())

        def call() -> int:
            walk(indptr, indices, begin, length, p, q)
            return steps

        return call

    return draw


def _pyg_samples(graph: Any, seeds: np.ndarray, sizes: list[int]) -> Callable[[], int]:
    """A tree for each seed, of which a vertex is expanded once, as ours."""
    import pyg_lib
    import torch

    (indptr, indices), begin = graph, torch.from_numpy(seeds.astype(np.int64))

    def call() -> int:
        found = pyg_lib.sampler.neighbor_sample(indptr, indices, begin, sizes, disjoint=True, return_edge_id=False)
        return len(found[0])

    return call


PEERS: tuple[Peer, ...] = (
    Peer("igraph", "igraph", "random_walk", "a call each", _igraph_of, _igraph_calls, few=True),
    Peer("igraph", "igraph", "random_walk", "one long walk", _igraph_of, _igraph_long, few=True),
    Peer("networkx", "networkx", "random_walk", "random.choice", _networkx_of, _networkx_walks, few=True),
    Peer("networkx", "networkx", "neighbors", "random.sample", _networkx_of, _networkx_samples, few=True),
    *(
        Peer(name, module, like, "random_walk", _tensors_of, _tensor_walks(module, operator, p, q))
        for name, module, operator in (
            ("torch-cluster", "torch_cluster", "torch_cluster.random_walk"),
            ("pyg-lib", "pyg_lib", "pyg.random_walk"),
        )
        for like, p, q in (("random_walk", 1.0, 1.0), ("node2vec 2 0.5", 2.0, 0.5))
    ),
    Peer("pyg-lib", "pyg_lib", "neighbors", "neighbor_sample", _tensors_of, _pyg_samples),
)
