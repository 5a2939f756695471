"""Edge lists: one edge a line, `source target [weight] [time]`, as SNAP, KONECT and many others give them;
and CSV.

Ids are all int64, or all strings: strings if the first data line shows a name, or with ids="str". A third
column without a name is not read unless asked for. CSV differs in that it splits at commas, semicolons or
tabs, and that headers are usual in it; `_header.py` says how one is recognised.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.errors import FormatError, GraphdaskWarning, outside

from ._foreign import relation_between, sign_of_an_edge
from ._header import NUMBER_LIKE
from ._layout import TEXT_IDS, Layout, look, shown
from ._lines import DIRECTION, ID, SKIP, TEXT, VALUE, Columns, declared_number
from ._spill import SpilledColumn, release, slices
from ._table import Reading, line_of_row, read_table
from .columns import Chosen, Request, choose, count_infinite, is_number, look_like_times, without_asked_time
from .edges import EdgeList, consecutive_vertices
from .opening import Source
from .text_columns import columns_of_text, refuse_beyond_memory

_DECLARED = re.compile(r"Nodes:\s*([0-9][0-9,]*)\s+Edges:\s*([0-9][0-9,]*)", re.IGNORECASE)
_DIRECTION = re.compile(r"[#%\s]*(un)?directed graph", re.IGNORECASE)
_VERTICES = re.compile(r"# Vertices: ([0-9]+), counted from ([0-9]+)\s*$")
_WEIGHTS = re.compile(r"# Weights: (float64|float32|int64|int32)\s*$")
_KONECT = re.compile(r"%\s*(sym|asym|bip)\s")


def read_edgelist(path: str | os.PathLike[str], request: Request, reading: Reading, name: str = "edgelist") -> EdgeList:
    """Read an edge list; see the head of this file and `graphdask.io.read_edges`."""
    source = Source(path)
    layout = look(source, request, name == "csv")
    if request.ids is None and TEXT_IDS in layout.comments:
        request = replace(request, ids="str")
    report: dict[str, Any] = {"format": name, "bytes": source.size}
    if source.compression:
        report["compression"] = source.compression
    columns, chosen = _columns(layout, request, source)
    _warn_of_doubt(layout, source)
    if request.edge_columns:
        refuse_beyond_memory(source, layout, request, chosen)
    part = read_table(source, columns, reading, layout.skip, layout.skipped[0] + 1)
    report |= part.report() | ({"read_bytes": source.given} if source.given else {})
    report["comments"] += layout.skipped[1]
    report["blank_lines"] += layout.skipped[2]
    report |= _header_report(layout, request)
    if name == "csv" and not layout.header:
        above = len(layout.comments) if layout.verdict is not None else 0
        _warn_of_comments(part.comments - above, request, source)
    wanted = [i for i, kind in enumerate(columns.kinds) if kind != SKIP]
    arrays = dict(zip(wanted, part.columns, strict=True))
    weights = None if chosen.weight is None else _as_declared(arrays[chosen.weight], layout, source, reading)
    times = None if chosen.time is None else arrays[chosen.time]
    unread = len(columns.kinds) - len(wanted)
    if _takes_third(layout, request, chosen):
        report["third_column"] = "not numbers" if weights is None else "weights"
        if weights is not None and look_like_times(weights):
            report["third_column"], weights, unread = "times", None, unread + 1
    more = None
    if request.edge_columns:
        bare = part.comments + part.blank_lines == 0
        more = columns_of_text(source, layout, request, chosen, len(arrays[chosen.src]), bare)
        found = [] if more is None else more.column_names
        unread -= sum(kind == SKIP for name, kind in zip(layout.names or (), columns.kinds, strict=True)
                      if name in found)  # fmt: skip
    if unread:
        report["unread_columns"] = unread
    report |= count_infinite(weights)
    edges = EdgeList(arrays[chosen.src], arrays[chosen.dst], weights, times, report=report, edge_columns=more)
    if chosen.direction is not None:
        edges.directed = _one_direction(arrays[chosen.direction], source, columns, layout)
        release(arrays[chosen.direction], reading.spill)
    _heed_comments(edges, layout, request, source)
    return edges


def _columns(layout: Layout, request: Request, source: Source) -> tuple[Columns, Chosen]:
    """The columns as the parser needs them, and which is which."""
    names = layout.names
    count = len(layout.first) or len(names or ()) or 2 + bool(request.weights) + bool(request.times)
    if names and layout.first and len(names) != len(layout.first):
        raise FormatError(
            f"the header names {len(names)} columns, the first data line has {len(layout.first)}",
            source.path,
            layout.first_line,
        )
    chosen = choose(names, count, request, source.path, layout.first_line if layout.first else None)
    if _takes_third(layout, request, chosen) and is_number(layout.first[2]):
        chosen = replace(chosen, weight=2)
    if chosen.time is not None and not request.times and not _numeric(layout, chosen.time):
        chosen = replace(chosen, time=None)  # dates, which are no numbers
    chosen = without_asked_time(chosen, names or (), request) if names else chosen
    kind = None if request.directed is not None else _direction_kind(layout, chosen.direction)
    if kind is None:
        chosen = replace(chosen, direction=None)
    bare = request.columns is None and request.ids is None and layout.names is None and count > 2
    if bare:
        _refuse_signs(layout, chosen, source)
    text = request.ids == "str" or (request.ids is None and _names_as_ids(layout, chosen, request, source))
    if bare and text:
        _warn_of_relations(layout, chosen, source)
    if not text and request.ids is None:
        _warn_of_zeros(layout, chosen, source)
    kinds = [SKIP] * count
    labels = [""] * count
    for column, kind_of_column, label in (
        (chosen.src, TEXT if text else ID, "source"),
        (chosen.dst, TEXT if text else ID, "target"),
        (chosen.weight, VALUE, "weight"),
        (chosen.time, VALUE, "time"),
        (chosen.direction, kind, "direction"),
    ):
        if column is not None and kind_of_column is not None:
            kinds[column], labels[column] = kind_of_column, label
    return Columns(
        tuple(kinds), layout.delimiter, layout.comment, names=tuple(labels), missing=request.missing,
        may_be_text=True,
    ), chosen  # fmt: skip


def _refuse_signs(layout: Layout, chosen: Chosen, source: Source) -> None:
    """Raise FormatError where the target is an arrow in each line."""
    sign = sign_of_an_edge(layout.rows, chosen.dst)
    if sign is not None:
        raise FormatError(
            f"column {chosen.dst + 1} is {sign!r} in each line, which is no vertex; pass columns=(0, 2), or ids='str' "
            "if it is one",
            source.path,
            layout.first_line,
        )


def _warn_of_relations(layout: Layout, chosen: Chosen, source: Source) -> None:
    """Warn where the target seems to be a relation in each line."""
    instead = relation_between(layout.rows, chosen.src, chosen.dst)
    if instead is not None:
        row = b" ".join(layout.first[:4])[:80].decode("utf-8", "replace")
        warnings.warn(
            GraphdaskWarning(
                f"{source.path}:{layout.first_line}: {row!r} is read as an edge from its first column to its second, "
                f"which is not certain: ids of the first stand again in column {instead + 1} only; pass "
                f"columns=(0, {instead}) or columns=(0, 1)"
            ),
            stacklevel=outside(),
        )


def _warn_of_zeros(layout: Layout, chosen: Chosen, source: Source) -> None:
    """Warn where ids that are read as numbers lose zeros before them."""
    for number, row in enumerate(layout.rows):
        for column in (chosen.src, chosen.dst):
            if column < len(row) and row[column][:1] == b"0" and row[column].strip(b"0") and row[column].isdigit():
                token = row[column].decode()
                warnings.warn(
                    GraphdaskWarning(
                        f"{source.path}: ids are numbers, so that {token[:40]!r} (row {number + 1} of the data) "
                        f"is {token.lstrip('0')[:40]}; pass ids='str' to keep zeros before them, ids='int' to leave "
                        "them out"
                    ),
                    stacklevel=outside(),
                )
                return


def _names_as_ids(layout: Layout, chosen: Chosen, request: Request, source: Source) -> bool:
    """Whether ids are names: the first line of data that has both ids says it."""
    width = len(layout.first)
    rows = [[row[chosen.src], row[chosen.dst]] for row in layout.rows if len(row) == width]
    whole = next((row for row in rows if not any(not each or each in request.missing for each in row)), [])
    words = [each for each in whole if not NUMBER_LIKE.match(each)]
    if not words:
        return False
    others = {each for row in rows for each in row} - set(words) - request.missing
    if others and all(NUMBER_LIKE.match(each) for each in others):
        row = rows.index(whole)
        shown_words = " and ".join(repr(word.decode("utf-8", "replace")) for word in dict.fromkeys(words))
        warnings.warn(
            GraphdaskWarning(
                f"{source.path}:{layout.first_line + row}: ids are read as strings because of {shown_words}, but the "
                "others are integers; if that stands for a missing id, name it with na_values=; if the line is a "
                "header, pass header=True; if ids are names, ids='str'"
            ),
            stacklevel=outside(),
        )
    return True


def _numeric(layout: Layout, column: int) -> bool:
    return all(NUMBER_LIKE.match(row[column]) for row in layout.rows if column < len(row))


def _direction_kind(layout: Layout, column: int | None) -> int | None:
    """How a column that is named as a direction is read; None where its values are none."""
    if column is None or layout.names is None:
        return None
    values = {row[column].lower() for row in layout.rows if column < len(row)}
    if values & {b"undirected", b"mutual"}:
        return DIRECTION  # what else stands there is an error with its line
    if "directed" in layout.names[column].lower() and values <= {b"0", b"1"}:
        return VALUE
    words = {b"directed", b"undirected"}
    if "directed" in layout.names[column].lower():
        words |= {b"true", b"false"}
    return DIRECTION if values and values <= words else None


def _one_direction(values: np.ndarray, source: Source, columns: Columns, layout: Layout) -> bool:
    """What a column says of all edges."""
    if not len(values):
        return False  # graphdask writes the column where edges have no direction
    first = bool(values[0])
    for begin, some in slices(values):
        other = np.flatnonzero(some != first)
        if len(other):
            line = line_of_row(source, columns, begin + int(other[0]), layout.skip, layout.skipped[0] + 1)
            raise FormatError(
                f"the edges before are {'un' * (not first)}directed, this one is not; a graph has edges of one kind: "
                "pass directed=True or directed=False to take all for that",
                source.path,
                line,
            )
    return first


def _header_report(layout: Layout, request: Request) -> dict[str, Any]:
    """What was decided of the first line, and why."""
    report: dict[str, Any] = {"skipped_rows": request.skip_rows} if request.skip_rows else {}
    if layout.verdict is not None:
        report["header"] = layout.names if layout.header else False
        report["header_because"] = layout.verdict.why
    return report


def _warn_of_doubt(layout: Layout, source: Source) -> None:
    """Warn where evidence for or against a header is not conclusive."""
    verdict = layout.verdict
    if verdict is None or verdict.certain:
        return
    line = (
        layout.names if verdict.header and layout.names else [each.decode("utf-8", "replace") for each in layout.first]
    )
    text = shown([each.encode() for each in line], layout.delimiter)
    number = layout.skipped[0] if verdict.header else layout.first_line
    kind, other = ("a header", "an edge") if verdict.header else ("an edge", "a header")
    warnings.warn(
        GraphdaskWarning(
            f"{source.path}:{number}: {text} is read as {kind} ({verdict.why}), which is not certain; pass "
            f"header={verdict.header} to keep it so, header={not verdict.header} if it is {other}"
        ),
        stacklevel=outside(),
    )


def _warn_of_comments(dropped: int, request: Request, source: Source) -> None:
    if dropped > 0 and request.comment is None:
        warnings.warn(
            GraphdaskWarning(
                f"{source.path}: {dropped:,} of the lines, which begin with '#' or '%', are left out as comments; if "
                "they are edges, put a header above them, or pass comment=''"
            ),
            stacklevel=outside(),
        )


def _as_declared(weights: np.ndarray, layout: Layout, source: Source, reading: Reading) -> np.ndarray:
    """The weights as the type that a comment of graphdask's names."""
    found = next((match for text in layout.comments if (match := _WEIGHTS.match(text))), None)
    dtype = weights.dtype if found is None else np.dtype(found.group(1))
    if dtype == weights.dtype:
        return weights
    for _, part in slices(weights):
        with np.errstate(over="ignore", invalid="ignore"):
            kept = part.astype(dtype)
        exact = kept == part if dtype.kind == "i" else np.isfinite(kept) | ~np.isfinite(part)
        if (dtype.kind == "i" and part.dtype.kind == "f") or not exact.all():
            raise FormatError(f"a comment says that weights are {dtype}, but not all of them are", source.path)
    if reading.spill is None or not len(weights):
        return weights.astype(dtype)
    column = SpilledColumn(reading.spill)
    column.append(weights, dtype)
    release(weights, reading.spill)
    return column.array()


