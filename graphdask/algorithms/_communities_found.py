"""What `louvain` and `leiden` have in common besides the method: arguments, results and how these are reported."""

from __future__ import annotations

from functools import partial
from typing import Any

from graphdask.algorithms.modularity import WEIGHTED_ERRORS, CommunitiesResult, checked_resolution
from graphdask.algorithms.summaries import classes
from graphdask.display import terminal
from graphdask.interface.kinds import checked_seed, whole
from graphdask.interface.parameters import ERRORS, SHARED, UNDIRECTED, described
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


COMMUNITIES_OPTIONS = """
resolution : float
    0 or more. With more of it there are more and smaller communities.
seed : int
    Of the order in which vertices move, 0 to 2**64 - 1. Another seed can give other communities.
passes : int, optional
    Number of passes at most. Default: until a pass raises the modularity by less than 2e-5, or 1e-5 if the graph has
    more than 2**20 edges.
"""
of_communities = partial(described, shared=UNDIRECTED + COMMUNITIES_OPTIONS + SHARED, errors=WEIGHTED_ERRORS + ERRORS)
"""Adds to the docstrings of `louvain` and `leiden` what they share."""
