"""Where the records of `graphdask bench` go: options, and the file to which they are appended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import stacked
from graphdask.commands.paths import FILE
from graphdask.display import terminal

json_lines = click.option("--json", "as_json", is_flag=True, help="Print JSON lines instead of a table.")
records_file = stacked(
    click.option(
        "--output", type=FILE, metavar="FILE",
        help="Append JSON lines to this file, where it holds nothing but such lines.",
    ),
    click.option(
        "--overwrite", is_flag=True, help="Replace the file, at the end, and figures of the same name; default: refuse."
    ),
)  # fmt: skip


def file_of_records(path: Path | None, overwrite: bool) -> Any:
    """The file that records are appended to, once it is known to be one; None where there is no path."""
    from graphdask.io.record_files import records_output

    if path is None:
        return None
    return records_output(path, overwrite, belongs=_are_records, what="records of graphdask bench")


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
