"""Which way a search looks at its next edges: from the frontier (push) or from what is not reached (pull).

The rule is Beamer's: pull as soon as the frontier has more than 1/ALPHA of the edges that no level has looked at yet;
push again when the frontier is smaller than 1/BETA of the vertices and shrinks. Every rank votes the size and the edges
of what it found, and all come to the same decision from the same sums. What a rank found for others counts with the
mean degree of what it found for itself.

Sources: Beamer, Asanovic, Patterson, Direction-optimizing breadth-first search (SC 2012); Pan et al., Multi-GPU Graph
Analytics, Section VI-A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ALPHA = 15.0
BETA = 18.0


@dataclass
class Direction:
    """The decision of one run; the same on every rank."""

    mode: str
    """`push`, `pull` or `auto`."""
    num_vertices: int
    pulls: bool = False
    """Whether the last superstep pulled, or told the ghosts for a pull."""
    unexplored: float = -1.0
    """Edges that no level has looked at; negative before the first vote."""
    found: float = 0.0
    """Size of the last frontier."""
    paused: bool = False

    VOTES = 3

    @property
    def weighs(self) -> bool:
        """Whether the edges of a frontier have to be known."""
        return self.mode == "auto"

    def votes(self, found: int, edges: int, arcs: int = 0) -> tuple[float, float, float]:
        """What a rank says: vertices found, their edges, and (in the first vote) the edges that it holds."""
        return float(found), float(edges), float(arcs)

    def pause(self) -> None:
        """The next superstep follows the decision that was just made."""
        self.paused = True

    def choose(self, votes: np.ndarray) -> bool:
        """Whether to pull now, from what all ranks voted at the end of the last superstep."""
        if self.paused:
            self.paused = False
            return self.pulls
        found, edges, arcs = votes.sum(axis=0)
        self.unexplored = arcs if self.unexplored < 0 else self.unexplored
        if self.mode != "auto":
            self.pulls = self.mode == "pull"
        elif self.pulls:
            self.pulls = found >= self.num_vertices / BETA or found > self.found
        else:
            self.pulls = edges > self.unexplored / ALPHA
        self.unexplored = max(self.unexplored - edges, 0.0)
        self.found = found
        return self.pulls
