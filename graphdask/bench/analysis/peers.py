"""Other libraries on the same graph, as their users call them, and the times that they take.

Each makes its own graph first, which is not timed, and is called once before it counts; then whole calls are timed, as
ours are. Those that answer slowly are asked for small graphs only. Where a library cannot be asked for the same, the
record says how its answer `differs`, and is compared with nothing.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.bench.analysis.algorithms import EACH_ITERATION, PAGERANK, PAGERANK_20, PAGERANK_WEIGHTED
from graphdask.bench.analysis.timing import milliseconds, per_iteration
from graphdask.bench.harness import CLOCK
from graphdask.bench.tuning import BENCH

FLOAT64 = "its ranks are float64, ours float32"


class Iterations(int):
    """How many iterations a run made, which it returns where that is known."""


@dataclass
class Edges:
    """A graph as arrays, in vertex numbers; an undirected edge once."""

    n: int
    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    directed: bool

    @classmethod
    def of(cls, graph: Any) -> Edges:
        """Of a graph."""
        src, dst, weights = graph.edges("cpu")
        src, dst = (graph.ids.to_internal(ends) for ends in (src, dst))
        return cls(graph.num_vertices, src, dst, weights, graph.directed)

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Both directions of an undirected edge; of a self-loop one."""
        if self.directed:
            return self.src, self.dst, self.weights
        other = self.src != self.dst
        ends = np.concatenate([self.src, self.dst[other]]), np.concatenate([self.dst, self.src[other]])
        weights = None if self.weights is None else np.concatenate([self.weights, self.weights[other]])
        return *ends, weights


@dataclass(frozen=True)
class Peer:
    """A library, and what it is asked for."""

    name: str
    module: str
    most: int
    """Edges of the largest graph that it is given."""
    make: Callable[[Any, Edges], Any]
    """`make(module, edges)` gives its graph."""
    runs: Mapping[str, Callable[[Any, Any, Any], Any]]
    """For the name of an algorithm, `run(module, graph, source)`; its answer is let go, `Iterations` are recorded."""
    package: str | None = None
    """What the version is asked of, where the module does not say it; None: the package of its name."""
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    """What its graph is made, run and let go in."""
    differs: Mapping[str, str] = field(default_factory=dict)
    """For the name of an algorithm, how what it does differs from ours."""


def measure(
    peer: Peer, algorithms: Sequence[str], edges: Edges, sources: Sequence[int], repeats: int
) -> list[dict[str, Any]]:
    """Time a peer; a record for each algorithm that it has, or one with `skipped` and the reason.

    Algorithms that start from a vertex are run from each source while there is time, others `repeats` times.
    """
    about = {"implementation": peer.name}
    wanted = [name for name in algorithms if name in peer.runs]
    if not wanted:
        return []
    if len(edges.src) > peer.most:
        return [about | {"skipped": f"{len(edges.src):,} edges are more than the {peer.most:,} that it is given"}]
    try:
        module = importlib.import_module(peer.module)
    except ImportError as error:
        return [about | {"skipped": f"cannot be imported: {error}"}]
    about["version"] = getattr(module, "__version__", None) or importlib.metadata.version(peer.package or peer.module)
    try:
        with peer.within():
            return [about | record for record in _measured(peer, module, wanted, edges, sources, repeats)]
    except Exception as error:  # whatever another library raises is its result
        return [about | {"skipped": f"{type(error).__name__}: {error}"}]


def _measured(
    peer: Peer, module: Any, wanted: Sequence[str], edges: Edges, sources: Sequence[int], repeats: int
) -> Iterator[dict[str, Any]]:
    graph = peer.make(module, edges)
    for name in wanted:
        from_each = name in FROM_SOURCES
        try:
            seconds, iterations = _timed(peer.runs[name], module, graph, sources if from_each else [0] * repeats)
        except Exception as error:  # the same
            yield {"algorithm": name, "skipped": f"{type(error).__name__}: {error}"}
            continue
        unlike = {"differs": peer.differs[name]} if name in peer.differs else {}
        yield {"algorithm": name} | in_milliseconds(seconds, iterations) | unlike


def in_milliseconds(seconds: Sequence[float], iterations: Sequence[int | None] = ()) -> dict[str, Any]:
    """What is recorded of the runs of others."""
    return {
        "runs": len(seconds),
        "clock": CLOCK,
        **milliseconds("ms", seconds),
        **per_iteration(seconds, iterations),
    }


