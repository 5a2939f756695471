"""Samplers of others on the same graph, as their users call them.

igraph's `random_walk`, one call for each walk and one long walk; what a user of NetworkX writes, a loop that calls
Python's `random`; torch-cluster's and pyg-lib's operators, which PyTorch Geometric's loaders and Node2Vec call, on CSR
of tensors that is there already; on a GPU pylibcugraph. Slow ones draw fewer instances. Each makes its own graph first,
which is not timed. Beside each, in the same record, stands what ours takes for as many walks or seeds, from the same
starts, with the same lengths or fan-outs, on the same kind of device: whole calls both, from starts in the memory of
the host to the answer where it was computed.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.bench.analysis.peers import Edges
from graphdask.bench.harness import CLOCK, finish, missing, repeat
from graphdask.bench.sample_cugraph import by_weight, made, node2vec, pool, samples, walks

FEW = 200
"""Instances of those that draw one at a time."""
ALIKE = 0.05
"""By how much the edges that two draw may differ and still be called as many."""


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
    draw: Callable[[Any, np.ndarray, Any], Callable[[], int | Callable[[], int]]]
    """`draw(graph, starts, size)` gives the call that is timed, which returns how many edges it drew, or what counts
    them."""
    most: int | None = None
    """Instances that it is asked for at most, and then only in the first case."""
    bias: str | None = None
    how: str = "auto"
    """The method of ours that draws the same."""
    device: str = "cpu"
    largest: int = 200_000_000
    """Edges of the largest graph that it is given."""
    differs: str | None = None
    """How what it draws differs from what ours does."""
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    """What its graph is made and run in."""

    @property
    def walks(self) -> bool:
        """Whether it walks."""
        return not self.like.startswith("neighbors")


Ours = Callable[[str, str | None, str, np.ndarray, Any], Callable[[], Any]]
"""`ours(like, bias, method, starts, size)` gives a call of ours."""


def peers(
    of_walks: Sequence[tuple[int, int]],
    of_samples: Sequence[tuple[int, tuple[int, ...]]],
    graph: Any,
    starts: Callable[[int], np.ndarray],
    repeats: int,
    ours: Ours,
    device: str = "cpu",
    samplers: tuple[str, ...] = (),
) -> Iterator[dict[str, Any]]:
    """A record for each case of each peer, with ours in it."""
    edges: Edges | None = None
    with ExitStack() as stack:
        graphs: dict[tuple[str, Any], Any] = {}
        entered: set[Any] = set()
        for peer in PEERS:
            if peer.device != device or (samplers and not peer.like.startswith(samplers)):
                continue
            cases: Sequence[tuple[int, Any]] = of_walks if peer.walks else of_samples
            for count, size in cases if peer.most is None else cases[:1]:
                number = count if peer.most is None else min(count, peer.most)
                row: dict[str, Any] = {
                    "sampler": peer.name,
                    "like": peer.like,
                    "bias": peer.bias,
                    "method": peer.method,
                    "instances": number,
                    "size": size if peer.walks else list(size),
                    "device": device,
                }
                if reason := missing(peer.module):
                    yield row | {"skipped": reason}
                    continue
                if graph.num_edges > peer.largest:
                    most = f"{graph.num_edges:,} edges are more than the {peer.largest:,} that it is given"
                    yield row | {"skipped": most}
                    continue
                edges = edges or Edges.of(graph)
                begin = starts(number)
                mine = timed(ours(peer.like, peer.bias, peer.how, begin, row["size"]), repeats)
                try:
                    if peer.within not in entered:
                        stack.enter_context(peer.within())
                        entered.add(peer.within)
                    if (peer.module, peer.make) not in graphs:
                        graphs[peer.module, peer.make] = peer.make(edges)
                    call = peer.draw(graphs[peer.module, peer.make], begin, row["size"])
                    theirs = timed(call, 1 if peer.most is not None else repeats)
                except Exception as error:  # whatever another library raises is its result
                    yield row | {"skipped": f"{type(error).__name__}: {error}"}
                    continue
                yield row | in_one_record(theirs, mine, peer.differs)


def in_one_record(theirs: dict[str, Any], mine: dict[str, Any], differs: str | None) -> dict[str, Any]:
    """Both in one record; a ratio where they have drawn as much of the same."""
    found = theirs | {"clock": CLOCK} | {f"graphdask_{name}": value for name, value in mine.items()}
    few, many = sorted((theirs["edges"], mine["edges"]))
    if differs is None and few < (1 - ALIKE) * many:
        differs = "it draws another number of edges"
    return found | ({"over_graphdask": theirs["ms"] / mine["ms"]} if differs is None else {"differs": differs})


def timed(call: Callable[[], Any], repeats: int) -> dict[str, Any]:
    """Milliseconds of whole calls, their median, until the devices have finished; the first is not counted."""
    runs = repeat(call, repeats, before=finish)
    edges = _edges(runs.result)
    return {"edges": edges, "ms": 1e3 * runs.median, "mseps": edges / runs.median / 1e6}


def _edges(answer: Any) -> int:
    """How many edges were drawn; the steps that walks were to make are not counted where they ended before."""
    if isinstance(answer, int):
        return answer
    if callable(answer):
        return int(answer())
    return int(answer.lengths.sum()) if "lengths" in answer.columns else int(answer.stats.edges)


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
    return lambda: sum(len(graph.random_walk(int(start), length, stuck="return")) - 1 for start in starts)


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
        if int((indptr[1:] == indptr[:-1]).sum()) and bool((indptr[indices + 1] == indptr[indices]).any()):
            raise ValueError("walks end in this directed graph, and it does not say where")
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


TOGETHER = "all seeds are one instance, and what is reached from several is expanded as often"

PEERS: tuple[Peer, ...] = (
    Peer("igraph", "igraph", "random_walk", "a call each", _igraph_of, _igraph_calls, FEW, how="uniform"),
    Peer(
        "igraph", "igraph", "random_walk", "one long walk", _igraph_of, _igraph_long, FEW, how="uniform",
        differs="one walk as long as all together",
    ),
    Peer(
        "networkx", "networkx", "random_walk", "random.choice", _networkx_of, _networkx_walks, FEW, how="uniform",
        largest=2_000_000,
    ),
    Peer(
        "networkx", "networkx", "neighbors", "random.sample", _networkx_of, _networkx_samples, FEW, largest=2_000_000
    ),
    *(
        Peer(name, module, like, "random_walk", _tensors_of, _tensor_walks(module, operator, p, q), how="uniform")
        for name, module, operator in (
            ("torch-cluster", "torch_cluster", "torch_cluster.random_walk"),
            ("pyg-lib", "pyg_lib", "pyg.random_walk"),
        )
        for like, p, q in (("random_walk", 1.0, 1.0), ("node2vec 2 0.5", 2.0, 0.5))
    ),
    Peer("pyg-lib", "pyg_lib", "neighbors", "neighbor_sample", _tensors_of, _pyg_samples),
)  # fmt: skip

CUGRAPH = Peer(
    "cugraph", "pylibcugraph", "random_walk", "", made, walks("uniform_random_walks"), how="uniform", device="cuda",
    within=pool, largest=1_000_000_000,
)  # fmt: skip
BY_WEIGHT = replace(CUGRAPH, make=by_weight, bias="weight")
PEERS += (
    replace(CUGRAPH, method="uniform_random_walks"),
    replace(BY_WEIGHT, method="biased_random_walks", draw=walks("biased_random_walks"), how="alias"),
    replace(
        BY_WEIGHT, like="node2vec 2 0.5", method="node2vec_random_walks", draw=node2vec(2.0, 0.5), how="rejection",
        most=2000,
    ),
    *(
        replace(
            CUGRAPH, like="neighbors", method=f"uniform, {called}{of}", draw=samples("uniform", again, apart), how=how,
            differs=differs,
        )
        for called, again, how in (("without replacement", False, "auto"), ("with replacement", True, "replace"))
        for of, apart, differs in (("", True, None), (", seeds together", False, TOGETHER))
    ),
    *(
        replace(
            BY_WEIGHT, like="neighbors", method=f"biased, {called}{of}", draw=samples("biased", again, apart), how=how,
            differs=differs,
        )
        for called, again, how in (("without replacement", False, "auto"), ("with replacement", True, "replace"))
        for of, apart, differs in (("", True, None), (", seeds together", False, TOGETHER))
    ),
)  # fmt: skip
