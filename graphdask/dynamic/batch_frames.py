"""Batches that come as tables: columns `src`, `dst` and, where the graph has weights, `weight`.

Of a Dask DataFrame each worker keeps what it can: it takes these columns of its partitions and drops the edges that
stand again later in the same partition. What is left goes to the caller's process, which numbers new vertices and keeps
every batch to build lost rows anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.arrays import is_array
from graphdask.errors import InputError
from graphdask.graph.adapters import column_values
from graphdask.partition.given import given_array


def is_frame(given: Any) -> bool:
    """Whether a batch is a table: of pandas, Dask or cuDF, or what else gives Arrow columns with names."""
    kind = type(given)  # asked for its columns, a lazy frame of polars warns
    if hasattr(kind, "columns") and hasattr(kind, "iloc"):
        return True
    named = hasattr(kind, "columns") or hasattr(kind, "schema")
    return hasattr(kind, "collect_schema") or (named and hasattr(given, "__arrow_c_stream__"))


def as_columns(name: str, given: Any) -> Any:
    """Return a batch that is one array, with a row for each column, as NumPy's; anything else as it is."""
    table = hasattr(given, "columns")
    return given_array(name, given) if is_array(given) and not table else given


def frame_edges(name: str, frame: Any, weighted: bool, client: Any) -> tuple[tuple[np.ndarray, ...], int]:
    """The columns of a batch, partition after partition; and how many edges were dropped because they stand again.

    Raises
    ------
    InputError
        For a column that is not there, and values that are no ids.
    """
    columns = ("src", "dst", *(("weight",) if weighted else ()))
    if not hasattr(type(frame), "iloc"):
        from graphdask.graph.arrow_tables import arrow_table, plain_values  # it imports pyarrow

        table = arrow_table(name, frame, columns)
        return tuple(plain_values(f"{name}: column {column!r}", table[column]) for column in columns), 0
    for column in columns:
        if column not in frame.columns:
            raise InputError(
                f"{name}: the data frame has no column {column!r}; it has {', '.join(map(str, frame.columns))}"
            )
        if list(frame.columns).count(column) > 1:
            raise InputError(f"{name}: the data frame has more than one column {column!r}; rename the others")
    if not hasattr(frame, "to_delayed"):
        return tuple(column_values(frame[column]) for column in columns), 0
    import dask

    tasks = [dask.delayed(_distinct)(partition, columns) for partition in frame.to_delayed()]
    found = dask.compute(*tasks) if client is None else client.gather(client.compute(tasks))
    if not found:
        return tuple(np.zeros(0, np.int64) for _ in columns), 0
    return tuple(np.concatenate([arrays[k] for arrays, _ in found]) for k in range(len(columns))), sum(
        dropped for _, dropped in found
    )


def _distinct(frame: Any, columns: tuple[str, ...]) -> tuple[tuple[np.ndarray, ...], int]:
    """Columns of a partition, of each edge the last row; and how many rows that leaves out."""
    kept = frame[~frame.duplicated(list(columns[:2]), keep="last")]
    return tuple(column_values(kept[column]) for column in columns), len(frame) - len(kept)
