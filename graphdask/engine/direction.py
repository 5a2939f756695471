"""The direction in which a search scans its next edges: from the frontier (push) or from unreached vertices (pull).

The rule is Beamer's. A search pulls as soon as the frontier has more than 1/ALPHA of the edges that no level has
visited yet, and more edges than 1/BETA of the number of vertices: at the end of a long path, scanning all vertices does
not pay. It pushes again when the frontier is smaller than 1/BETA of the vertices and shrinks. Every rank votes the
number of the vertices that it found and the number of their edges, and all ranks make the same decision from the same
sums. The vertices that a rank found for other ranks count with the mean degree of those that it found for itself.

Sources: Beamer, Asanovic, Patterson, Direction-optimizing breadth-first search (SC 2012); Pan et al., Multi-GPU Graph
Analytics, Section VI-A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphdask.engine.votes import Votes
from graphdask.kernels.common.direction import is_pull_due

VOTES = Votes("DirectionVotes", found=sum, edges=sum, arcs=sum)
"""What `Direction.votes` returns."""


@dataclass
class Direction:
    """The decision of one run; the same on every rank."""

    mode: str
    """`push`, `pull` or `auto`."""
    num_vertices: int
    pulls: bool = False
    """Whether the last superstep pulled, or notified the ghosts for a pull."""
    unexplored: float = -1.0
    """Edges that no level has visited; negative before the first vote."""
    found: float = 0.0
    """Size of the last frontier."""
    paused: bool = False

    VOTES = len(VOTES)

    @property
    def edges_left(self) -> float:
        """The number of unexplored edges; infinite unless the mode is `auto`, so that no level is to be pulled."""
        return self.unexplored if self.mode == "auto" else math.inf

    def skip(self, edges: int) -> None:
        """Count the edges of levels that were pushed without a vote because none of them was to be pulled."""
        self.unexplored = max(self.unexplored - edges, 0.0)

    def votes(self, found: int, edges: int, arcs: int = 0) -> tuple[float, float, float]:
        """Return the vote of a rank: vertices found, their edges, and (in the first vote) the edges that it holds."""
        return float(found), float(edges), float(arcs)

    def pause(self) -> None:
        """Let the next superstep follow the decision that was just made."""
        self.paused = True

    def choose(self, votes: np.ndarray) -> bool:
        """Return whether to pull now, from the votes of all ranks at the end of the last superstep, these first."""
        if self.paused:
            self.paused = False
            return self.pulls
        found, edges, arcs = VOTES.of(votes)
        self.unexplored = arcs if self.unexplored < 0 else self.unexplored
        if self.mode != "auto":
            self.pulls = self.mode == "pull"
        else:
            self.pulls = bool(is_pull_due(self.pulls, found, edges, self.found, self.unexplored, self.num_vertices))
        self.unexplored = max(self.unexplored - edges, 0.0)
        self.found = found
        return self.pulls
