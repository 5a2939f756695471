"""What a breadth-first search keeps between its supersteps; what it does with it is in `bfs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.buffers import Buffer
from graphdask.engine.direction import Direction
from graphdask.engine.team import Peers
from graphdask.kernels.bfs.bfs_pack import Search

HERE, NEXT, GHOSTS, LEFT, EDGES, WEIGHT, LEVELS, VISITED, LISTED, COUNTERS = 0, 1, 2, 4, 7, 8, 9, 10, 11, 18
"""Places among the counters, and their number; see kernels/bfs/bfs.py."""


@dataclass
class State:
    depth: Array
    """Per slot, -1 where not reached."""
    parent: Array
    """Per slot, the id of the parent; the largest integer where there is none; -2 - slot where a pull found it."""
    seen: Array
    """uint32 words, a bit per slot: reached, and settled."""
    queues: tuple[Buffer, Buffer]
    """Own vertices of the current level and the next, in turn."""
    ghost_queue: Buffer
    hubs: Buffer
    rows: tuple[Array, Array]
    """int64: the counters of this superstep and of the next, in turn."""
    search: Search
    """What the kernels work on."""
    direction: Direction
    kernels: Any
    unreached: int
    """Own vertices that may yet be found, at most; counted if memory is allocated in part."""
    alone: Peers | None
    """Where one GPU, which has all, pushes large levels as a team of one."""
    led: Buffer | None = None
    """Where edges of the frontier lead and the ids of what they are of, two entries for each; None if a push is one
    kernel."""
    count: int = 0
    """Length of the frontier, or more if vertices have arrived."""
    weight: int = 0
    """Its out-edges, and LONG for each row of very many, or if vertices have arrived."""
    level: int = 0
    turn: int = 0
    left: tuple[Buffer, Buffer] | None = None
    """Pull: own vertices that are not reached and have in-edges, of this superstep and the next, in turn."""
    waiting: int = 0
    """Their number, or more."""
    pulled: bool = False
    """Whether any superstep has."""

    @property
    def queue_buffer(self) -> Buffer:
        return self.queues[self.level % 2]

    @property
    def queue(self) -> Array:
        """Where the frontier is."""
        return self.queue_buffer.array

    @property
    def counters(self) -> Array:
        return self.rows[self.turn]

    @property
    def after(self) -> Array:
        """The counters of the next superstep."""
        return self.rows[1 - self.turn]
