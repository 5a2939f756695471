"""What to do with a graph that is larger than memory: where OverBudget points, with the estimate and the calls."""

from __future__ import annotations

import os
from pathlib import Path

STREAMED = 192
"""Bytes per vertex in which a graph is written and gone through: betweenness keeps 124, the longest row may take 8, and
the rest is for chunks, which are as large as the memory makes them."""
MOST_VERTICES = 2**31 - 2
"""Of a graph that is streamed."""
MIB = 1 << 20
STANDARD_INPUT = "standard input"
"""Name of the file in which is kept what comes from there."""


def memory_for(num_vertices: int) -> str:
    """Memory in which a graph of so many vertices is written and gone through, as `memory=` takes it."""
    return f"{max(-(-STREAMED * num_vertices // MIB), 16)}MiB"


def calls(graph: str, path: str, memory: str) -> str:
    """How a graph is written to disk and streamed, in words; `graph` is what stands for it in a call."""
    return (
        f'graphdask.stream.build({graph}, "{path}", memory="{memory}"), which is `graphdask stream build`, writes it; '
        f'that, or later graphdask.stream.open("{path}", memory="{memory}"), is a graph that algorithms and samplers '
        "go through in as much, or faster in more"
    )


def of_graph(num_vertices: int) -> str:
    """What to do with a Graph, or nothing where it has too many vertices."""
    if num_vertices > MOST_VERTICES:
        return ""
    return f". Or stream it from disk: {calls('G', 'graph.gdl', memory_for(num_vertices))}"


def of_file(path: str | os.PathLike[str], memory: int) -> str:
    """What to do with a file that is built from in so many bytes."""
    if Path(path).name == STANDARD_INPUT:
        return f"write it to a file, and {of_file('graph.txt', memory)}"
    name = Path(os.path.abspath(path)).name.split(".")[0] or "graph"
    return f"stream it from disk: {calls(repr(os.fspath(path)), f'{name}.gdl', f'{max(memory // MIB, 16)}MiB')}"
