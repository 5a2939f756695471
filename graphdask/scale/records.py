"""The file of a scaling experiment: a JSON object in each line, one for each measurement, appended as it is made.

A line is written at once and forced to the disk. Where the machine or the process ended within it, its rest is cut off
by the next run; every line begins in the same way, so that nothing of another format is cut.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from graphdask.errors import FormatError, InputError, shown
from graphdask.io.opening import checked_path
from graphdask.io.outputs import file_output, readable_write, unreadable, unwritable
from graphdask.partition.given import given_sequence
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
        data = checked_path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return _last_of_each(_parsed(data, path)[0])


def checked_records(records: Any) -> list[Record]:
    """Return measurements as a list, once each is one."""
    each = given_sequence("records", records, "not a sequence of measurements, as graphdask.scale.read returns")
    for place, record in enumerate(each):
        check_record(f"records[{place}]", record)
    return each


def check_record(name: str, record: Any) -> None:
    """Raise InputError where a value is no measurement."""
    if not isinstance(record, dict) or any([needed not in record for needed in NEEDED]):
        raise InputError(f"{name}={shown(record)} is not a measurement, as graphdask.scale.read returns")


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
        from graphdask.display.terminal import to_json

        line = to_json({"experiment": "scale", "format": FORMAT, **record})
        try:
            rest = line.encode() + b"\n"
            while rest:
                rest = rest[self._file.write(rest) :]
            _settle(self._file)
        except OSError as error:
            left = "what was measured before is in it, and the same command goes on from there"
            raise unwritable(self.path, error, left=left, smaller="another disk") from error
        found: Record = json.loads(line)
        return found


def _settle(file: BinaryIO) -> None:
    """Wait until what was written is on the disk; a pipe or a device has none."""
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EROFS, errno.ENOTSUP):
            raise


@contextmanager
def opened(path: str | os.PathLike[str], overwrite: bool = False) -> Iterator[RecordFile]:
    """Open the file of an experiment to go on with it; make it where there is none.

    With `overwrite` a new file takes its place when the block ends well.

    Raises
    ------
    FormatError
        For a file of another format, which is left as it is.
    InputError
        Where it cannot be written, or another run writes to it.
    """
    out = file_output(path, True)  # which is appended to, where it is there
    if out.opened is not None:
        with out.stream() as stream:
            yield RecordFile(out.path, cast(BinaryIO, stream), [], 0)
        return
    existed = out.target.exists()
    with readable_write(out.path, ""):
        file = cast(BinaryIO, out.target.open("ab+", buffering=0))
    with file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{path} is being written by another run; wait for it, or name another file") from None
        if overwrite and existed:
            with out.unfinished() as made, made.open("ab", buffering=0) as new:
                yield RecordFile(out.path, cast(BinaryIO, new), [], 0)
            return
        path = out.path
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
                out.target.unlink(missing_ok=True)
