"""Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages, as far as it takes to
read a few of their fields.

What is not asked for is passed over. Nothing is made of a number before the bytes are there, so that what is decoded
is no larger than what was read.
"""

from __future__ import annotations

from typing import Any

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)
_DEEPEST = 32
"""Structures in one another; Parquet has six."""

Wanted = dict[int, Any]
"""Fields that are wanted, by their number: None for an integer or bytes, what is wanted of a structure, or a list of
one of these for a list."""


class Decoder:
    """Bytes from a place on; ValueError where they are none of this protocol.

    Parameters
    ----------
    data : bytes-like
    at, end : int
        Where to begin, and where the bytes end.
    """

    def __init__(self, data: Any, at: int, end: int):
        if not 0 <= at < end <= len(data):
            raise ValueError("it is outside the file")
        self.data, self.at, self.end = data, at, end

    def struct(self, wanted: Wanted, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure that are wanted and there."""
        if depth > _DEEPEST:
            raise ValueError("it is too deep")
        found: dict[int, Any] = {}
        number = 0
        while True:
            head = self._byte()
            kind = head & 15
            if kind == _STOP:
                return found
            number = number + (head >> 4) if head >> 4 else self._integer()
            if kind in (_TRUE, _FALSE):
                continue
            if number in wanted and _fits(kind, wanted[number]):
                found[number] = self._value(kind, wanted[number], depth)
            else:
                self._skip(kind, depth)

    def _value(self, kind: int, wanted: Any, depth: int) -> Any:
        if kind == _STRUCT:
            return self.struct(wanted, depth + 1)
        if kind == _BINARY:
            begin = self._past(self._size())
            return bytes(self.data[begin : self.at])
        if kind == _LIST:
            of, count = self._list()
            if not _fits(of, wanted[0]):
                raise ValueError(f"it has a list of type {of}")
            return [self._value(of, wanted[0], depth + 1) for _ in range(count)]
        return self._integer()

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("it is too deep")
        if kind in (_TRUE, _FALSE, _BYTE):
            self._past(1)
        elif kind in _INTEGERS:
            self._integer()
        elif kind == _DOUBLE:
            self._past(8)
        elif kind == _BINARY:
            self._past(self._size())
        elif kind == _STRUCT:
            self.struct({}, depth + 1)
        elif kind in (_LIST, _SET):
            of, count = self._list()
            for _ in range(count):
                self._skip(of, depth + 1)
        else:
            raise ValueError(f"it has a field of type {kind}")

    def _list(self) -> tuple[int, int]:
        head = self._byte()
        return head & 15, self._size() if head >> 4 == 15 else head >> 4

    def _past(self, size: int) -> int:
        """Pass over bytes, and return where they began."""
        begin = self.at
        self.at += size
        if self.at > self.end:
            raise ValueError("it is cut off")
        return begin

    def _size(self) -> int:
        size = self._number()
        if size > self.end - self.at:
            raise ValueError("it is cut off")
        return size

    def _integer(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)

    def _number(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number is longer than 64 bits")

    def _byte(self) -> int:
        if self.at >= self.end:
            raise ValueError("it is cut off")
        byte = int(self.data[self.at])
        self.at += 1
        return byte


def _fits(kind: int, wanted: Any) -> bool:
    """Whether what is there is of the type that is wanted."""
    if isinstance(wanted, dict):
        return kind == _STRUCT
    if isinstance(wanted, list):
        return kind == _LIST
    return kind in (*_INTEGERS, _BINARY)
