"""Readers: valid files of every format, damaged, give a graph or an error of graphdask.

Of a file with checksums, what is read is the graph that was written. Of others no one knows what it should be, but it
is the same in one process and from as many pieces as there are partitions, through a path and through an open file.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.selftest.cases import Wrong
from graphdask.selftest.choices import Choices
from graphdask.selftest.damage import damaged
from graphdask.selftest.public import gd
from graphdask.selftest.valid_files import STREAM_MEMORY, ValidFile, packed, write_all

MOST_VERTICES = 1_000_000
"""Of a graph whose edges are compared: a damaged header may announce more."""
WAYS = ("path", "path", "path", "partitions", "open file", "stream")


class Readers:
    """The target `readers`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files = write_all(folder)
        self.whole = [each.path.read_bytes() for each in self.files]
        self.answers = [_read(each) if each.checked else None for each in self.files]

    def run(self, choices: Choices) -> str:
        number = choices.below(len(self.files))
        file, whole = self.files[number], self.whole[number]
        way = choices.among(WAYS)
        within = file.compression is not None and file.text  # what is packed is damaged, not the packed bytes
        data = damaged(file.compression.decompress(whole) if within else whole, choices, file.text)
        data = packed(file.compression, data) if within else data
        _replace(file.path, data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._read(file, self.answers[number], way)
        finally:
            _replace(file.path, whole)
        return f"{file.path.name}, {way}"

    def _read(self, file: ValidFile, answer: Any, way: str) -> None:
        if file.checked:
            found = _read(file)
            if not _alike(found, answer) and not (file.compression and _alike(found, _unpacked(file))):
                raise Wrong(f"{file.path.suffix} damage accepted: another graph is read from a file with checksums")
        elif way == "stream" and file.text and file.read == file.path:
            for _ in gd.read_stream(file.read, preload=0.5, batch=0.25):
                pass
        else:
            graph = gd.read_graph(file.read)
            if graph.num_vertices > MOST_VERTICES or way == "path":
                return
            if way == "partitions":
                found = graph.partition(3, device="cpu").persist().edges()
                said = "3 partitions have other edges than one process"
            elif file.read == file.path:
                with file.path.open("rb") as opened:
                    found = gd.read_graph(opened, format=_format(file)).edges()
                said = "an open file gives other edges than its path"
            else:
                return
            if not _alike(found, graph.edges()):
                raise Wrong(f"{file.path.suffix} {said}")


def _format(file: ValidFile) -> str:
    return gd.io.detect_format(file.path)


def _replace(path: Path, data: bytes) -> None:
    """Write a new file of a name: the old one may be mapped."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def _read(file: ValidFile) -> Any:
    """The edges of a file, or what algorithms find in a file that is streamed."""
    if file.path.suffix != ".gdl":
        graph = gd.read_graph(file.read)
        return graph.edges() if graph.num_vertices <= MOST_VERTICES else (np.array([graph.num_vertices]),)
    streamed = gd.stream.open(file.path, memory=STREAM_MEMORY)
    ids = np.asarray(streamed.vertex_ids)
    return ids, gd.bfs(streamed, ids[0]).depth, gd.connected_components(streamed).label


def _unpacked(file: ValidFile) -> Any:
    """The edges of what the standard library unpacks: streams may follow each other."""
    plain = file.path.with_name("unpacked.txt")
    try:
        plain.write_bytes(file.compression.decompress(file.path.read_bytes()))
        return gd.read_graph(plain).edges()
    finally:
        plain.unlink(missing_ok=True)


def _alike(one: Any, other: Any) -> bool:
    """Whether two tuples of arrays hold the same; NaN is like NaN."""
    pairs = zip(one, other, strict=True)
    return all((a is None) == (b is None) and (a is None or _same(np.asarray(a), np.asarray(b))) for a, b in pairs)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())
