"""Files of records, a JSON object a line, that grow while something is measured."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphdask.errors import InputError, OutputExists

from .os_errors import readable_write, unwritable
from .output_paths import followed, output_path
from .outputs import FileOutput, file_output


@dataclass(frozen=True)
class RecordsOutput:
    """A file of records, a JSON object a line, that grows; `records_output` makes it."""

    file: FileOutput
    anew: bool
    """Whether the records take the place of the file that is there, at the end."""

    @contextmanager
    def growing(self) -> Iterator[Callable[[Iterable[str]], None]]:
        """What appends lines, each of which is in the file at once.

        Where they replace a file, they do so when the block ends well. Otherwise what was written stays, also where
        the block fails; a file in which there would be nothing goes.
        """
        file = self.file
        if file.opened is not None or self.anew:
            with file.stream() as stream:
                yield lambda lines: _append(stream, lines)
            return
        with readable_write(file.path, ""):
            created = not file.target.exists()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | (os.O_EXCL if created else 0)
            handle = os.open(file.target, flags, 0o666)
        try:
            with open(handle, "ab", buffering=0) as out:
                yield lambda lines: self._appended(out, lines)
        finally:
            if created and file.target.exists() and file.target.stat().st_size == 0:
                file.target.unlink(missing_ok=True)

    def _appended(self, out: Any, lines: Iterable[str]) -> None:
        """Append lines, all or none."""
        size = os.fstat(out.fileno()).st_size
        try:
            _append(out, lines)
        except OSError as error:
            os.ftruncate(out.fileno(), size)
            raise unwritable(self.file.path, error, left="the records before are in it") from error


def _append(out: Any, lines: Iterable[str]) -> None:
    rest = memoryview("".join(f"{line}\n" for line in lines).encode())
    while rest:
        rest = rest[out.write(rest) :]
    out.flush()


def records_output(
    path: Any, overwrite: bool = False, *, belongs: Callable[[list[Any]], bool] | None, what: str = "records"
) -> RecordsOutput:
    """Check, before any work, that records may be written to a file, or appended to those in it.

    Parameters
    ----------
    path : path-like
    overwrite : bool
        Replace what is there instead.
    belongs : callable or None
        Whether the records of a file, all of them JSON objects, are such that others may follow; None: nothing is
        appended to.
    what : str
        How an error names them.

    Raises
    ------
    OutputExists
        Where the file holds something else, and `overwrite` is False.
    InputError
        As `file_output`.
    """
    try:
        return RecordsOutput(file_output(path, overwrite), bool(overwrite) and Path(path).expanduser().exists())
    except OutputExists:
        if belongs is None:
            raise
    named = output_path(path)
    with readable_write(named, ""):
        if not os.access(named, os.W_OK):
            raise InputError(f"{named} cannot be written: no permission to write to it")
        number, records = _objects(named.read_bytes())
    if number or (records and not belongs(records)):
        line = f"line {number} is none" if number else "they are others"
        raise OutputExists(
            f"{named} holds something else than {what} ({line}), so nothing is appended; pass overwrite=True to "
            f"replace it, or name another",
            named,
        )
    return RecordsOutput(FileOutput(named, followed(named), False, None), False)


def _objects(data: bytes) -> tuple[int, list[Any]]:
    """The JSON objects of a file, a line each; the number of the first line that is none, or 0."""
    records = []
    if data and not data.endswith(b"\n"):
        return data.count(b"\n") + 1, []
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return number, []
        if not isinstance(record, dict):
            return number, []
        records.append(record)
    return 0, records
