"""The graphs that `graphdask bench analytics` measures: R-MAT, grids that stand for roads, files; suites and scaling.

R-MAT graphs are undirected, without self-loops and parallel edges, as the GAP suite makes its Kronecker graphs. The
scaling sets are those of Pan et al., Multi-GPU Graph Analytics, Figure 5: strong with 2**24 vertices and edge factor
32; weak-edge with 2**19 vertices and edge factor 256 for each GPU; weak-vertex with 2**19 vertices for each GPU and
edge factor 256.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.partition.sources import GeneratedSource, PairWeights

SUITES = ("quick", "full")
SCALINGS = ("strong", "weak-edge", "weak-vertex")
EDGE_FACTOR = 16
SCALES = {("quick", "cpu"): (12,), ("quick", "cuda"): (18,),
          ("full", "cpu"): (16, 18, 20), ("full", "cuda"): (20, 22, 24, 25, 26)}  # fmt: skip
"""Scales of the R-MAT graphs, by suite and device."""
SIDES = {("quick", "cpu"): 64, ("quick", "cuda"): 256, ("full", "cpu"): 512, ("full", "cuda"): 2048}
"""Side of the grid."""
FIGURE_5 = {"strong": (24, 32), "weak-edge": (19, 256), "weak-vertex": (19, 256)}
"""Scale and edge factor of the scaling sets, for one rank."""
SMALL = {"strong": (13, 16), "weak-edge": (10, 32), "weak-vertex": (10, 32)}
"""The same for the quick suite."""


@dataclass(frozen=True)
class Case:
    """A graph, and the numbers of ranks that it is measured with."""

    kind: str
    """`rmat`, `grid` or `file`."""
    ranks: tuple[int, ...]
    scale: int = 0
    """Of an R-MAT graph; of a grid, its side."""
    edge_factor: int = EDGE_FACTOR
    path: str = ""
    directed: bool | None = None
    """Of a file: how to read it; None: as it says."""
    scaling: str | None = None
    """The scaling set that it belongs to."""

    @property
    def name(self) -> str:
        """`rmat 20 x 16`, `grid 512`, or the file's name."""
        if self.kind == "file":
            return os.path.basename(self.path)
        return f"rmat {self.scale} x {self.edge_factor}" if self.kind == "rmat" else f"grid {self.scale}"

    def make(self, seed: int) -> Any:
        """Make the graph; its weights, where it has any, are those of the file."""
        from graphdask import generate
        from graphdask.graph import construct

        if self.kind == "rmat":
            return generate.rmat(self.scale, self.edge_factor, seed, self_loops="drop", multi_edges="merge")
        if self.kind == "file":
            return construct.read_graph(self.path, directed=self.directed)
        side = self.scale
        vertex = np.arange(side * side).reshape(side, side)
        src = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
        dst = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
        return construct.from_edges(src, dst, num_vertices=side * side, directed=False)


def of_file(path: str | os.PathLike[str], directed: bool | None = None) -> Any:
    """The graph of a file, its vertices numbered from 0 on."""
    from graphdask.graph import construct

    graph = construct.read_graph(path, directed=directed)
    src, dst, weights = graph.edges("cpu")
    src, dst = (graph.ids.to_internal(ends) for ends in (src, dst))
    return construct.from_edges(src, dst, weights, num_vertices=graph.num_vertices, directed=graph.directed)


def weighted(graph: Any, seed: int, most: int, dtype: str | None = None) -> Any:
    """The graph itself where it has weights; else with whole weights drawn uniformly from 1 to `most`.

    Those of a generated graph are made with its edges, where these are made. With a dtype, they are cast to that.
    """
    from graphdask.graph.construct import from_edges

    if graph.weighted:
        if dtype in (None, graph.source.weight_dtype):
            return graph
        src, dst, given = graph.edges("cpu")
        src, dst = (graph.ids.to_internal(ends) for ends in (src, dst))
        return from_edges(src, dst, given.astype(dtype), num_vertices=graph.num_vertices, directed=graph.directed)
    if isinstance(graph.source, GeneratedSource):
        source = GeneratedSource(graph.source.generator, graph.source.skewed, PairWeights(most, seed, dtype or "int32"))
        return replace(graph, source=source, report=dict(graph.report), built=None)
    src, dst = (graph.ids.to_internal(ends) for ends in graph.edges("cpu")[:2])
    drawn = np.random.default_rng(seed).integers(1, most, len(src), np.int32, endpoint=True).astype(dtype or "int32")
    return from_edges(src, dst, drawn, num_vertices=graph.num_vertices, directed=graph.directed)


