"""Where the records of `graphdask bench` go: options, and the file to which they are appended."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import stacked
from graphdask.commands.paths import FILE
from graphdask.display import terminal

_options = stacked(
    click.option("--json", "as_json", is_flag=True, help="Print JSON lines instead of a table."),
    click.option(
        "--output", type=FILE, metavar="FILE",
        help="Append JSON lines to this file, where it holds nothing but such lines.",
    ),
    click.option(
        "--overwrite", is_flag=True, help="Replace the file, at the end, and figures of the same name; default: refuse."
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Destination:
    """Where records go."""

    as_json: bool
    output: Path | None
    overwrite: bool

    def file(self) -> Any:
        """The file that records are appended to, once it is known to be one; None where there is no path."""
        from graphdask.io.record_files import records_output

        if self.output is None:
            return None
        return records_output(self.output, self.overwrite, belongs=_are_records, what="records of graphdask bench")


def records_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its records, which it takes as one `to`."""

    @functools.wraps(command)
    def call(as_json: bool, output: Path | None, overwrite: bool, **options: Any) -> None:
        command(to=Destination(as_json, output, overwrite), **options)

    return _options(call)


def _are_records(records: list[Any]) -> bool:
    """Whether a file begins as those of benchmarks do: with what describes the machine."""
    return "record" in records[0] and "experiment" not in records[0]


@contextmanager
def growing(out: Any) -> Iterator[Callable[[Iterable[dict[str, Any]]], None]]:
    """What appends records to the file, where there is one."""
    if out is None:
        yield lambda records: None
        return
    with out.growing() as append:
        yield lambda records: append(map(terminal.to_json, records))
