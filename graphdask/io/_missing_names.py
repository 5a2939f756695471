"""Words that stand for a missing id, such as `NULL`, in columns of strings of Parquet and NPZ files.

As names they would join all edges whose ends are missing, so they are refused as in texts. Files that graphdask wrote
say that their ids are names; their words are names unless `na_values=` lists them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError

from .columns import Request


def check_names(names: np.ndarray, what: str, file: Path, request: Request, written_here: bool) -> np.ndarray:
    """Return the strings of a column of ids, unless some stand for a missing id.

    Parameters
    ----------
    names : numpy.ndarray of str as objects
    what : str
        How an error names the column.
    file : Path
    request : Request
    written_here : bool
        Whether graphdask wrote the file.

    Raises
    ------
    FormatError
        With the column, the first row, the number of rows and the arguments that say otherwise.
    InputError
        For ids="int".
    """
    if request.ids == "int":
        raise InputError(f"{file}: {what} is of strings, which ids='int' refuses; leave ids= out")
    if written_here and request.na_values is None:
        return names
    missing = {word.decode("utf-8", "surrogateescape") for word in request.missing}
    if not missing.intersection(names.tolist()):
        return names
    rows = [row for row, name in enumerate(names) if name in missing]
    raise FormatError(
        f"row {rows[0]}: {what} has {names[rows[0]]!r}, as which a vertex id is missing, in {len(rows):,} "
        f"row{'s' * (len(rows) != 1)}; leave the edges out, or pass ids='str' or na_values=() if these are names",
        file,
    )


def check_numbers(request: Request, what: str, file: Path, kind: Any) -> None:
    """Raise InputError for arguments that mean nothing for a column of whole numbers."""
    if request.ids == "str":
        raise InputError(f"{file}: {what} is of type {kind}, not of strings; leave ids='str' out, or convert it")
