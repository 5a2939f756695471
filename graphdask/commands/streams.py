"""Standard input and output in place of a file: `-`."""

from __future__ import annotations

import io
import os
import re
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any

import click

from graphdask.commands.paths import INPUT, OUTPUT, STREAM
from graphdask.errors import InputError, WriteError

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(:/|::)")
PROTOCOL = re.compile(r"(^|::)([A-Za-z][A-Za-z0-9+.\-]+):/+")
READER_GONE = 141
"""Exit code where the reader of standard output has gone: that of a program that SIGPIPE ends."""


@contextmanager
def readable(
    path: Path, file_format: str | None, option: str = "--format", graph: bool = True
) -> Iterator[tuple[Path, str | None]]:
    """The file to read, and its format: those that were given, or what standard input holds.

    Parameters
    ----------
    path : Path
        `STREAM` is standard input; one that begins as an address does is read from there.
    file_format : str, optional
        As `option` gave it.
    option : str
        What says the format.
    graph : bool
        Whether a Graph is made of it, which takes more memory than its edges.
    """
    address = address_of(path)
    if address is not None:
        from graphdask.io.addresses import local_files, pattern_of

        with local_files(address, None, file_format) as files:
            yield pattern_of(files), files[0].format or file_format
        return
    if path != STREAM:
        yield path, file_format
        return
    from graphdask.commands.speaking import say
    from graphdask.io.budgets import ARRAYS, GRAPH
    from graphdask.io.streams import READS, kept_stream, stream_format

    stream_format(file_format, READS, INPUT, f"{option} ")
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(f"{INPUT} is closed; give it a graph, or name a file")
    if sys.stdin.isatty():
        click.echo("the graph is read from the terminal; Ctrl-D ends it", err=True)
    with kept_stream(sys.stdin.buffer, GRAPH if graph else ARRAYS, file_format) as (kept, name):
        if file_format is None:
            say("note", f"{INPUT} is read as {name}; {option} says otherwise")
        yield kept, name


def address_of(path: Path) -> str | None:
    """The address, such as s3://bucket/graph.csv, that was made a path of; None for a path."""
    if not ADDRESS.match(str(path)) or path.exists():
        return None
    text = PROTOCOL.sub(lambda found: f"{found[1]}{found[2]}://", str(path))  # a path has no empty parts
    return re.sub(r"(^|::)(file|local)://", r"\1\2:///", text)


def refuse_existing(path: Path, overwrite: bool) -> bool:
    """Whether a path is an address to write to; raise OutputExists, before any work, if something is there."""
    address = address_of(path)
    if address is None:
        return False
    from graphdask.io import sent

    sent.refuse_existing(address, overwrite)
    return True


@contextmanager
def written(path: Path, overwrite: bool) -> Iterator[Path]:
    """Where to write an output: its path, or for an address a temporary one, which is sent when the block ends well."""
    address = address_of(path)
    if address is None:
        yield path
        return
    from graphdask.io.sent import sent

    with sent(address, overwrite) as place:
        yield Path(place)


class Address(str):
    """An address, which is shown where a path would be."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The last part, without those that say where it is."""
        return self.partition("::")[0].rpartition("/")[2]


def named(path: Path, stream: str = INPUT) -> Any:
    """A path or an address as records and tables name it."""
    if path == STREAM:
        return Path(stream)
    address = address_of(path)
    return path if address is None else Address(address)


def refuse_of_files(name: str, *options: tuple[str, Any]) -> None:
    """Raise InputError for options of files and folders, where what `name` stands for is standard output."""
    for option, given in options:
        if given:
            raise InputError(f"{option} is for files and folders, and {name} - is {OUTPUT}; leave it out")


@contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Standard output for data alone: what else is printed in here, also by libraries and workers, goes to standard
    error. Where its reader has gone, the command ends with `READER_GONE`, and says nothing."""
    usual = sys.stdout
    if usual is None or usual.closed:
        raise InputError(f"{OUTPUT} is closed; give it a reader, or name a file")
    usual.flush()
    try:
        number = usual.fileno()
    except (OSError, ValueError):  # of a test, which is no file
        with redirect_stdout(sys.stderr):
            yield usual.buffer
        return
    raw = _Stream(os.dup(number), "wb")
    _to_standard_error(number)
    try:
        with redirect_stdout(sys.stderr):
            stream = io.BufferedWriter(raw, 1 << 20)
            try:
                yield stream
                stream.flush()
            finally:
                _abandon(stream)
    except Exception:
        if raw.failed is None:
            raise
        if isinstance(raw.failed, BrokenPipeError):
            raise click.exceptions.Exit(READER_GONE) from None
        reason = (raw.failed.strerror or str(raw.failed)).lower()
        raise WriteError(f"{OUTPUT} cannot be written: {reason}; what it has is not whole") from raw.failed
    finally:
        os.dup2(raw.fileno(), number)
        raw.close()


class _Stream(io.FileIO):
    """A stream that remembers why it could not be written, whatever is made of the error above."""

    failed: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failed = error
            raise


def _to_standard_error(number: int) -> None:
    """Let a file descriptor lead to where standard error does."""
    try:
        os.dup2(2, number)
    except OSError:  # it is closed
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def _abandon(stream: Any) -> None:
    """Give up a stream, and what it holds, without closing what is below."""
    with suppress(OSError):
        stream.flush()
    with suppress(OSError, ValueError):
        stream.detach()


def reader_gone() -> bool:
    """Whether nobody reads standard output any more."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLERR)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (AttributeError, OSError, ValueError):  # of other systems, and of tests
        return False


def silence() -> None:
    """Drop what standard output still holds, which Python would complain of at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
