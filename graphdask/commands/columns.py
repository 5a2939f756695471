"""Write a result to a file: the columns `vertex` and the result's own, a row for each vertex, whole or not at all; and
read such a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from graphdask.commands import streams
from graphdask.commands.options import writable
from graphdask.errors import FormatError, GraphdaskError, InputError


def check_output(path: Path, read: Path, overwrite: bool) -> None:
    """Raise InputError, before any work, where the file cannot be written, is there, or is the one to be read."""
    if path.suffix.lower() not in WRITERS:
        raise InputError(
            f"{path}: the name of an output ends in one of {', '.join(WRITERS)}; {path.suffix or 'no ending'!r} is none"
        )
    if streams.refuse_existing(path, overwrite):
        return
    if path.exists() and read.exists() and path.samefile(read):
        raise InputError(f"{path} is the graph to read; name another file to write")
    writable(path, overwrite)


def write_columns(result: Any, path: Path, overwrite: bool) -> None:
    """Write a Result in the format that the name says, at an address too."""
    from graphdask.io.kept import refuse_names

    if not result.graph.ids.are_numbers:
        refuse_names(result.graph.vertex_ids, {".txt": "table", ".npz": "npz"}.get(path.suffix.lower(), "parquet"))
    with streams.written(path, overwrite) as place:
        WRITERS[path.suffix.lower()](result, place, overwrite)


def _columns(result: Any) -> dict[str, Any]:
    return {"vertex": result.graph.vertex_ids} | {name: getattr(result, name) for name in result.columns}


def _write_parquet(result: Any, path: Path, overwrite: bool) -> None:
    result.to_parquet(path, overwrite=overwrite)


def _write_npz(result: Any, path: Path, overwrite: bool) -> None:
    import numpy as np

    from graphdask.io.outputs import file_output

    columns: dict[str, Any] = {}
    for name, values in _columns(result).items():
        strings = values.dtype.kind in "OT"
        columns[name] = np.array(["" if v is None else v for v in values], np.str_) if strings else values
    with file_output(path, overwrite).stream() as file:
        np.savez(file, allow_pickle=False, **columns)


def put_columns(result: Any, stream: IO[bytes], kind: str) -> None:
    """Write a Result to a stream: `kind` is csv or txt."""
    from graphdask.io.kept import refuse_names

    if not result.graph.ids.are_numbers:
        refuse_names(result.graph.vertex_ids, "table" if kind == "txt" else "parquet")
    _put_text(result, stream, kind)
    stream.flush()


def _put_text(result: Any, file: IO[bytes], kind: str) -> None:
    import pyarrow
    from pyarrow import csv

    columns = _columns(result)
    arrays = [pyarrow.array(v.tolist() if v.dtype.kind in "OT" else v) for v in columns.values()]
    strings = any(values.dtype.kind in "OT" for values in columns.values())
    delimiter, begin = TEXTS[kind]
    options = csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="needed" if strings and delimiter == "," else "none"
    )
    file.write(f"{begin}{delimiter.join(columns)}\n".encode())
    csv.write_csv(pyarrow.table(dict(zip(columns, arrays, strict=True))), file, options)


def _write_text(result: Any, path: Path, overwrite: bool) -> None:
    from graphdask.io.outputs import file_output

    with file_output(path, overwrite).stream() as file:
        _put_text(result, file, path.suffix.lower().removeprefix("."))


TEXTS = {"csv": (",", ""), "txt": ("\t", "# ")}
"""What is between columns, and what begins the line of their names."""

WRITERS: dict[str, Callable[[Any, Path, bool], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_text,
    ".txt": _write_text,
    ".npz": _write_npz,
}
"""By the ending of the name."""


def read_columns(path: Path, names: bool) -> dict[str, Any]:
    """The columns of a file as `write_columns` writes it, as arrays; `names` says that vertices are called by names.

    Raises
    ------
    FormatError
        For a file that cannot be read so, or has no column `vertex`.
    """
    try:
        columns = _read(path, names)
    except (GraphdaskError, MemoryError):
        raise
    except Exception as error:  # of PyArrow, NumPy and zipfile, for a damaged file nearly all kinds
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:300]
        raise FormatError(f"no columns can be read ({reason})", path) from None
    if "vertex" not in columns:
        raise FormatError(f"there is no column vertex; columns: {', '.join(columns) or 'none'}", path)
    return columns


def _read(path: Path, names: bool) -> dict[str, Any]:
    import numpy as np
    from pyarrow import csv, parquet, string

    kind = path.suffix.lower().removeprefix(".")
    if kind == "npz":
        with np.load(path, allow_pickle=False) as found:
            return {name: found[name] for name in found}
    if kind == "parquet":
        table = parquet.read_table(path)
    else:
        delimiter, begin = TEXTS[kind]
        reading, parsing = csv.ReadOptions(), csv.ParseOptions(delimiter=delimiter)
        if begin:
            with path.open(encoding="utf-8") as file:
                head = file.readline().removeprefix(begin).strip().split(delimiter)
            reading, parsing.quote_char = csv.ReadOptions(column_names=head, skip_rows=1), False
        types = csv.ConvertOptions(column_types={"vertex": string()} if names else {})
        table = csv.read_csv(path, reading, parsing, types)
    return {name: table.column(name).to_numpy() for name in table.column_names}
