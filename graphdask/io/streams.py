"""Data from a pipe, which are kept in a temporary file so that they can be read in any order, as a file can.

The data are kept as they come; compressed data stay compressed. While they come, the number of edges that they may hold
is checked. Errors and warnings name the stream in place of the temporary file.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from graphdask.errors import NAMES, FormatError, InputError, OverBudget, Unsupported, WriteError, shown
from graphdask.io.tuning import FILES
from graphdask.partition.larger import STANDARD_INPUT

from .budgets import PerEdge
from .estimates import refuse_too_many
from .formats import FORMATS
from .opening import LINE_COPIES, MOST_HEAD, Source, binary

READS = ("edgelist", "csv", "temporal", "adjlist", "matrixmarket", "metis", "dimacs", "gexf", "graphml")
WRITES = ("edgelist", "csv", "matrixmarket", "metis", "dimacs", "gexf", "graphml")
"""Formats that a stream can hold."""
PIECE = 1 << 20
HEAD = 1 << 16
"""Bytes among which the first line that is no comment shows the format."""

_DIMACS = re.compile(rb"p\s+[a-z]+\s+\d+\s+\d+\s*$")


def stream_format(name: str | None, formats: tuple[str, ...], what: str, by: str = "format=") -> str | None:
    """The format that was named for a stream, `by` what, once a stream can hold it; None stays so."""
    if name is None or name in formats:
        return name
    if name not in FORMATS:
        raise InputError(f"{by}{shown(name)} is not known; {what} takes {', '.join(formats)}")
    raise Unsupported(f"{name} is no format for {what}, which takes {', '.join(formats)}; name a file")


@contextmanager
def kept_stream(stream: IO[bytes], each: PerEdge, format: str | None = None) -> Iterator[tuple[Path, str]]:
    """Keep what a stream holds in a file until the end of the context.

    Parameters
    ----------
    stream : binary file object
        It is read to its end.
    each : PerEdge
        Bytes that an edge will take in memory.
    format : str, optional
        One of `READS`; default: what the first lines show.

    Yields
    ------
    (Path, str)
        A file with what the stream held, and its format.

    Raises
    ------
    Unsupported
        For what a stream cannot hold, by its first bytes.
    OverBudget
        If memory cannot hold its edges, as far as this is known while it comes.
    InputError
        If the stream cannot be read.
    WriteError
        If the disk has no space for it.
    """
    stream_format(format, READS, STANDARD_INPUT)
    with kept_folder() as folder, called(folder / STANDARD_INPUT, STANDARD_INPUT):
        path = folder / STANDARD_INPUT
        _keep(stream, path, each, format or "edgelist")
        yield path, format or format_of_text(path)


@contextmanager
def kept_folder(what: str = STANDARD_INPUT) -> Iterator[Path]:
    """A temporary folder for what comes from a stream, or goes to one."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="graphdask-stream-", ignore_cleanup_errors=True)
    except OSError as error:
        raise WriteError(f"there is no folder to keep {what} in ({error}); set TMPDIR to one") from None
    with folder as name:
        yield Path(os.path.realpath(name))


def _keep(stream: IO[bytes], path: Path, each: PerEdge, format: str) -> None:
    """Write what a stream holds to a file."""
    taken, look, line = 0, FILES.stream_checked, 0
    with path.open("wb", buffering=0) as file:
        while piece := _read(stream):
            if not taken:
                _refuse_binary(piece)
            try:
                rest = memoryview(piece)
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError as error:
                raise WriteError(
                    f"{STANDARD_INPUT} is kept in {tempfile.gettempdir()} while it is read, which does not take it "
                    f"({error.strerror or error}); set TMPDIR to a folder with space, or name a file"
                ) from error
            taken += len(piece)
            cut = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
            line = len(piece) - cut if cut else line + len(piece)
            if taken >= look:
                look = 2 * taken
                _refuse_no_text(path)
                usable = refuse_too_many(path, format, each)
                if LINE_COPIES * line > usable:
                    raise OverBudget(
                        f"{STANDARD_INPUT}: a line of more than {line >> 20:,} MiB needs "
                        f"{LINE_COPIES * line / 2**30:,.3g} GiB, and {usable / 2**30:,.3g} GiB may be used"
                    )


def _refuse_no_text(path: Path) -> None:
    """Raise FormatError where what has come is no text, which may never end."""
    begin, whole = Source(path).head(MOST_HEAD)
    if not whole and b"\n" not in begin and b"\r" not in begin:
        raise FormatError(f"the first {MOST_HEAD >> 20} MiB have no line end; a list of edges has an edge a line", path)


def _read(stream: IO[bytes]) -> bytes:
    some = getattr(stream, "read1", stream.read)  # which ends with the first end of file that a terminal gives
    try:
        return some(PIECE) or b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{STANDARD_INPUT} cannot be read: {reason[:1].lower()}{reason[1:]}") from error


def _refuse_binary(begin: bytes) -> None:
    what = binary(begin)
    if what is not None:
        raise Unsupported(
            f"{STANDARD_INPUT}: this is {what}, which cannot be read from a stream; a stream holds text, also "
            f"compressed by gzip, xz or bzip2, of one of the formats {', '.join(READS)}; name a file"
        )


def format_of_text(path: Path) -> str:
    """The format that the first lines of a text show: Matrix Market, DIMACS, GEXF, GraphML, CSV where they have commas
    or semicolons, else an edge list."""
    with Source(path).open() as file:
        begin = file.read(HEAD)
    if begin.removeprefix(b"\xef\xbb\xbf").lower().startswith(b"%%matrixmarket"):
        return "matrixmarket"
    if found := re.match(rb"\s*<.*?<(gexf|graphml)\b", begin, re.DOTALL) or re.match(rb"\s*<(gexf|graphml)\b", begin):
        return found[1].decode()
    for line in begin.splitlines():
        text = line.strip()
        if not text or text[:1] in b"#%" or text.split()[:1] == [b"c"]:
            continue
        if _DIMACS.match(text):
            return "dimacs"
        return "csv" if re.search(rb"[,;]", text) else "edgelist"
    return "edgelist"


@contextmanager
def called(path: Path, stream: str) -> Iterator[None]:
    """Name a stream in errors, and in warnings of this thread, in place of the file that it is kept in."""
    real = str(path)
    token = NAMES.set(((real, stream), *NAMES.get()))
    try:
        yield
    except Exception as error:
        _rename(error, real, stream)
        raise
    finally:
        NAMES.reset(token)


def _rename(error: Exception, real: str, stream: str) -> None:
    """Replace the name of a file in an error."""
    error.args = tuple(each.replace(real, stream) if isinstance(each, str) else each for each in error.args)
    if isinstance(error, OSError) and isinstance(error.filename, str):
        error.filename = error.filename.replace(real, stream)
    for name, value in vars(error).items():
        if isinstance(value, str):
            setattr(error, name, value.replace(real, stream))
