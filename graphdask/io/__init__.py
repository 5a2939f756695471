"""Reading and writing graphs: one file per format, all through `read_edges` and `write_edges`.

Importing this package loads no format; each is loaded when a file needs it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphdask.errors import GraphdaskWarning, InputError, Unsupported

from ._spill import slices
from .edges import EdgeList

__all__ = [
    "FORMATS",
    "EdgeList",
    "Format",
    "detect_format",
    "read_edges",
    "read_vertex_values",
    "slices",
    "spilled_edges",
    "write_edges",
]


@dataclass(frozen=True)
class Format:
    """A row of the table of formats."""

    name: str
    """What `format=` takes."""
    suffixes: tuple[str, ...]
    """File name endings, before .gz, .xz or .bz2."""
    reads: bool
    writes: bool
    compressed: bool
    """Whether the file may be compressed with gzip, xz or bzip2."""
    description: str


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format(
            "edgelist",
            (".txt", ".el", ".edges", ".edgelist", ".ungraph", ".snap"),
            True,
            True,
            True,
            "text, 'source target [weight]' a line, # or % comments (SNAP, KONECT)",
        ),
        Format(
            "csv",
            (".csv", ".tsv"),
            True,
            True,
            True,
            "comma, semicolon or tab separated, with or without header",
        ),
        Format("temporal", (), True, False, True, "edge list with times: 'source target [weight] time'"),
        Format("adjlist", (".adjlist", ".adj"), True, False, True, "text, a vertex and its neighbours a line"),
        Format("matrixmarket", (".mtx", ".mm"), True, True, True, "Matrix Market coordinate file"),
        Format("metis", (".graph", ".metis"), True, False, True, "METIS graph file"),
        Format("dimacs", (".gr", ".dimacs", ".col"), True, False, True, "DIMACS or PACE graph file"),
        Format("ldbc", (".v", ".e"), True, False, True, "LDBC Graphalytics, NAME.v and NAME.e"),
        Format("parquet", (".parquet", ".pq"), True, True, False, "Apache Parquet, columns src, dst, weight"),
        Format("npz", (".npz",), True, True, False, "NumPy archive of src, dst, ..., or a SciPy sparse matrix"),
        Format("native", (".gdg",), True, True, False, "graphdask's own, loads by memory map"),
        Format("gexf", (".gexf",), False, True, True, "GEXF for Gephi, up to 1,000,000 edges"),
        Format("graphml", (".graphml",), False, True, True, "GraphML, up to 1,000,000 edges"),
    )
}


def detect_format(path: str | os.PathLike[str]) -> str:
    """The format that a file's name says.

    Parameters
    ----------
    path : path-like
        A name; .gz, .xz and .bz2 are not looked at. Also the common stem of an LDBC pair NAME.v, NAME.e.

    Returns
    -------
    str
        A key of `FORMATS`.

    Raises
    ------
    InputError
        If the name says nothing.
    """
    from ._open import strip_compression

    name = Path(path).name
    suffix = Path(strip_compression(name)).suffix.lower()
    for known in FORMATS.values():
        if suffix and suffix in known.suffixes:
            return known.name
    from .ldbc import ldbc_pair

    if ldbc_pair(path):
        return "ldbc"
    if name.startswith("out."):
        return "edgelist"
    if suffix == ".gdl":
        raise InputError(
            f"{os.fspath(path)!r} is a graph that is streamed: run, profile and info take it as it is, and "
            "graphdask.stream.open opens it"
        )
    endings = " ".join(ending for known in FORMATS.values() for ending in known.suffixes)
    raise InputError(
        f"the name of {os.fspath(path)!r} does not say its format (known endings: {endings}); pass "
        f"format= one of {', '.join(FORMATS)}"
    )


def _format(path: str | os.PathLike[str], name: str | None) -> Format:
    try:
        os.fspath(path)
    except TypeError:
        raise InputError(f"{path!r} is not a path") from None
    name = detect_format(path) if name is None else name
    if name not in FORMATS:
        raise InputError(f"format={name!r} is not known; it must be one of {', '.join(FORMATS)}")
    return FORMATS[name]


def read_edges(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    weights: bool | str | None = None,
    directed: bool | None = None,
    comment: str | None = None,
    delimiter: str | None = None,
    columns: Sequence[str | int] | None = None,
    ids: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> EdgeList:
    """Read the edges of a graph as they stand in a file.

    Parameters
    ----------
    path : path-like
        The file; text formats also compressed with gzip, xz or bzip2, which is told by the content. For LDBC
        either of the two files or their common stem; for Parquet also a directory. Or a folder that
        `Graph.write` made, of any format.
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
        Source, target and perhaps weight in an edge list, CSV or Parquet, by name or position from 0.
    ids : {"int", "str"}, optional
        For edge lists and CSV: how to read ids. Default: strings if the first data line has a name for an id,
        else integers; a name in a later line is then an error.
    threads : int, optional
        Threads that parse text; default: one for each core, 16 at most. Parquet decodes on one thread if it
        is 1, else on all cores. NPZ and native files are not parsed.
    progress : bool, optional
        Show a progress bar while text is parsed; default: for files above 32 MiB.

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
        If memory has no room for the edges, as far as can be told before they are read; it says how they are streamed.

    Warns
    -----
    GraphdaskWarning
        If a SNAP comment declares another number of edges than there are.

    Examples
    --------
    >>> edges = read_edges("soc-Slashdot0902.txt.gz")  # doctest: +SKIP
    >>> edges.num_edges  # doctest: +SKIP
    948464
    """
    from ._columns import Request
    from ._room import ARRAYS, within_memory
    from ._table import Reading
    from .folder import is_graph_folder, read_folder

    third = _is(weights, "auto")
    if isinstance(path, str | os.PathLike) and is_graph_folder(path):
        for argument, value in (("comment", comment), ("delimiter", delimiter), ("columns", columns), ("ids", ids)):
            if value is not None:
                raise InputError(f"{argument}={value!r} means nothing for a folder that says itself how to read it")
        wanted = _check_choices(None if third else weights, directed, ids)
        with within_memory(path, "native", ARRAYS):
            return read_folder(path, format, Request(wanted, directed=directed), Reading(threads, progress))
    chosen = _format(path, format)
    times = chosen.name == "temporal" or _is(weights, "time")
    wanted = _check_choices(None if third or _is(weights, "time") else weights, directed, ids)
    text = chosen.name in ("edgelist", "csv", "temporal")
    for argument, value, fits in (
        ("comment", comment, text or chosen.name in ("adjlist", "metis")),
        ("delimiter", delimiter, text),
        ("ids", ids, text),
        ("columns", columns, text or chosen.name == "parquet"),
    ):
        if value is not None and not fits:
            raise InputError(f"{argument}={value!r} means nothing for the format {chosen.name}")
    if not chosen.reads:
        raise Unsupported(f"{os.fspath(path)}: graphdask writes {chosen.name} but does not read it")
    _refuse_compressed(path, chosen)
    request = Request(wanted, times, columns, ids, directed, comment, delimiter, third=third)
    reading = Reading(threads, progress)
    reading.workers()
    with within_memory(path, chosen.name, 0 if chosen.name == "native" else ARRAYS):  # that is mapped
        return _read(path, chosen.name, request, reading)


def spilled_edges(
    path: str | os.PathLike[str],
    folder: Path,
    memory: int,
    *,
    directed: bool | None = None,
    weights: bool | str | None = None,
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
    directed, weights
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
    from ._columns import Request
    from ._room import LARGER
    from ._table import Reading
    from .folder import is_graph_folder, read_folder

    third = _is(weights, "auto")
    wanted = _check_choices(None if third else weights, directed, None)
    request, reading = Request(wanted, directed=directed, third=third), Reading.within(memory, folder)
    if is_graph_folder(path):
        return read_folder(path, None, request, reading)
    name = detect_format(path)
    if name not in LARGER:
        return None
    _refuse_compressed(path, FORMATS[name])
    return _read(path, name, request, reading)


def _is(value: Any, word: str) -> bool:
    """Whether an argument is this word; it may be anything, an array too."""
    return isinstance(value, str) and value == word


def _check_choices(weights: Any, directed: Any, ids: Any) -> bool | None:
    """Return `weights`, once it and the others are what they may be."""
    if not (weights is None or isinstance(weights, bool)):
        raise InputError(f"weights={weights!r}: it must be None, True, False, 'auto' or 'time'")
    if directed not in (None, True, False):
        raise InputError(f"directed={directed!r}: it must be None, True or False")
    if ids not in (None, "int", "str"):
        raise InputError(f"ids={ids!r}: it must be None, 'int' or 'str'")
    chosen: bool | None = weights
    return chosen


def _refuse_compressed(path: str | os.PathLike[str], chosen: Format) -> None:
    from ._open import strip_compression

    if not chosen.compressed and strip_compression(Path(path).name) != Path(path).name:
        raise InputError(
            f"{os.fspath(path)}: {chosen.name} files are not compressed as a whole; decompress it first, or "
            "choose a name without that ending"
        )


def _read(path: str | os.PathLike[str], name: str, request: Any, reading: Any) -> EdgeList:
    if name in ("edgelist", "csv", "temporal"):
        from .edgelist import read_edgelist

        return read_edgelist(path, request, reading, name)
    if name == "adjlist":
        from .adjlist import read_adjlist

        return read_adjlist(path, request, reading)
    if name == "metis":
        from .metis import read_metis

        return read_metis(path, request, reading)
    if name == "dimacs":
        from .dimacs import read_dimacs

        return read_dimacs(path, request, reading)
    if name == "ldbc":
        from .ldbc import read_ldbc

        return read_ldbc(path, request, reading)
    if name == "matrixmarket":
        from .matrixmarket import read_matrixmarket

        return read_matrixmarket(path, request, reading)
    if name == "parquet":
        from .parquet import read_parquet

        return read_parquet(path, request, reading)
    if name == "npz":
        from .npz import read_npz

        return read_npz(path, request)
    from .native import read_native

    return read_native(path, request)


def write_edges(edges: EdgeList, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write edges to a file, whole or not at all.

    Parameters
    ----------
    edges : EdgeList
    path : path-like
        Text formats are compressed if the name ends in .gz, .xz or .bz2. An existing file is replaced, at the
        end.
    format : str, optional
        A key of `FORMATS` that can be written; default: what the name says.

    Raises
    ------
    InputError
        If the format cannot hold the graph, or the file cannot be written.

    Warns
    -----
    GraphdaskWarning
        If vertices without edges are lost, because the format has no place for them.
    """
    from ._open import replacing, replacing_text

    chosen = _format(path, format)
    if not chosen.writes:
        able = ", ".join(f.name for f in FORMATS.values() if f.writes)
        raise Unsupported(f"graphdask does not write {chosen.name}; it writes {able}")
    _refuse_compressed(path, chosen)
    if len(edges.src) != len(edges.dst):
        raise InputError(f"{len(edges.src)} sources and {len(edges.dst)} targets")
    if chosen.name in ("edgelist", "csv", "parquet"):
        _warn_of_isolated(edges, chosen.name)
    if chosen.name == "parquet":
        from .parquet import write_parquet

        with replacing(path) as temporary:
            write_parquet(edges, temporary)
    elif chosen.name == "npz":
        from .npz import write_npz

        with replacing(path) as temporary:
            write_npz(edges, temporary)
    else:
        writer = _text_writer(chosen.name)
        with replacing_text(path) as stream:
            writer(edges, stream)


def _text_writer(name: str) -> Any:
    if name == "edgelist":
        from .edgelist import write_edgelist

        return write_edgelist
    if name == "csv":
        from .edgelist import write_csv

        return write_csv
    if name == "matrixmarket":
        from .matrixmarket import write_matrixmarket

        return write_matrixmarket
    if name == "native":
        from .native import write_native

        return write_native
    from . import xml

    return xml.write_gexf if name == "gexf" else xml.write_graphml


def _warn_of_isolated(edges: EdgeList, name: str) -> None:
    if edges.vertices is None:
        return
    import numpy as np

    lost = len(edges.vertices) - len(np.unique(np.concatenate([edges.src, edges.dst])))
    if lost > 0:
        warnings.warn(
            GraphdaskWarning(
                f"{lost:,} vertices without edges are not written: {name} has no place for "
                "them; .gdg, .npz and .mtx have"
            ),
            stacklevel=3,
        )


def read_vertex_values(
    path: str | os.PathLike[str], *, threads: int | None = None, progress: bool | None = None
) -> tuple[Any, Any]:
    """Read `id value` lines; see `graphdask.io.ldbc.read_vertex_values`."""
    from .ldbc import read_vertex_values as read

    return read(path, threads=threads, progress=progress)
