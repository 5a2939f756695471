"""One line of text to values, in plain Python: the definition of what a line means.

The compiled parser in `_parse.py` accepts a subset of the lines accepted here and must give the same values
for them; every line that it does not take (hard floats, quotes, errors) comes here. So each error message is
made in one place, and small files never wait for a compiler.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import Any

from ._header import MISSING_WORDS

SKIP, ID, VALUE, TEXT, DIRECTION = 0, 1, 2, 3, 4
"""What a column holds: nothing wanted, a vertex id, a number (weight or time), a vertex id that is a
string, or whether the edge has a direction (`Directed`, `Undirected`, 0, 1, true, false): 0 or 1."""

DIRECTIONS = {b"directed": 1, b"true": 1, b"1": 1, b"undirected": 0, b"false": 0, b"0": 0}

INT64_MAX = 2**63 - 1
_LEAST = b"9223372036854775808"
"""Digits of the smallest int64."""
WIDEST = 19
"""Digits of the largest int64."""
_DIGITS = re.compile(rb"[0-9]+\Z")
_INTEGER = re.compile(rb"[+-]?[0-9]+\Z")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
"""In one way only, or a failure takes the square of the digits."""
_INFINITY = re.compile(rb"[+-]?inf(?:inity)?\Z", re.IGNORECASE)
_MISSING = re.compile(rb"(?:|[+-]?nan|n/?a|null|none|\?|-)\Z", re.IGNORECASE)


_QUOTED = re.compile(rb'"((?:[^"]|"")*)"(?![^ \t])|([^ \t]+)')


class LineError(ValueError):
    """A line that cannot be read; the caller adds file and line number."""


class Marker:
    """A line without values."""


BLANK, COMMENT = Marker(), Marker()


@dataclass(frozen=True)
class Columns:
    """How each data line of a file is built."""

    kinds: tuple[int, ...]
    """SKIP, ID, VALUE or TEXT, for each column."""
    delimiter: bytes = b""
    """One byte; empty: runs of spaces and tabs."""
    comment: bytes = b"#%"
    """Bytes that start a comment: at the start of a line, and without a delimiter at the start of a token."""
    tag: bytes = b""
    """One byte that stands alone before the columns, as `a` in DIMACS files; empty: none."""
    names: tuple[str, ...] = ()
    """What to call the columns in messages."""
    missing: frozenset[bytes] = MISSING_WORDS
    """Words that stand for a vertex id that is missing."""
    may_be_text: bool = False
    """The caller may have ids read as strings."""

    def name(self, column: int) -> str:
        if column < len(self.names):
            return self.names[column]
        return "vertex id" if self.kinds[column] in (ID, TEXT) else "weight"


def show(token: bytes) -> str:
    """A token as a message quotes it: short, printable."""
    text = token[:40].decode("utf-8", "replace")
    return repr(text + "..." if len(token) > 40 else text)


def split(line: bytes, delimiter: bytes, comment: bytes) -> list[bytes] | Marker:
    """The tokens of a line, or BLANK or COMMENT."""
    stripped = line.strip(b" \t")
    if not stripped:
        return BLANK
    if stripped[:1] in comment and comment:
        return COMMENT
    if not delimiter and b'"' in line:
        return _split_quoted(line, comment)
    if not delimiter:
        tokens = line.replace(b"\t", b" ").split(b" ")
        tokens = [token for token in tokens if token]
        if comment:
            for i, token in enumerate(tokens):
                if token[:1] in comment:
                    return tokens[:i]
        return tokens
    blanks = b" " if delimiter == b"\t" else b" \t"
    if b'"' in line:
        text = line.decode("utf-8", "surrogateescape")
        try:
            fields = next(csv.reader([text], delimiter=delimiter.decode(), skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise LineError(f"broken quotes ({error}) in {show(line)}") from None
        return [field.encode("utf-8", "surrogateescape").strip(blanks) for field in fields]
    return [token.strip(blanks) for token in line.split(delimiter)]


def whole_number(digits: bytes) -> int | None:
    """The value of ASCII digits, however many; None above 2^63 - 1."""
    digits = digits if len(digits) <= WIDEST else digits.lstrip(b"0") or b"0"
    if len(digits) > WIDEST:  # Python refuses to convert thousands
        return None
    value = int(digits)
    return value if value <= INT64_MAX else None


def declared_number(digits: bytes) -> int:
    """A count that a header states; 10^40 for all that are above, which nothing can hold."""
    digits = digits.lstrip(b"0") or b"0"
    return int(digits) if len(digits) <= 40 else 10**40


def _split_quoted(line: bytes, comment: bytes) -> list[bytes]:
    """The tokens of a line with runs of white space between them, some of which are quoted, as R writes them."""
    tokens = []
    for found in _QUOTED.finditer(line):
        quoted, token = found.groups()
        if quoted is None and comment and token[:1] in comment:
            break
        tokens.append(token if quoted is None else quoted.replace(b'""', b'"'))
    return tokens


_NO_TEXT = "ids of this format are numbers from 0 to 2^63 - 1; write an edge list or CSV if they are names"


def vertex_id(token: bytes, may_be_text: bool = False) -> int:
    """A non-negative int64; `may_be_text`: errors say how to read ids as strings."""
    if _DIGITS.match(token):
        value = whole_number(token)
        if value is not None:
            return value
        instead = "pass ids='str' to keep such ids as strings" if may_be_text else _NO_TEXT
        raise LineError(f"vertex id {show(token)} is above 2^63 - 1; {instead}")
    if not token:
        raise LineError("a vertex id is missing")
    if _INTEGER.match(token):
        raise LineError(f"vertex id {show(token)} has a sign; ids are 0 or more, without sign")
    if _NUMBER.match(token) or _INFINITY.match(token):
        instead = "pass ids='str' if it is a name" if may_be_text else _NO_TEXT
        raise LineError(f"vertex id {show(token)} is not an integer; {instead}")
    instead = "pass ids='str' if the ids of this file are names" if may_be_text else _NO_TEXT
    raise LineError(f"vertex id {show(token)} is not a number; {instead}")


def number(token: bytes, what: str) -> int | float:
    """An int if the token is one that fits int64, else a float; infinite is allowed, NaN is not."""
    if _INTEGER.match(token):
        size = whole_number(token.lstrip(b"+-"))
        if size is not None:
            return -size if token[:1] == b"-" else size
        return -INT64_MAX - 1 if token[:1] == b"-" and token[1:].lstrip(b"0") == _LEAST else float(token)
    if _NUMBER.match(token) or _INFINITY.match(token):
        return float(token)
    if _MISSING.match(token):
        instead = "leave the edge out" if what == "time" else "read with weights=False"
        raise LineError(f"the {what} is missing ({show(token)}); fill it in, or {instead}")
    raise LineError(f"{what} {show(token)} is not a number")


def parse_line(line: bytes, columns: Columns) -> list[Any] | Marker:
    """The wanted values of a line in column order, or BLANK or COMMENT; LineError if it does not fit."""
    tokens = split(line, columns.delimiter, columns.comment)
    if isinstance(tokens, Marker):
        return tokens
    if columns.tag:
        if tokens[0] != columns.tag:
            raise LineError(
                f"the line starts with {show(tokens[0])}, not with {show(columns.tag)} like the lines before"
            )
        del tokens[0]
    if len(tokens) != len(columns.kinds):
        raise LineError(
            f"the line has {len(tokens)} column{'s' * (len(tokens) != 1)}, the lines before have "
            f"{len(columns.kinds)}: {show(line)}"
        )
    values: list[Any] = []
    for i, (kind, token) in enumerate(zip(columns.kinds, tokens, strict=True)):
        if kind in (ID, TEXT) and token in columns.missing:
            instead = ", or pass ids='str' or na_values=() if that is a name" if columns.may_be_text else ""
            raise LineError(f"a vertex id is missing ({show(token)}); leave the edge out{instead}")
        if kind == ID:
            values.append(vertex_id(token, columns.may_be_text))
        elif kind == VALUE:
            values.append(number(token, columns.name(i)))
        elif kind == DIRECTION:
            if token.lower() not in DIRECTIONS:
                raise LineError(f"the direction {show(token)} is neither Directed nor Undirected; pass directed=True "
                                "or directed=False to leave the column out")  # fmt: skip
            values.append(DIRECTIONS[token.lower()])
        elif kind == TEXT:
            if not token:
                raise LineError("a vertex id is missing")
            try:
                values.append(token.decode("utf-8"))
            except UnicodeDecodeError:
                raise LineError(f"{show(token)} is not UTF-8; convert the file, e.g. with iconv") from None
    return values


def parse_integers(line: bytes, comment: bytes) -> list[int] | Marker:
    """All non-negative integers of a line of any length, or BLANK or COMMENT."""
    tokens = split(line, b"", comment)
    if isinstance(tokens, Marker):
        return tokens
    return [vertex_id(token) for token in tokens]
