"""The one rule for what is written where something is already; every writer of graphdask decides by it.

- An output that is there is refused with OutputExists, unless the caller says `overwrite=True`. It stays until the new
  one is whole, and stays for good where that fails.
- Only what is of the same kind is replaced: a file by a file, and a folder that holds nothing but what graphdask wrote
  by such a folder. A folder that is empty is as good as none.
- A symbolic link is followed; what it leads to is the output, and the link stays.
- Pipes and devices, such as /dev/null and /dev/stdout, hold nothing that could be lost: they are written to.
- A file of records, a JSON object a line, grows: records are appended to such records, and to nothing else
  (`graphdask.io.record_files`).

Everything is checked before the work begins, where `file_output` and its like are called, and
again when the output gets its name.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from graphdask.errors import InputError, OutputExists

from .os_errors import SMALLER, readable_read, readable_write, unreadable, unwritable
from .output_paths import check_parent, checked_flag, followed, kind_of, output_path
from .put import (
    UNFINISHED,
    Opener,
    descriptor,
    exists,
    new_file,
    new_name,
    put_file,
    put_folder,
    special,
)

__all__ = [
    "FileOutput",
    "FolderOutput",
    "descriptor",
    "file_output",
    "folder_output",
    "pictures_output",
    "readable_read",
    "readable_write",
    "unreadable",
    "unwritable",
]

UNCHANGED = "what was there is unchanged"
NOTHING = "nothing is left of it"

Foreign = Callable[[Path, set[str]], set[str]]


@dataclass(frozen=True)
class FileOutput:
    """A file that may be written; `file_output` makes it.

    Attributes
    ----------
    path : Path
        As the caller named it.
    target : Path
        Absolute, where symbolic links lead to.
    overwrite : bool
    opened : callable or None
        Opens what is no file: a pipe or a device.
    """

    path: Path
    target: Path
    overwrite: bool
    opened: Opener | None

    @property
    def left(self) -> str:
        """What there is where writing fails."""
        return UNCHANGED if self.opened is None and self.target.exists() else NOTHING if self.opened is None else ""

    @contextmanager
    def unfinished(self, smaller: str = SMALLER, private: bool = False) -> Iterator[Path]:
        """The name of an empty file that becomes the output when the block ends well, and goes when it does not.

        Parameters
        ----------
        smaller : str
            What to choose where the disk is full.
        private : bool
            Only the user may read it.

        Raises
        ------
        OutputExists
            Where somebody made the file meanwhile.
        WriteError, InputError
            In place of an OSError.
        """
        with readable_write(self.path, self.left, smaller):
            if self.opened is not None:
                with tempfile.TemporaryDirectory(prefix="graphdask-") as folder:
                    made = Path(folder, self.path.name)
                    made.touch()
                    yield made
                    with self.opened() as stream, made.open("rb") as file:
                        shutil.copyfileobj(file, stream, 1 << 20)
                return
            made = new_name(self.target)
            with new_file(made, 0o600 if private else 0o666):
                pass
            try:
                yield made
                self.put(made, private)
            finally:
                made.unlink(missing_ok=True)

    @contextmanager
    def stream(self, smaller: str = SMALLER) -> Iterator[IO[bytes]]:
        """A binary stream to the output, which is there when the block ends well; a pipe or device gets it at once."""
        if self.opened is not None:
            with readable_write(self.path, self.left, smaller), self.opened() as stream:
                yield stream
            return
        with self.unfinished(smaller) as made, made.open("wb") as stream:
            yield stream

    def put(self, made: Path, private: bool = False) -> None:
        """Give a file that is whole its name."""
        if self.target.is_dir():
            raise InputError(f"{self.path} is a directory; name a file")
        put_file(made, self.target, self.overwrite, self.path, alike=not private)


def file_output(path: Any, overwrite: bool = False) -> FileOutput:
    """Check, before any work, that a file may be written.

    Parameters
    ----------
    path : path-like
    overwrite : bool
        Replace a file that is there.

    Raises
    ------
    OutputExists
        Where it is there, and `overwrite` is False.
    InputError
        Where it is a directory or a socket, or its directory is not there or takes no files; for what is no path.
    """
    named = output_path(path)
    if str(path).endswith(os.sep) and not named.is_dir():
        raise InputError(f"{path} ends as the name of a directory does; name a file")
    opened = special(named)
    if opened is not None:
        if not os.access(named, os.W_OK):
            raise InputError(f"{named} cannot be written: no permission to write to it")
        return FileOutput(named, named, checked_flag(overwrite), opened)
    target = followed(named)
    found = kind_of(named, target)
    if found == "directory":
        raise InputError(f"{named} is a directory; name a file")
    if found not in ("", "file"):
        raise InputError(f"{named} is a {found}, which is not written; name a file")
    check_parent(named, target)
    if found and not checked_flag(overwrite):
        raise exists(named)
    return FileOutput(named, target, checked_flag(overwrite), None)


@dataclass(frozen=True)
class FolderOutput:
    """A folder that may be written; `folder_output` makes it.

    Attributes
    ----------
    path : Path
        As the caller named it.
    target : Path
        Absolute, where symbolic links lead to.
    overwrite : bool
    foreign : callable
        Of a folder and the names in it, those that graphdask did not write.
    inside : bool
        Whether it is there and empty; it is filled where it is then.
    """

    path: Path
    target: Path
    overwrite: bool
    foreign: Foreign
    inside: bool

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """A new folder that becomes the output when the block ends well, and goes when it does not.

        What fails in the block is for the block to say, with `readable_write`.

        Raises
        ------
        OutputExists
            Where somebody wrote into it meanwhile.
        WriteError, InputError
            In place of an OSError.
        """
        made = new_name(self.target, self.inside)
        with readable_write(self.path, ""):
            made.mkdir()
        try:
            yield made
            with readable_write(self.path, self.left):
                self.put(made)
        finally:
            shutil.rmtree(made, ignore_errors=True)

    @property
    def left(self) -> str:
        """What there is where writing fails."""
        return UNCHANGED if self.target.exists() else NOTHING

    def put(self, made: Path) -> None:
        """Give a folder that is whole its name."""
        put_folder(made, self.target, self.overwrite, self._check)

    def _check(self) -> None:
        check_folder(self.path, self.target, self.overwrite, self.foreign)


def folder_output(path: Any, overwrite: bool = False, *, foreign: Foreign) -> FolderOutput:
    """Check, before any work, that a folder may be written: one that is not there, or is empty.

    Parameters
    ----------
    path : path-like
    overwrite : bool
        Replace a folder that graphdask wrote.
    foreign : callable
        Of a folder and the names in it, those that graphdask did not write.

    Raises
    ------
    OutputExists
        Where it is there and not empty, and `overwrite` is False, or it holds files that graphdask did not write.
    InputError
        Where it is no directory, or its directory is not there or takes no files; for what is no path.
    """
    named = output_path(path)
    if special(named) is not None:
        raise InputError(f"{named} is a pipe or a device, and a folder is to be written; name another")
    target = followed(named)
    inside = check_folder(named, target, checked_flag(overwrite), foreign)
    check_parent(named, target, inside)
    return FolderOutput(named, target, checked_flag(overwrite), foreign, inside)


def check_folder(named: Path, target: Path, overwrite: bool, foreign: Foreign) -> bool:
    """Whether a folder is there and empty; raise OutputExists where it may, or must, not be replaced."""
    found = kind_of(named, target)
    if not found:
        return False
    if found != "directory":
        raise InputError(f"{named} is a {found}, and a folder is to be written; name another")
    with readable_write(named, ""):
        names = {name for name in os.listdir(target) if not UNFINISHED.fullmatch(name)}
    if not names:
        return True
    others = foreign(target, names)
    if others:
        raise OutputExists(
            f"{named} is a folder that holds what graphdask did not write ({min(others)}{_unmarked(others)}), so it is "
            f"not replaced; remove it yourself if nothing in it is needed, or name another, or an empty one",
            named,
        )
    if not overwrite:
        raise exists(named)
    return False


def _unmarked(names: Iterable[str]) -> str:
    """Why parts that are named as graphdask names them are not taken for its own."""
    named_so = all(re.fullmatch(r"part-[0-9-]+\.parquet", name) for name in names)
    return ", which has not the mark of graphdask's samples; older versions did not write it" if named_so else ""


def pictures_output(folder: Any, names: Iterable[str], overwrite: bool = False) -> Path:
    """Check, before any work, that pictures may be written into a folder, which is made where it is not there.

    The folder is the caller's: nothing else in it is touched, and each picture in it is an output of its own.

    Parameters
    ----------
    folder : path-like
    names : iterable of str
        Of the pictures, or patterns of their names, as of `fnmatch`.
    overwrite : bool
        Replace those that are there.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OutputExists
        For the first that is there, where `overwrite` is False.
    InputError
        Where the folder cannot be made, or takes no files.
    """
    named = output_path(folder)
    if os.path.lexists(named) and not named.is_dir():
        raise InputError(f"{named} is a file, and a folder is needed; name another")
    with readable_write(named, ""):
        named.mkdir(parents=True, exist_ok=True)
        there = sorted(os.listdir(named))
    for name in names:
        for found in fnmatch.filter(there, name):
            file_output(named / found, overwrite)
    check_parent(named, followed(named), inside=True)
    return named
