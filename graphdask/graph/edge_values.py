"""Numbers of edges in the place of weights: types, times, or a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.checked import checked_weights
from graphdask.partition.given import given_array
from graphdask.partition.sources import ArraySource

if TYPE_CHECKING:  # pyarrow takes long to import
    import pyarrow


def with_edge_values(G: Any, name: str, values: Any, whole: bool = False) -> Any:
    """The graph with a number for each edge; with None, the graph itself, whose weights these are.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : array-like of int or float, shape (G.num_edges,), str or None
        In the order of `G.edges()`; or the name of a column of the edges. A column of edges that are made on the
        workers, or that batches have changed, brings the edges to this process.
    whole : bool
        Whether they are whole numbers.

    Raises
    ------
    InputError
        If there are none, they do not fit the edges, the edges have no order that the caller knows, or no column
        of numbers has the name.
    """
    if values is None:
        if not G.weighted:
            raise InputError(f"the edges of this graph carry no weights to be read as {name}; give {name}=")
        dtype = G.source.weight_dtype
    elif not isinstance(values, str) and not arrays_of_edges(G):
        raise InputError(
            f"{name}= are numbers of the edges in the order of the arrays that a graph was made of, and this graph's "
            f"are made on the workers; make it with from_edges, name a column of its edges, or let the file's weights "
            f"be the {name}"
        )
    else:
        if isinstance(values, str):
            _check_column(G, name, values)
            G = _brought(G)
        given = _of_column(G, name, values) if isinstance(values, str) else given_array(name, values)
        if given.shape != (G.source.num_edges,):
            raise InputError(
                f"{name} has the shape {given.shape}; one for each of the {G.source.num_edges} edges is needed"
            )
        if not given.size:
            given = given.astype(np.int64)
        try:
            made = checked_weights(given.copy(), len(given))
        except InputError as error:
            raise InputError(str(error).replace("weights", name)) from error
        of = G.source
        assert isinstance(of, ArraySource)
        source = ArraySource(G.num_vertices, of.src, of.dst, made, of.known_skewed, of.kept, of.rows_given)
        G = replace(G, source=source, report=dict(G.report), built=None, replicas=None, on_host=None)
        dtype = source.weight_dtype
    if whole and dtype is not None and dtype.kind != "i":
        raise InputError(f"{name} are of the dtype {dtype}; they are whole numbers")
    return G


def arrays_of_edges(G: Any) -> bool:
    """Whether the edges are arrays of this process, one for each edge."""
    return isinstance(G.source, ArraySource) and not G.merge


def _brought(G: Any) -> Any:
    """The graph as it is now, made of arrays of its edges in this process; each edge keeps its row."""
    G = G.present
    if arrays_of_edges(G):
        return G
    G = G.in_memory() if hasattr(G, "in_memory") else G  # of a file that is streamed
    src, dst, weights, rows = G._edges_and_rows()
    assert G.edge_attributes is not None
    kept = np.zeros(G.edge_attributes.table.num_rows, bool)
    kept[rows] = True
    source = ArraySource(G.num_vertices, src, dst, weights, None, np.packbits(kept), len(kept))
    return replace(G, source=source, merge=False)


def column_numbers(name: str, column: str, values: pyarrow.ChunkedArray, where: Callable[[int], str]) -> np.ndarray:
    """Numbers of a column; dates and durations as whole numbers in the unit of their type, truth values as 0 and 1.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    where : callable
        Says of a place among the values what is there.

    Raises
    ------
    InputError
        If the column has another type, or a value is missing.
    """
    import pyarrow

    of = pyarrow.types
    if not is_numeric(values.type):
        raise InputError(f"{name}={shown(column)}: the column is of the type {values.type}; give numbers or dates")
    if values.null_count:
        first = int(np.flatnonzero(values.is_null().to_numpy())[0])
        raise InputError(
            f"{name}={shown(column)}: {where(first)} of the column is missing; fill it in, or leave it out"
        )
    if of.is_boolean(values.type):
        values = values.cast(pyarrow.int64())
    elif of.is_temporal(values.type):
        width = pyarrow.int32() if values.type.bit_width == 32 else pyarrow.int64()
        values = values.cast(width).cast(pyarrow.int64())
    return values.to_numpy()


def is_numeric(kind: pyarrow.DataType) -> bool:
    """Whether a column of a type has numbers, truth values, dates or durations."""
    import pyarrow

    of = pyarrow.types
    return bool(of.is_integer(kind) or of.is_floating(kind) or of.is_boolean(kind) or of.is_temporal(kind))


def _check_column(G: Any, name: str, column: str) -> None:
    """Raise InputError unless the edges have a column of numbers or dates of this name."""
    numbers = [each for each, kind in G.edge_columns.items() if is_numeric(kind)]
    if column not in numbers:
        kind = G.edge_columns.get(column)
        wrong = "the edges have no such column" if kind is None else f"the column is of the type {kind}"
        raise InputError(
            f"{name}={shown(column)}: {wrong}; columns of numbers or dates are {', '.join(numbers) or 'none'}"
        )


def _of_column(G: Any, name: str, column: str) -> np.ndarray:
    """Values of a column for the edges of a graph of arrays, in their order."""
    assert isinstance(G.source, ArraySource)
    assert G.edge_attributes is not None
    rows = G.source.rows
    rows = np.arange(G.source.num_edges) if rows is None else rows
    values = G.edge_attributes.take(rows, [column])[column]
    return column_numbers(name, column, values, lambda place: f"row {int(rows[place])}")