def _timed(
    run: Callable[..., Any], module: Any, graph: Any, sources: Sequence[int]
) -> tuple[list[float], list[int | None]]:
    """Seconds, and iterations where they are known, of a run from each source while there is time."""
    seconds: list[float] = []
    iterations: list[int | None] = []
    for number, source in enumerate([sources[0], *sources]):
        begin = time.perf_counter()
        made = _iterations(run(module, graph, int(source)))
        spent = time.perf_counter() - begin
        if number or spent > BENCH.peer_seconds:  # the first, which does not count, is all where it takes long
            seconds.append(spent)
            iterations.append(made)
        if sum(seconds) > BENCH.peer_seconds:
            break
    return seconds, iterations


def _iterations(answer: Any) -> int | None:
    return int(answer) if isinstance(answer, Iterations) else None


def _networkx(nx: Any, edges: Edges) -> Any:
    graph = nx.DiGraph() if edges.directed else nx.Graph()
    graph.add_nodes_from(range(edges.n))
    weights = np.ones(len(edges.src), np.int64) if edges.weights is None else edges.weights
    graph.add_weighted_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), weights.tolist(), strict=True))
    return graph


def _networkx_components(nx: Any, graph: Any, source: int) -> Any:
    find = nx.weakly_connected_components if graph.is_directed() else nx.connected_components
    return list(find(graph))


def _networkx_pagerank(nx: Any, graph: Any, weight: str | None) -> Iterations | None:
    """Return the iterations where it made all that it may; of fewer it does not say how many."""
    try:
        nx.pagerank(graph, weight=weight, **EACH_ITERATION)
    except nx.PowerIterationFailedConvergence:
        return Iterations(EACH_ITERATION["max_iter"])
    return None


def _igraph(igraph: Any, edges: Edges) -> Any:
    ends = np.column_stack([edges.src, edges.dst])
    graph = igraph.Graph(edges.n, ends, directed=edges.directed)
    if edges.weights is not None:
        graph.es["weight"] = edges.weights.tolist()
    return graph


def _scipy(csgraph: Any, edges: Edges) -> Any:
    from scipy.sparse import coo_array

    src, dst, weights = edges.arcs
    values = np.ones(len(src)) if weights is None else weights.astype(np.float64)
    return coo_array((values, (src.astype(np.int32), dst.astype(np.int32))), shape=(edges.n, edges.n)).tocsr()


def _networkit(networkit: Any, edges: Edges) -> Any:
    graph = networkit.Graph(edges.n, weighted=edges.weights is not None, directed=edges.directed)
    weights = np.ones(len(edges.src)) if edges.weights is None else edges.weights.astype(np.float64)
    graph.addEdges((weights, (edges.src.astype(np.uint64), edges.dst.astype(np.uint64))), checkMultiEdge=False)
    return graph


def _networkit_pagerank(nk: Any, graph: Any, **stop: Any) -> Iterations:
    """Stopped by the sum of the changes, ends that lead nowhere spread over all, as by ours."""
    spread = nk.centrality.SinkHandling.DistributeSinks
    rank = nk.centrality.PageRank(graph, tol=stop["tol"], distributeSinks=spread)
    rank.norm = nk.centrality.Norm.L1_NORM
    if "max_iter" in stop:
        rank.maxIterations = stop["max_iter"]
    rank.run()
    return Iterations(rank.numberOfIterations())


def _without_weights(graph: Any) -> Any:
    if graph.isWeighted():
        raise ValueError("its PageRank follows the weights that this graph has")
    return graph


