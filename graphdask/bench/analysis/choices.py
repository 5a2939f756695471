"""The paper's table of choices, one of them changed at a time: what each costs or gains.

Source: Pan et al., Multi-GPU Graph Analytics, Sections III-B (ghosts), III-C (communication), V-C (partitioners), VI-B
(memory allocation), VI-C (fused kernels) and VI-D (the width of ids).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphdask import execute
from graphdask.algorithms.sssp import search_from
from graphdask.bench.analysis.unfused import UnfusedPaths


@dataclass(frozen=True)
class Choice:
    """One way to divide a graph and to exchange."""

    name: str
    divide: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `Graph.partition`."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of an algorithm."""
    fused: bool = True
    """Whether advance and filter are one kernel."""


AS_GIVEN = Choice("")
CHOICES = (
    Choice("default"),
    Choice("ghosts all", {"ghosts": "all"}),
    Choice("ghosts 1-hop", {"ghosts": "1-hop"}),
    Choice("selective", where={"exchange": "selective"}),
    Choice("broadcast", where={"exchange": "broadcast"}),
    Choice("by range", {"by": "range"}),
    Choice("by random", {"by": "random"}),
    Choice("by biased-random", {"by": "biased-random"}),
    Choice("by metis", {"by": "metis"}),
    Choice("64-bit ids", {"id_width": 64}),
    Choice("just-enough", where={"allocation": "just-enough"}),
    Choice("fixed", where={"allocation": "fixed"}),
    Choice("not fused", fused=False),
)
UNFUSED = ("sssp", "sssp-float32")
"""The algorithms whose advance and filter can be separate kernels; a pull has no filter."""


def paths_unfused(G: Any, source: Any, delta: float | None = None, client: Any = None, **where: Any) -> Any:
    """Run `sssp` with advance and filter as separate kernels, and a buffer between them; the answer is the same."""
    start = int(G.ids.to_internal(source, "source"))
    return execute.run(G, search_from(G, (start,), delta, client, False, kind=UnfusedPaths), client=client, **where)
