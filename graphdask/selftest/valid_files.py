"""A small valid file of every format that graphdask reads, the same bytes each time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.selftest.public import gd

VERTICES = 40
EDGES = 120
STREAM_MEMORY = "64MiB"


@dataclass(frozen=True)
class ValidFile:
    """A file that is damaged, and how it is read."""

    path: Path
    text: bool
    """Whether it has lines of text, before it is compressed."""
    read: Path
    """What is read: the file, or what it is a part of."""
    compression: Any = None
    """The module of the standard library that compresses it."""
    checked: bool = False
    """Whether the format has checksums, so that damage is refused or changes nothing."""


def write_all(folder: Path) -> list[ValidFile]:
    """Write the files into a folder, and return them in an order of their own."""
    rng = np.random.default_rng(0)
    src, dst = rng.integers(1, VERTICES, (2, EDGES))
    weights = rng.integers(1, 9, EDGES) + 0.5
    names = np.array([f"v\u00e9{i}" for i in range(VERTICES)], object)
    numbered = gd.from_edges(src, dst, weights, vertices=np.arange(1, VERTICES))
    named = gd.from_edges(names[src], names[dst])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("e.csv", "e.parquet", "e.npz", "e.gdg"):
            numbered.write(folder / name)
        for name in ("e.graphml", "e.gexf"):
            gd.io.write_edges(gd.io.EdgeList(src, dst, weights), folder / name)
        for name in ("n.txt", "n.csv", "n.parquet", "n.gdg", "n.npz"):
            named.write(folder / name)
        numbered.write(f"{folder / 'parts'}/", format="csv", files=2)
        named.write(f"{folder / 'named'}/", format="parquet", files=1)
        for name, graph in (("e.gdl", numbered), ("n.gdl", named)):
            gd.stream.build(graph, folder / name, memory=STREAM_MEMORY)
    _write_texts(folder, src, dst, weights)
    return _files(folder)


def _write_texts(folder: Path, src: np.ndarray, dst: np.ndarray, weights: np.ndarray) -> None:
    """Texts that a reader meets and `Graph.write` does not write so."""
    plain = "".join(f"{a} {b}\n" for a, b in zip(src, dst, strict=True))
    weighed = "".join(f"{a} {b} {w}\n" for a, b, w in zip(src, dst, weights, strict=True))
    rows = defaultdict(set)
    for a, b in zip(src.tolist(), dst.tolist(), strict=True):
        if a != b:
            rows[a].add(b)
            rows[b].add(a)
    neighbours = [" ".join(map(str, sorted(rows[v]))) for v in range(1, VERTICES + 1)]
    arcs = "".join(f"a {a} {b} 3\n" for a, b in zip(src, dst, strict=True))
    texts = {
        "e.txt": f"# a comment\n{plain}",
        "w.txt": weighed.replace(" ", "\t"),
        "q.csv": "source,target\n" + "".join(f'"v {a}, x","v {b}"\n' for a, b in zip(src, dst, strict=True)),
        "e.mtx": f"%%MatrixMarket matrix coordinate real general\n% c\n{VERTICES} {VERTICES} {EDGES}\n{weighed}",
        "e.graph": f"{VERTICES} {sum(map(len, rows.values())) // 2}\n" + "\n".join(neighbours) + "\n",
        "e.gr": f"c a comment\np sp {VERTICES} {EDGES}\n{arcs}",
        "e.adjlist": "".join(f"{v} {row}\n" for v, row in enumerate(neighbours, 1)),
        "l.v": "".join(f"{v}\n" for v in range(1, VERTICES)),
        "l.e": weighed,
        "t.txt": "".join(f"{a} {b} {t}\n" for t, (a, b) in enumerate(zip(src, dst, strict=True))),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for suffix, module in (("gz", gzip), ("bz2", bz2), ("xz", lzma)):
        (folder / f"c.txt.{suffix}").write_bytes(packed(module, plain.encode()))


def packed(module: Any, data: bytes) -> bytes:
    """Compress, without the time of the day."""
    return gzip.compress(data, mtime=0) if module is gzip else module.compress(data)


def _files(folder: Path) -> list[ValidFile]:
    files = [
        ValidFile(folder / name, True, folder / name)
        for name in (
            "e.txt", "w.txt", "n.txt", "e.csv", "n.csv", "q.csv", "e.mtx", "e.graph", "e.gr", "e.adjlist", "l.e",
            "e.graphml", "e.gexf",
        )
    ]  # fmt: skip
    files += [ValidFile(folder / name, False, folder / name) for name in ("e.parquet", "n.parquet")]
    files += [
        ValidFile(folder / name, False, folder / name, checked=True)
        for name in ("e.npz", "n.npz", "e.gdg", "n.gdg", "e.gdl", "n.gdl")
    ]
    files.append(ValidFile(folder / "l.v", True, folder / "l.e"))
    files += [ValidFile(folder / "parts" / name, True, folder / "parts") for name in _names(folder / "parts")]
    files += [
        ValidFile(folder / "named" / name, name.endswith("json"), folder / "named") for name in _names(folder / "named")
    ]
    for suffix, module in (("gz", gzip), ("bz2", bz2), ("xz", lzma)):
        path = folder / f"c.txt.{suffix}"
        files += [ValidFile(path, False, path, module, checked=True), ValidFile(path, True, path, module)]
    return files


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
