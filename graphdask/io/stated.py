"""What a file states of its graph where it begins or ends: numbers of vertices and edges, without reading the edges.

METIS states them in its first line, NPZ in the headers of its arrays, native files in theirs, Parquet in its
footer. Nothing is checked against the edges.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import GraphdaskError

from .opening import Source, refusing_damage

HEAD = 1 << 20
"""Bytes of text among which the line is looked for."""


@dataclass(frozen=True)
class Stated:
    """What a file states."""

    where: str
    """What was read, in words."""
    edges: int
    vertices: int | None = None
    """None if only the edges show it."""
    directed: bool | None = None
    weights: str | None = None
    """Their dtype; None where there are none."""


def stated(path: str | os.PathLike[str], format: str) -> Stated | None:
    """What a file of this format states; None where it states nothing, or is damaged: reading it says how."""
    reader = _READERS.get(format)
    if reader is None or not Path(path).is_file():
        return None
    try:
        with refusing_damage(path):
            return reader(Path(path))
    except GraphdaskError:
        return None


def _metis(path: Path) -> Stated | None:
    from .metis import header_of

    source = Source(path, whole=True)
    lines = (line for line in source.head(HEAD)[0].splitlines() if not line.lstrip().startswith(b"%"))
    tokens = next(lines, b"").split()
    n, m, _, _, weighted = header_of([int(token) for token in tokens], source, 1)
    return Stated("its first line", m, n, False, "int64" if weighted else None)


def _npz(path: Path) -> Stated | None:
    from .npz import array_header

    with zipfile.ZipFile(path) as archive:
        arrays = {name.removesuffix(".npy"): array_header(archive, name) for name in archive.namelist()}
    if "src" in arrays:
        with np.load(path, allow_pickle=False) as small:
            directed = bool(small["directed"]) if "directed" in arrays else None
            span = small["vertex_range"].tolist() if "vertex_range" in arrays else None
        n = span[1] if span else arrays["vertices"][0][0] if "vertices" in arrays else None
        weights = str(arrays["weights"][1]) if "weights" in arrays else None
        return Stated("the headers of its arrays", arrays["src"][0][0], n, directed, weights)
    if "data" in arrays and "shape" in arrays:
        with np.load(path, allow_pickle=False) as small:
            n = int(max(small["shape"]))
        return Stated("the headers of its arrays", arrays["data"][0][0], n, True, str(arrays["data"][1]))
    return None


def _native(path: Path) -> Stated | None:
    from .native import header_of

    header = header_of(path)[0]
    arrays: dict[str, Any] = header["arrays"]
    lengths = {name: entry["length"] for name, entry in arrays.items()}
    lengths |= {name.removesuffix(".offsets"): n - 1 for name, n in lengths.items() if name.endswith(".offsets")}
    n = header["vertex_range"][1] if header.get("vertex_range") else lengths.get("vertices")
    weights = np.dtype(arrays["weights"]["dtype"]).name if "weights" in arrays else None
    return Stated("its header", lengths["src"], n, header["directed"], weights)


def _parquet(path: Path) -> Stated | None:
    from pyarrow import parquet

    from .columns import Request
    from .parquet import choose_of, stated_of

    footer = parquet.read_metadata(path)
    schema = footer.schema.to_arrow_schema()
    chosen = choose_of(schema, Request(), path)
    directed, vertices, _ = stated_of(schema, path)
    weights = None if chosen.weight is None else str(schema.field(chosen.weight).type.to_pandas_dtype().__name__)
    return Stated("its footer", footer.num_rows, None if vertices is None else len(vertices), directed, weights)


_READERS = {"metis": _metis, "npz": _npz, "native": _native, "parquet": _parquet}
