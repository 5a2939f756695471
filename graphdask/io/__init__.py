"""Reading and writing graphs: one file per format, all through `read_edges` and `write_edges`.

Importing this package loads no format; each is loaded when a file needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from graphdask.display.phases import phase, progress_over
from graphdask.errors import InputError, shown
from graphdask.interface.suggest import no_attribute, suggesting

from ._dispatch import read_format as _read
from ._spill import slices
from .asked import Asked
from .edges import EdgeList
from .formats import FORMATS, Format, detect_format, format_to_read, refuse_compressed
from .writers import write_edges

__all__ = [
    "FORMATS",
    "EdgeList",
    "Format",
    "detect_format",
    "edges_for_graph",
    "read_edges",
    "read_vertex_values",
    "slices",
    "spilled_edges",
    "write_edges",
]


def read_edges(
    path: Any,
    *,
    format: str | None = None,
    weights: bool | str | None = None,
    directed: bool | None = None,
    comment: str | None = None,
    delimiter: str | None = None,
    columns: Sequence[str | int] | None = None,
    edge_columns: Sequence[str] | bool | None = None,
    vertex_columns: Sequence[str] | bool | None = None,
    ids: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    na_values: str | Sequence[str] | None = None,
    threads: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> EdgeList:
    """Read the edges of a graph as they stand in a file, or in several.

    Parameters
    ----------
    path : path-like, str or open file
        The file; also an address, a pattern or an open file, as `graphdask.read_graph` takes them. Text formats may be
        compressed with gzip, xz or bzip2, which is detected by the content. For LDBC either of the two files or their
        common stem; for Parquet also a directory. Or a folder that `Graph.write` made, of any format.
    format : str, optional
        A key of `FORMATS`; default: what the name says (`detect_format`).
    weights : bool, "auto" or "time", optional
        None: what the format says by nature: weights of DIMACS, METIS, Matrix Market, LDBC, NPZ, native and
        columns named weight are read; an unnamed third column of an edge list is not, but reported as
        `unread_columns`. False: none are read. True: they are required; in an edge list without names they
        are the third column. "auto": as None, and a third column without a name is taken as weights if the
        first line has a number there, and not all are Unix times of the years 1980 to 2100;
        `report["third_column"]` says what became of it. "time" (the same as format="temporal"): times are
        required; they are the column named time, else the third of `u v time` or the fourth of `u v weight time`.
    directed : bool, optional
        Overrides what the file says, where it may be overridden. directed=False for adjacency lists, general
        Matrix Market files and sparse matrices, which may hold each edge in both directions, keeps each edge
        once.
    comment : str, optional
        Characters that start a comment in edge lists, CSV, adjacency lists and METIS files; default "#%", for
        METIS "%". Empty: none.
    delimiter : str, optional
        The character between columns of an edge list or CSV, or "whitespace"; default: what the first line
        shows.
    columns : sequence of str or int, optional
        Source, target and perhaps weight in an edge list, CSV or Parquet, by position from 0 or by name; a first line
        that has all the names is the header. Where times are required: source, target and time, or source, target,
        weight and time.
    edge_columns, vertex_columns : list of str or bool, optional
        More columns to read, as `graphdask.read_graph` describes them. Default: none.
    ids : {"int", "str"}, optional
        For edge lists and CSV: how to read ids. Default: strings if the first data line has a name for an id,
        else integers; a name in a later line is then an error. Parquet and NPZ have types; for their columns of
        strings, "str" says that words such as `NULL` are names, as files that graphdask wrote do.
    header : bool, optional
        For edge lists, CSV, adjacency lists and LDBC: whether the first line that is no comment is a header. Default:
        what it shows; `report["header_because"]` says by what, and a GraphdaskWarning if that is not conclusive.
    skip_rows : int
        Lines of the same formats to pass over before anything is read.
    na_values : str or sequence of str, optional
        For edge lists, CSV and columns of strings of Parquet and NPZ: words that stand for a missing id, which is an
        error. Default: those of pandas (`NULL`, `None`, `NA`, `nan`, ...), `\\N`, `nil`, `-`, `?` and others; with
        ids="str", and of Parquet and NPZ files that graphdask wrote, none. An empty sequence: none.
    threads : int, optional
        Threads that parse text; default: one for each core, 16 at most. Parquet decodes on one thread if it
        is 1, else on all cores. NPZ and native files are not parsed, and refuse it.
    storage_options : mapping, optional
        What fsspec is given for an address: credentials, a region, a proxy.
    progress : bool, optional
        Show a progress bar while text is parsed. Default: in a terminal or a notebook.

    Returns
    -------
    EdgeList
        Ids are not renumbered: METIS, Matrix Market and DIMACS files with a p line count from 1. Weights may
        be negative or infinite (counted in `report["infinite_weights"]`), never NaN.

    Raises
    ------
    FormatError
        If the file does not hold what its format promises; names file and line.
    InputError
        If the file cannot be opened or an argument does not fit the format.
    OverBudget
        If memory cannot hold the edges, as far as this is known before they are read. The message says how to stream
        them.

    Warns
    -----
    GraphdaskWarning
        If a SNAP comment declares another number of edges than there are, or if it is not certain whether the first
        line is a header.

    Examples
    --------
    >>> edges = read_edges("soc-Slashdot0902.txt.gz")  # doctest: +SKIP
    >>> edges.num_edges  # doctest: +SKIP
    948464
    """
    from ._given import Given
    from ._table import Reading
    from .addresses import joined, local_files
    from .asked import asked_columns
    from .budgets import ARRAYS
    from .estimates import within_memory_of_files

    asked = asked_columns("edge_columns", edge_columns), asked_columns("vertex_columns", vertex_columns)
    given = Given(weights, directed, ids, columns, comment, delimiter, header, skip_rows, na_values, *asked)
    with (
        local_files(path, storage_options, format) as files,
        progress_over(files[0].path, ("reading",), progress),
        ExitStack() as around,
    ):
        if len(files) > 1:
            named = [(file.path, file.format or format) for file in files]
            around.enter_context(within_memory_of_files(named, ARRAYS, asked))
        lists = [_read_edges(file.path, file.format or format, given, Reading(threads)) for file in files]
        return joined(lists, [file.name or os.fspath(file.path) for file in files])


def _read_edges(path: str | os.PathLike[str], format: str | None, given: Any, reading: Any) -> EdgeList:
    """Read edges as `read_edges` does: what `given` asks for, in the way that `reading` says."""
    from .asked import refuse_columns
    from .budgets import ARRAYS, NOTHING
    from .estimates import within_memory
    from .folder import is_graph_folder, read_folder
    from .opening import checked_path, refusing_damage

    asked = given.edge_columns, given.vertex_columns
    if is_graph_folder(checked_path(path)):
        request = given.of_folder()
        with within_memory(path, "native", ARRAYS, (), asked), refusing_damage(path), phase("reading"):
            return read_folder(path, format, request, reading)
    chosen = format_to_read(path, format)
    request = given.of_file(chosen, times=True)
    if reading.threads is not None and chosen.name in ("npz", "native"):
        raise InputError(f"threads={shown(reading.threads)} means nothing for the format {chosen.name}")
    refuse_compressed(path, chosen)
    refuse_columns(chosen, *asked)
    reading.workers()
    each = NOTHING if chosen.name == "native" else ARRAYS  # that is mapped
    with within_memory(path, chosen.name, each, (), asked), phase("reading"):
        return _read(path, chosen.name, request, reading)


def edges_for_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None,
    weights: bool | str | None,
    directed: bool | None,
    comment: str | None,
    delimiter: str | None,
    columns: Sequence[str | int] | None,
    ids: str | None,
    header: bool | None,
    skip_rows: int,
    na_values: str | Sequence[str] | None,
    edge_columns: Asked = False,
    vertex_columns: Asked = False,
) -> EdgeList:
    """Read edges as `read_edges` does, for a caller that numbers their vertices: ids of edge lists are int32 where all
    fit."""
    from ._given import Given
    from ._table import Reading
    from .asked import asked_columns

    asked = asked_columns("edge_columns", edge_columns), asked_columns("vertex_columns", vertex_columns)
    given = Given(weights, directed, ids, columns, comment, delimiter, header, skip_rows, na_values, *asked)
    return _read_edges(path, format, given, Reading(narrow=True))


def spilled_edges(
    path: str | os.PathLike[str],
    folder: Path,
    memory: int,
    *,
    directed: bool | None = None,
    weights: bool | str | None = None,
    ids: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    na_values: str | Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
) -> EdgeList | None:
    """Read the edges of a file, or a folder that `Graph.write` made, that may be larger than memory.

    Parameters
    ----------
    path : path-like
    folder : Path
        For the columns: of text and Parquet they are written to files there, and mapped from these. Who calls
        deletes it.
    memory : int
        Bytes that parsing may take.
    directed, weights, ids, header, skip_rows, na_values, columns, delimiter, comment
        As those of `read_edges`.

    Returns
    -------
    EdgeList or None
        None where the format is one that is read whole. Names as ids are in memory.

    Raises
    ------
    FormatError, InputError
        As `read_edges`.
    """
    from ._given import Given
    from ._table import Reading
    from .estimates import LARGER, within_blocks
    from .folder import is_graph_folder, read_folder
    from .opening import refusing_damage

    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"folder={shown(folder)} is not a folder")
    given = Given(weights, directed, ids, columns, comment, delimiter, header, skip_rows, na_values)
    reading = Reading.within(memory, folder)
    with within_blocks(path, memory), refusing_damage(path), phase("reading"):
        if is_graph_folder(path):
            return read_folder(path, None, given.of_folder(), reading)
        chosen = format_to_read(path, None)
        if chosen.name not in LARGER:
            return None
        request = given.of_file(chosen)
        refuse_compressed(path, chosen)
        return _read(path, chosen.name, request, reading)


def read_vertex_values(
    path: str | os.PathLike[str],
    *,
    header: bool | None = None,
    skip_rows: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> tuple[Any, Any]:
    """Read `id value` lines; see `graphdask.io.ldbc.read_vertex_values`."""
    from .ldbc import read_vertex_values as read

    return read(path, header=header, skip_rows=skip_rows, threads=threads, progress=progress)


for _name in __all__:
    globals()[_name] = suggesting(globals()[_name], __name__, _name)


def __getattr__(name: str) -> Any:
    raise no_attribute(__name__, name, __all__)
