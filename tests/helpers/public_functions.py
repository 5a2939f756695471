"""What is public: functions, constructors and methods with arguments, found by walking the public modules."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

MODULES = (
    "graphdask", "graphdask.generate", "graphdask.sample", "graphdask.stream", "graphdask.cluster", "graphdask.scale",
    "graphdask.plot", "graphdask.io",
)  # fmt: skip
RETURNED = (
    "graphdask.results.result.Result", "graphdask.results.stats.Stats", "graphdask.dynamic.temporal.EdgeStream",
    "graphdask.partition.blocks.EdgeArrays", "graphdask.program.translated.Translated",
    "graphdask.sample.neighborhoods.Subgraph", "graphdask.scale.model.Fit", "graphdask.sample.neighborhoods.Subgraphs",
    "graphdask.sample.neighbor_loader.Batch", "graphdask.dynamic.graph.Update",
    "graphdask.sample.link_loader.LinkBatch", "graphdask.sample.cluster_loader.ClusterBatch",
    "graphdask.subgraphs.result.SubgraphResult",
)  # fmt: skip
"""Classes that public functions return, which no public module has."""
FUNCTIONS = ("graphdask.graph.power_law.fit_power_law",)
"""Functions that no public module has, and that answer to users all the same."""
SPOKEN = ("__init__", "__call__", "__getitem__", "__contains__")
"""Methods with names of Python's that take arguments of the user."""


@cache
def found() -> dict[str, Any]:
    """Each public function, constructor and method with arguments, by its name; an inherited one by its first owner."""
    public: dict[str, Any] = {}
    classes: list[type] = []
    for module in map(importlib.import_module, MODULES):
        prefix = module.__name__.partition(".")[2]
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and not issubclass(value, BaseException):
                classes.append(value)
            elif callable(value) and not inspect.isclass(value) and takes(value):
                public[f"{prefix}.{name}" if prefix else name] = value
    for name in FUNCTIONS:
        home, _, each = name.rpartition(".")
        public[each] = getattr(importlib.import_module(home), each)
    for name in RETURNED:
        home, _, each = name.rpartition(".")
        classes.append(getattr(importlib.import_module(home), each))
    for cls in dict.fromkeys(classes):
        for owner in reversed(cls.__mro__):
            if owner.__module__.startswith("graphdask"):
                for name, value in vars(owner).items():
                    function = getattr(value, "__func__", value)
                    public_name = not name.startswith("_") or name in SPOKEN
                    if (
                        public_name
                        and inspect.isfunction(function)
                        and takes(function, not isinstance(value, staticmethod))
                    ):
                        made = name == "__init__"
                        public[owner.__name__ if made else f"{owner.__name__}.{name}"] = function
    return public


def takes(function: Any, method: bool = False) -> bool:
    return len(inspect.signature(function).parameters) > method
