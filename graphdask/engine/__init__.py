"""Operators and primitives: what an algorithm is made of that runs over the partitions of a graph.

A subclass of `Primitive` states the mathematics of an algorithm for one partition, and the engine runs it: the
superstep loop, messages, exchange, ghosts, allocation and GPU teams. The names here are public, for algorithms of
other distributions too; `docs/engine.md` explains them with an example.
"""

from graphdask.engine.advance import advance
from graphdask.engine.bitmap import has_bits, set_bits
from graphdask.engine.buffers import Allocation, Buffer, exchange_bytes, most_deferred, reachable
from graphdask.engine.checkpoints import Resumable
from graphdask.engine.direction import Direction
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Primitive, RankContext, RankResult, Superstep
from graphdask.engine.messages import ALL, Inbox, Messages, Received
from graphdask.engine.queues import Queues
from graphdask.engine.violation import Violation, first_of_all
from graphdask.engine.votes import Votes
from graphdask.partition.part import Csr, Part

__all__ = [
    "ALL",
    "HUB_THREADS",
    "INDEX",
    "Allocation",
    "Buffer",
    "Csr",
    "Direction",
    "Environment",
    "Inbox",
    "Messages",
    "Part",
    "Primitive",
    "Queues",
    "RankContext",
    "RankResult",
    "Received",
    "Resumable",
    "Superstep",
    "Violation",
    "Votes",
    "advance",
    "exchange_bytes",
    "first_of_all",
    "has_bits",
    "most_deferred",
    "reachable",
    "set_bits",
]
