"""Compressed data that may have several members one behind the other, as `pbzip2`, `pixz` and `cat` write them.

Python's own readers of bzip2 and xz take a member behind the first that they cannot decode for something to pass over,
so that damage there would drop all that follows without a word. Here it is an error, and so is what is no data at all;
only the zeros with which files are padded are left out.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from typing import IO, Any

from .budgets import budget

CHUNK = 1 << 18
"""Bytes of the file that are read at a time."""


def bzip2(raw: IO[bytes]) -> Members:
    """The decompressed bytes of a bzip2 file."""
    return Members(raw, bz2.BZ2Decompressor)


def xz(raw: IO[bytes]) -> Members:
    """The decompressed bytes of an xz file, whose dictionary is held to the memory that may be used."""
    limit = min(budget().usable, 2**63 - 1)
    return Members(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=limit))


class Members:
    """Bytes of all members of a file, in order.

    Parameters
    ----------
    raw : binary file
    make : callable
        A decompressor for one member, as those of `bz2` and `lzma` are.
    """

    def __init__(self, raw: IO[bytes], make: Callable[[], Any]):
        self._raw, self._make = raw, make
        self._decompressor: Any = None

    def read(self, size: int) -> bytes:
        """So many bytes, or those that are left; EOFError where a member ends early."""
        parts: list[bytes] = []
        while size > 0:
            if self._decompressor is None or self._decompressor.eof:
                data = self._next_member()
                if not data:
                    break
                self._decompressor = self._make()
            elif self._decompressor.needs_input:
                data = self._raw.read(CHUNK)
                if not data:
                    raise EOFError
            else:
                data = b""
            some = self._decompressor.decompress(data, size)
            size -= len(some)
            parts.append(some)
        return b"".join(parts)

    def _next_member(self) -> bytes:
        """The first bytes of the next member, behind the zeros before it; none at the end of the file."""
        data: bytes = b"" if self._decompressor is None else self._decompressor.unused_data
        padded = self._decompressor is not None
        while not (data := data.lstrip(b"\0") if padded else data):
            data = self._raw.read(CHUNK)
            if not data:
                return b""
        return data
