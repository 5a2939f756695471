"""What a caller says of a file to be read: arguments that mean something for some formats, checked once it is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from graphdask.errors import InputError, shown
from graphdask.partition.given import given_sequence

from .asked import Asked
from .columns import Request, check_lines, checked_columns
from .formats import Format

_LISTS = ("edgelist", "csv", "temporal")
_NAMES = (*_LISTS, "parquet", "npz")
_TAKES = {
    "comment": (*_LISTS, "adjlist", "metis"), "delimiter": _LISTS, "ids": (*_NAMES, "gexf", "graphml"),
    "columns": (*_LISTS, "parquet"),
    "header": (*_LISTS, "adjlist", "ldbc"), "skip_rows": (*_LISTS, "adjlist", "ldbc"), "na_values": _NAMES,
}  # fmt: skip
"""Formats in which each of the arguments of a text means something."""


@dataclass(frozen=True)
class Given:
    """The arguments of `read_edges` that say how a file is read, as they were given."""

    weights: Any = None
    directed: Any = None
    ids: Any = None
    columns: Any = None
    comment: Any = None
    delimiter: Any = None
    header: Any = None
    skip_rows: Any = 0
    na_values: Any = None
    edge_columns: Asked = False
    """What `asked_columns` made of it."""
    vertex_columns: Asked = False

    def of_folder(self) -> Request:
        """Return what is wanted of a folder of parts.

        Raises
        ------
        InputError
            For a value that is none of its argument, or an argument of a text.
        """
        weights = self._checked(_is(self.weights, "auto"))
        self._refuse_of_text(None)
        return Request(
            weights,
            directed=self.directed,
            edge_columns=self.edge_columns,
            vertex_columns=self.vertex_columns,
        )

    def of_file(self, chosen: Format, times: bool = False) -> Request:
        """Return what is wanted of a file of a format; `times`: weights="time" may be asked for.

        Raises
        ------
        InputError
            For a value that is none of its argument, or an argument that means nothing for the format.
        """
        of_times, third = times and _is(self.weights, "time"), _is(self.weights, "auto")
        times = times and (of_times or chosen.name == "temporal")
        weights = self._checked(third or of_times)
        self._refuse_of_text(chosen)
        return Request(
            weights,
            times,
            checked_columns(self.columns, times),
            self.ids,
            self.directed,
            self.comment,
            self.delimiter,
            self.header,
            int(self.skip_rows),
            _missing(self.na_values),
            third=third,
            edge_columns=self.edge_columns,
            vertex_columns=self.vertex_columns,
        )

    def _checked(self, word: bool) -> bool | None:
        """Return `weights`, or None for a word, once it and the others are what they may be."""
        weights = None if word else self.weights
        if not (weights is None or isinstance(weights, bool)):
            raise InputError(f"weights={shown(weights)}: it must be None, True, False, 'auto' or 'time'")
        if not (self.directed is None or isinstance(self.directed, bool)):
            raise InputError(f"directed={shown(self.directed)}: it must be None, True or False")
        if not (self.ids is None or _is(self.ids, "int") or _is(self.ids, "str")):
            raise InputError(f"ids={shown(self.ids)}: it must be None, 'int' or 'str'")
        check_lines(self.header, self.skip_rows)
        return weights

    def _refuse_of_text(self, chosen: Format | None) -> None:
        """Raise InputError for an argument that means nothing for a format, or, without one, for a folder of parts."""
        for argument in _TAKES:
            value = getattr(self, argument)
            none = value == 0 if argument == "skip_rows" else value is None
            if none or (chosen is not None and chosen.name in _TAKES[argument]):
                continue
            if chosen is None:
                raise InputError(
                    f"{argument}={shown(value)} means nothing for a folder that says itself how to read it"
                )
            raise InputError(
                f"{argument}={shown(value)} means nothing for the format {chosen.name}{_own(argument, chosen)}"
            )


def _own(argument: str, chosen: Format) -> str:
    """Why an argument means nothing for a format that has a header of its own."""
    own = argument in ("header", "skip_rows") and chosen.name in ("matrixmarket", "metis", "dimacs")
    return ", which has a header of its own" if own else ""


def _is(value: Any, word: str) -> bool:
    """Whether an argument is this word; it may be anything, an array too."""
    return isinstance(value, str) and value == word


def _missing(na_values: Any) -> frozenset[str] | None:
    """The words of `na_values=`, once they are words."""
    if na_values is None:
        return None
    if isinstance(na_values, str | set | frozenset):
        na_values = [na_values] if isinstance(na_values, str) else list(na_values)
    words = given_sequence("na_values", na_values, "neither a word nor a sequence of words")
    if not all([isinstance(word, str) and not re.search("[\ud800-\udfff]", word) for word in words]):
        raise InputError(f"na_values={shown(na_values)} is neither a word nor a sequence of words")
    return frozenset(words)
