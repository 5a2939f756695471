"""Which reader a format has. Each is loaded when a file needs it."""

from __future__ import annotations

import os
from typing import Any

from .edges import EdgeList
from .opening import refusing_damage


def read_format(path: str | os.PathLike[str], name: str, request: Any, reading: Any) -> EdgeList:
    """Read a file of the format of this name; what is raised for a damaged file is a GraphdaskError."""
    with refusing_damage(path):
        return _read(path, name, request, reading)


def _read(path: str | os.PathLike[str], name: str, request: Any, reading: Any) -> EdgeList:
    if name in ("edgelist", "csv", "temporal"):
        from .edgelist import read_edgelist

        return read_edgelist(path, request, reading, name)
    if name == "adjlist":
        from .adjlist import read_adjlist

        return read_adjlist(path, request, reading)
    if name == "metis":
        from .metis import read_metis

        return read_metis(path, request, reading)
    if name == "dimacs":
        from .dimacs import read_dimacs

        return read_dimacs(path, request, reading)
    if name == "ldbc":
        from .ldbc import read_ldbc

        return read_ldbc(path, request, reading)
    if name == "matrixmarket":
        from .matrixmarket import read_matrixmarket

        return read_matrixmarket(path, request, reading)
    if name == "parquet":
        from .parquet import read_parquet

        return read_parquet(path, request, reading)
    if name == "npz":
        from .npz import read_npz

        return read_npz(path, request)
    if name in ("gexf", "graphml"):
        from .xml_reading import read_xml

        return read_xml(path, request, name)
    from .native import read_native

    return read_native(path, request, reading.spill is not None)
