"""The columns of edges and vertices that the functions of a sampler read, as kernels get them."""

from __future__ import annotations

from collections.abc import Mapping

from graphdask.device.backend import Array
from graphdask.partition.column_values import ColumnAt
from graphdask.partition.part import Csr, Part


def columns_of(numbers: Mapping[tuple[str, str], int], part: Part, rows: Csr) -> dict[str, Array]:
    """Fields of `FunctionGraph`: the columns that have numbers, of the edges in `rows` and of all vertices."""
    found = {}
    for (of, name), number in numbers.items():
        if of == "edges":
            found[f"edge_column{number}"] = rows.columns[name]
        else:
            found[f"vertex_column{number}"] = part.columns[ColumnAt("ids", name)]
    return found
