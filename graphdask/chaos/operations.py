"""What a drill calls: graphs, and operations over them that take some tenths of a second and answer to the last bit."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import GraphdaskWarning
from graphdask.selftest.cases import Wrong
from graphdask.selftest.public import gd

LENGTH = 150
"""Of a path: as many supersteps."""
VERTICES = 20_000
NEAR = 1e-4
"""Distance, in the 1-norm, of ranks that were computed anew from those that were brought up to date."""


@dataclass
class Answer:
    """What an operation returned."""

    arrays: tuple[np.ndarray, ...]
    near: bool = False
    """Whether other bits are right too, within `NEAR`: graphdask has warned that it computed the ranks from scratch."""

    def agrees(self, expected: Answer) -> bool:
        """Whether this is the answer that is expected."""
        if self.near:
            return all(np.abs(a - b).sum() < NEAR for a, b in zip(self.arrays, expected.arrays, strict=True))
        return all(np.array_equal(a, b) for a, b in zip(self.arrays, expected.arrays, strict=True))


Operation = Callable[["Operations", Any, Any], Answer]
"""Is given these operations, the graph, and a client, or None for this process."""


class Operations:
    """Graphs and operations by name.

    Parameters
    ----------
    folder : Path
        For what operations write; each leaves nothing in it.
    kept : Path
        For files that are there until the drills are over.
    operations : mapping of str to function
        The operations by name.
    """

    def __init__(self, folder: Path, kept: Path, operations: Mapping[str, Operation]):
        self.folder, self.kept, self.operations = folder, kept, operations
        self._graphs: dict[tuple[str, tuple[str, str | None]], Any] = {}

    def graph(self, name: str, division: tuple[str, str | None] | None = None, fresh: bool = False) -> Any:
        """Return the graph of a name: the same one each time, which workers keep, or a fresh one."""
        by, ghosts = division or ("range", None)
        key = name, (by, ghosts)
        if fresh or key not in self._graphs:
            made = GRAPHS[name]()
            if division is not None:
                made = made.partition(by=by, ghosts=ghosts)
            if fresh:
                return made
            self._graphs[key] = made
        return self._graphs[key]

    def forget(self) -> None:
        """Forget all graphs, so that those of the next cluster are none that another one has kept."""
        self._graphs.clear()

    def stored(self, graph: Any) -> Any:
        """Return a graph on disk, written at its first use."""
        path = self.kept / f"{graph.num_vertices}-{graph.directed}.gdl"
        if not path.exists():
            gd.stream.build(graph, path)
        return gd.stream.open(path, memory="64MiB")

    def call(self, operation: str, graph: Any, client: Any) -> Answer:
        """Call an operation; raise Wrong where it leaves files."""
        try:
            return self.operations[operation](self, graph, client)
        finally:
            if left := sorted(os.listdir(self.folder)):
                for each in self.folder.iterdir():
                    shutil.rmtree(each, ignore_errors=True)
                    each.unlink(missing_ok=True)
                raise Wrong(f"files left by {operation}: {left}")


def _path() -> Any:
    ids = np.arange(LENGTH - 1)
    return gd.from_edges(ids, ids + 1, np.arange(LENGTH - 1) % 7 + 1.0, num_vertices=LENGTH, directed=False)


def _attached() -> Any:
    return gd.generate.preferential_attachment(VERTICES, degree=4, p=0.5, seed=3)


def _skewed() -> Any:
    """Directed, with weights that are whole numbers, so that sums of them are exact."""
    src, dst, _ = gd.generate.rmat(scale=13, edge_factor=8, seed=5).edges()
    return gd.from_edges(src, dst, (np.arange(len(src)) % 63 + 1).astype(np.float64), num_vertices=1 << 13)


GRAPHS: dict[str, Callable[[], Any]] = {"path": _path, "attachment graph": _attached, "R-MAT graph": _skewed}


def _pagerank_on_disk(operations: Operations, graph: Any, client: Any) -> Answer:
    return Answer((gd.pagerank(operations.stored(graph), client=client).rank,))


def _bfs_on_disk(operations: Operations, graph: Any, client: Any) -> Answer:
    return Answer((gd.bfs(operations.stored(graph), 0, client=client).depth,))


def _dynamic(operations: Operations, graph: Any, client: Any) -> Answer:
    """Two batches, with PageRank after each."""
    rng = np.random.default_rng(7)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GraphdaskWarning)
        changing = gd.DynamicGraph(graph)
        gd.pagerank(changing, method="static", weighted=False, client=client)
        for _ in range(2):
            changing.update(insert=tuple(rng.integers(0, graph.num_vertices, (2, 200))), client=client)
            ranked = gd.pagerank(changing, method="dfp", weighted=False, client=client)
        return Answer((ranked.rank,), any("from scratch" in str(each.message) for each in caught))


def _program(operations: Operations, graph: Any, client: Any) -> Answer:
    hops = gd.Program(
        state={"hops": (int, -1)}, message=(int, "min"), send=lambda e: e.source.hops + 1,
        apply=lambda v, m: v.hops < 0 and {"hops": m},
    )  # fmt: skip
    return Answer((gd.run(graph, hops, active=[0], init={"hops": {0: 0}}, client=client).hops,))


def _walks(operations: Operations, graph: Any, client: Any) -> Answer:
    starts = np.arange(0, graph.num_vertices, 9)
    return Answer((gd.sample.random_walk(graph, starts, 40, seed=1, client=client).walks,))


def _neighbours(operations: Operations, graph: Any, client: Any) -> Answer:
    seeds = np.arange(0, graph.num_vertices, 20)
    drawn = gd.sample.neighbors(graph, seeds, fanouts=[8, 8], seed=1, client=client)
    return _sorted(drawn.src, drawn.dst)


def _generation(operations: Operations, graph: Any, client: Any) -> Answer:
    """A graph that the workers generate and write."""
    return _written(operations, gd.generate.preferential_attachment(2 * VERTICES, degree=3, p=0.5, seed=5), client)


def _writing(operations: Operations, graph: Any, client: Any) -> Answer:
    return _written(operations, graph, client)


def _written(operations: Operations, graph: Any, client: Any) -> Answer:
    """Edges that the workers wrote, read here; nothing may be left where that fails."""
    path = Path(tempfile.mktemp(suffix=".parquet", dir=operations.folder))
    graph.write(path, client=client)
    try:
        return _sorted(*gd.read_graph(path).edges()[:2])
    finally:
        path.unlink()


def _checkpointed(call: Callable[..., np.ndarray], stored: bool = False) -> Operation:
    """A call with checkpoints, of the graph or of its file."""

    def operation(operations: Operations, graph: Any, client: Any) -> Answer:
        folder = operations.folder / "checkpoints"
        try:
            given = operations.stored(graph) if stored else graph
            return Answer((call(given, checkpoint=folder, every=5, client=client),))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return operation


def _sorted(src: np.ndarray, dst: np.ndarray) -> Answer:
    order = np.lexsort((dst, src))
    return Answer((src[order], dst[order]))


def _undirected(graph: Any) -> Any:
    return graph.to_undirected() if graph.directed else graph


def _column(call: Callable[[Any, Any], np.ndarray]) -> Operation:
    return lambda _, graph, client: Answer((call(graph, client),))


OPERATIONS: dict[str, Operation] = {
    "bfs": _column(lambda graph, client: gd.bfs(graph, 0, client=client).depth),
    "sssp": _column(lambda graph, client: gd.sssp(graph, 0, client=client).distance),
    "components": _column(lambda graph, client: gd.connected_components(graph, client=client).label),
    "pagerank": _column(lambda graph, client: gd.pagerank(graph, client=client).rank),
    "pagerank with checkpoints": _checkpointed(lambda graph, **how: gd.pagerank(graph, **how).rank),
    "closeness with checkpoints": _checkpointed(
        lambda graph, **how: gd.closeness_centrality(graph, sources=8, seed=1, **how).score
    ),
    "dynamic pagerank": _dynamic,
    "walks": _walks,
    "neighbours": _neighbours,
    "generation": _generation,
    "writing": _writing,
    "bfs on disk": _bfs_on_disk,
    "pagerank on disk": _pagerank_on_disk,
    "pagerank on disk with checkpoints": _checkpointed(lambda graph, **how: gd.pagerank(graph, **how).rank, True),
    "program": _program,
    "core numbers": _column(lambda graph, client: gd.core_number(_undirected(graph), client=client).core),
    "verified bfs": _column(lambda graph, client: gd.bfs(graph, 0, client=client).verify().depth),
    "verified components": _column(lambda graph, client: gd.connected_components(graph, client=client).verify().label),
}
