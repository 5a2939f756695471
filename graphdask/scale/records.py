"""The file of a scaling experiment: a JSON object in each line, one for each measurement, appended as it is made.

A line is written at once and forced to the disk. Where the machine or the process ended within it, its rest is cut off
by the next run; every line begins in the same way, so that nothing of another format is cut.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from graphdask.errors import FormatError, InputError, WriteError
from graphdask.scale.plan import identity

Record = dict[str, Any]
FORMAT = 1
START = '{"experiment": "scale", '
"""How every line begins."""
NEEDED = ("format", "kind", "algorithm", "scale", "edge_factor", "workers", "transport", "machine")


def read(path: str | os.PathLike[str]) -> list[Record]:
    """Read the measurements of a file.

    Of a measurement that failed and was made again, the last one counts. A last line that was not written to its end
    is left out.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    list of dict

    Raises
    ------
    FormatError
        For a file that `graphdask scale run` did not write.
    InputError
        Where it cannot be read.

    Examples
    --------
    >>> import tempfile, os
    >>> from graphdask.scale import read
    >>> path = os.path.join(tempfile.mkdtemp(), "empty.jsonl")
    >>> open(path, "w").close()
    >>> read(path)
    []
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be read: {(error.strerror or str(error)).lower()}") from None
    return _last_of_each(_parsed(data, path)[0])


def _parsed(data: bytes, path: str | os.PathLike[str]) -> tuple[list[Record], int]:
    """The records, and how many bytes they take; what follows them is a line that was not written to its end."""
    found: list[Record] = []
    good = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        last = number == len(lines)
        if last and not line:
            break
        record = _record(line)
        if record is None:
            if last and _is_torn(line):
                break
            what = "does not begin as its lines do" if not line.startswith(START.encode()) else "is no JSON object"
            raise FormatError(f"this is no file of graphdask scale run: the line {what}", path, number)
        if record.get("format") != FORMAT or any(name not in record for name in NEEDED):
            raise FormatError(
                f"a measurement of format {record.get('format')!r} with all of {', '.join(NEEDED)} was expected "
                f"(this version writes format {FORMAT}); take another file", path, number,
            )  # fmt: skip
        found.append(record)
        good += len(line) + (not last)
    return found, good


def _record(line: bytes) -> Record | None:
    if not line.startswith(START.encode()):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _is_torn(line: bytes) -> bool:
    """Whether a line without an end can be the beginning of one of ours."""
    start = START.encode()
    return line.startswith(start) or start.startswith(line)


def _last_of_each(records: list[Record]) -> list[Record]:
    found: dict[tuple[Any, ...], Record] = {}
    for record in records:
        found[identity(record)] = record
    return list(found.values())


class RecordFile:
    """The open file of a running experiment."""

    def __init__(self, path: Path, file: BinaryIO, records: list[Record], cut: int):
        self.path, self._file = path, file
        self.records = records
        """What it held when it was opened, the last of each."""
        self.cut = cut
        """Bytes of a line that was not written to its end, which were cut off."""

    def append(self, record: Record) -> Record:
        """Write a measurement; return it as it will be read.

        Raises
        ------
        WriteError
            Where the disk does not take it.
        """
        from graphdask.commands.terminal import to_json

        line = to_json({"experiment": "scale", "format": FORMAT, **record})
        try:
            rest = line.encode() + b"\n"
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise WriteError(
                f"{self.path} took no more: {reason}; what was measured before is in it, and the same command goes on "
                f"from there"
            ) from error
        found: Record = json.loads(line)
        return found


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[RecordFile]:
    """Open the file of an experiment to go on with it; make it where there is none.

    Raises
    ------
    FormatError
        For a file of another format, which is left as it is.
    InputError
        Where it cannot be written, or another run writes to it.
    """
    path = Path(path)
    existed = path.exists()
    if existed and not path.is_file():
        raise InputError(f"{path} is no file; name one")
    try:
        file = cast(BinaryIO, path.open("ab+", buffering=0))
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}; name another file"
        ) from None
    with file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{path} is being written by another run; wait for it, or name another file") from None
        file.seek(0)
        data = file.read()
        records, good = _parsed(data, path)
        if good < len(data):
            file.truncate(good)
        if good and not data[:good].endswith(b"\n"):
            file.write(b"\n")
        try:
            yield RecordFile(path, file, _last_of_each(records), len(data) - good)
        finally:
            if not existed and file.seek(0, os.SEEK_END) == 0:
                path.unlink(missing_ok=True)
