"""Standard input and output in place of a file: `-`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from graphdask.commands.paths import INPUT, STREAM
from graphdask.errors import InputError


@contextmanager
def readable(
    path: Path, file_format: str | None, option: str = "--format", graph: bool = True
) -> Iterator[tuple[Path, str | None]]:
    """The file to read, and its format: those that were given, or what standard input holds.

    Parameters
    ----------
    path : Path
        `STREAM` is standard input.
    file_format : str, optional
        As `option` gave it.
    option : str
        What says the format.
    graph : bool
        Whether a Graph is made of it, which takes more memory than its edges.
    """
    if path != STREAM:
        yield path, file_format
        return
    from graphdask.cli import say
    from graphdask.io._room import ARRAYS, GRAPH
    from graphdask.io.streams import READS, kept_stream, stream_format

    stream_format(file_format, READS, INPUT)
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(f"{INPUT} is closed; give it a graph, or name a file")
    if sys.stdin.isatty():
        click.echo("the graph is read from the terminal; Ctrl-D ends it", err=True)
    with kept_stream(sys.stdin.buffer, GRAPH if graph else ARRAYS, file_format) as (kept, name):
        if file_format is None:
            say("note", f"{INPUT} is read as {name}; {option} says otherwise")
        yield kept, name


def named(path: Path) -> Path:
    """A path as records and tables name it."""
    return Path(INPUT) if path == STREAM else path
