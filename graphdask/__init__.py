"""graphdask: graphs on one core, one GPU or a Dask cluster, with the same call and the same answer.

>>> import graphdask as gd
>>> G = gd.from_edges([0, 1, 2], [1, 2, 3])
>>> gd.bfs(G, 0).depth.tolist()
[0, 1, 2, 3]
"""

from importlib import import_module as _import_module
from pathlib import Path as _Path

from graphdask.version import VERSION as __version__

# In a source folder, `kernels` and `cluster` stand beside this package, not in it.
if not (_Path(__file__).parent / "kernels").is_dir():
    __path__.append(str(_Path(__file__).parent.parent))

_HOME = {
    "DynamicGraph": "dynamic.graph",
    "Graph": "graph.graph",
    "betweenness": "algorithms.centrality",
    "bfs": "algorithms.bfs",
    "connected_components": "algorithms.components",
    "core_number": "algorithms.core_number",
    "from_dask_dataframe": "graph.adapters",
    "from_edges": "graph.construct",
    "from_networkx": "graph.adapters",
    "from_scipy": "graph.adapters",
    "label_propagation": "algorithms.label_propagation",
    "local_clustering_coefficient": "algorithms.clustering",
    "pagerank": "algorithms.ranking",
    "read_graph": "graph.construct",
    "read_stream": "dynamic.temporal",
    "sssp": "algorithms.sssp",
    "strongly_connected_components": "algorithms.strong",
    "triangles": "algorithms.triangles",
} | dict.fromkeys(
    (
        "ArgumentError",
        "CommunicationError",
        "DeadlineExceeded",
        "FormatError",
        "GraphdaskError",
        "GraphdaskWarning",
        "InputError",
        "KernelError",
        "MissingDependency",
        "OverBudget",
        "PeerLost",
        "SchedulerLost",
        "StaleMessage",
        "Unsupported",
        "VerificationError",
        "VertexNotFound",
        "WrongWorker",
    ),
    "errors",
)
_MODULES = ("cluster", "errors", "generate", "io", "plot", "sample", "stream")

__all__ = ["__version__", *_MODULES, *_HOME]


def __getattr__(name: str) -> object:
    if name in _HOME:
        home = _import_module(f"graphdask.{_HOME[name]}")
        value = _import_module("graphdask.suggest").suggesting(getattr(home, name), __name__, name)
    elif name in _MODULES:
        value = _import_module(f"graphdask.{name}")
    else:
        raise _import_module("graphdask.suggest").no_attribute(__name__, name, __all__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
