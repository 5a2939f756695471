"""The adjacency of a graph on this host, for partitioners that use edges."""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.graph.graph import Graph


def host_adjacency(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return (indptr, indices) of the symmetric graph without self-loops, on this host."""
    import scipy.sparse

    n = graph.num_vertices
    src, dst, _ = graph.source.piece(0, 1).edges(get_backend("cpu"))
    other = src != dst
    ends = np.concatenate([src[other], dst[other]]), np.concatenate([dst[other], src[other]])
    matrix = scipy.sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(n, n)).tocsr()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