def _takes_third(layout: Layout, request: Request, chosen: Chosen) -> bool:
    """Whether the third column may be the weights: it was asked for if so, and nothing gives it a name."""
    free = request.columns is None and layout.names is None and chosen.time is None
    return request.third and free and chosen.weight in (None, 2) and len(layout.first) > 2


def _heed_comments(edges: EdgeList, layout: Layout, request: Request, source: Source) -> None:
    """What comments state: SNAP's `# Nodes: N Edges: M`, KONECT's `% asym`, ours, `# Vertices: N, counted from F`."""
    for text in layout.comments:
        if found := _DECLARED.search(text):
            vertices, count = (declared_number(digits.replace(",", "").encode()) for digits in found.groups())
            edges.report |= {"declared_vertices": vertices, "declared_edges": count}
            if count != edges.num_edges and not (source.given and edges.num_edges < count):
                warnings.warn(
                    GraphdaskWarning(
                        f"{source.path}: a comment declares {count:,} edges, the file has {edges.num_edges:,}"
                    ),
                    stacklevel=outside(),
                )
        if found := _VERTICES.match(text):
            count, first = (declared_number(digits.encode()) for digits in found.groups())
            edges.vertices = consecutive_vertices(first, count, source.path)
        if edges.directed is None and (found := _DIRECTION.match(text)):
            edges.directed = found.group(1) is None
        if found := _KONECT.match(text):
            edges.directed = found.group(1) == "asym"
            if found.group(1) == "bip":
                warnings.warn(
                    GraphdaskWarning(
                        f"{source.path}: the file declares a bipartite graph, whose two sides both "
                        f"count from 1; "
                        "equal ids of both sides are read as one vertex"
                    ),
                    stacklevel=outside(),
                )
    if request.directed is not None:
        edges.directed = request.directed
