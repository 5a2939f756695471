"""What the first lines of a text show: comments, the delimiter, whether there is a header, and the first edge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graphdask.errors import FormatError, InputError

from ._foreign import foreign
from ._header import MISSING_WORDS, NUMBER_LIKE, Verdict, decide, find_ends
from ._lines import COMMENT, LineError, Marker, show, split
from .columns import Request
from .opening import Source

HEAD_BYTES = 1 << 18
ROWS = 1000
"""Lines below the first one that are examined, at most."""
TEXT_IDS = "# Ids: text"
_OWN_NAMES = ("FromNodeId", "ToNodeId")
_OWN = re.compile(rb'"src","dst"(,"weight")?(,"time")?(,"directed")?(,"([^"]|"")*")*\Z')


@dataclass
class Layout:
    """What the first lines of a file show."""

    delimiter: bytes = b""
    """One byte, or empty for white space."""
    comment: bytes = b""
    """Bytes that start a comment below `skip`."""
    names: list[str] | None = None
    """Column names, from a header or from the last comment before the data."""
    verdict: Verdict | None = None
    """Whether the first line that is no comment is a header; None where there is no such line."""
    rows: list[list[bytes]] = field(default_factory=list)
    """Tokens of the first lines of data; empty if there is none."""
    first_line: int = 1
    """The line number of the first data line."""
    skip: int = 0
    """Bytes up to the end of the header line, or of the rows that are skipped."""
    skipped: tuple[int, int, int] = (0, 0, 0)
    """Lines, comments and blank lines within `skip`."""
    comments: list[str] = field(default_factory=list)
    """Comments before the data."""

    @property
    def header(self) -> bool:
        return self.verdict is not None and self.verdict.header

    @property
    def first(self) -> list[bytes]:
        """Tokens of the first line of data."""
        return self.rows[0] if self.rows else []


@dataclass
class _Line:
    number: int
    end: int
    """Bytes up to its end."""
    tokens: list[bytes]
    quoted: tuple[bool, bool]
    """Whether all of its tokens are quoted, and whether any is."""
    own: bool
    """It is the header of CSV that graphdask writes."""
    marked: bool
    """It starts as comments do."""


def look(source: Source, request: Request, csv: bool) -> Layout:
    """Read as much of the beginning as it takes to see two data lines."""
    size = HEAD_BYTES
    while True:
        head, whole = source.head(size)
        layout = _layout(head, whole, request, csv, source)
        if layout is not None:
            return layout
        size *= 8


def single_bytes(characters: str) -> bytes:
    """The characters that start a comment, as bytes."""
    data = characters.encode("utf-8", "surrogatepass")
    if any(byte in b"0123456789 \t\r\n+-." or byte > 127 for byte in data):
        raise InputError(
            f"comment={characters!r}: give the characters that start a comment, e.g. '#%', "
            "no digits, signs or white space"
        )
    return data


def _delimiter(given: str | None, line: bytes, csv: bool, tabs: bool) -> bytes:
    if given is not None:
        if given in ("", " ", "whitespace"):
            return b""
        if len(given) != 1 or given in '\r\n"0123456789' or ord(given) > 127:
            raise InputError(f"delimiter={given!r}: give one character, or 'whitespace' for runs of spaces and tabs")
        return given.encode()
    for candidate in ((b"\t",) * tabs + (b",", b";", b"\t", b"|")) if csv else (b",", b";"):
        if candidate in line:
            return candidate
    return b""


def _layout(head: bytes, whole: bool, request: Request, csv: bool, source: Source) -> Layout | None:
    layout = Layout()
    lines = head.splitlines(keepends=True)
    skipped = request.skip_rows
    if whole and len(lines) < skipped:
        raise FormatError(f"skip_rows={skipped}, but the file has {len(lines)} lines", source.path)
    end = sum(map(len, lines[:skipped]))
    start = end
    comment = b"#%" if request.comment is None else single_bytes(request.comment)
    tabs = source.path.name.lower().endswith((".tsv", ".tsv.gz", ".tsv.xz", ".tsv.bz2"))
    data: list[_Line] = []
    blanks = comments = 0
    before = (skipped, 0, 0)
    unmarked = 0
    for number, line in enumerate(lines[skipped : None if whole else -2], skipped + 1):
        end += len(line)
        content = line.rstrip(b"\r\n")
        if not data:
            layout.delimiter = _delimiter(request.delimiter, content, csv, tabs)
        marked = False
        try:
            tokens = split(content, layout.delimiter, comment)
            if tokens is COMMENT and data:
                marked = True
                tokens = split(content, layout.delimiter, b"")
        except LineError as error:
            if marked:
                continue
            if len(data) > 1:
                break  # the parser says it
            raise FormatError(str(error), source.path, number) from None
        if isinstance(tokens, Marker):
            if tokens is COMMENT:
                comments += 1
                layout.comments.append(content.decode("utf-8", "replace"))
            elif not data:
                blanks += 1
            continue
        if not data:
            what = None if request.columns is not None else foreign(content, layout.comments)
            if what is not None and request.ids is None and TEXT_IDS not in layout.comments:
                raise FormatError(
                    f"this looks like {what[0]}, not a list of edges; {what[1]}, or pass ids='str' if these are names",
                    source.path,
                    number,
                )
            before = (number, comments, blanks)
        unmarked += not marked
        if len(data) <= ROWS or not marked:
            data.append(
                _Line(number, end, tokens, _quotes(content, layout.delimiter), bool(_OWN.match(content)), marked)
            )
        if unmarked > ROWS or (csv and len(data) > ROWS):
            break
    if not whole and unmarked < 2 and not (csv and len(data) > ROWS):
        return None
    layout.comment, layout.skip, layout.skipped = comment, start, (skipped, 0, 0)
    if not data:
        layout.names = _names_of_comment(layout, None)
        return layout
    top = data.pop(0)
    below = [other for other in data if not other.marked] or data
    layout.verdict = _verdict(layout, top, below, request, csv)
    if layout.verdict.header:
        layout.names = [token.decode("utf-8", "replace") for token in top.tokens]
        layout.skip, layout.skipped = top.end, before
        if csv and request.comment is None:
            layout.comment, below = b"", data  # a row may begin with any character
        else:
            below = [other for other in data if not other.marked]
    else:
        below = [top, *(other for other in data if not other.marked)]
        layout.names = _names_of_comment(layout, len(top.tokens))
    layout.rows = [other.tokens for other in below]
    if below:
        layout.first_line = below[0].number
    return layout


def _verdict(layout: Layout, line: _Line, below: Sequence[_Line], request: Request, csv: bool) -> Verdict:
    quoted = line.quoted[0], any(other.quoted[1] for other in below)
    usual = csv or request.delimiter not in (None, "", " ", "whitespace")
    shown_by = decide(line.tokens, [other.tokens for other in below], usual, request.missing, quoted)
    named = TEXT_IDS in layout.comments or _names_of_comment(layout, len(line.tokens)) is not None
    if request.header and named and not shown_by.header:
        return Verdict(False, "the comment above it is the header")
    if request.header is not None:
        return Verdict(request.header, "as header= says")
    if named:
        return Verdict(False, "a comment names the columns")
    if line.own:
        return Verdict(True, "it is the one that graphdask writes")
    names = [token.decode("utf-8", "replace") for token in line.tokens]
    wanted = [column for column in request.columns or () if isinstance(column, str)]
    if set(wanted) & set(names):
        return Verdict(True, "it has names that columns= asks for")
    return shown_by


def _names_of_comment(layout: Layout, columns: int | None) -> list[str] | None:
    """The names of columns in the last comment before the data, if it names the ends of an edge; None: where there are
    no data, names as graphdask writes them."""
    if not layout.comments:
        return None
    text = layout.comments[-1].lstrip("#% \t").rstrip()
    for names in (text.split(layout.delimiter.decode()) if layout.delimiter else [], re.split(r"[\s,;]+", text)):
        if columns is None and names[:2] != list(_OWN_NAMES):
            continue
        if columns in (None, len(names)) and find_ends(names) is not None:
            return [name.strip() for name in names]
    return None


def _quotes(content: bytes, delimiter: bytes) -> tuple[bool, bool]:
    quoted = [token.strip()[:1] == b'"' for token in (content.split(delimiter) if delimiter else content.split())]
    return all(quoted), any(quoted)


def shown(line: Sequence[bytes], delimiter: bytes) -> str:
    """A line as a message quotes it."""
    return show((delimiter or b" ").join(line))


@dataclass(frozen=True)
class Above:
    """What stands above the lines of a format whose lines are all numbers."""

    skip: int = 0
    """Bytes up to the end of the header, or of the rows that are skipped."""
    lines: int = 0
    """Lines in them."""
    comments: int = 0
    """Comments among these that are not skipped by request."""
    columns: int = 0
    """Tokens of the first line of numbers; 0 if there is none."""
    names: tuple[str, ...] | None = None
    """Tokens of the header; None where there is none."""

    def report(self, request: Request) -> dict[str, Any]:
        """For the report."""
        skipped: dict[str, Any] = {"skipped_rows": request.skip_rows} if request.skip_rows else {}
        return skipped | {"header": False if self.names is None else list(self.names)}


def _begins_with_a_number(found: list[Any], lines: list[bytes], comment: bytes) -> bool:
    """Whether the first line that is no comment is no header, although no whole line follows it: a line of neighbours
    may have any length."""
    if found:
        return any(map(NUMBER_LIKE.match, found[0][3]))
    for line in lines[-2:]:
        tokens = split(line.rstrip(b"\r\n"), b"", comment)
        if not isinstance(tokens, Marker):
            return len(tokens) > 1 and NUMBER_LIKE.match(tokens[0]) is not None
    return False


def numbers_above(source: Source, request: Request, comment: bytes) -> Above:
    """What is above the data of a text of numbers in columns of white space.

    The first line that is no comment is a header if `header=True` says so, or if none of its tokens is like a number
    and all of the next line are.
    """
    size = HEAD_BYTES
    while True:
        head, whole = source.head(size)
        lines = head.splitlines(keepends=True)
        if whole and len(lines) < request.skip_rows:
            raise FormatError(f"skip_rows={request.skip_rows}, but the file has {len(lines)} lines", source.path)
        found: list[tuple[int, int, int, list[bytes]]] = []
        start = end = sum(map(len, lines[: request.skip_rows]))
        comments = 0
        for number, line in enumerate(lines[request.skip_rows : None if whole else -2], request.skip_rows + 1):
            end += len(line)
            tokens = split(line.rstrip(b"\r\n"), b"", comment)
            if isinstance(tokens, Marker):
                comments += tokens is COMMENT
                continue
            found.append((number, end, comments, tokens))
            if len(found) == 2:
                break
        if whole or len(found) == 2 or (request.header is None and _begins_with_a_number(found, lines, comment)):
            break
        size *= 8
    first = found[0][3] if found else []
    header = request.header
    if header is None:
        below = found[1][3] if len(found) > 1 else []
        header = bool(below) and all(map(NUMBER_LIKE.match, below)) and not any(map(NUMBER_LIKE.match, first))
        header = header and not set(first) & MISSING_WORDS
    if not header or not found:
        return Above(start, request.skip_rows, 0, len(first))
    names = tuple(token.decode("utf-8", "replace") for token in first)
    return Above(found[0][1], found[0][0], found[0][2], len(found[1][3]) if len(found) > 1 else 0, names)
