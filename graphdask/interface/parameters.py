"""Parameters and errors that many public functions share, described once, and the decorator that adds them.

The docstring of a function decorated with `documented` describes what is its own. When the module is imported, the
parameters that it leaves out are added from `SHARED`, in the order of the signature, and errors of a run from `ERRORS`.
`described` adds those of a family of functions or classes that shares others. `help` and `inspect.getdoc` show the
whole.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

SHARED = """
exchange : {"selective", "broadcast"}, optional
    "selective", the default: send what changed at a vertex only to the ranks that use it. "broadcast": send it
    to every rank. The answer is the same.
allocation : {"maximal", "just-enough", "fixed"} or float, optional
    Memory reserved for queues of vertices. "maximal", the default: for all vertices. "just-enough": for as many
    as this graph can need, or for an estimate that grows before a launch may need more. "fixed" or a float: for
    that share of all vertices (0.75 for "fixed"); if it may be too little, OverBudget names a share that
    suffices. The answer is the same.
checkpoint : path-like or str, optional
    A folder that all workers share, or an address that fsspec opens. The state of the run is written there now and
    then, and a call with the same graph and arguments goes on from it: after a lost worker, in another job, or on
    another number of workers. The answer has the same bits. The checkpoints stay when the run is over. Default: none.
every : str or int, optional
    When to write a checkpoint: a duration such as "60s", "5min" or "1h", or a number of supersteps. Default: every 60
    seconds, or more rarely if checkpoints would take more than 5 % of the time. A superstep that goes through many
    levels, or a batch of sources, comes to its end first.
seed : int
    Of the random numbers, 0 to 2**64 - 1. The same seed gives the same samples on every device, in
    every placement and for every number of workers.
edge_rows : bool
    Whether samples have the column `edge` from the beginning: the row of each edge in what the graph was made
    of, -1 for a step that follows no edge. If False, `s.edge` finds the rows when it is first used, as
    `Samples.with_edges` does. The samples are the same.
placement : {"auto", "replicated", "partitioned", "streamed"} or Streamed
    "replicated": every worker holds the whole graph and draws a share of the samples. "partitioned": every
    worker holds a partition, and workers exchange what they draw. "streamed": the host holds the graph, and the
    device a part of it at a time or none, as `Streamed` says. "auto", the default: replicated if the memory
    suffices, else partitioned; a graph on disk (`graphdask.stream.open`) takes no other value. The samples are
    the same.
client : distributed.Client, optional
    Where to run. Default: the active client, or this process if there is none.
progress : bool, optional
    Show a progress bar. Default: in a terminal or a notebook.
"""
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References", "Examples")
"""Sections of a docstring, in their order."""
UNDIRECTED = """
G : Graph
    Undirected; `G.to_undirected()` makes one of a directed graph.
"""
UNDIRECTED_ERRORS = """
InputError
    If `G` is not a Graph or is directed, or an argument has no such value.
"""
ERRORS = """
OverBudget
    If the run would need more memory than is free, or than it was given.
PeerLost
    If a worker died and could not be replaced in time.
"""


def _entries(text: str) -> Iterator[tuple[list[str], str]]:
    """The names of each entry of a section, and the entry."""
    for entry in re.findall(r"^\S.*(?:\n(?:[ \t].*)?)*", text.strip(), re.MULTILINE):
        yield entry.partition("\n")[0].partition(" : ")[0].split(", "), entry.rstrip()


def _section(doc: str, title: str) -> tuple[str, str, str]:
    """What stands before the entries of a section, the entries, and what stands after; a section that is missing is
    put in its place."""
    if not re.search(rf"^{title}\n-+$", doc, re.MULTILINE):
        later = "|".join(SECTIONS[SECTIONS.index(title) + 1 :])
        found = re.search(rf"^(?:{later})\n-+$", doc, re.MULTILINE)
        at = len(doc) if found is None else found.start()
        doc = f"{doc[:at].rstrip()}\n\n{title}\n{'-' * len(title)}\n\n{doc[at:]}"
    found = re.search(rf"^{title}\n-+\n((?:(?!.*\n---).*\n?)*)", doc, re.MULTILINE)
    assert found is not None
    return doc[: found.start(1)], found[1], doc[found.end(1) :]


def documented(function: F) -> F:
    """Add to a docstring the parameters and errors of `SHARED` and `ERRORS` that it leaves out."""
    return described(function, SHARED, ERRORS)


def of_undirected(function: F) -> F:
    """Add to the docstring of a function of an undirected graph what it leaves out, as `documented` does."""
    return described(function, UNDIRECTED + SHARED, UNDIRECTED_ERRORS + ERRORS)


def described(target: F, shared: str, errors: str = "", returns: str = "") -> F:
    """Add to the docstring of a function or a class the parameters and errors of two texts that it leaves out.

    Parameters
    ----------
    target : function or class
        With a docstring. A section that is missing there is put in its place.
    shared : str
        Entries of parameters, as `SHARED` has them; of a name that stands there twice the first.
    errors : str
        Entries of errors.
    returns : str
        The section Returns, if the docstring has none.

    Raises
    ------
    KeyError
        If a parameter is described nowhere.
    """
    if target.__doc__ is None:  # python -OO
        return target
    before, own, after = _section(inspect.cleandoc(target.__doc__), "Parameters")
    entries: dict[str, str] = {}
    for text in (own, shared):
        for names, entry in _entries(text):
            for name in names:
                entries.setdefault(name, entry)
    taken = [name for name in inspect.signature(target).parameters if name != "self"]
    made = "\n".join((before + "\n".join(dict.fromkeys(entries[name] for name in taken)), "", after))
    if returns:
        before, own, after = _section(made, "Returns")
        made = "\n".join((before + (own.strip() or returns.strip()), "", after))
    if errors:
        before, own, after = _section(made, "Raises")
        raised: dict[str, str] = {}
        for text in (own, errors):
            for names, entry in _entries(text):
                for name in names:
                    raised.setdefault(name, entry)
        all_errors = dict.fromkeys(raised.values())
        made = "\n".join((before + "\n".join(all_errors), "", after))
    target.__doc__ = made.rstrip() + "\n"
    return target
