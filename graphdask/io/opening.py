"""Opening files: what is really in them (by magic bytes, not by name), and decompressed blocks cut at line ends.

A plain file is mapped, a compressed one is read one block ahead by a thread of its own, so that decompression
overlaps parsing.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from graphdask.errors import FormatError, GraphdaskError, InputError, shown

from .budgets import budget
from .os_errors import readable_read as reading
from .os_errors import unreadable

COMPRESSION_SUFFIXES = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2"}
_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
_BINARY_MAGIC = {
    b"PAR1": "a Parquet file (format='parquet')",
    b"PK\x03\x04": "a zip or NPZ archive (format='npz' if it is NPZ; else unpack it)",
    b"PK\x05\x06": "an empty zip or NPZ archive",
    b"\x93GDG": "a graphdask native file (format='native')",
    b"\x93GDL": "a graph that is streamed (.gdl)",
    b"\x28\xb5\x2f\xfd": "zstd data (decompress it first)",
    b"\x89HDF": "an HDF5 file, which graphdask does not read",
    b"\xff\xfe": "UTF-16 text (save it as UTF-8)",
    b"\xfe\xff": "UTF-16 text (save it as UTF-8)",
}
_BOM = b"\xef\xbb\xbf"
_CONTROL = bytes(set(range(32)) - {9, 10, 11, 12, 13, 26})

_FIRST: ContextVar[int | None] = ContextVar("graphdask-first-bytes", default=None)

BLOCK_BYTES = 1 << 20
LINE_COPIES = 8
"""Bytes that a byte of a line may need until it is an array."""
MOST_HEAD = 1 << 21
"""Bytes at the beginning of a text among which its first edges, or its header, must be."""


class NotKept(OSError):
    """What was read could not be written to where it waits: a fault of that disk, not of the file that is read."""


def binary(begin: bytes) -> str | None:
    """What a file is that begins so, where that is one of the binary formats by name; None for text and the rest."""
    for magic, what in _BINARY_MAGIC.items():
        if begin.startswith(magic) and magic[:1] in b"P\x93\x89":
            return what.partition(" (")[0]
    return None


def strip_compression(name: str) -> str:
    """The name without .gz, .xz or .bz2."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in COMPRESSION_SUFFIXES else name


def checked_path(path: Any) -> Path:
    """The path, once it is one: text without a NUL that the file system can hold."""
    try:
        if isinstance(path, bytes):
            raise TypeError
        if isinstance(path, str) and path == "-":
            raise InputError("'-' names no file here, and no stream; './-' names a file that is called -")
        file = Path(path).expanduser()
        os.fsencode(file)
        if "\0" in str(file):
            raise ValueError("it has a NUL")
        file.is_dir()  # which no name that is too long gets past
    except TypeError:
        raise InputError(f"{shown(path)} is not a path; give a str or a pathlib.Path") from None
    except (ValueError, RuntimeError) as error:  # a lone surrogate; the home of a user who does not exist
        raise InputError(f"{shown(path)[:80]} is not a path: {error}") from None
    except OSError as error:
        raise unreadable(f"the path {shown(os.fspath(path))[:80]}", error) from None
    return file


@contextlib.contextmanager
def refusing_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make FormatError, or InputError, of what a reader or its libraries raise for a file that is damaged."""
    try:
        yield
    except (GraphdaskError, Warning, MemoryError, ImportError, NotKept):
        raise
    except OSError as error:
        if error.errno is not None:
            raise unreadable(path, error) from error
        raise FormatError(f"the file is damaged ({_sentence(error)}); get it again", path) from error
    except UnicodeEncodeError as error:
        raise InputError(
            f"{shown(os.fspath(path))} is no name in UTF-8, and files of this format are opened by such names only; "
            "rename the file"
        ) from error
    except Exception as error:  # libraries raise nearly all kinds, and each is of the file
        raise FormatError(
            f"the file is damaged, or not of this format ({_sentence(error)}); get it again, or say its format", path
        ) from error


def _sentence(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The path, once it is known to be a file that can be read; InputError says why it is not."""
    file = checked_path(path)
    try:
        directory = file.is_dir()
        regular = file.is_file() or not (directory or file.exists())
        if regular:
            with file.open("rb"):
                pass
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise unreadable(path, error) from None
    if directory:
        raise InputError(f"{file} is a directory; name a file")
    if not regular:
        raise InputError(f"{file} is a pipe or a device; write what it holds to a file and name that")
    return file


