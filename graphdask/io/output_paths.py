"""Paths of outputs: what stands under them, and whether a file can be made there."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown

from .os_errors import readable_write, unwritable
from .put import probe
from .secrets import without_secrets

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(:/|::)")
"""How an address begins; as a Path it has a single separator."""


def output_path(path: Any) -> Path:
    """The path of an output, once it is one that a file system can hold, and no address."""
    try:
        text = os.fspath(path)
        if not isinstance(text, str):
            raise TypeError
        if not text:
            raise ValueError("it is empty")
        os.fsencode(text)
        if "\0" in text:
            raise ValueError("it has a NUL")
        if _ADDRESS.match(text) and not os.path.lexists(text.partition("/")[0]):
            given = without_secrets(re.sub(":/(?=[^/])", "://", text, count=1))[:100]
            raise InputError(
                f"{given!r} is an address, and this output is written to a disk of this host; name a file or "
                "folder there, and copy it to the address"
            )
        named = Path(text).expanduser()
        if isinstance(path, str) and path == "-":
            raise InputError("'-' names no file here, and no stream; './-' names a file that is called -")
    except TypeError:
        raise InputError(f"{shown(path)} is not a path; give a str or a pathlib.Path") from None
    except InputError:
        raise
    except (ValueError, RuntimeError) as error:  # a lone surrogate; the home of a user who does not exist
        raise InputError(f"{shown(path)[:100]} is not the name of a file or folder: {error}") from None
    explained_later = FileNotFoundError, NotADirectoryError, PermissionError  # which are said with more words later
    with readable_write(named, ""), suppress(*explained_later):
        named.lstat()
    return named


def checked_flag(overwrite: Any) -> bool:
    if not isinstance(overwrite, bool | np.bool_):
        raise InputError(f"overwrite={shown(overwrite)} is neither True nor False")
    return bool(overwrite)


def followed(named: Path) -> Path:
    """Where the symbolic links of a path lead to."""
    with readable_write(named, ""):
        return Path(os.path.realpath(named))


def kind_of(named: Path, target: Path) -> str:
    """What stands under a name: file, directory, socket, ...; empty for nothing."""
    with readable_write(named, ""):
        try:
            mode = target.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return ""
    names = (
        (stat.S_ISREG, "file"), (stat.S_ISDIR, "directory"), (stat.S_ISLNK, "symbolic link that leads back to itself"),
        (stat.S_ISSOCK, "socket"), (stat.S_ISBLK, "block device"), (stat.S_ISFIFO, "pipe"), (stat.S_ISCHR, "device"),
    )  # fmt: skip
    return next(name for test, name in names if test(mode))


def check_parent(named: Path, target: Path, inside: bool = False) -> None:
    """Raise InputError where no file can be made beside a target, or in it."""
    folder = target if inside else target.parent
    shown_as = folder if inside or named.is_symlink() else named.parent
    if not folder.is_dir():
        if folder.exists():
            raise InputError(f"{named} cannot be written: {shown_as} is a file, not a directory; name another")
        raise InputError(f"{named} cannot be written: there is no directory {shown_as}; make it first")
    try:
        probe(folder, target, inside)
    except OSError as error:
        if isinstance(error, PermissionError):
            raise InputError(
                f"{named} cannot be written: no permission to write in {shown_as}; name another, or get it"
            ) from None
        raise unwritable(named, error, left="") from None
