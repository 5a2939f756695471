"""Columns of a caller's table of edges, whatever library it is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.graph.adapters import column_values
from graphdask.partition.conversions import class_of
from graphdask.partition.given import given_array


def columns_of(what: str, table: Any, src: str, dst: str, weight: str | None) -> tuple[Any, Any, Any]:
    """Return sources, destinations, and weights or None, of a data frame, a pair of arrays or an array of two rows.

    Raises
    ------
    InputError
        For a table without the columns of the ends, or what is no table.
    """
    if isinstance(table, tuple | list) and len(table) == 2 and not isinstance(table[0], str):
        return table[0], table[1], None
    if hasattr(table, "compute") and hasattr(table, "columns"):  # of Dask
        table = table.compute()
    names = _names(table)
    if names is None:
        array = given_array(what, table)
        if array.ndim != 2 or len(array) != 2:
            raise InputError(
                f"{what} is a {class_of(table)}; it is a data frame, a pair of arrays or an array of shape (2, m)"
            )
        return array[0], array[1], None
    for name in (src, dst):
        if name not in names:
            raise InputError(f"{what} has no column {name!r}; it has {', '.join(map(str, names))}")
    return _values(table, src), _values(table, dst), _values(table, weight) if weight in names else None


def _names(table: Any) -> Sequence[Any] | None:
    """The names of the columns of a data frame or an Arrow table; None of anything else."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None or callable(names) else list(names)


def _values(table: Any, name: Any) -> np.ndarray:
    column = table[name]
    if hasattr(column, "to_pandas") and not hasattr(column, "isna"):
        column = column.to_pandas()
    return column_values(column)
