"""A step of `per="layer"` over partitions: the edges of all vertices of a step compete, and lie on several ranks.

Each instance's home asks the owners of its vertices for the biases of their edges, or where all are alike for how many
there are, chooses among all of them as it would over the whole graph, and asks again where what it chose leads to.

Source: Pandey et al., c-saw, Section II-A (layer sampling).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, Messages
from graphdask.partition.part import Part
from graphdask.sample._items import Items
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.remote_lookup import RemoteLookup
from graphdask.sample.tuning import SAMPLE


def layer_step(sampler: Any, part: Part, state: Any, env: Environment) -> Messages:
    """A step of all instances; all ranks take it together."""
    xp, expander, step, pool = env.xp, state.expander, len(state.hops), state.pool
    degrees = None
    if sampler.asks_degrees:
        lookup = RemoteLookup(part, env, pool.vertices)
        degrees = lookup.answer(_degrees(expander, lookup.rows))
    state.taken = sampler._taken(state, env, degrees)
    items = sampler._items(state, env, pool.vertices)
    lookup = RemoteLookup(part, env, items.vertices)
    there = expander.with_near(part, _at_owners(lookup, items))
    ends = xp.zeros(len(there.rows) + 1, np.int64)
    xp.cumsum(_degrees(expander, there.rows), out=ends[1:])
    if "edge_bias" in sampler.functions:
        refuse_beyond_memory(env, sampler.name, f"step {step}", int(ends[-1]), SAMPLE.candidate_bytes)
        values, at = lookup.answer_each(expander.weigher(there, ends, None, step)(0, len(there.rows)), ends)
    else:
        values, at = ends[:0], xp.zeros(len(items.vertices) + 1, np.int64)
        xp.cumsum(lookup.answer(ends[1:] - ends[:-1]), out=at[1:])
    groups = state.bounds_of_items(env, items)
    weigh = None
    if "edge_bias" in sampler.functions:
        bounds = env.backend.to_host(at[groups])

        def weigh(a: int, b: int) -> Array:
            return values[int(bounds[a]) : int(bounds[b])]

    fanout, instances = sampler.fanouts[step], state.instances[:-1]
    of_items, places, numbers = expander.of_layers(instances, at, fanout, step, groups, weigh)
    chosen = items[of_items]
    lookup = RemoteLookup(part, env, chosen.vertices)
    there = (
        expander.with_near(part, _at_owners(lookup, chosen))
        if "update" in sampler.functions
        else _at_owners(lookup, chosen)
    )
    edges, number = expander.rows.indptr[there.rows] + lookup.send(places), lookup.send(numbers())
    dst = expander.destinations(edges)
    put = expander.put(there, xp.arange(len(edges)), edges, lambda: number, step, dst)
    expander.refuse_failures()
    caller_rows = expander.caller_rows(edges)
    caller_rows = None if caller_rows is None else lookup.answer(caller_rows)
    sampler._keep_answers(state, env, items, of_items, lookup.answer(dst), lookup.answer(put), caller_rows)
    more = step + 1 < len(sampler.fanouts) and len(state.pool.vertices) > 0
    found: Messages = sampler._nothing(part, active=more, frontier=len(items.vertices), edges=len(edges))
    return found


def _degrees(expander: Any, rows: Array) -> Array:
    indptr = expander.rows.indptr
    return indptr[rows + rows.dtype.type(1)] - indptr[rows]


def _at_owners(lookup: RemoteLookup, items: Items) -> Items:
    """The items at the owners of their vertices."""
    columns = (
        lookup.send(column) for column in (items.vertices, items.previous, items.instances, items.places, items.seeds)
    )
    return Items(lookup.rows, *columns)
