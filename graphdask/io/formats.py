"""The table of formats, and which of them a file is of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from graphdask.errors import InputError, shown
from graphdask.interface.suggest import public


@public
@dataclass(frozen=True)
class Format:
    """A row of the table of formats."""

    name: str
    """What `format=` takes."""
    suffixes: tuple[str, ...]
    """File name endings, before .gz, .xz or .bz2."""
    writes: bool
    compressed: bool
    """Whether the file may be compressed with gzip, xz or bzip2."""
    description: str
    holds_edge_columns: bool = False
    """Whether files may have columns of edges beside ends, weights and times."""
    holds_vertex_columns: bool = False
    """Whether files may have columns of vertices."""

    def __post_init__(self) -> None:
        if not isinstance(self.suffixes, tuple) or not all([isinstance(suffix, str) for suffix in self.suffixes]):
            raise InputError(f"suffixes={shown(self.suffixes)} is not a tuple of text")


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format(
            "edgelist",
            (".txt", ".el", ".edges", ".edgelist", ".ungraph", ".snap"),
            True,
            True,
            "text, 'source target [weight]' a line, # or % comments (SNAP, KONECT)",
            True,
        ),
        Format(
            "csv",
            (".csv", ".tsv"),
            True,
            True,
            "comma, semicolon or tab separated, with or without header",
            True,
        ),
        Format("temporal", (), False, True, "edge list with times: 'source target [weight] time'", True),
        Format("adjlist", (".adjlist", ".adj"), False, True, "text, a vertex and its neighbours a line"),
        Format("matrixmarket", (".mtx", ".mm"), True, True, "Matrix Market coordinate file"),
        Format("metis", (".graph", ".metis"), True, True, "METIS graph file"),
        Format("dimacs", (".gr", ".dimacs", ".col"), True, True, "DIMACS or PACE graph file"),
        Format("ldbc", (".v", ".e"), False, True, "LDBC Graphalytics, NAME.v and NAME.e"),
        Format("parquet", (".parquet", ".pq"), True, False, "Apache Parquet, columns src, dst, weight", True),
        Format("npz", (".npz",), True, False, "NumPy archive of src, dst, ..., or a SciPy sparse matrix", True, True),
        Format("native", (".gdg",), True, False, "graphdask's own, loads by memory map", True, True),
        Format("gexf", (".gexf",), True, True, "GEXF for Gephi; written up to 1,000,000 edges", True, True),
        Format("graphml", (".graphml",), True, True, "GraphML; written up to 1,000,000 edges", True, True),
    )
}


def detect_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's name says.

    Parameters
    ----------
    path : path-like
        A name; .gz, .xz and .bz2 at its end are ignored. Also the common stem of an LDBC pair NAME.v, NAME.e.

    Returns
    -------
    str
        A key of `FORMATS`.

    Raises
    ------
    InputError
        If the name says nothing.
    """
    from .opening import checked_path, strip_compression

    name = checked_path(path).name
    suffix = Path(strip_compression(name)).suffix.lower()
    for known in FORMATS.values():
        if suffix and suffix in known.suffixes:
            return known.name
    from ._ldbc_names import ldbc_pair

    if ldbc_pair(path):
        return "ldbc"
    if name.startswith("out."):
        return "edgelist"
    if suffix == ".gdl":
        raise InputError(
            f"{os.fspath(path)!r} is a graph that is streamed: run, profile and info take it as it is, and "
            "graphdask.stream.open opens it"
        )
    refuse_packed(path)
    endings = " ".join(ending for known in FORMATS.values() for ending in known.suffixes)
    raise InputError(
        f"the name of {os.fspath(path)!r} does not say its format (known endings: {endings}); pass "
        f"format= one of {', '.join(FORMATS)}"
    )


def format_to_read(path: str | os.PathLike[str], name: str | None) -> Format:
    """The format of a file to read, as `format_of`; what is not there, or a folder, is refused as that."""
    try:
        return format_of(path, name)
    except InputError:
        if name is not None or not isinstance(path, str | os.PathLike):
            raise
        place = Path(path)
        if place.is_dir():
            raise InputError(
                f"{place} is a folder, and none that graphdask wrote: it has no _graph.json; name a file, or say "
                "format='parquet' for a folder of Parquet files"
            ) from None
        if os.path.lexists(place):
            raise
        raise InputError(f"{place}: no such file") from None


def format_of(path: str | os.PathLike[str], name: str | None) -> Format:
    """The format of this name, or else the one that the file's name says."""
    from .opening import checked_path

    checked_path(path)
    name = detect_format(path) if name is None else name
    if not isinstance(name, str) or name not in FORMATS:
        raise InputError(f"format={shown(name)} is not known; it must be one of {', '.join(FORMATS)}")
    return FORMATS[name]


PACKED = (".zst", ".zstd", ".lz4", ".lzma", ".lz", ".br", ".z", ".sz", ".zip", ".7z", ".rar", ".tar", ".tgz", ".tbz2",
          ".txz")  # fmt: skip
"""Endings of compressed files and archives that are neither read nor written."""


def refuse_packed(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a name that says a compression or an archive that graphdask does not have."""
    from .opening import strip_compression

    suffix = Path(strip_compression(Path(path).name)).suffix.lower()
    if suffix in PACKED:
        raise InputError(
            f"{os.fspath(path)}: files that end in {suffix} are neither read nor written; unpack it and name what was "
            "in it, or compress with gzip, xz or bzip2 (.gz, .xz, .bz2)"
        )


def refuse_compressed(path: str | os.PathLike[str], chosen: Format) -> None:
    """Raise InputError for a compressed file of a format that is not compressed as a whole."""
    from .opening import strip_compression

    if not chosen.compressed and strip_compression(Path(path).name) != Path(path).name:
        raise InputError(
            f"{os.fspath(path)}: {chosen.name} files are not compressed as a whole; decompress it first, or "
            "choose a name without that ending"
        )
