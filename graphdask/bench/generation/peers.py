"""Generators of others, and graphdask's own sequential references, as their users call them, one core each.

Each builds the graph object that it returns, or for a reference the array of targets; where a generator is slow it is
asked for fewer vertices. A first small call, which loads and compiles, is not counted.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Peer:
    """A generator of preferential attachment graphs."""

    package: str
    make: Callable[[Any, int, int], int]
    """(the module, n, degree) -> number of edges."""
    most: int
    """Vertices that it is asked for at most."""


def _networkx(module: Any, n: int, degree: int) -> int:
    return module.barabasi_albert_graph(n, degree, seed=1).number_of_edges()


def _igraph(module: Any, n: int, degree: int) -> int:
    return module.Graph.Barabasi(n, degree).ecount()


def _networkit(module: Any, n: int, degree: int) -> int:
    return module.generators.BarabasiAlbertGenerator(degree, n, degree).generate().numberOfEdges()


def _kagen(module: Any, n: int, degree: int) -> int:
    return module.generate_ba(n, degree, directed=True).num_edges()


PEERS: dict[str, Peer] = {
    "networkx": Peer("networkx", _networkx, 50_000),
    "igraph": Peer("igraph", _igraph, 500_000),
    "networkit": Peer("networkit", _networkit, 2_000_000),
    "kagen": Peer("kagen", _kagen, 2_000_000),
}
"""Barabasi-Albert generators."""


def measure(name: str, n: int, degree: int, repeats: int) -> dict[str, Any]:
    """Time a peer; return `edges`, `seconds` of each run and `version`, or `skipped` and the reason."""
    peer = PEERS[name]
    try:
        module = importlib.import_module(peer.package)
    except ImportError as error:
        return {"skipped": f"cannot be imported: {error}"}
    n = max(min(n, peer.most), degree + 1)
    peer.make(module, max(1000, degree + 1), degree)
    edges, seconds = 0, []
    for _ in range(repeats):
        begin = time.perf_counter()
        edges = peer.make(module, n, degree)
        seconds.append(time.perf_counter() - begin)
    return {"n": n, "edges": edges, "seconds": seconds, "version": version(peer.package)}


def version(package: str) -> str:
    """Version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not packaged"
