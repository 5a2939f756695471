"""Generators of others, and graphdask's own sequential references, as their users call them, one core each.

Each builds the graph object that it returns, or for a reference the array of targets; where a generator is slow it is
asked for fewer vertices. A first small call, which loads and compiles, is not counted.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from graphdask.device.backend import get_backend


@dataclass(frozen=True)
class Peer:
    """A generator of one of the models: Barabasi-Albert, R-MAT with Graph500's parameters, or G(n, m)."""

    model: str
    name: str
    """The package, or what the reference is called."""
    make: Callable[[Any, int, int], int]
    """(the module, n, edges per vertex) -> number of edges."""
    most: int
    """Vertices that it is asked for at most."""
    product: str = "graph"
    """What it returns: a graph object, the arrays of both ends, or targets."""

    @property
    def title(self) -> str:
        return self.name if self.name in OWN else f"{self.model} by {self.name}"


OWN = {"SBA": "graphdask.generate.copy_model", "SCM": "graphdask.generate.copy_model"}
"""graphdask's sequential references, and the module of each."""


def _networkx(module: Any, n: int, degree: int) -> int:
    return module.barabasi_albert_graph(n, degree, seed=1).number_of_edges()


def _igraph(module: Any, n: int, degree: int) -> int:
    return module.Graph.Barabasi(n, degree).ecount()


def _networkit(module: Any, n: int, degree: int) -> int:
    return module.generators.BarabasiAlbertGenerator(degree, n, degree).generate().numberOfEdges()


def _kagen(module: Any, n: int, degree: int) -> int:
    return module.generate_ba(n, degree).num_edges() // 2  # it holds both directions


def _sba(module: Any, n: int, degree: int) -> int:
    return len(module.SequentialBarabasiAlbert(n, degree, seed=1).targets(get_backend("cpu"), n))


def _scm(module: Any, n: int, degree: int) -> int:
    return len(module.SequentialCopyModel(n, degree, 0.5, seed=1).targets(get_backend("cpu"), n))


def _kagen_rmat(module: Any, n: int, degree: int) -> int:
    return module.generate_rmat(1 << scale(n), degree << scale(n), 0.57, 0.19, 0.19, directed=True).num_edges()


def _networkit_rmat(module: Any, n: int, degree: int) -> int:
    return module.generators.RmatGenerator(scale(n), degree, 0.57, 0.19, 0.19, 0.05).generate().numberOfEdges()


def _kagen_gnm(module: Any, n: int, degree: int) -> int:
    return module.generate_undirected_gnm(n, n * degree).num_edges() // 2


def _igraph_gnm(module: Any, n: int, degree: int) -> int:
    return module.Graph.Erdos_Renyi(n=n, m=n * degree).ecount()


def _networkx_gnm(module: Any, n: int, degree: int) -> int:
    return module.gnm_random_graph(n, n * degree, seed=1).number_of_edges()


def _networkit_gnp(module: Any, n: int, degree: int) -> int:
    return module.generators.ErdosRenyiGenerator(n, 2 * degree / (n - 1)).generate().numberOfEdges()


def scale(n: int) -> int:
    """Scale of the R-MAT graph that is made for n vertices: the largest with at most so many."""
    return max(1, n.bit_length() - 1)


PEERS = (
    Peer("BA", "SBA", _sba, 2_000_000, "targets"),
    Peer("BA", "SCM", _scm, 2_000_000, "targets"),
    Peer("BA", "networkx", _networkx, 20_000),
    Peer("BA", "igraph", _igraph, 250_000),
    Peer("BA", "networkit", _networkit, 2_000_000),
    Peer("BA", "kagen", _kagen, 2_000_000, "edges"),
    Peer("R-MAT", "networkit", _networkit_rmat, 500_000),
    Peer("R-MAT", "kagen", _kagen_rmat, 500_000, "edges"),
    Peer("G(n, m)", "networkx", _networkx_gnm, 30_000),
    Peer("G(n, m)", "igraph", _igraph_gnm, 500_000),
    Peer("G(n, p)", "networkit", _networkit_gnp, 500_000),
    Peer("G(n, m)", "kagen", _kagen_gnm, 500_000, "edges"),
)
"""What is measured beside graphdask."""


def measure(peer: Peer, n: int, degree: int, repeats: int) -> dict[str, Any]:
    """Time a peer; return `n`, `degree`, `edges`, `seconds` of each run and `version`, or `skipped` and the reason."""
    try:
        module = importlib.import_module(OWN.get(peer.name, peer.name))
    except ImportError as error:
        return {"skipped": f"cannot be imported: {error}"}
    n = max(min(n, peer.most), degree + 1)
    with _one_core(module):
        peer.make(module, max(1000, degree + 1), degree)
        edges, seconds = 0, []
        for _ in range(repeats):
            begin = time.perf_counter()
            edges = peer.make(module, n, degree)
            seconds.append(time.perf_counter() - begin)
    package = "graphdask" if peer.name in OWN else peer.name
    return {"n": n, "degree": degree, "edges": edges, "seconds": seconds, "version": version(package)}


@contextmanager
def _one_core(module: Any) -> Iterator[None]:
    """Keep NetworKit from using more than one."""
    if not hasattr(module, "setNumberOfThreads"):
        yield
        return
    before = module.getMaxNumberOfThreads()
    module.setNumberOfThreads(1)
    try:
        yield
    finally:
        module.setNumberOfThreads(before)


def version(package: str) -> str:
    """Version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not packaged"
