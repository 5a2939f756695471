"""What to call where something else was given for a Graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graphdask.errors import shown

_COLUMNS = "graphdask.from_edges(G[source], G[target]), with the names of its columns,"

CONVERTED = {
    "networkx": "graphdask.from_networkx(G)",
    "nx_cugraph": "graphdask.from_networkx(G)",
    "scipy": "graphdask.from_scipy(G)",
    "cupyx": "graphdask.from_scipy(G.get())",
    "dask": "graphdask.from_dask_dataframe(G, source, target), with the names of its columns,",
    "pandas": _COLUMNS,
    "polars": _COLUMNS,
    "cudf": _COLUMNS,
    "pyarrow": _COLUMNS,
    "numpy": "graphdask.from_edges of two columns, or from_scipy(scipy.sparse.coo_array(G)) of an adjacency matrix,",
    "cupy": "graphdask.from_edges(*G) of an edge index, two rows,",
    "torch": "graphdask.from_edges(*G) of an edge index",
    "igraph": "graphdask.from_edges(*zip(*G.get_edgelist()), num_vertices=G.vcount(), directed=G.is_directed())",
    "networkit": "graphdask.from_edges(*zip(*G.iterEdges()), num_vertices=G.numberOfNodes(), directed=G.isDirected())",
    "torch_geometric": "graphdask.from_edges(*G.edge_index, num_vertices=G.num_nodes)",
    "dgl": "graphdask.from_edges(*G.edges(), num_vertices=G.num_nodes())",
    "cugraph": "graphdask.from_edges of the columns of G.view_edge_list().to_pandas()",
}
"""How to make a Graph of what other packages have, by the first name of the package that a class comes from."""


def class_of(value: Any) -> str:
    """The class of a value as an error names it: with its module, where it is not Python's own."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def conversion(value: Any) -> str:
    """How to make a Graph of what was given instead of one."""
    if isinstance(value, str | Path):
        return f"graphdask.read_graph({shown(os.fspath(value))}) reads one from a file"
    for kind in type(value).__mro__:
        made = CONVERTED.get(kind.__module__.partition(".")[0])
        if made:
            return f"{made} makes one of it"
    return "graphdask.read_graph, from_edges, from_scipy and from_networkx make one"
