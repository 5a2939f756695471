"""Which way a search looks at its next edges: from the frontier (push) or from what is not reached (pull).

The rule is Beamer's: pull as soon as the frontier has more than 1/ALPHA of the edges that no level has looked at yet,
and more edges than 1/BETA of the vertices, as the end of a long path is not worth a look at all vertices; push again
when the frontier is smaller than 1/BETA of the vertices and shrinks. Every rank votes the size and the edges of what it
found, and all come to the same decision from the same sums. What a rank found for others counts with the mean degree of
what it found for itself.

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
    def floor(self) -> int:
        """A frontier of no more edges is pushed."""
        return int(self.num_vertices / BETA)

    @property
    def edges_left(self) -> int:
        """The unexplored edges, of which a level that may be pulled has more than 1/ALPHA; very many if none may be."""
        return int(self.unexplored) if self.mode == "auto" else 1 << 62

    def skip(self, edges: int) -> None:
        """Levels of so many edges were pushed without a vote, as none of them was to be pulled."""
        self.unexplored = max(self.unexplored - edges, 0.0)

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
            self.pulls = edges > max(self.unexplored / ALPHA, self.floor)
        self.unexplored = max(self.unexplored - edges, 0.0)
        self.found = found
        return self.pulls
