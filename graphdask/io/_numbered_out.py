"""METIS and DIMACS as they are written, and what is common to formats whose vertices are the numbers 1 to n."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError

from .edges import EdgeList

LINE = 16
"""Bytes of memory for each vertex while METIS is written."""
PIECE = 1 << 16
"""Rows that are made text at a time."""


def largest_vertex(edges: EdgeList, format: str) -> int:
    """Return the largest id, once all are whole numbers of 1 or more.

    Raises
    ------
    InputError
        For names, times, and ids below 1.
    """
    if edges.src.dtype.kind not in "iu":
        raise InputError(f"{format} needs integer ids; write CSV, Parquet or .gdg")
    if edges.times is not None:
        raise InputError(f"{format} cannot hold times; write Parquet or .gdg, or drop them")
    ids = [array for array in (edges.src, edges.dst, edges.vertices) if array is not None and len(array)]
    least = min((int(array.min()) for array in ids), default=1)
    if least < 1:
        raise InputError(
            f"{format} counts from 1, but there is a vertex {least}; renumber first, e.g. add 1 to all ids"
        )
    return max((int(array.max()) for array in ids), default=0)


def write_metis(edges: EdgeList, stream: Any) -> None:
    """Write a METIS graph: a header, and for each vertex its neighbours, with weights behind them if there are any."""
    n = largest_vertex(edges, "METIS")
    instead = "renumber the vertices first (convert --renumber)"
    refuse_beyond_memory(f"METIS has a line for each number up to {n:,}, which", LINE * n, instead)
    if edges.directed is not False:
        raise InputError("METIS graphs are undirected; give the graph as undirected, or write DIMACS or Matrix Market")
    weights = edges.weights
    if weights is not None and (weights.dtype.kind not in "iu" or (weights < 0).any()):
        raise InputError("METIS weights are whole numbers of 0 or more; write Matrix Market or Parquet")
    low, high = np.minimum(edges.src, edges.dst).astype(np.int64), np.maximum(edges.src, edges.dst).astype(np.int64)
    if (low == high).any():
        raise InputError("METIS graphs have no self-loops; drop them (self_loops='drop')")
    order = np.lexsort((high, low))
    if (np.diff(low[order]) == 0)[np.diff(high[order]) == 0].any():
        raise InputError("METIS graphs have no parallel edges; merge them (multi_edges='merge')")
    src, dst = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((dst, src))
    columns = [dst[order]] if weights is None else [dst[order], np.concatenate([weights, weights])[order]]
    ends = np.searchsorted(src[order], np.arange(1, n + 1), side="right")
    begins = np.concatenate(([0], ends[:-1])) if n else ends
    stream.write(f"{n} {len(low)}{'' if weights is None else ' 001'}\n".encode())
    for first in range(0, n, PIECE):
        rows = zip(begins[first : first + PIECE].tolist(), ends[first : first + PIECE].tolist(), strict=True)
        lines = (" ".join(map(str, np.stack([c[a:b] for c in columns], axis=1).reshape(-1).tolist())) for a, b in rows)
        stream.write("".join(f"{line}\n" for line in lines).encode())


def write_dimacs(edges: EdgeList, stream: Any) -> None:
    """Write DIMACS: arcs with a length (`p sp`) of a directed graph with weights, or edges (`p edge`) without any."""
    n = largest_vertex(edges, "DIMACS")
    directed = edges.directed is not False
    if directed and edges.weights is None:
        raise InputError("DIMACS arcs have a length; give weights, or write a METIS, Matrix Market or edge list file")
    if not directed and edges.weights is not None:
        raise InputError("DIMACS edges have no weights; write METIS or Matrix Market, or weights=False")
    stream.write(f"p {'sp' if directed else 'edge'} {n} {edges.num_edges}\n".encode())
    tag, columns = ("a", [edges.src, edges.dst, edges.weights]) if directed else ("e", [edges.src, edges.dst])
    for first in range(0, edges.num_edges, PIECE):
        rows = zip(*(column[first : first + PIECE].tolist() for column in columns if column is not None), strict=True)
        stream.write("".join(f"{tag} {' '.join(map(str, row))}\n" for row in rows).encode())
