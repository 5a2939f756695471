"""What a text is that is no list of edges, from its first line: formats that graphdask does not read, or reads by
another name, and what servers send in place of a file.

Each of these would be read as edges between words of its syntax. Only what no list of edges begins with is named here;
`ids="str"` and `columns=` say that a file is one all the same.
"""

from __future__ import annotations

import re

_SEEN = [
    (r"<!doctype|<\?xml|<(html|head|body|gexf|graphml|svg)\b", "HTML or XML", ""),
    (r"""<[a-z][\w.:-]{0,60}(\s+[\w:.-]{1,60}\s*=\s*["']|><)""", "HTML or XML", ""),
    (r"""\{\s*(["'}]|\Z)|\[\s*([\[{"']|-?[0-9]+\s*,|\Z)""", "JSON", ""),
    (r"\[?\(\s*[^\s(),]+\s*,\s*[^\s(),]+\s*\)", "a list of Python", "write a pair a line, without brackets"),
    (r"""(strict\s+)?(di)?graph\b[\w\s"']*\{""", "DOT of Graphviz", "networkx.nx_pydot reads it"),
    (r"""graph\s*\[|creator\s+".*"\s*\Z""", "GML", "networkx.read_gml reads it"),
    (r"\*(vertices|network|arcs|edges|arcslist|edgeslist|matrix|partition)\b", "Pajek", "networkx.read_pajek reads it"),
    (r"nodedef\s*>", "GDF of GUESS", ""),
    (r"dl\s+n\s*=?\s*[0-9]", "DL of UCINET", ""),
    (r"p\s+[a-z]{1,10}\s+[0-9]+\s+[0-9]+\s*\Z", "DIMACS", "pass format='dimacs'"),
    (r"@(prefix|base)\b|prefix\s+\w*:\s*<", "RDF", ""),
    (r"""(<[^<>\s]*>|_:\S+)\s+<[^<>\s]*>\s+(<[^<>\s]*>|_:\S+|".*"\S*)\s+(<[^<>\s]*>\s+)?\.\s*\Z""", "RDF",
     "pass columns=(0, 2) for its subjects and objects"),
    (r"@relation\s", "ARFF of Weka", ""),
    (r"name\s*:\s", "TSPLIB", ""),
    (r"(insert\s+into|create\s+table|drop\s+table)\s+[\w`\"(*]", "SQL", ""),
    (r"\{\\rtf", "RTF", ""),
    (r"version https://git-lfs\.github\.com/", "a pointer of Git LFS, not the file", "fetch it with git lfs pull"),
    (r"(404|403|429|50[0-4]):? (not found|forbidden|too many requests|bad gateway|[a-z ]*(error|unavailable))\s*\Z",
     "the answer of a server, not the file", "download it again"),
]  # fmt: skip
"""How its first line begins, what it is, and what to do instead."""
_COMPILED = [
    (re.compile(rb"\s*(?:" + pattern.encode() + rb")", re.IGNORECASE), what, instead)
    for pattern, what, instead in _SEEN
]
_LOOKED_AT = 1000
"""Bytes of the line."""
_MATRIX = re.compile(rb"\s*[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]*\Z")
_BANNER = re.compile(r"%%?MatrixMarket\b", re.IGNORECASE)
_SIGNS = re.compile(r"[-=<>~|:;+*/\\&.\u2190-\u21ff]+\Z")


def foreign(line: bytes, comments: list[str]) -> tuple[str, str] | None:
    """What a text is, and what to do, from its first line that is no comment and the comments above it; None where
    nothing says that it is no list of edges."""
    if comments and _BANNER.match(comments[0]) and _MATRIX.match(line):
        return "Matrix Market", "pass format='matrixmarket'"
    for pattern, what, instead in _COMPILED:
        if pattern.match(line[:_LOOKED_AT]):
            return what, instead or "write it as 'source target' lines, for example with networkx.write_edgelist"
    return None


def sign_of_an_edge(rows: list[list[bytes]], column: int) -> str | None:
    """The arrow, line or other sign that a column consists of, as in `a -> b`; None where it has anything else."""
    first = rows[0][column].decode("utf-8", "replace") if rows else ""
    if not _SIGNS.match(first) or any(len(row) > column and row[column] != rows[0][column] for row in rows):
        return None
    return first


def relation_between(rows: list[list[bytes]], src: int, dst: int) -> int | None:
    """The column that has the targets where the one taken for them seems to name a relation, as in `ann likes bob`.

    Its words are few, none of them is an id of the sources, and another column has more words, some of which are.
    """
    width = len(rows[0]) if rows else 0
    rows = [row for row in rows if len(row) == width]
    if len(rows) < 2 or (src, dst) != (0, 1) or width < 3:
        return None
    sources, taken, other = ({row[column] for row in rows} for column in range(3))
    if sources & taken or len(other) <= len(taken):
        return None
    return 2 if other & sources else None
