"""Sizes of algorithms that tests vary, a table for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphdask.tuning import Tuning, per_device


@dataclass(frozen=True)
class BetweennessTuning(Tuning):
    """How betweenness, edge betweenness and distances divide their sources and rows."""

    lanes: int = 64
    """Sources that are searched at once, at most."""
    apart: int = 64
    """Levels that one rank of a CPU processes one by one before many of them go together; 1 at least."""
    hub: int = 2048
    """Edges of a row above which several warps share it on a GPU, in chunks of half as many."""
    chunk: int = 1024
    """With weights: edges of a row above which several threads of a GPU sum it; at most `ROW` of engine/buffers.py."""


@dataclass(frozen=True)
class CommunitiesTuning(Tuning):
    """How Louvain and Leiden divide levels."""

    block: int = 1 << 26
    """Arcs that are sorted at a time."""
    few: int = 1 << 18
    """Entries of a level up to which one rank goes on by itself."""
    few_of_graph: int = 1 << 21
    """Entries of the graph up to which one rank goes on by itself."""


@dataclass(frozen=True)
class ComponentsTuning(Tuning):
    """When the search of a team of GPUs for a component ends."""

    levels: int = 12
    """Levels after which it stops; in a scale-free graph hardly any vertex is as far away."""
    rounds: int = 64
    """Rounds in which ranks exchange labels of the vertices that the search has not reached: a component may lead from
    rank to rank this often at most."""


@dataclass(frozen=True)
class StrongTuning(Tuning):
    """When strong components are finished on every rank."""

    patience: int = 128
    """Supersteps that take about as long as finishing."""
    few: int = 1 << 20
    """Vertices and edges of all ranks together that every rank takes in to finish by itself, after some supersteps."""


@dataclass(frozen=True)
class CoresTuning(Tuning):
    """How many levels a superstep peels, and when every rank gathers the graph."""

    levels: int = 8
    """Levels of a superstep at most, of several ranks."""
    crowded: int = 3
    """If the mean degree is less than this times the level, a few more removals may make very many vertices go. A CPU
    then peels one level at a time, and the next one when no bound falls any more."""
    worth: Mapping[str, int] = per_device(cpu=1 << 15, cuda=1 << 22)
    """Edges that a device scans in about the time of a superstep. If corrections took more in the superstep before,
    the next one peels no new level."""
    patience: int = 256
    """Supersteps before every rank gathers the graph."""
    at_once: Mapping[str, int] = per_device(cpu=1 << 20, cuda=0)
    """Stored edges of a graph at most that every rank gathers before the first superstep: a hundred supersteps, and the
    corrections in them, take longer."""
    gathered: int = 1 << 23
    """Stored edges of a graph at most that every rank gathers: some 200 MB on its host."""


@dataclass(frozen=True)
class ForestTuning(Tuning):
    """How many edges a spanning forest of one rank takes at a time."""

    light: int = 1
    """Edges for each vertex that are taken first."""
    listed: int = 2
    """Edges for each vertex that the list holds at first."""


@dataclass(frozen=True)
class LabelsTuning(Tuning):
    """How label propagation counts labels."""

    settled: int = 8
    """Rows that are due are found if less than one of so many slots changed; else all are taken for due."""
    table: int = 1 << 22
    """Entries of the hash tables that are filled at a time, more only by those of a row; caches of a GPU hold them."""


@dataclass(frozen=True)
class TrianglesTuning(Tuning):
    """How triangles take the rows of ghosts, and what is a job of a GPU."""

    rows: int = 1 << 20
    """Entries that a batch of ghosts' rows may hold in any case."""
    share: int = 512
    """Edges to a vertex that a job takes at most: enough to fill a table for, few enough to keep all blocks busy."""
    short: int = 128
    """Entries of a row at most with which a warp does a job by itself: a quarter of its table."""


BETWEENNESS = BetweennessTuning()
COMMUNITIES = CommunitiesTuning()
COMPONENTS = ComponentsTuning()
CORES = CoresTuning()
FOREST = ForestTuning()
LABELS = LabelsTuning()
STRONG = StrongTuning()
TRIANGLES = TrianglesTuning()