class CuGraph:
    """A graph of pylibcugraph, on the GPU; PageRank has one of its own, stored by in-edges, as it wants it."""

    def __init__(self, plc: Any, edges: Edges):
        self.plc, self.edges = plc, edges
        self.handle = plc.ResourceHandle()
        self.by_source = self._made(False, None if edges.weights is None else "float32")
        self._of_weights: tuple[str | None, Any] | None = None

    def by_target(self, dtype: str | None) -> Any:
        """With weights of a dtype, by which its ranks go too, or without; only the last is kept."""
        if self._of_weights is None or self._of_weights[0] != dtype:
            self._of_weights = None
            self._of_weights = dtype, self._made(True, dtype)
        return self._of_weights[1]

    def _made(self, store_transposed: bool, dtype: str | None) -> Any:
        import cupy

        src, dst, weights = self.edges.arcs
        return self.plc.SGGraph(
            self.handle,
            self.plc.GraphProperties(is_symmetric=not self.edges.directed, is_multigraph=False),
            cupy.asarray(src.astype(np.int32)),
            cupy.asarray(dst.astype(np.int32)),
            weight_array=None if weights is None or dtype is None else cupy.asarray(weights.astype(dtype)),
            vertices_array=cupy.arange(self.edges.n, dtype=np.int32),
            store_transposed=store_transposed,
            renumber=True,
            do_expensive_check=False,
        )

    def bfs(self, source: int, direction_optimizing: bool) -> None:
        self.plc.bfs(self.handle, self.by_source, _ids([source]), direction_optimizing, -1, True, False)

    def sssp(self, source: int) -> None:
        self.plc.sssp(self.handle, self.by_source, source, np.finfo(np.float32).max, True, False)

    def components(self) -> None:
        if self.edges.directed:
            raise ValueError("its components are those of symmetric graphs")
        self.plc.weakly_connected_components(self.handle, self.by_source, None, None, None, None, False)

    def betweenness(self, source: int) -> None:
        self.plc.betweenness_centrality(self.handle, self.by_source, _ids([source]), None, False, False, False)

    def triangles(self) -> None:
        self.plc.triangle_count(self.handle, self.by_source, None, False)

    def core(self) -> None:
        self.plc.core_number(self.handle, self.by_source, "outgoing", False)

    def pagerank(self, dtype: str, tol: float, max_iter: int, weighted: bool | None = None) -> Iterations | None:
        """Return the iterations where it made all that it may; of fewer it does not say how many.

        Its tolerance too bounds the sum of the changes; without its last argument it would raise where that is not met.
        """
        if weighted is None:
            weighted = self.edges.weights is not None
        graph = self.by_target(dtype if weighted else None)
        found = self.plc.pagerank(self.handle, graph, None, None, None, None, 0.85, tol, max_iter, False, False)
        _, ranks, converged = found
        if ranks.dtype != dtype:
            raise TypeError(f"its ranks are {ranks.dtype}, not {dtype}")
        return None if converged else Iterations(max_iter)


@contextmanager
def pool() -> Iterator[None]:
    """Give pylibcugraph memory from RMM's pool, of half of what is free and more if need be, and not beyond the end."""
    import cupy
    import rmm

    cupy.get_default_memory_pool().free_all_blocks()
    before = rmm.mr.get_current_device_resource()
    rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource()))
    try:
        yield
    finally:
        rmm.mr.set_current_device_resource(before)
        gc.collect()  # what is left of a graph would keep all of the pool


def _done(run: Callable[[Any, Any, int], Any]) -> Callable[[Any, Any, int], Any]:
    """Until the device has finished."""

    def waited(module: Any, graph: Any, source: int) -> Any:
        import cupy

        answer = run(module, graph, source)
        cupy.cuda.runtime.deviceSynchronize()
        return answer

    return waited


def _ids(numbers: Sequence[int]) -> Any:
    import cupy

    return cupy.asarray(numbers, np.int32)


def _hits_by_igraph(g: Any) -> Any:
    with warnings.catch_warnings():  # that both are the same where edges have no direction
        warnings.simplefilter("ignore", RuntimeWarning)
        return g.hub_score(), g.authority_score()


