"""Walks over pools by a spec: in every step one vertex of each pool, and one edge of that; many steps in one launch.

Frontier sampling is one. The edges are those of the same steps taken one by one (graphdask.sample.steps).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphdask.engine.loop import Environment
from graphdask.kernels.functions.functions_fields import COLUMN
from graphdask.kernels.functions.functions_hops_pack import FunctionPools
from graphdask.partition.part import Part
from graphdask.sample._expand import Expander
from graphdask.sample._spec_hops import WAYS, Asked, Drawn
from graphdask.sample._spec_walks import starts_of
from graphdask.sample.tuning import SAMPLE

OF_VERTEX = frozenset({"id", "degree"})
"""Fields that are a vertex's wherever and whenever it is in a pool."""
FUNCTIONS = ("edge_bias", "update", "vertex_bias")


def walks_over_pools(sampler: Any) -> bool:
    """Whether a sampler takes one vertex of each pool and one edge of that, which only moves in the pool."""
    return bool(
        sampler.per == "vertex"
        and sampler.revisit
        and sampler.frontier_size == 1
        and "neighbor_size" not in sampler.functions
        and sampler.runs
        and all(fanout == 1 for fanout, _ in sampler.runs)
        and sampler.how.name in WAYS
    )


def walked(sampler: Any, expander: Expander, part: Part, env: Environment) -> Drawn | None:
    """The edges; None where they are to be drawn step by step."""
    if expander.mapped or not walks_over_pools(sampler):
        return None
    asked = Asked.of(expander, part, FUNCTIONS)
    if asked is None:
        return None
    xp, n, depth, dtype = env.xp, sampler.instances, len(sampler.fanouts), expander.dtype
    given, vertices, from_host = np.arange(n + 1), starts_of(sampler).astype(dtype), env.backend.from_host
    if not sampler.one_each:
        given = sampler.of(sampler.bounds, sampler.first, sampler.last + 1)
        given = given - given[0]
    firsts = np.append(vertices, dtype.type(-1))[given[:-1]]  # of an empty pool nothing is sent
    pools, seeds, bounds = from_host(vertices), from_host(firsts), from_host(given)
    before, sizes = xp.full(len(pools), -1, dtype), bounds[1:] - bounds[:-1]
    src, dst = (xp.empty(n * depth, dtype) for _ in range(2))
    hops, instances = xp.empty(n * depth, np.int32), xp.empty(n * depth, np.int64)
    weigh = expander.functions.get("vertex_bias")
    fixed = weigh is not None and all(each in OF_VERTEX or COLUMN.fullmatch(each) for each in weigh.fields)
    kept = xp.empty(len(pools) if fixed else 0, np.int64)
    pack = FunctionPools(
        **asked.values, depth=depth, bounds=bounds, seeds=seeds, fixed=int(fixed),
        kept=kept, sizes=sizes, pools=pools, before=before, src=src, dst=dst, hops=hops, instances=instances,
        lacking=expander.flags[2:], failure_of_pool=expander.failure("vertex_bias"),
    )  # fmt: skip
    for first, last in _launches(depth, max(1, SAMPLE.pool_launch[env.backend.name] // max(n, 1))):
        if first:
            env.backend.synchronize()
            env.check_deadline(sampler.name)
        asked.kernels.functions_hops_pools(n, sampler.first, first, last, pack, per_item=32)
    flags = asked.flags()
    if flags is None:
        return None
    columns = {"src": src, "dst": dst, "hop": hops, "instance": instances}
    if flags[2]:
        (made,) = xp.nonzero(dst >= 0)
        columns = {name: column[made] for name, column in columns.items()}
    return Drawn(columns, len(columns["dst"]))


def _launches(depth: int, steps: int) -> Iterator[tuple[int, int]]:
    for first in range(0, depth, steps):
        yield first, min(first + steps, depth)


def memory(sampler: Any, index: int, share: int) -> int:
    """Bytes for what is drawn in all steps, and where it is."""
    return int(share) * len(sampler.fanouts) * (2 * index + 8 + 4 + 8) + 8 * int(sampler.seeds_of(share))
