"""Checks that memory can hold the edges of a file: their number is estimated before any edge is read.

If a file states its number of edges, that number is taken. Lines of a text are assumed to be as long as those at some
places of it. If an estimate is in doubt, it is a low one, so that a file that could be read is not refused.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from graphdask.config import Config
from graphdask.device.backend import get_backend
from graphdask.errors import GraphdaskError, OverBudget
from graphdask.partition.larger import of_file

from ._column_estimate import column_bytes
from ._ldbc_names import ldbc_pair
from ._line_estimate import estimated_lines
from .asked import Asked
from .budgets import ARRAYS, GRAPH, NOTHING, PerEdge, announced
from .folder import is_graph_folder, manifest
from .formats import format_to_read
from .opening import Source, checked_path

NATIVE, ARCHIVE = 24, 32
"""Bytes of a file per edge, at most, where it has arrays of numbers."""
LEAST_LINE = 1 << 26
"""Bytes that a line may always take."""
LARGER = ("edgelist", "csv", "temporal", "dimacs", "ldbc", "parquet", "native")
"""Formats that `spilled_edges` reads."""


def within_memory_of_files(
    files: Sequence[tuple[Any, str | None]], each: PerEdge = GRAPH, columns: tuple[Asked, Asked] = (False, False)
) -> AbstractContextManager[None]:
    """Return a context to make one graph of files in, which come with their formats where these are known; `columns`
    are those of edges and of vertices that are asked for.

    It raises OverBudget if memory cannot hold all of them or runs out.
    """
    (path, format), *further = [(path, _format_of(path, format)) for path, format in files]
    return within_memory(path, format, each, further, columns)


def _format_of(path: str | os.PathLike[str], format: str | None) -> str:
    return "native" if is_graph_folder(checked_path(path)) else format_to_read(path, format).name


def usable_memory() -> int:
    """Bytes that a call may plan with."""
    return int(get_backend("cpu").free_memory() * Config.load().memory_fraction)


def within_blocks(path: str | os.PathLike[str], memory: int) -> AbstractContextManager[None]:
    """Read a file whose columns of numbers go to disk in here, block by block in so many bytes."""
    instead = "names as ids, and what is read whole, must fit memory"
    return announced(path, usable_memory(), NOTHING, instead, max(memory, LEAST_LINE))


@contextmanager
def within_memory(
    path: str | os.PathLike[str], format: str, each: PerEdge = ARRAYS, further: Sequence[tuple[Any, str]] = (),
    columns: tuple[Asked, Asked] = (False, False),
) -> Iterator[None]:  # fmt: skip
    """Read a file of this format in here, and further files with theirs: OverBudget where the edges do not fit
    together, or memory runs out."""
    usable = refuse_too_many(path, format, each, further, columns)
    instead = _instead(path, format, usable, bool(further))
    try:
        with announced(path, usable, each, instead):
            yield
    except MemoryError as error:
        if isinstance(error, OverBudget):
            raise
        raise OverBudget(
            f"{os.fspath(path)}: memory has run out while it was read ({str(error) or 'MemoryError'}); {instead}"
        ) from error


def refuse_too_many(
    path: str | os.PathLike[str], format: str, each: PerEdge, further: Sequence[tuple[Any, str]] = (),
    columns: tuple[Asked, Asked] = (False, False),
) -> int:  # fmt: skip
    """Raise OverBudget where a file, with further ones, has more edges than fit, by an estimate; return the bytes that
    may be used."""
    usable = usable_memory()
    files = [(path, format), *further]
    most = usable // max(each.wide, each.names, 1) // len(files)  # files that are smaller do not exceed it together
    found = [estimate(one, its_format, most) for one, its_format in files]
    edges = sum(number for number, _ in found)
    needed = sum(number * getattr(each, kind) for number, kind in found)
    more = sum(column_bytes(one, its_format, *columns) for one, its_format in files)
    needed += more
    if needed > usable:
        of = f" of {len(files):,} files" if further else ""
        of += f" and their columns ({more / 2**30:,.3g} GiB)" if more else ""
        raise OverBudget(
            f"{os.fspath(path)}: about {edges:,} edges{of} need {needed / 2**30:,.3g} GiB to be read, and "
            f"{usable / 2**30:,.3g} GiB may be used (the setting graphdask.memory-fraction of what is free); "
            f"{_instead(path, format, usable, bool(further))}"
        )
    return usable


def estimated_edges(path: str | os.PathLike[str]) -> int:
    """About how many edges a file has, in doubt fewer; 0 where nobody knows."""
    try:
        name = "native" if is_graph_folder(checked_path(path)) else format_to_read(path, None).name
    except GraphdaskError:  # who reads it says what is wrong
        return 0
    return estimate(path, name, 0)[0]


def _instead(path: str | os.PathLike[str], format: str, usable: int, several: bool = False) -> str:
    if several:
        name = f"graph{Path(path).suffix if format in LARGER else '.parquet'}"
        return f"write all files as one, and {of_file(name, usable // 2)}"
    if format in LARGER:
        return of_file(path, usable // 2)
    return (
        f"a {format} file is read whole; bring it into one of the formats {', '.join(LARGER)}, and graphdask.stream."
        "build reads it in blocks and gives a graph that algorithms and samplers go through from disk"
    )


def estimate(path: str | os.PathLike[str], format: str, most: int) -> tuple[int, str]:
    """About how many edges a file has, 0 where nobody knows or where they are `most` at the most in any case; and what
    their ends are, a field of `PerEdge`."""
    try:
        file = checked_path(path)
        if file.exists() and not (file.is_file() or file.is_dir()):
            return 0, "narrow"  # a pipe or a device, for which who opens it may wait
        if is_graph_folder(path):
            return int(manifest(Path(path).expanduser())["edges"]), "narrow"
        if format == "parquet":
            return rows_stated(path), "narrow"
        if format == "npz":
            with zipfile.ZipFile(path) as archive:
                return sum(entry.file_size for entry in archive.infolist()) // ARCHIVE, "narrow"
        if format == "native":
            return Path(path).expanduser().stat().st_size // NATIVE, "narrow"
        pair = ldbc_pair(path) if format == "ldbc" else None
        return estimated_lines(Source(path if pair is None else pair[1]), most)
    except Exception:  # of a damaged file, or of a library that reads it; who reads it next says what is wrong
        return 0, "narrow"


def rows_stated(path: str | os.PathLike[str]) -> int:
    try:
        from pyarrow import dataset

        return int(dataset.dataset(Path(path).expanduser(), format="parquet").count_rows())
    except Exception:  # of a package that may be missing, or a damaged file
        return 0
