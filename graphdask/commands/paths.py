"""Paths on the command line: `-` is a stream where a command takes one, and refused by name elsewhere.

`/dev/stdout`, `/dev/fd/1` and the like are `-` where that is standard output.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from graphdask.errors import shown

STREAM = Path("-")
"""What `-` becomes where it is a stream; `./-`, which names a file, becomes an absolute path."""

INPUT, OUTPUT = "standard input", "standard output"


class PathName(click.Path):
    """A path, of which `-` is refused, or kept as `STREAM`.

    Parameters
    ----------
    stream : str
        `INPUT` or `OUTPUT` where `-` stands for that; empty where it is refused.
    text : bool
        Give a str, with the ending that it has, in place of a Path.
    """

    def __init__(self, stream: str = "", text: bool = False):
        super().__init__(path_type=None if text else Path)
        self.stream = stream

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value == "-":
            if self.stream:
                return STREAM
            self.fail("'-' is no stream here: a file or a folder is needed; ./- names one that is called -", param, ctx)
        if self.stream == OUTPUT and isinstance(value, str) and _is_standard_output(value):
            return STREAM
        if isinstance(value, str) and value and os.path.normpath(value) == "-":
            value = os.path.join(os.path.abspath("-"), "") if value.endswith(os.sep) else os.path.abspath("-")
        if isinstance(value, str):
            try:
                os.fsencode(value)
            except UnicodeEncodeError:
                self.fail(f"{shown(value)} has a character that no name of a file has", param, ctx)
            if "\0" in value:
                self.fail(f"{shown(value)} has a NUL, which no name of a file has", param, ctx)
        return super().convert(value, param, ctx)


def _is_standard_output(value: str) -> bool:
    """Whether a path leads to standard output, and has no ending that says a format."""
    if "\0" in value or os.path.splitext(value)[1] or not os.path.islink(value):  # names of open files are links
        return False
    from graphdask.io.outputs import descriptor

    return descriptor(Path(value)) == 1


FILE = PathName()
TEXT = PathName(text=True)
INPUT_FILE = PathName(INPUT)
OUTPUT_FILE = PathName(OUTPUT)
OUTPUT_TEXT = PathName(OUTPUT, text=True)
