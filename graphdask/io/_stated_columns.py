"""Types and categories of columns, as text that Parquet keeps beside them.

Parquet has fewer types than Arrow: seconds become milliseconds there, and categories the words that rows hold. So files
of graphdask state the columns as an Arrow IPC stream without rows, in Base64, by which a reader restores them.
"""

from __future__ import annotations

import base64
from typing import Any

from graphdask.errors import FormatError

from ._ipc import as_bytes, of_bytes, without_rows

MOST_CATEGORIES = 1 << 20
"""Bytes of categories up to which they are stated; beyond, those that rows hold come back."""


def stated(table: Any) -> str:
    """Return the types of columns, and their categories, as text."""
    import pyarrow as pa

    none = pa.Table.from_batches([without_rows(table)])
    coded = [column.chunk(0).dictionary for column in none.columns if pa.types.is_dictionary(column.type)]
    if sum(words.nbytes for words in coded) > MOST_CATEGORIES:
        none = none.schema.empty_table()
    return base64.b64encode(as_bytes(none).tobytes()).decode()


def read_stated(text: Any, path: Any) -> Any:
    """Return the table without rows that a text states; None for no text."""
    if text is None:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise FormatError(f"the columns that graphdask stated are damaged ({error})", path) from None
    return of_bytes(data, "the columns", path)


def restored(table: Any, like: Any, path: Any) -> Any:
    """Return columns with the types and the categories that were stated for them; others as they are."""
    import pyarrow as pa

    try:
        for place, name in enumerate(table.column_names):
            if like is None or name not in like.column_names:
                continue
            column, stated_column = table.column(place), like.column(name)
            if pa.types.is_dictionary(stated_column.type):
                column = _coded_as(column, stated_column)
            elif column.type != stated_column.type:
                column = column.cast(stated_column.type)
            table = table.set_column(place, like.schema.field(name), column)
    except pa.ArrowException as error:
        raise FormatError(f"column {name!r} is not of the type that the file states ({error})", path) from None
    return table


def _coded_as(column: Any, like: Any) -> Any:
    """A column of categories, with those of another; with its own where that has none."""
    import pyarrow as pa
    from pyarrow import compute

    kind = like.type
    values = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if values.type != kind.value_type:
        values = values.cast(kind.value_type)
    words = like.chunk(0).dictionary if like.num_chunks else None
    if words is None or not len(words):
        coded = values.combine_chunks().dictionary_encode()
        coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
        words, indices = coded.dictionary, coded.indices
    else:
        found = compute.index_in(values, value_set=words)
        indices = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
        if indices.null_count > values.null_count:
            raise pa.ArrowInvalid("a value is none of the categories")
    indices = indices.cast(kind.index_type)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, words, ordered=kind.ordered)])
