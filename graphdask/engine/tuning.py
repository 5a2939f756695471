"""Sizes of the engine that tests vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphdask.tuning import Tuning, per_device


@dataclass(frozen=True)
class EngineTuning(Tuning):
    """How ranks divide their supersteps."""

    least_queue: int = 1 << 12
    """Smallest number of entries that a just-enough queue begins with."""
    sparse: int = 256
    """Vertices of a mirror that are scanned in less time than one own vertex is looked up among them."""
    team_steps: int = 1 << 10
    """Supersteps of a launch of a team: some ten milliseconds, after which the host checks its deadline."""
    staged_from: int = 1 << 15
    """Edges of chunks for each block, below which it does not pay to fill its shared memory first: what its 1024
    threads sum at the same time, eight of them a chunk of 256 edges."""
    binned_from: int = 1 << 18
    """Edges for each processor, below which bins do not pay."""
    bin_teams: int = 4
    """Teams of a block, each with a bin of its own."""
    bin_threads: int = 1024
    """Threads of a block that puts values into bins or sums them."""
    bin_launch: Mapping[str, int] = field(default_factory=lambda: {"threads": 256, "per_processor": 1 << 16})
    """Shape of a launch that has a block for each bin."""


@dataclass(frozen=True)
class SearchTuning(Tuning):
    """How a search divides its levels among launches, and when a push of a team of GPUs claims vertices."""

    small: int = 1 << 15
    """Edges of levels that several are visited of in a launch: less time than another superstep takes."""
    large_levels: int = 32
    """Levels of a launch for levels that are not small; the next ones may be small."""
    launch_levels: int = 1 << 12
    """Levels of a launch at most: some ten milliseconds, after which the host checks its deadline."""
    claim_share: int = 4
    """A push claims only if the frontier has more edges than one of so many vertices: scanning a bit of every vertex a
    few times is then cheap."""
    many: Mapping[str, int] = per_device(cpu=1 << 15, cuda=1 << 20)
    """In lanes: vertices that search for the frontier in the time of one more superstep."""
    claim_edges: int = 1 << 16
    """A push claims only if the frontier has more edges than this: visiting fewer edges one by one takes less time than
    one more synchronization of the ranks."""


ENGINE = EngineTuning()
"""The sizes that are used now."""
SEARCH = SearchTuning()
