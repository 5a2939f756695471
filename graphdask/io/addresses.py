"""Files that are not simply a path: addresses that fsspec opens, patterns, and open file objects.

What is elsewhere is first copied to a temporary folder, so that every format can be read from there, in any order and
by all its threads. Errors and warnings name the address, not the copy.
"""

from __future__ import annotations

import glob
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from graphdask.errors import InputError, MissingDependency, WriteError, shown
from graphdask.partition.ids import check_same_kind

from .asked import joined_columns, once_each
from .edges import EdgeList
from .formats import detect_format
from .opening import binary
from .secrets import without_secrets
from .streams import called, format_of_text, kept_folder

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(://|::)")
"""How an address begins: a protocol, or several that work on each other."""
HTTP = ("http://", "https://")
PIECE = 1 << 22
"""Bytes that are copied at a time."""
BINARY = {"a Parquet file": "parquet", "a zip or NPZ archive": "npz", "a graphdask native file": "native"}
"""Formats of what open files hold, by what their first bytes say."""
BUFFER = "the open file"


class Fetched:
    """A file to read: where it is, its format if that is known, and what the caller named."""

    def __init__(self, path: Any, format: str | None = None, name: str | None = None):
        self.path, self.format, self.name = path, format, name


@contextmanager
def local_files(path: Any, storage_options: Any = None, format: str | None = None) -> Iterator[list[Fetched]]:
    """Make local files of what a caller names, until the end of the context.

    Parameters
    ----------
    path : path-like, address, pattern or open file
    storage_options : mapping, optional
        What fsspec is given for an address.
    format : str, optional
        That of the caller.

    Yields
    ------
    list of Fetched
        One for each file, in the order of their names; a plain path as it is.

    Raises
    ------
    InputError
        For an address that cannot be read, a pattern that no file fits, or options for what is no address.
    MissingDependency
        If the package for a protocol is not installed.
    WriteError
        If the disk has no space for a copy.
    """
    if storage_options is not None and not isinstance(storage_options, Mapping):
        raise InputError(f"storage_options={shown(storage_options)} is not a mapping of names to values")
    address = given_address(path)
    if address is None and storage_options is not None:
        raise InputError(
            f"storage_options= are for addresses such as s3://bucket/graph.csv; {shown(path)[:80]} is none"
        )
    if address is not None:
        options = dict(getattr(path, "storage_options", {})) | dict(storage_options or {})
        with kept_folder("what is read") as folder, ExitStack() as stack:
            files = _copied(address, options, folder, format)
            for file in files:
                stack.enter_context(called(file.path, str(file.name)))
            yield files
    elif hasattr(path, "read") and not isinstance(path, os.PathLike):
        with kept_folder(BUFFER) as folder, called(folder / "open", BUFFER):
            yield [_of_buffer(path, folder / "open", format)]
    else:
        yield [Fetched(each) for each in _fitting(path)]


def pattern_of(files: Sequence[Fetched]) -> Path:
    """What names all copies of an address at once."""
    one: Path = files[0].path
    return one if len(files) == 1 else one.parent.parent / "*" / "*"


def given_address(path: Any) -> str | None:
    """The address that is given; None for a path."""
    if isinstance(getattr(path, "storage_options", None), Mapping) and hasattr(path, "protocol"):  # universal_pathlib
        return str(path)
    return path if isinstance(path, str) and ADDRESS.match(path) and not os.path.exists(path) else None


def refuse_address(path: Any, why: str) -> None:
    """Raise InputError for an address, where a file of this host is needed."""
    address = given_address(path)
    if address is not None:
        raise InputError(
            f"{without_secrets(address)} is an address, and {why}; copy it to a disk of this host first "
            '(filesystem, place = fsspec.url_to_fs(address); filesystem.get(place, "graph.gdl"))'
        )


@contextmanager
def local_file(path: Any) -> Iterator[Any]:
    """Make a local file of an address, until the end of the context; of anything else, what it is.

    Raises
    ------
    InputError
        As `local_files`, and for a pattern that several files fit.
    """
    if given_address(path) is None:
        yield path
        return
    with local_files(path) as files:
        if len(files) > 1:
            raise InputError(
                f"{without_secrets(str(path))} is a pattern, which {len(files):,} files fit; name one file, or a "
                "folder that Graph.write made"
            )
        yield files[0].path


def _fitting(path: Any) -> list[Any]:
    """The files that fit a pattern, sorted; or the path itself, if it is none."""
    try:
        text = os.fspath(path)
        if not isinstance(text, str) or not glob.has_magic(text) or os.path.exists(text):
            return [path]
        found = sorted(glob.glob(os.path.expanduser(text), recursive=True))
    except (TypeError, ValueError, OSError):  # no path, which the reader says
        return [path]
    except Exception as error:  # of whatever a caller gives
        raise InputError(f"{shown(path)} is not a path; give a str or a pathlib.Path") from error
    if not found:
        raise InputError(f"{text}: no file fits this pattern")
    return found


def _copied(address: str, options: dict[str, Any], folder: Path, format: str | None) -> list[Fetched]:
    """Copy the files of an address into a folder."""
    label = without_secrets(address)
    try:
        import fsspec

        filesystem, place = fsspec.core.url_to_fs(address, **options)
        places = sorted(filesystem.glob(place)) if _is_pattern(filesystem, place) else [place]
        if not places:
            raise InputError(f"{label}: no file fits this pattern")
        if len(places) > 1:
            sizes = [filesystem.info(each).get("size") for each in places]
            _check_space(sum(size for size in sizes if size), f"{label}, {len(places):,} files,")
        made = []
        for number, each in enumerate(places):
            name = label if len(places) == 1 else without_secrets(str(filesystem.unstrip_protocol(each)))
            target = folder / f"{number:06d}"
            target.mkdir()
            made.append(Fetched(_copy(filesystem, each, target, format), None, name))
        return made
    except (InputError, WriteError):
        raise
    except ImportError as error:
        raise MissingDependency(f"{label} cannot be opened: {error} (with pip)") from error
    except FileNotFoundError as error:
        raise InputError(f"{label}: no such file") from error
    except Exception as error:  # of whatever protocol
        text = without_secrets(str(error).strip().split("\n")[0])[:300]
        raise InputError(f"{label} cannot be read: {text or type(error).__name__}") from error


def _is_pattern(filesystem: Any, place: str) -> bool:
    """Whether a place names several files: not if there is one of this name, nor by the ? before a query."""
    if place.startswith(HTTP):
        return "*" in place.partition("?")[0]
    return glob.has_magic(place) and not filesystem.exists(place)


def _copy(filesystem: Any, place: str, target: Path, format: str | None) -> Path:
    """Copy a file, a folder that `Graph.write` made, or the two files of a graph of LDBC."""
    base = PurePosixPath(place.partition("?")[0]).name or "graph"
    if _is_folder(filesystem, place):
        for each in sorted(filesystem.ls(place, detail=False)):
            _copy_file(filesystem, each, target / PurePosixPath(each).name)
        return target
    if format == "ldbc" or (format is None and base.endswith((".v", ".e"))):
        stem = place.removesuffix(".v").removesuffix(".e")
        for suffix in (".v", ".e"):
            _copy_file(filesystem, stem + suffix, target / (PurePosixPath(stem).name + suffix))
        return target / (PurePosixPath(stem).name + ".e")
    _copy_file(filesystem, place, target / base)
    return target / base


def _is_folder(filesystem: Any, place: str) -> bool:
    """Whether a place is a folder. A page of a web server may list one; to find out, fsspec fetches the page whole."""
    if place.startswith(HTTP) and not place.endswith("/"):
        page = filesystem.info(place).get("mimetype") == "text/html"
        return page and bool(filesystem.isdir(place))
    return bool(filesystem.isdir(place))


def _copy_file(filesystem: Any, place: str, target: Path) -> None:
    size = filesystem.info(place).get("size")
    _check_space(size, place)
    whole = {"block_size": 0} if "https" in filesystem.protocol else {}  # one request, in place of many that overlap
    with filesystem.open(place, "rb", **whole) as source:
        _write(source, target, place)


def _check_space(size: int | None, what: str) -> None:
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if size is not None and size > free:
        raise WriteError(
            f"{what} has {size:,} bytes, and {tempfile.gettempdir()}, where it is kept while it is read, has {free:,} "
            f"free; set TMPDIR to a folder with space"
        )


def _write(source: Any, target: Path, what: str) -> None:
    with target.open("wb") as file:
        while piece := source.read(PIECE):
            try:
                file.write(piece)
            except OSError as error:
                raise WriteError(
                    f"{what} is kept in {tempfile.gettempdir()} while it is read, which does not take it "
                    f"({error.strerror or error}); set TMPDIR to a folder with space"
                ) from error


class _Encoded(io.RawIOBase):
    """An open text file as bytes in UTF-8."""

    def __init__(self, text: Any):
        self._text = text

    def read(self, size: int = -1) -> bytes:
        piece: str = self._text.read(size)
        return piece.encode("utf-8")


def _of_buffer(stream: Any, target: Path, format: str | None) -> Fetched:
    """Keep what an open file holds from where it stands."""
    try:
        begin = stream.read(0)
    except Exception as error:  # of whatever has a method of this name
        raise InputError(f"{shown(stream)[:80]} cannot be read: {error}") from error
    if not isinstance(begin, bytes | str):
        raise InputError(f"path={shown(stream)[:80]} gives {type(begin).__name__}, not bytes or text")
    _write(_Encoded(stream) if isinstance(begin, str) else stream, target, BUFFER)
    return Fetched(target, format or _format_of(target, getattr(stream, "name", None)))


def _format_of(path: Path, name: Any) -> str:
    """The format of what was in an open file: by its name, or by its first bytes."""
    if isinstance(name, str):
        try:
            return detect_format(name)
        except InputError:  # a name that says nothing
            pass
    with path.open("rb") as file:
        what = binary(file.read(16))
    return format_of_text(path) if what is None else BINARY.get(what, what)


def joined(lists: Sequence[EdgeList], names: Sequence[str]) -> EdgeList:
    """Put the edges of several files one behind the other; rows are numbered through.

    Raises
    ------
    InputError
        If some have weights, times or directions and others have others, or ids are of different kinds.
    """
    first = lists[0]
    if len(lists) == 1:
        return first
    for one, name in zip(lists[1:], names[1:], strict=True):
        check_same_kind(first.src[:1], one.src[:1]) if len(one.src) else None
        for what in ("weights", "times"):
            if (getattr(one, what) is None) != (getattr(first, what) is None):
                with_them, without = (name, names[0]) if getattr(first, what) is None else (names[0], name)
                raise InputError(
                    f"{with_them} has {what} and {without} has none; read them one by one, or weights=False"
                )
        if one.directed != first.directed:
            raise InputError(f"{name} and {names[0]} say different directions; give directed=")

    def column(what: str) -> np.ndarray | None:
        values = [getattr(each, what) for each in lists]
        if values[0] is None:
            return None
        filled = [each for each in values if len(each)] or values[:1]
        numbers = all(each.dtype.kind in "iuf" for each in filled)
        return np.concatenate(filled if numbers else [each.astype(object) for each in filled])

    src, dst = column("src"), column("dst")
    assert src is not None
    assert dst is not None
    vertices = None
    if any(each.vertices is not None for each in lists):
        stated = [
            each.vertices if each.vertices is not None else np.concatenate([each.src, each.dst]) for each in lists
        ]
        vertices = np.unique(np.concatenate([each for each in stated if len(each)] or stated[:1]))
    report: dict[str, Any] = {"files": len(lists)}
    for each in lists:
        for key, value in each.report.items():
            counted = isinstance(value, int) and not isinstance(value, bool)
            report[key] = report.get(key, 0) + value if counted else value
    report = {key: value for key, value in report.items() if not key.startswith("declared_")}  # each of one file
    more = {
        what: joined_columns([getattr(each, what) for each in lists], names, what)
        for what in ("edge_columns", "vertex_columns")
    }
    if more["vertex_columns"] is not None:
        more["vertex_columns"] = once_each(more["vertex_columns"])
    return EdgeList(src, dst, column("weights"), column("times"), vertices, first.directed, report, **more)
