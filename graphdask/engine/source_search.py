"""Searches from sources: what those by levels (level_search.py) and by buckets of distances (bucket_search.py) share.

A rank settles the sources that it owns. If the GPUs of all ranks can write into each other's memory, they then go
through all supersteps by themselves (graphdask.engine.team); else the ranks go on superstep by superstep. A search ends
when nothing is left to visit, at a limit, or when all targets are reached (graphdask.engine.targets).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, Messages, Primitive
from graphdask.engine.team import Peers, TeamMemory, TeamRun
from graphdask.partition.part import Part
from graphdask.partition.queries import own_places

S = TypeVar("S")


def nothing(part: Part) -> Messages:
    """Return messages to no rank, of a rank that has nothing left to do."""
    return Messages(part.ids[:0], part.ids[:0], {}, False)


class SourceSearch(Primitive[S]):
    """A primitive that goes out from sources."""

    def __init__(self, sources: Sequence[int], targets: Sequence[int] = ()):
        """Both are vertex numbers; the search stops when it has reached all targets, if there are any."""
        self.sources, self.targets = tuple(sources), tuple(targets)

    @property
    @abstractmethod
    def stops(self) -> bool:
        """Whether the search may stop before it has reached everything."""

    def own_sources(self, part: Part, env: Environment) -> Array:
        """Return the distinct slots of the sources that this rank owns; they are on the host if they are few."""
        return own_places(part, self.sources)

    @abstractmethod
    def peers(self, part: Part, env: Environment) -> Peers | None:
        """Return the ranks whose GPUs search together, where they can, or a GPU alone; None on all ranks alike."""

    @abstractmethod
    def team_memory(self, peers: Peers, part: Part, env: Environment) -> TeamMemory | None:
        """Return the memory that the ranks write to; None if they go on superstep by superstep. Every rank calls it."""

    @abstractmethod
    def team_bytes(self, peers: Peers, part: Part, env: Environment) -> int:
        """Return the bytes that the search needs with these peers. Every rank calls it."""

    @abstractmethod
    def before(self, part: Part, env: Environment, sources: Array, peers: Peers | None, together: bool) -> S:
        """Return the state before the search; `together` says whether a team goes through all of it."""

    @abstractmethod
    def begin(self, part: Part, state: S, env: Environment) -> Messages:
        """Return the messages before the first superstep."""

    @abstractmethod
    def team(self, part: Part, state: S, memory: TeamMemory, env: Environment) -> TeamRun:
        """Return the share of this rank in a team."""

    def memory_together(self, part: Part, env: Environment) -> int | None:
        peers = self.peers(part, env)
        return None if peers is None else self.team_bytes(peers, part, env)

    def init(self, part: Part, env: Environment) -> tuple[S, Messages]:
        peers = self.peers(part, env)
        memory = None if peers is None else self.team_memory(peers, part, env)
        state = self.before(part, env, self.own_sources(part, env), peers, memory is not None)
        if memory is None:
            return state, self.begin(part, state, env)
        self.team(part, state, memory, env).run()
        return state, nothing(part)

    @abstractmethod
    def values(self, state: S) -> dict[str, Any]:
        """Return the columns that a push sends with the vertices that it reached."""
