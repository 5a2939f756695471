"""Tables as arrays of bytes: Arrow IPC streams, which hold columns of every type and are read where they are mapped."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.errors import FormatError


def as_bytes(table: Any) -> np.ndarray:
    """Return a table as uint8."""
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
        if not table.num_rows:
            stream.write_batch(without_rows(table))
    return np.frombuffer(out.getvalue(), np.uint8)


def without_rows(table: Any) -> Any:
    """Return a record batch without rows that has the types and the categories of a table, whose pieces share them."""
    import pyarrow as pa

    arrays = [column.slice(0, 0).combine_chunks() for column in table.columns]
    arrays = [array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array for array in arrays]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def of_bytes(data: Any, what: str, path: Any) -> Any:
    """Return the table of bytes, which must live as long as it.

    Raises
    ------
    FormatError
        If they are no table.
    """
    import pyarrow as pa

    try:
        table = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
        table.validate(full=True)
    except (ValueError, TypeError, OSError, pa.ArrowException) as error:
        raise FormatError(f"{what} that graphdask wrote are damaged ({str(error)[:200]})", path) from None
    return table
