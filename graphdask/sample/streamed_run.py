"""Draws of a device whose memory does not hold the edges, which stay in the memory of the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphdask.engine.loop import Environment, RankResult
from graphdask.partition.part import Part
from graphdask.sample import streamed_hops, streamed_walks, streamed_whole
from graphdask.sample.sampler import Sampler
from graphdask.sample.streamed import Streamed
from graphdask.sample.traversal import Traversal
from graphdask.sample.walks import FirstOrder

BY_PARTITIONS: tuple[tuple[type[Sampler[Any]], Callable[..., RankResult]], ...] = (
    (FirstOrder, streamed_walks.run),
    (Traversal, streamed_hops.run),
)
"""How a kind of samplers draws from partitions of which some are on the device."""


def run(sampler: Sampler[Any], part: Part, host: Environment, env: Environment, options: Streamed) -> RankResult:
    """Draw the samples; `part` is the whole graph in host memory, and `env` of the device."""
    for kind, draw in BY_PARTITIONS if sampler.by_partitions else ():
        if isinstance(sampler, kind):
            return draw(sampler, part, host, env, options)
    return streamed_whole.run(sampler, part, host, env, options)
