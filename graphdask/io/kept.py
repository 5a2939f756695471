"""What a format cannot hold: names that it refuses, and what it loses, of which writing warns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import GraphdaskWarning, InputError, outside

from ._header import MISSING_WORDS, NUMBER_LIKE

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SINGLE = ("float32", "int32")


def _of_edgelist(name: str) -> str:
    if name[0] in "#%":
        return "a leading '#' or '%' starts a comment"
    return "it has white space, ',', ';' or '\"'" if re.search(r"[\s,;\"]", name) else ""


def _of_csv(name: str) -> str:
    if "\n" in name or "\r" in name:
        return "it has a line end"
    return "it begins or ends with white space" if name.strip(" \t") != name else ""


def _of_table(name: str) -> str:
    if name[0] in "#%":
        return "a leading '#' or '%' starts a comment"
    return "it has a tab or a line end" if re.search(r"[\t\n\r]", name) else ""


def _of_walks(name: str) -> str:
    return _of_table(name) or ("it has white space" if re.search(r"\s", name) else "")


_TEXTS: dict[str, tuple[str, Callable[[str], str], str]] = {
    "edgelist": ("an edge list", _of_edgelist, "write CSV, Parquet or .gdg"),
    "csv": ("CSV", _of_csv, "write Parquet or .gdg"),
    "table": ("text", _of_table, "write Parquet"),
    "walks": ("text", _of_walks, "write Parquet"),
}
"""For a format: what to call it, why a name cannot stand in it, and what to do."""


def refuse_names(names: Iterable[str], format: str) -> None:
    """Raise InputError for the first name that a file of a format cannot hold so that it is read back the same."""
    for name in names:
        why, called, instead = _objection(name, format)
        if why:
            raise InputError(f"the id {name!r} cannot stand in {called}: {why}; {instead}")


def _objection(name: str, format: str) -> tuple[str, str, str]:
    if not isinstance(name, str):
        return "it is no string, as the others are", "a file", "give all vertices ids of one kind"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "it has a lone surrogate, which is no character", "a file", "give the vertex another id"
    if format in _TEXTS:
        called, rule, instead = _TEXTS[format]
        if not name:
            return "it is empty", called, instead
        if _CONTROL.search(name):
            return "it has a control character", called, instead
        return rule(name), called, instead
    if format == "npz" and "\0" in name:
        return "it has a NUL character, which NumPy drops at the end of a text", "NPZ", "write Parquet or .gdg"
    if format in ("gexf", "graphml") and NOT_XML.search(name):
        return "it has a character that XML cannot hold", format.upper(), "write Parquet or .gdg"
    return "", "", ""


def is_text(ids: np.ndarray | None) -> bool:
    """Whether ids are names."""
    return ids is not None and ids.dtype.kind in "OTU"


def warn_of_names(names: Iterable[str], format: str, where: str = "") -> None:
    """Warn where CSV has names that are read back as numbers, or as missing."""
    if format != "csv":
        return
    for name in names:
        data = name.encode()
        if NUMBER_LIKE.match(data) or data in MISSING_WORDS:
            warn(f"{where}CSV does not say that its ids are names, and {name!r} is one that looks like a number or a "
                  "missing id; read it with ids='str'")  # fmt: skip
            return


def warn_of_weights(dtype: Any, format: str, where: str = "", edges: int | None = None) -> None:
    """Warn where a format does not say of which type weights are; `edges`: how many there are, if known."""
    if format not in ("csv", "matrixmarket", "metis", "dimacs") or dtype is None:
        return
    floats = np.dtype(dtype).kind == "f"
    if np.dtype(dtype).name in _SINGLE or (format == "csv" and edges == 0 and floats):
        wide = "float64" if floats and edges != 0 else "int64"
        warn(f"{where}{format} does not say the type of weights: {np.dtype(dtype).name} are read back as {wide}; an "
              "edge list, Parquet, .npz and .gdg say it")  # fmt: skip


def warn_of_vertices(lost: int | None, format: str, where: str = "", back: str = "") -> None:
    """Warn that vertices without edges are not in the file: so many, or an unknown number."""
    if lost == 0:
        return
    number = "vertices" if lost is None else f"{lost:,} vertices"
    warn(f"{where}{number} without edges are not written: {format} has no place for them{back}; a folder of parts "
          "keeps them, .gdg and .npz as well")  # fmt: skip


def warn_of_added(added: int, format: str) -> None:
    """Warn that the file has vertices that the graph has not."""
    if added > 0:
        warn(f"{format} has all numbers from 1 on as vertices: {added:,} that the graph does not have are read back")


def warn_of_columns(edges: Iterable[str], vertices: Iterable[str], target: object) -> None:
    """Warn that a file does not have the columns of edges and of vertices."""
    lost = [
        f"the {kind} columns {', '.join(names)}" for kind, names in (("edge", edges), ("vertex", vertices)) if names
    ]
    if lost:
        from .formats import FORMATS

        able = [known for known in FORMATS.values() if known.writes]
        of_edges = ", ".join(known.name for known in able if known.holds_edge_columns and known.name != "edgelist")
        of_vertices = ", ".join(known.name for known in able if known.holds_vertex_columns)
        warn(f"{target}: {' and '.join(lost)} are not written; columns of edges are kept by {of_edges}, and those of "
              f"vertices by {of_vertices} and a folder of parts; G.to_arrow and G.to_frame give tables")  # fmt: skip


def warn_of_types(vertices: Iterable[str], edges: Iterable[Any], target: object) -> None:
    """Warn that a file does not have the types of vertices and of edges, nor the caller's ids."""
    if vertices or edges:
        warn(f"{target}: the types of vertices and edges and the ids of {', '.join(vertices)} are not written, and "
              "vertices are numbers from 0 on; G.to_frame(kind, of_type=name) has the edges or vertices of a "
              "type with their ids")  # fmt: skip


def warn(text: str) -> None:
    """Warn in the name of the caller of graphdask."""
    warnings.warn(GraphdaskWarning(text), stacklevel=outside())


def warn_of_lost(path: Path, content: Any, lost: int | None, edges: int | None) -> None:
    """Warn of what a single file of `Graph.write` has no place for; `lost`: vertices without edges, if known; `edges`:
    how many there are, if known."""
    where = f"{path}: "
    if not content.ids.are_numbers:
        warn_of_names(content.ids.values, content.format, where)
    warn_of_weights(content.weight_dtype, content.format, where, edges)
    back = f"; num_vertices={content.ids.count} brings them back on reading" if content.ids.is_identity else ""
    warn_of_vertices(lost, content.format, where, back)
