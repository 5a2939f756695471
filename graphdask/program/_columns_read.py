"""The columns of a graph that a program reads: where a partition must have them, and as its kernels get them."""

from __future__ import annotations

from typing import Any

from graphdask.partition.column_values import ColumnAt
from graphdask.partition.part import Csr, Part
from graphdask.program.definition import Definition


def columns_read(of: Definition, directed: bool) -> tuple[ColumnAt, ...]:
    """Which columns the partitions of a graph must have: of the edges along which messages are pushed or pulled."""
    if not directed:
        places: tuple[str, ...] = ("out",)
    elif of.direction == "both":
        places = "out", "in"
    else:
        places = ("out",) if (of.direction == "out") == of.pushes else ("in",)
    return tuple(
        ColumnAt(place, name) for kind, name in of.columns for place in (places if kind == "edges" else ("slots",))
    )


def columns_of_vertices(of: Definition, part: Part) -> dict[str, Any]:
    """Fields of the pack: the columns of the vertices, by slot."""
    return {
        f"vertex_column{number}": part.columns[ColumnAt("slots", name)]
        for (kind, name), number in of.columns.items()
        if kind == "vertices"
    }


def fields_of_edges(of: Definition, csr: Csr) -> dict[str, Any]:
    """Fields of the pack: rows, and what functions read of their edges."""
    weights = csr.weights if of.reads_weights else None
    columns = {
        f"edge_column{number}": csr.columns[name] for (kind, name), number in of.columns.items() if kind == "edges"
    }
    return {"indptr": csr.indptr, "indices": csr.indices, "weights": weights, **columns}


def types_of_columns(of: Definition, part: Part, rows: Any) -> dict[str, Any]:
    """The types of the columns, for kernels; `rows` have those of edges."""
    if not of.columns:
        return {}
    arrays = {name: array for name, array in fields_of_edges(of, rows).items() if name.startswith("edge")}
    return {f"{name}_t": array.dtype for name, array in (arrays | columns_of_vertices(of, part)).items()}
