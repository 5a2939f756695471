"""Outputs at addresses that fsspec opens, such as `s3://bucket/graph.parquet`.

What is written is written to a temporary folder, and sent when it is complete, so that every format can be written.
Errors and warnings name the address in place of the temporary file, without passwords and queries.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from graphdask.errors import InputError, MissingDependency, OutputExists, Unsupported, WriteError, shown

from .addresses import PIECE, given_address
from .secrets import without_secrets
from .streams import called, kept_folder


@contextmanager
def sent(path: Any, overwrite: bool, storage_options: Any = None) -> Iterator[Any]:
    """Write to a path: the one that was given, or of an address a temporary one that is sent when the block ends well.

    Raises
    ------
    InputError
        If storage_options are given for a path of this host.
    MissingDependency
        If a package for addresses of this kind is not installed.
    OutputExists
        If there is something at the address, without `overwrite`; if it is a folder, in any case.
    Unsupported
        If nothing can be written at addresses of this kind.
    WriteError
        If it cannot be sent.
    """
    target = _target(path, storage_options)
    if target is None:
        yield path
        return
    target.refuse_existing(overwrite)
    with kept_folder("what is written") as folder:
        made = folder / target.name
        with called(made, target.label):
            yield f"{made}{os.sep}" if target.is_folder else made
        target.send(made)


def write_sent(write: Callable[[Any], Any], path: Any, overwrite: bool, storage_options: Any) -> Any:
    """Write a graph to a path or an address by a function of the path; return what it returns, with the address."""
    with sent(path, overwrite, storage_options) as place:
        written = write(place)
    address = given_address(path)
    return written if address is None else replace(written, path=without_secrets(address))


def refuse_existing(address: str, overwrite: bool) -> None:
    """Raise OutputExists, before any work, if something is at an address, without `overwrite`."""
    target = _target(address, None)
    assert target is not None
    target.refuse_existing(overwrite)


def _target(path: Any, storage_options: Any) -> _Target | None:
    """What is at an address; None for a path of this host."""
    if storage_options is not None and not isinstance(storage_options, Mapping):
        raise InputError(f"storage_options={shown(storage_options)} is not a mapping of names to values")
    address = given_address(path)
    if address is None:
        if storage_options is not None:
            raise InputError(
                f"storage_options= are for addresses such as s3://bucket/graph.csv; {shown(path)[:80]} is none"
            )
        return None
    options = dict(getattr(path, "storage_options", None) or {}) | dict(storage_options or {})
    label = without_secrets(address)
    try:
        from fsspec.core import url_to_fs

        filesystem, place = url_to_fs(address, **options)
    except ImportError as error:
        raise MissingDependency(f"{label} cannot be opened: {error} (with pip)") from error
    except Exception as error:  # of whatever protocol
        raise InputError(f"{label} cannot be opened: {_reason(error)}") from error
    name = PurePosixPath(place).name
    if name in ("", ".."):
        raise InputError(f"{label}: this names no file; add the name of one")
    return _Target(label, filesystem, place, name, address.endswith("/"))


@dataclass(frozen=True)
class _Target:
    """A place to write to in a file system of fsspec."""

    label: str
    """The address, as errors name it."""
    filesystem: Any
    place: str
    """What the file system calls it."""
    name: str
    """The name of the file or folder."""
    is_folder: bool
    """Whether the address ends as a folder does."""

    def refuse_existing(self, overwrite: bool) -> None:
        """Raise OutputExists if something is there that is not to be replaced."""
        try:
            there = self.filesystem.exists(self.place)
            folder = there and self.filesystem.isdir(self.place)
        except Exception as error:  # of whatever protocol
            raise WriteError(f"{self.label} cannot be written: {_reason(error)}") from error
        if folder:
            raise OutputExists(f"{self.label} is a folder, which is not replaced at an address; name another")
        if there and not overwrite:
            raise OutputExists(f"{self.label} is there already; overwrite=True (--overwrite) replaces it", self.label)

    def send(self, made: Path) -> None:
        """Copy the file, or the files of the folder, that was made to the address."""
        files = sorted(each for each in made.rglob("*") if each.is_file()) if made.is_dir() else [made]
        try:
            for file in files:
                inner = file.relative_to(made).as_posix()
                target = self.place if inner == "." else f"{self.place.rstrip('/')}/{inner}"
                parent = target.rpartition("/")[0]
                if parent:
                    self.filesystem.makedirs(parent, exist_ok=True)
                with file.open("rb") as stream, self.filesystem.open(target, "wb") as out:
                    shutil.copyfileobj(stream, out, PIECE)
        except NotImplementedError as error:
            raise Unsupported(f"{self.label}: nothing can be written at such addresses; name a file") from error
        except Exception as error:  # of whatever protocol
            raise WriteError(f"{self.label} cannot be written: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    return without_secrets(str(error).strip().split("\n")[0])[:300] or type(error).__name__
