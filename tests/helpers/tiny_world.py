"""Graphs of a few edges, what is made of them, and files of theirs: what a call of any public function needs."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scaling

import graphdask as gd
from graphdask.io import EdgeList


class World:
    """Graphs and files that calls are made with, each made once, in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def G(self) -> gd.Graph:
        """Directed, weighted, with ids that are not consecutive."""
        src, dst = [0, 1, 2, 3, 4, 2], [1, 2, 3, 4, 0, 0]
        return gd.from_edges(src, dst, weights=np.arange(1.0, 7.0)).partition(1, device="cpu").persist()

    @cached_property
    def U(self) -> gd.Graph:
        """Undirected."""
        return gd.from_edges([0, 1, 2, 3], [1, 2, 0, 0], directed=False).partition(1, device="cpu").persist()

    @cached_property
    def T(self) -> gd.TypedGraph:
        """With types."""
        edges, sizes = {"src": [0, 1], "dst": [3, 2], "t": [7, 8]}, {"id": [2, 3], "size": [1, 2]}
        return gd.from_frames({("a", "x", "b"): edges}, vertices={"b": sizes}, edge_columns=["t"])

    @property
    def D(self) -> gd.DynamicGraph:
        return gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 0]).partition(1, device="cpu"))

    @cached_property
    def text(self) -> Path:
        path = self.folder / "graph.txt"
        path.write_text("0 1\n1 2\n2 0\n")
        return path

    @cached_property
    def timed(self) -> Path:
        path = self.folder / "times.txt"
        path.write_text("".join(f"{k} {k + 1} {k}\n" for k in range(10)))
        return path

    @cached_property
    def values(self) -> Path:
        path = self.folder / "values.txt"
        path.write_text("0 1\n1 2\n")
        return path

    @cached_property
    def store(self) -> Path:
        path = self.folder / "graph.gdl"
        gd.stream.build(self.G, path, edge_rows=True)
        return path

    @cached_property
    def S(self) -> Any:
        return gd.stream.open(self.store)

    @cached_property
    def result(self) -> Any:
        return gd.connected_components(self.U)

    @cached_property
    def neighborhoods(self) -> Any:
        return gd.sample.neighbors(self.G, [0, 1], [2, 1])

    @cached_property
    def chunks(self) -> Any:
        return gd.sample.in_chunks(gd.sample.random_walk, self.G, [0, 1], 2, chunk=1)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        return [scaling.measured(size) for size in (1, 2, 4)]

    @cached_property
    def edges(self) -> EdgeList:
        return EdgeList(np.array([0, 1]), np.array([1, 2]))

    @cached_property
    def measured(self) -> Path:
        path = self.folder / "measured.jsonl"
        path.write_text("")
        return path

    def new(self, name: str) -> Path:
        return self.folder / name
