"""Edges per second of preferential attachment: graphdask on CPU cores or a GPU, and other generators in the same run.

`python -m graphdask.bench.generate --json` prints a JSON line per generator. graphdask makes the targets alone, 4 bytes
an edge while the ids fit 32 bits: on the CPU a thread per core makes its block in fresh memory, timed by the wall
clock; on a GPU events time the kernels. The others build the graph object that they return, with fewer vertices where
they are slow. The first call of each, which compiles or loads, is not counted; the median of the rest is.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from graphdask.backend import get_backend
from graphdask.generate.preferential_attachment import PreferentialAttachment, targets


def _networkx(module: Any, n: int, degree: int) -> int:
    return module.barabasi_albert_graph(n, degree, seed=1).number_of_edges()


def _igraph(module: Any, n: int, degree: int) -> int:
    return module.Graph.Barabasi(n, degree).ecount()


def _networkit(module: Any, n: int, degree: int) -> int:
    return module.generators.BarabasiAlbertGenerator(degree, n, degree).generate().numberOfEdges()


def _kagen(module: Any, n: int, degree: int) -> int:
    return module.generate_ba(n, degree, directed=True).num_edges()


PEERS: dict[str, tuple[Callable[[Any, int, int], int], int]] = {
    "networkx": (_networkx, 50_000),
    "igraph": (_igraph, 500_000),
    "networkit": (_networkit, 2_000_000),
    "kagen": (_kagen, 2_000_000),
}
"""Barabasi-Albert generators of others, and the most vertices that one is asked for."""


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _record(generator: str, seconds: list[float], edges: int, **more: Any) -> dict[str, Any]:
    median = statistics.median(seconds)
    return {
        "benchmark": "generate",
        "generator": generator,
        "edges": edges,
        "seconds": median,
        "edges_per_second": edges / median,
        "repeats": len(seconds),
        "cores": _cores(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        **more,
    }


def _on_cpu(graph: PreferentialAttachment, repeats: int) -> list[float]:
    backend, threads = get_backend("cpu"), _cores()
    ranges = [graph.vertices(rank, threads) for rank in range(threads)]

    def block(bounds: tuple[int, int]) -> None:
        targets(backend, graph.n, graph.degree, graph.p, graph.seed, *bounds)

    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(repeats + 1):
            start = time.perf_counter()
            list(pool.map(block, ranges))
            seconds.append(time.perf_counter() - start)
    return seconds[1:]


def _on_gpu(graph: PreferentialAttachment, repeats: int) -> list[float]:
    backend = get_backend("cuda")
    seconds = []
    with backend.activate():
        event = backend.xp.cuda.Event
        for _ in range(repeats + 1):
            begin, end = event(), event()
            begin.record()
            targets(backend, graph.n, graph.degree, graph.p, graph.seed, 0, graph.n)
            end.record()
            end.synchronize()
            seconds.append(backend.xp.cuda.get_elapsed_time(begin, end) / 1000)
        backend.synchronize()
    return seconds[1:]


def run(
    n: int = 10_000_000,
    degree: int = 4,
    p: float = 0.5,
    device: str = "auto",
    repeats: int = 5,
    peers: bool = True,
) -> list[dict[str, Any]]:
    """Measure graphdask on `device`, then the generators of others.

    Returns
    -------
    list of dict
        One for each generator, with `edges_per_second` (the median of `repeats`) or, where it cannot run here,
        `skipped` and the reason.
    """
    backend = get_backend(device)
    graph = PreferentialAttachment(n, degree, p, seed=1)
    seconds = (_on_cpu if backend.name == "cpu" else _on_gpu)(graph, max(1, repeats))
    records = [
        _record(
            "graphdask",
            seconds,
            graph.num_edges,
            n=n,
            degree=degree,
            p=p,
            device=backend.description,
            bytes_per_second=graph.num_edges * graph.dtype.itemsize / statistics.median(seconds),
            version=_version("graphdask"),
        )
    ]
    if peers:
        records += [_peer(name, n, degree, max(1, min(repeats, 3))) for name in PEERS]
    return records


def _peer(name: str, n: int, degree: int, repeats: int) -> dict[str, Any]:
    make, most = PEERS[name]
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return {"benchmark": "generate", "generator": name, "skipped": f"cannot be imported: {error}"}
    n = max(min(n, most), degree + 1)
    edges, seconds = 0, []
    make(module, max(1000, degree + 1), degree)
    for _ in range(repeats):
        start = time.perf_counter()
        edges = make(module, n, degree)
        seconds.append(time.perf_counter() - start)
    return _record(name, seconds, edges, n=n, degree=degree, p=0.5, device="CPU", version=_version(name))


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not packaged"


def main(arguments: list[str] | None = None) -> None:
    """Print what `run` measures, as a table or as JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vertices", type=int, default=10_000_000)
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--p", type=float, default=0.5)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-peers", action="store_true", help="measure graphdask alone")
    parser.add_argument("--json", action="store_true", help="print a JSON line per generator")
    options = parser.parse_args(arguments)
    records = run(options.vertices, options.degree, options.p, options.device, options.repeats, not options.no_peers)
    for record in records:
        if options.json:
            print(json.dumps(record))
        elif "skipped" in record:
            print(f"{record['generator']:10} skipped: {record['skipped']}")
        else:
            rate = record["edges_per_second"] / 1e6
            print(
                f"{record['generator']:10} {rate:10.1f} M edges/s  n={record['n']} degree={record['degree']} "
                f"p={record['p']} on {record['device']}"
            )


if __name__ == "__main__":
    main()
