"""Graphs larger than memory: layered edge lists on disk, and algorithms and samplers that stream them.

Source: WolfPath, International Journal of Parallel Programming 47 (2019).
"""

from importlib import import_module as _import_module

from graphdask.interface.suggest import no_attribute as _no_attribute
from graphdask.interface.suggest import suggesting as _suggesting

_HOME: dict[str, tuple[str, str]] = {
    "StreamedGraph": ("graph", "StreamedGraph"),
    "build": ("construct", "build"),
    "open": ("graph", "open_"),
}
"""Public names, and the modules and names in them that they stand for; these are loaded on first use."""

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise _no_attribute(__name__, name, __all__)
    module, inner = _HOME[name]
    value = _suggesting(getattr(_import_module(f"graphdask.stream.{module}"), inner), __name__, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