SMALL_TEXT = 1 << 20
"""Bytes of a description in JSON, at most."""


def small_text(path: str | os.PathLike[str]) -> str:
    """What a small file of text holds: the operating system's OSError where it is not read, ValueError for a pipe or a
    device, which may never end, for other bytes than UTF-8, and for more than `SMALL_TEXT`."""
    file = Path(path)
    if not (file.is_file() or file.is_dir()) and file.exists():
        raise ValueError("it is a pipe or a device")
    with file.open("rb") as stream:
        data = stream.read(SMALL_TEXT + 1)
    if len(data) > SMALL_TEXT:
        raise ValueError(f"it has more than {SMALL_TEXT:,} bytes")
    return data.decode()


@contextlib.contextmanager
def first_bytes(size: int) -> Iterator[None]:
    """Read only so many bytes of a text in here, up to a line end; what is read reports `read_bytes` if it goes on."""
    token = _FIRST.set(size)
    try:
        yield
    finally:
        _FIRST.reset(token)


class Source:
    """A readable file, plain or compressed.

    Parameters
    ----------
    path : path-like
        A file that exists.
    whole : bool
        Read all of it also where `first_bytes` asks for less: a part of it is nothing of its format.

    Attributes
    ----------
    size : int
        Bytes on disk.
    compression : str or None
        "gzip", "xz", "bzip2" or None, from the first bytes of the file.
    consumed : int
        Bytes of the file read so far, for progress.
    taken : int
        Bytes of the file that were read when it was opened last.
    limit : int or None
        Bytes of the text that `blocks` gives, up to the next line end; None: all.
    given : int or None
        Bytes that it gave where the text goes on after them; None where it gave all.
    """

    def __init__(self, path: str | os.PathLike[str], whole: bool = False):
        self.path = existing_file(path)
        self.size = self.path.stat().st_size
        self.consumed = self.taken = 0
        self._given: deque[tuple[int, int]] = deque()
        self._mapped: mmap.mmap | None = None
        self.limit = None if whole else _FIRST.get()
        self.given: int | None = None
        self.compression: str | None = None
        named = COMPRESSION_SUFFIXES.get(self.path.suffix.lower())
        with reading(self.path), self.path.open("rb") as f:
            magic = f.read(8)
        for start, name in _COMPRESSION_MAGIC.items():
            if magic.startswith(start):
                self.compression = name
        if named and not self.size:
            raise FormatError(f"the file is empty (0 bytes), which is not {named} data; get it again", self.path)

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The decompressed bytes; damage in the compressed data is raised as FormatError."""
        import lzma
        import zlib

        if self.compression is None:
            with reading(self.path), self.path.open("rb") as f:
                self._raw = f
                yield f
                self.taken = f.tell()
            return
        try:
            with reading(self.path), self.path.open("rb") as raw, contextlib.ExitStack() as stack:
                self._raw = raw
                if self.compression == "gzip":
                    import gzip

                    yield cast(IO[bytes], stack.enter_context(gzip.open(raw)))
                else:
                    from . import _members

                    members = _members.xz(raw) if self.compression == "xz" else _members.bzip2(raw)
                    yield cast(IO[bytes], members)
                self.taken = raw.tell()
        except EOFError:
            raise FormatError(
                f"the {self.compression} data ends early: the file is truncated; get it again", self.path
            ) from None
        except (zlib.error, lzma.LZMAError, OSError) as error:
            raise FormatError(f"the {self.compression} data is corrupt ({error}); get it again", self.path) from None

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first `size` decompressed bytes without byte-order mark, and whether they are the whole file.

        Raises FormatError if they are not text, or more than `MOST_HEAD` are asked for.
        """
        if size > MOST_HEAD:
            raise FormatError(
                f"the first {MOST_HEAD >> 20} MiB hold neither two edges nor a header with what follows it; delete the "
                "comments, blank lines or other text at its beginning",
                self.path,
            )
        with self.open() as f:
            parts, left = [], size + 1
            while left and (part := f.read(left)):
                parts.append(part)
                left -= len(part)
        data = b"".join(parts)
        whole = len(data) <= size
        data = data[:size]
        for magic, what in _BINARY_MAGIC.items():
            if data.startswith(magic):
                raise FormatError(f"this is {what}, not text", self.path)
        rest = data.translate(None, _CONTROL)
        if len(rest) != len(data):
            at = next(i for i, byte in enumerate(data) if byte in _CONTROL)
            raise FormatError(f"this is binary data, not text: byte 0x{data[at]:02x} at offset {at}", self.path)
        return data.removeprefix(_BOM), whole

    def blocks(self, skip: int = 0, size: int = BLOCK_BYTES, mapped: bool = True) -> Iterator[np.ndarray]:
        """Read-only uint8 arrays that together are the decompressed file after the byte-order mark and `skip`
        further bytes; each but the last ends at a line end. `release` gives back what is mapped."""
        self._given.clear()
        self._mapped = None
        given, self.given = 0, None
        size = size if self.limit is None else min(size, max(self.limit, 1))
        plain = self.compression is None and mapped
        for block in self._mapped_blocks(skip, size) if plain else self._stream_blocks(skip, size):
            if self.limit is not None and given >= self.limit:
                self.given = skip + given
                return
            given += len(block)
            yield block

    def release(self) -> int:
        """Let go of the next of the `blocks`, which are used up in order; return the bytes of the file up to there."""
        if not self._given:  # they are freed as arrays are
            return self.consumed
        start, stop = self._given.popleft()
        if self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            first, last = (place // mmap.PAGESIZE * mmap.PAGESIZE for place in (start, stop))
            if first < last:  # the page in which the next block begins goes with that one
                self._mapped.madvise(mmap.MADV_DONTNEED, first, last - first)
        return stop

    def _mapped_blocks(self, skip: int, size: int) -> Iterator[np.ndarray]:
        if not self.size:
            return
        with self.path.open("rb") as f:
            data = self._mapped = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        whole = np.frombuffer(data, np.uint8)
        start = skip + (3 if data[:3] == _BOM else 0)
        while start < len(data):
            stop, searched = min(start + size, len(data)), start
            while stop < len(data):
                cut = _last_line_end(data, searched, stop)
                if cut > start:
                    stop = cut
                    break
                searched = stop - 1  # a CR there was not taken
                stop = min(stop + size, len(data))
                self._refuse_line(stop - start)
            self.consumed = stop
            self._given.append((start, stop))
            yield whole[start:stop]
            start = stop

    def _stream_blocks(self, skip: int, size: int) -> Iterator[np.ndarray]:
        with self.open() as f, ThreadPoolExecutor(1, "graphdask-decompress") as ahead:
            begin = f.read(3)
            f.read(skip if begin == _BOM else max(skip - len(begin), 0))
            begin = b"" if begin == _BOM else begin[skip:]
            carry: list[bytes] = []
            held = 0
            future = ahead.submit(f.read, size)
            while data := begin + future.result():
                begin = b""
                self.consumed = self._raw.tell()
                future = ahead.submit(f.read, size)
                if carry and carry[-1].endswith(b"\r"):
                    data = carry.pop() + data
                cut = _last_line_end(data, 0, len(data))
                if cut:  # joined only here, so that a line of many blocks is copied once
                    joined = b"".join([*carry, data[:cut]]) if carry else data
                    self._given.append((0, self.consumed))
                    yield np.frombuffer(joined, np.uint8, -1 if carry else cut)
                    carry, held = [], 0
                if cut < len(data):
                    carry.append(data[cut:])
                    held += len(carry[-1])
                    self._refuse_line(held)
            if carry:
                self._given.append((0, self.consumed))
                yield np.frombuffer(b"".join(carry), np.uint8)

    def _refuse_line(self, size: int) -> None:
        """Raise OverBudget for a line that does not fit in memory: the line, and what it becomes."""
        if size > BLOCK_BYTES:
            budget().refuse_line(size, LINE_COPIES * size)


def _last_line_end(data: bytes | mmap.mmap, start: int, stop: int) -> int:
    """One past the last line end within [start, stop), or 0; a CR as the very last byte may be half of
    CRLF."""
    cut = data.rfind(b"\n", start, stop) + 1
    return cut or data.rfind(b"\r", start, stop - 1) + 1


@contextlib.contextmanager
def compressing(stream: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """What compresses into a stream as a name that ends in .gz, .xz or .bz2 says; the stream itself for any other."""
    compression = COMPRESSION_SUFFIXES.get(Path(name).suffix.lower())
    with contextlib.ExitStack() as stack:
        opened: Any = stream
        if compression == "gzip":
            import gzip

            opened = stack.enter_context(gzip.GzipFile("", "wb", 6, stream, mtime=0))
        elif compression == "xz":
            import lzma

            opened = stack.enter_context(lzma.open(stream, "wb"))
        elif compression == "bzip2":
            import bz2

            opened = stack.enter_context(bz2.open(stream, "wb"))
        yield opened
