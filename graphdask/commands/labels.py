"""Labels of vertices on the command line: `--labels FILE`, a file of vertices and labels as `--output` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from graphdask.commands.columns import WRITERS, read_columns
from graphdask.commands.paths import FILE
from graphdask.errors import InputError

COLUMN = "label"
"""The column of labels, where a file has several."""


def check_labels(path: Path) -> Path:
    """Return the path of a file of labels; raise InputError, before any work, if there cannot be columns in it."""
    from graphdask.io.opening import existing_file

    if path.suffix.lower() not in WRITERS:
        raise InputError(f"--labels {path}: the name of a file of labels ends in one of {', '.join(WRITERS)}")
    return existing_file(path)


labels_option = click.option(
    "--labels", required=True, metavar="FILE", type=FILE, callback=lambda ctx, parameter, value: check_labels(value),
    help="Communities: a file of vertices and labels, as --output of louvain writes it.",
)  # fmt: skip


def labels_of(path: Path, G: Any) -> dict[Any, Any]:
    """The label of each vertex that a file names, by its id."""
    columns = read_columns(path, names=not G.ids.are_numbers)
    ids = columns.pop("vertex").tolist()
    if COLUMN not in columns and len(columns) != 1:
        raise InputError(f"--labels {path}: no column is called {COLUMN}; columns: {', '.join(columns) or 'none'}")
    labels = columns[COLUMN] if COLUMN in columns else next(iter(columns.values()))
    found = dict(zip(ids, labels.tolist(), strict=True))
    if len(found) < len(ids):
        raise InputError(f"--labels {path} names a vertex twice")
    return found
