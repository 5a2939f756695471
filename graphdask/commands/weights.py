"""Whether a command reads weights, uses them, and how it says so: one rule for all commands that read a graph.

Without an option, weights are read where the file names them. A command that takes weights also takes the third column
of an edge list without column names, if it has numbers that are not all Unix times.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphdask.display import terminal
from graphdask.errors import GraphdaskWarning

NAMES, LONGEST = 20, 60
"""Names of columns that are shown, and characters of each."""


def wanted(option: bool | None, takes: bool) -> bool | str | None:
    """What `read_graph` is asked for: `option` is --weights, --no-weights or neither."""
    return "auto" if option is None and takes else option


@contextmanager
def as_asked(option: bool | None) -> Iterator[None]:
    """Leave out the warning that a graph has no weights where --no-weights asked for that."""
    with warnings.catch_warnings():
        if option is False:
            warnings.filterwarnings("ignore", "sssp counts every edge as 1", GraphdaskWarning)
        yield


def status(G: Any, option: bool | None, takes: bool) -> str:
    """`used`, `ignored` or `none`, for JSON."""
    if G.weighted:
        return "used" if takes else "ignored"
    columns = "unread_columns" in G.report and G.report.get("third_column") != "not numbers"
    return "ignored" if columns and (option is False or not takes) else "none"


def in_words(G: Any, option: bool | None, takes: bool, who: str) -> str:
    """The status, with the reason and what changes it; `who` is the algorithm."""
    report = G.report
    if G.weighted:
        if not takes:
            return f"ignored: {who} does not use them"
        return "used: the third column; --no-weights ignores it" if third(report) else "used"
    if option is False:
        return f"{status(G, option, takes)} (--no-weights)"
    if not takes and "unread_columns" in report:
        return f"ignored: {who} does not use them, and {further(report)} not read"
    reason = unread(report)
    return f"none: {reason}" if reason else "none"


def of_a_file(G: Any, option: bool | None, users: list[str]) -> str:
    """What `info` says of the weights of a file, with the algorithms that use them."""
    if not G.weighted:
        return in_words(G, option, True, "")
    origin = "the third column, " if third(G.report) else ""
    return f"{origin}used by {', '.join(users[:-1])} and {users[-1]}"


def third(report: dict[str, Any]) -> bool:
    """Whether the weights are a third column that has no name."""
    return bool(report.get("third_column") == "weights")


def unread(report: dict[str, Any]) -> str:
    """Why columns that are there were not read as weights; empty where there are none."""
    found = report.get("third_column")
    if found == "not numbers":
        return "the third column has no numbers"
    if found == "times":
        return "the third column looks like Unix times; --weights takes it as weights"
    if "unread_columns" not in report:
        return ""
    return f"{further(report)} not read; --weights takes the third column"


def named(names: list[str]) -> str:
    """Names of columns, of which a header may have thousands of any length."""
    shown = [name if len(name) <= LONGEST else f"{name[:LONGEST]}..." for name in names[:NAMES]]
    return ", ".join(shown + [f"... ({len(names):,} in all)"] * (len(names) > NAMES))


def further(report: dict[str, Any]) -> str:
    """How many columns were not read, with the names of all where there are any."""
    number, names = report["unread_columns"], report.get("header")
    listed = f" of {named(names)}" if names else ""
    return f"{terminal.count(number, 'further column')}{listed} {'is' if number == 1 else 'are'}"
