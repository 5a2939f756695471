"""graphdask: graphs on one core, one GPU or a Dask cluster, with the same call and the same answer.

>>> import graphdask as gd
>>> G = gd.from_edges([0, 1, 2], [1, 2, 3])
>>> gd.bfs(G, 0).depth.tolist()
[0, 1, 2, 3]
"""

from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import Any as _Any

from graphdask.gang import calls as _calls  # noqa: F401  defines what packages ask of graphdask.execute
from graphdask.version import VERSION as _VERSION

__version__ = _VERSION

# In a source folder, `kernels` and `cluster` stand beside this package, not in it.
if not (_Path(__file__).parent / "kernels").is_dir():
    __path__.append(str(_Path(__file__).parent.parent))

_HOME = {
    "DynamicGraph": "dynamic.graph",
    "Graph": "graph.graph",
    "Program": "program.program",
    "TypedGraph": "graph.typed",
    "cosine": "similarity.similarity",
    "ego_graph": "subgraphs.ego",
    "from_dask_dataframe": "graph.adapters",
    "from_edges": "graph.construct",
    "from_frame": "graph.from_frame",
    "from_frames": "graph.from_frames",
    "from_networkx": "graph.adapters",
    "from_scipy": "graph.adapters",
    "jaccard": "similarity.similarity",
    "k_core": "subgraphs.subgraph",
    "k_hop_neighbors": "subgraphs.hops",
    "k_truss": "subgraphs.truss",
    "overlap": "similarity.similarity",
    "read_graph": "graph.construct",
    "read_stream": "dynamic.temporal",
    "run": "program.run",
    "same_graph": "graph.same",
    "shortest_path": "algorithms.shortest_path",
    "sorensen": "similarity.similarity",
    "subgraph": "subgraphs.subgraph",
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
_MODULES = ("aio", "cluster", "errors", "generate", "io", "plot", "sample", "stream")


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _names()
    if name in _HOME:
        value = _public(name, getattr(_import_module(f"graphdask.{_HOME[name]}"), name))
    elif name in _MODULES:
        value = _import_module(f"graphdask.{name}")
    elif not name.startswith("_") and (found := _registry().algorithm_named(name)):
        value = _public(name, found.function)
    else:
        raise _import_module("graphdask.interface.suggest").no_attribute(__name__, name, __dir__())
    globals()[name] = value
    return value


def _names() -> list[str]:
    return ["__version__", *sorted((*_MODULES, *_HOME, *_registry().declared()))]


def _registry() -> _Any:
    return _import_module("graphdask.interface.registry")


def _public(name: str, value: object) -> object:
    return _import_module("graphdask.interface.suggest").suggesting(value, __name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_names()})
