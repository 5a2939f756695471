"""About how many bytes the columns take that a caller asks of a file, known before any edge is read.

A Parquet file says it in its footer. Columns of native files are mapped and take no memory; those of text are estimated
by its reader (`text_columns.py`). If an estimate is in doubt, it is a low one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._parquet_pages import width_of
from .asked import OF_EDGES, VERTEX, Asked
from .folder import VERTICES, is_graph_folder, manifest


def column_bytes(path: str | os.PathLike[str], format: str, edges: Asked, vertices: Asked) -> int:
    """Bytes of the columns of edges and of vertices that are asked of a file or folder; 0 where nobody knows."""
    if not edges and not vertices:
        return 0
    try:
        if is_graph_folder(path):
            folder = Path(path).expanduser()
            record = manifest(folder)
            size = _in_parquet(str(folder / VERTICES), vertices, (VERTEX,)) if "columns" in record["vertices"] else 0
            parts = record["parts"] if record["format"] == "parquet" and edges else ()
            return size + sum(_in_parquet(str(folder / part["file"]), edges, OF_EDGES) for part in parts)
        if format == "parquet" and edges:
            from pyarrow import dataset

            files = dataset.dataset(Path(path).expanduser(), format="parquet").files
            return sum(_in_parquet(file, edges, OF_EDGES) for file in files)
    except Exception:  # of a damaged file, or of a library that reads it; who reads it next says what is wrong
        pass
    return 0


def _in_parquet(file: str, asked: Asked, own: tuple[str, ...]) -> int:
    """Bytes of columns of one file: rows by the width of the type, or if it has none what pages hold."""
    from pyarrow import parquet

    return bytes_in(parquet.read_metadata(file), asked, own)


def bytes_in(footer: Any, asked: Asked, own: tuple[str, ...]) -> int:
    """The same of the file with this footer."""
    schema = footer.schema.to_arrow_schema()
    names = asked if isinstance(asked, tuple) else [name for name in schema.names if name not in own]
    size, varied = 0, set()
    for name in set(names) & set(schema.names) if asked else ():
        width = width_of(schema.field(name).type)
        size += footer.num_rows * (width or 0)
        varied |= set() if width else {name}
    for group in range(footer.num_row_groups if varied else 0):
        for place in range(footer.num_columns):
            chunk = footer.row_group(group).column(place)
            size += chunk.total_uncompressed_size if chunk.path_in_schema.split(".")[0] in varied else 0
    return size