def cases(
    suite: str,
    device: str,
    ranks: tuple[int, ...],
    *,
    scales: tuple[int, ...] = (),
    edge_factor: int | None = None,
    files: tuple[str, ...] = (),
    directed: bool | None = None,
    scaling: tuple[str, ...] = (),
) -> list[Case]:
    """Return the graphs to measure.

    Parameters
    ----------
    suite : {"quick", "full"}
    device : {"cpu", "cuda"}
    ranks : tuple of int
    scales, files
        These instead of the suite's; with `scaling`, one scale is that of one rank.
    edge_factor : int, optional
        Of R-MAT graphs; with `scaling`, that of one rank.
    directed : bool, optional
        How files are read.
    scaling : tuple of {"strong", "weak-edge", "weak-vertex"}
        These sets instead.

    Raises
    ------
    InputError
        For an unknown name, a number out of range, or a rank count for which there is no graph.
    """
    _known("suite", (suite,), SUITES)
    _known("scaling", scaling, SCALINGS)
    for name, numbers in (("ranks", ranks), ("scale", scales), ("edge_factor", (edge_factor or 1,))):
        for number in numbers:
            if number < 1:
                raise InputError(f"{name}={number} must be at least 1")
    for path in files:
        if not os.path.exists(path):
            raise InputError(f"{path}: there is no such file; check the name")
    if not scaling:
        if scales or files:
            return [
                *(Case("rmat", ranks, scale, edge_factor or EDGE_FACTOR) for scale in scales),
                *(Case("file", ranks, path=str(path), directed=directed) for path in files),
            ]
        suited = (Case("rmat", ranks, scale, edge_factor or EDGE_FACTOR) for scale in SCALES[suite, device])
        return [*suited, Case("grid", ranks, SIDES[suite, device])]
    if files or len(scales) > 1:
        raise InputError("scaling sets are R-MAT graphs; give them no file, and one scale at most")
    found = []
    for name in scaling:
        scale, factor = (FIGURE_5 if suite == "full" else SMALL)[name]
        found += _scaling_set(name, scales[0] if scales else scale, edge_factor or factor, ranks)
    return found


def _scaling_set(name: str, scale: int, edge_factor: int, ranks: tuple[int, ...]) -> list[Case]:
    if name == "strong":
        return [Case("rmat", ranks, scale, edge_factor, scaling=name)]
    if name == "weak-edge":
        return [Case("rmat", (size,), scale, edge_factor * size, scaling=name) for size in ranks]
    for size in ranks:
        if size & (size - 1):
            raise InputError(f"ranks={size} is no power of two, but the vertices of weak-vertex R-MAT graphs are")
    return [Case("rmat", (size,), scale + size.bit_length() - 1, edge_factor, scaling=name) for size in ranks]


def _known(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{what}={name!r} is not one of {', '.join(known)}")


@dataclass
class Facts:
    """What is counted of a graph, by vertex number."""

    degree: np.ndarray
    """int64: out-edges, or edges of an undirected graph, self-loops once."""
    loops: np.ndarray
    """int64: self-loops."""
    directed: bool

    @classmethod
    def of(cls, graph: Any) -> Facts:
        """Of a graph whose partitions are built."""
        degree, loops = (np.zeros(graph.num_vertices, np.int64) for _ in range(2))
        for ids, own_degree, own_loops in graph.built.parts.fetch(_counts):
            degree[ids], loops[ids] = own_degree, own_loops
        return cls(degree, loops, graph.directed)

    def sources(self, number: int, seed: int) -> np.ndarray:
        """Different vertices that have an edge to another one, in random order; fewer where there are not so many."""
        able = np.flatnonzero(self.degree > self.loops)
        return np.random.default_rng(seed).permutation(able)[:number]

    def edges(self, reached: np.ndarray) -> int:
        """Edges of the input whose source is among the vertices, a mask; of an undirected graph each once."""
        degree, loops = (int(count[reached].sum()) for count in (self.degree, self.loops))
        return degree if self.directed else (degree + loops) // 2


def input_edges(graph: Any, facts: Facts, numbers: np.ndarray, **where: Any) -> list[int]:
    """For each source, the edges of the input in what can be reached from it; `where` are arguments of the runs."""
    from graphdask.algorithms.bfs import bfs
    from graphdask.algorithms.components import connected_components

    if not len(numbers):
        return []
    if graph.directed:
        ids = graph.vertex_ids
        return [facts.edges(bfs(graph, ids[number], **where).depth >= 0) for number in numbers]
    labels = connected_components(graph, **where).label
    of_label = {label: facts.edges(labels == label) for label in np.unique(labels[numbers])}
    return [of_label[label] for label in labels[numbers]]


def _counts(part: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids, degrees and self-loops of the own vertices."""
    bounds = host(part.out.indptr)
    degree = np.diff(bounds)
    loops = np.zeros(len(degree), np.int64)
    if part.counts["self_loops"]:
        row = np.repeat(np.arange(len(degree)), degree)
        loops += np.bincount(row[host(part.out.indices) == row], minlength=len(degree))
    return host(part.ids), degree, loops


def host(array: Any) -> np.ndarray:
    """An array of a partition, as NumPy's."""
    return array.get() if hasattr(array, "get") else np.asarray(array)
