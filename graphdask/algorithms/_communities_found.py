"""What `louvain` and `leiden` have in common besides the method: arguments, results and how these are reported."""

from __future__ import annotations

from typing import Any

from graphdask.algorithms.modularity import CommunitiesResult, checked_resolution
from graphdask.algorithms.summaries import classes
from graphdask.display import terminal
from graphdask.interface.kinds import checked_seed, whole
from graphdask.interface.registry import Option


class LouvainResult(CommunitiesResult):
    """What `louvain` and `leiden` return."""

    @property
    def passes(self) -> int:
        """Number of passes from the vertices of the graph up to the last communities."""
        return int(self._value("passes"))

    @property
    def levels(self) -> int:
        """Number of levels from the vertices of the graph up to these communities, both among them."""
        return int(self._value("levels"))


def summary(result: Any) -> dict[str, Any]:
    """Communities in a few numbers."""
    found = classes(result, "communities")
    return {"communities": found.pop("communities"), "modularity": result.modularity, "passes": result.passes} | found


def words(found: dict[str, Any]) -> str:
    """The summary of communities in a line."""
    words = f"{terminal.count(found['communities'], 'community')}, modularity {found['modularity']:.4f}"
    largest = f", the largest of {terminal.count(found['largest'], 'vertex')}" if "largest" in found else ""
    return f"{words} after {terminal.count(found['passes'], 'pass')}{largest}"


OPTIONS = {
    "resolution": Option("0 or more; with more of it communities are smaller."),
    "seed": Option("Of the order in which vertices move."),
    "passes": Option("At most so many.  [default: until one gains little]", least=1),
}
"""The options of `louvain` and `leiden`."""


def checked_arguments(resolution: Any, seed: Any, passes: Any) -> tuple[float, int, int | None]:
    """Return the arguments of `louvain` and `leiden` as Python's numbers."""
    most = None if passes is None else whole("passes", passes, 1)
    return checked_resolution(resolution), checked_seed(seed), most