PEERS = (
    Peer(
        "networkx", "networkx", 300_000, _networkx,
        {
            "bfs": lambda nx, g, s: nx.single_source_shortest_path_length(g, s),
            "sssp": lambda nx, g, s: nx.single_source_dijkstra_path_length(g, s),
            "sssp-float32": lambda nx, g, s: nx.single_source_dijkstra_path_length(g, s),
            "components": _networkx_components,
            "betweenness": lambda nx, g, s: nx.betweenness_centrality_subset(g, [s], list(g)),
            "pagerank": lambda nx, g, s: nx.pagerank(g, tol=1e-4 / len(g), weight=None),
            "pagerank-20": lambda nx, g, s: _networkx_pagerank(nx, g, None),
            "pagerank-weighted": lambda nx, g, s: _networkx_pagerank(nx, g, "weight"),
            "triangles": lambda nx, g, s: nx.triangles(g),
            "lcc": lambda nx, g, s: nx.clustering(g),
            "core": lambda nx, g, s: nx.core_number(g),
            "eigenvector": lambda nx, g, s: nx.eigenvector_centrality(g, 500, 1e-10 / len(g)),
            "hits": lambda nx, g, s: nx.hits(g, 500, 1e-10),
            "strong": lambda nx, g, s: list(nx.strongly_connected_components(g)),
        },
        differs={"pagerank": FLOAT64, "pagerank-20": FLOAT64},
    ),
    Peer(
        "igraph", "igraph", 20_000_000, _igraph,
        {
            "bfs": lambda igraph, g, s: g.bfs(s),
            "sssp": lambda igraph, g, s: g.distances([s], weights="weight"),
            "sssp-float32": lambda igraph, g, s: g.distances([s], weights="weight"),
            "components": lambda igraph, g, s: g.connected_components("weak"),
            "betweenness": lambda igraph, g, s: g.betweenness(sources=[s]),
            "pagerank": lambda igraph, g, s: g.pagerank(),
            "pagerank-weighted": lambda igraph, g, s: g.pagerank(weights="weight"),
            "triangles": lambda igraph, g, s: len(g.list_triangles()),
            "lcc": lambda igraph, g, s: g.transitivity_local_undirected(mode="zero"),
            "core": lambda igraph, g, s: g.coreness(),
            "eigenvector": lambda igraph, g, s: g.eigenvector_centrality(),
            "hits": lambda igraph, g, s: _hits_by_igraph(g),
            "strong": lambda igraph, g, s: g.connected_components("strong"),
        },
        differs={
            "pagerank": "it solves for the ranks, in float64, and knows no tolerance",
            "pagerank-weighted": "it solves for the ranks, and makes no iterations",
            "eigenvector": "it solves for the scores by Lanczos or Arnoldi iterations",
            "hits": "it solves for the scores by Lanczos iterations, once for each of the two",
            "triangles": "it lists them all",
        },
    ),
    Peer(
        "scipy", "scipy.sparse.csgraph", 100_000_000, _scipy,
        {
            "bfs": lambda csgraph, g, s: csgraph.breadth_first_order(g, s),
            "sssp": lambda csgraph, g, s: csgraph.dijkstra(g, indices=s),
            "sssp-float32": lambda csgraph, g, s: csgraph.dijkstra(g, indices=s),
            "components": lambda csgraph, g, s: csgraph.connected_components(g, connection="weak"),
            "strong": lambda csgraph, g, s: csgraph.connected_components(g, connection="strong"),
        },
        "scipy",
    ),
    Peer(
        "networkit", "networkit", 100_000_000, _networkit,
        {
            "bfs": lambda nk, g, s: nk.distance.BFS(g, s, storePaths=True).run(),
            "sssp": lambda nk, g, s: nk.distance.Dijkstra(g, s, storePaths=True).run(),
            "sssp-float32": lambda nk, g, s: nk.distance.Dijkstra(g, s, storePaths=True).run(),
            "components": lambda nk, g, s: (
                nk.components.WeaklyConnectedComponents(g) if g.isDirected()
                else nk.components.ParallelConnectedComponents(g)
            ).run(),
            "strong": lambda nk, g, s: nk.components.StronglyConnectedComponents(g).run(),
            "betweenness": lambda nk, g, s: nk.centrality.EstimateBetweenness(g, 1).run(),
            "lcc": lambda nk, g, s: nk.centrality.LocalClusteringCoefficient(g, True).run(),
            "core": lambda nk, g, s: nk.centrality.CoreDecomposition(g).run(),
            "cdlp": lambda nk, g, s: nk.community.PLP(g, updateThreshold=0, maxIterations=10).run(),
            "pagerank": lambda nk, g, s: _networkit_pagerank(nk, g, tol=1e-4),
            "pagerank-20": lambda nk, g, s: _networkit_pagerank(nk, _without_weights(g), **EACH_ITERATION),
            "pagerank-weighted": lambda nk, g, s: _networkit_pagerank(nk, g, **EACH_ITERATION),
        },
        differs={
            "betweenness": "it chooses the source itself",
            "pagerank": FLOAT64,
            "pagerank-20": FLOAT64,
            "cdlp": "its labels follow each other within an iteration, in no order, so that it ends at others",
        },
    ),
    Peer(
        "cugraph", "pylibcugraph", 1_000_000_000, CuGraph,
        {
            "bfs": _done(lambda plc, g, s: g.bfs(s, not g.edges.directed)),
            "bfs-push": _done(lambda plc, g, s: g.bfs(s, False)),
            "sssp": _done(lambda plc, g, s: g.sssp(s)),
            "sssp-float32": _done(lambda plc, g, s: g.sssp(s)),
            "components": _done(lambda plc, g, s: g.components()),
            "triangles": _done(lambda plc, g, s: g.triangles()),
            "core": _done(lambda plc, g, s: g.core()),
            "betweenness": _done(lambda plc, g, s: g.betweenness(s)),
            "pagerank": _done(lambda plc, g, s: g.pagerank(**PAGERANK)),
            "pagerank-20": _done(lambda plc, g, s: g.pagerank(**PAGERANK_20)),
            "pagerank-weighted": _done(lambda plc, g, s: g.pagerank(**PAGERANK_WEIGHTED)),
        },
        within=pool,
        differs={"sssp": "its weights are float32, ours whole numbers"},
    ),
)  # fmt: skip

FROM_SOURCES = ("bfs", "bfs-push", "sssp", "sssp-float32", "betweenness")
"""Algorithms that start from a vertex."""
