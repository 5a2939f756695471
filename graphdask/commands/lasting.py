"""What the commands share that test for a given time: their options, and the packages that they need."""

from __future__ import annotations

from importlib.util import find_spec

import click

from graphdask.commands.options import Whole, stacked
from graphdask.errors import InputError, MissingDependency

DEFAULT_SECONDS = 60.0

lasting_options = stacked(
    click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="How long to go on.  [default: 60]"),
    click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="How long to go on, in minutes."),
    click.option("--seed", type=Whole(min=0), default=0, show_default=True, help="Of which the cases are drawn."),
)


def duration(seconds: float | None, minutes: float | None) -> float:
    """Seconds to go on."""
    if seconds is not None and minutes is not None:
        raise InputError("--seconds and --minutes both say how long to go on; give one of them")
    return seconds if seconds is not None else 60 * minutes if minutes is not None else DEFAULT_SECONDS


def check_tools() -> None:
    """Raise MissingDependency without the packages of the extra `test-tools`."""
    lacking = [name for name in ("pytest", "networkx", "pandas") if find_spec(name) is None]
    if lacking:
        raise MissingDependency(f'this needs pip install "graphdask[test-tools]": {", ".join(lacking)} not found')
