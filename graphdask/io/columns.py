"""Which column of a table is the source, the target, the weight and the time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.errors import FormatError, GraphdaskWarning, InputError, outside, shown
from graphdask.partition.ids import is_whole

from ._header import (
    MISSING_WORDS,
    OTHERS,
    clean,
    find_ends,
    is_number_of_rows,
    names_an_attribute,
    names_an_end,
    names_the_other,
    words,
)
from ._spill import slices
from .asked import Asked

WEIGHT_NAMES = frozenset(["weight", "weights", "w", "wgt", "edge_weight", "edgeweight"])
TIME_NAMES = frozenset(["time", "times", "timestamp", "timestamps", "unixtime", "unixts", "t"])
DIRECTION_NAMES = frozenset(["type", "directed", "isdirected", "is_directed", "direction"])

FIRST_TIME, LAST_TIME = 315_532_800, 4_102_444_800
"""The years 1980 and 2100, as Unix times."""


@dataclass(frozen=True)
class Request:
    """What the caller wants of a file."""

    weights: bool | None = None
    """None: what the format says by nature; False: ignored; True: required."""
    times: bool = False
    """Times are required."""
    columns: tuple[str | int, ...] | None = None
    """Source, target and perhaps weight, by name or position; with times the last of three or four is the time."""
    ids: str | None = None
    """"int", "str", or None: what the first line shows."""
    directed: bool | None = None
    comment: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    """Whether the first line of a text that is no comment is a header; None: what it shows."""
    skip_rows: int = 0
    """Lines of a text that are passed over before anything is read."""
    na_values: frozenset[str] | None = None
    """Words that stand for a missing id; None: `MISSING_WORDS`, but none where ids are strings by request."""

    third: bool = False
    """A third column without a name is the weights, if it has numbers that could be weights."""
    edge_columns: Asked = False
    """More columns of edges: their names; True: all."""
    vertex_columns: Asked = False

    @property
    def missing(self) -> frozenset[bytes]:
        """Words that stand for a missing id, as bytes."""
        if self.na_values is not None:
            return frozenset(word.encode() for word in self.na_values)
        return frozenset() if self.ids == "str" else MISSING_WORDS


@dataclass(frozen=True)
class Chosen:
    """Positions of the wanted columns."""

    src: int
    dst: int
    weight: int | None = None
    time: int | None = None
    direction: int | None = None
    """Whether each edge has a direction, where a column is named so."""


def named(names: Sequence[str], wanted: frozenset[str]) -> int | None:
    """The first position whose name is one of those wanted, whatever its case."""
    return next((i for i, name in enumerate(names) if clean(name).lower() in wanted), None)


def choose(names: Sequence[str] | None, count: int, request: Request, path: Any, line: int | None = None) -> Chosen:
    """The columns to read of a table of `count` columns, with `names` if it has a header.

    Raises
    ------
    FormatError
        If a column that was asked for is not there, or if none was and the names leave open which are the ends.
    """
    if request.columns is not None:
        picked = [_position(column, names, count, path, line) for column in request.columns]
        if len(set(picked)) < len(picked):
            raise InputError(f"columns={list(request.columns)!r} names a column twice; give different ones")
        weight = picked[2] if len(picked) == 3 + request.times else None
        if weight is None and names:
            weight = named(names, WEIGHT_NAMES)
            weight = None if weight in picked else weight
    else:
        picked = [0, 1]
        if count < 2:
            raise FormatError(
                "the line has 1 column; an edge has a source and a target" if count else "there are no columns",
                path,
                line,
            )
        if names:
            ends = find_ends(names)
            if ends is not None and ends.rivals:
                raise _unclear(names, [(ends.src, ends.dst), *ends.rivals], path, line)
            picked = _other_than_ends(names, path, line) if ends is None else [ends.src, ends.dst]
        weight = named(names, WEIGHT_NAMES) if names else None
    time = named(names, TIME_NAMES) if names and request.weights is not False else None
    if request.times and request.columns is not None and len(picked) > 2:
        time = picked[-1]
    elif request.columns is not None and time in picked:
        time = None
    taken = {picked[0], picked[1]}
    rest = [i for i in range(count) if i not in taken]
    if request.times and time is None:
        # u v time, or u v weight time
        free = [i for i in rest if i != weight]
        if not free or (request.weights and weight is None and len(free) < 2):
            raise FormatError(
                f"the file has {count} columns, too few for a source, a target"
                f"{', a weight' if request.weights else ''} and a time",
                path,
                line,
            )
        time = free[0] if len(free) == 1 else free[1 if weight is None else 0]
    if request.weights and weight is None:
        free = [i for i in rest if i != time]
        if not free:
            raise FormatError(f"weights=True, but the file has only {count} columns and so no weights", path, line)
        weight = free[0]
    direction = named(names, DIRECTION_NAMES) if names else None
    if direction in (picked[0], picked[1], weight, time):
        direction = None
    return Chosen(picked[0], picked[1], None if request.weights is False else weight, time, direction)


def without_asked_time(chosen: Chosen, names: Sequence[str], request: Request) -> Chosen:
    """The same, without a time that is asked for as a column of edges, and not as times."""
    if chosen.time is None or request.times or not request.edge_columns:
        return chosen
    asked = isinstance(request.edge_columns, bool) or names[chosen.time] in request.edge_columns
    return replace(chosen, time=None) if asked else chosen


def _unclear(names: Sequence[str], pairs: Sequence[tuple[int, int]], path: Any, line: int | None) -> FormatError:
    """Names that leave open which columns are the ends of an edge."""
    header = ",".join(name[:40] for name in names[:20]) + ("" if len(names) <= 20 else ",...")
    candidates = [(names[i][:40], names[j][:40]) for i, j in pairs[:3]]
    found = " or ".join(f"{i!r} and {j!r}" for i, j in candidates)
    which = f"{found} may be the source and the target" if pairs else "no two of them are named source and target"
    example = candidates[0] if candidates else ("SOURCE", "TARGET")
    return FormatError(
        f"the columns {header} do not say which are the ends of an edge: {which}; pass columns={example!r}", path, line
    )


def _other_than_ends(names: Sequence[str], path: Any, line: int | None) -> list[int]:
    """The first two columns that may be ends of edges by their names, where none is named as one: not weights, times,
    types or the numbers of rows."""
    split = [words(name) for name in names]
    ends = [i for i, each in enumerate(split) if not (each and all(word in OTHERS for word in each))]
    number = bool(ends) and ends[0] == 0 and len(names) > 2 and is_number_of_rows(names[0])
    kept = ends[1:] if number and names[0].lower() != "id" else ends
    picked = kept[:2] if len(kept) > 1 else [0, 1]
    evidently_not = any(names_an_attribute(names[i]) for i in picked) or names_the_other(names, *picked)
    if len(names) > 2 and evidently_not:
        raise _unclear(names, [], path, line)
    left_out = any(names_an_end(name) for i, name in enumerate(names) if i not in picked)
    if picked != [0, 1] or (number and len(ends) > 2) or left_out:
        taken = " and ".join(repr(names[i][:40]) for i in picked)
        warnings.warn(
            GraphdaskWarning(
                f"{os.fspath(path)}: no column is named as the source or the target; {taken} are read as these, which "
                "is not certain; name them with columns="
            ),
            stacklevel=outside(),
        )
    return picked


def _position(column: str | int, names: Sequence[str] | None, count: int, path: Any, line: int | None) -> int:
    if isinstance(column, str):
        if names and column in names:
            return list(names).index(column)
        there = ", ".join(names) if names else "no names"
        raise FormatError(f"there is no column {column!r}; the file has {there}", path, line)
    if not 0 <= column < count:
        raise FormatError(f"there is no column {column}; the file has columns 0 to {count - 1}", path, line)
    return column


def checked_columns(columns: Any, times: bool = False) -> tuple[str | int, ...] | None:
    """The columns that a caller names, once they are names or positions; with times the last of three or more is that
    of times.

    Raises
    ------
    InputError
        If they are not two or three of these, four with times, in an order.
    """
    if columns is None:
        return None
    listed = isinstance(columns, Sequence) and not isinstance(columns, str | bytes)
    listed = listed or (isinstance(columns, np.ndarray) and columns.ndim == 1)
    given = list(columns) if listed and len(columns) <= 3 + times else []
    if not 2 <= len(given) <= 3 + times or not all(isinstance(each, str) or is_whole(each) for each in given):
        more = "the time, or the weight and the time" if times else "the weight"
        raise InputError(
            f"columns={shown(columns)}: give source and target, or these and {more}, each by its name or its position "
            "from 0"
        )
    return tuple(str(each) if isinstance(each, str) else int(each) for each in given)


def check_lines(header: Any, skip_rows: Any) -> None:
    """Raise InputError where the arguments that speak of the first lines are not what they may be."""
    if not (header is None or isinstance(header, bool)):
        raise InputError(f"header={shown(header)}: it must be None, True or False")
    if not is_whole(skip_rows) or not 0 <= skip_rows < 2**63:
        raise InputError(f"skip_rows={shown(skip_rows)}: it must be a number of lines, 0 or more")


def count_infinite(weights: np.ndarray | None) -> dict[str, int]:
    """`{"infinite_weights": k}` if there are any: allowed, but reported."""
    if weights is None or weights.dtype.kind != "f":
        return {}
    infinite = sum(int(np.isinf(part).sum()) for _, part in slices(weights))
    return {"infinite_weights": infinite} if infinite else {}


def is_number(token: bytes) -> bool:
    """Whether a field of text is a number, and so could be a weight."""
    try:
        float(token)
    except ValueError:
        return False
    return b"_" not in token


def look_like_times(weights: np.ndarray) -> bool:
    """Whether all weights are whole numbers that are Unix times of the years 1980 to 2100, in s, ms, us or ns."""
    if not len(weights):
        return False
    lowest, highest = float(weights.min()), float(weights.max())
    if not any(FIRST_TIME * unit <= lowest and highest <= LAST_TIME * unit for unit in (1, 10**3, 10**6, 10**9)):
        return False
    return weights.dtype.kind == "i" or all(bool((part == np.floor(part)).all()) for _, part in slices(weights))
