"""Walks whose edges are chosen by functions of the caller: twins of functions_walk.cu.

n is the number of walks, first the instance of the first; steps `begin` are made, and `end` are to have been made.
"""

import numpy as np

from graphdask.kernels.choice.bias_types import checked, failing, keep_bias, kept_or_failing
from graphdask.kernels.choice.keys import keep_smallest
from graphdask.kernels.choice.selection import NO_BIAS, NO_VERTEX, fraction, group_key, selection_pick, vertex_of
from graphdask.kernels.choice.selection_pack import Selections
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_EDGE, DRAW_KEY, DRAW_TRIAL, DRAW_UPDATE, fill, philox
from graphdask.kernels.common.tuning import GROUP, KEYS_AT_ONCE
from graphdask.kernels.common.twin import by_python, twin, within
from graphdask.kernels.functions.functions_default import (
    ASKS_NEAR,
    HAS_UPDATE,
    MACROS,
    edge_bias,
    edge_bias_if,
    gd_how,
    update,
)
from graphdask.kernels.functions.functions_walk_pack import FunctionWalks
from graphdask.kernels.walks.second_order import search_all

__all__ = ["MACROS"]

# The functions of the caller stand here.

UNIFORM, SUMMED, TRIED, ALIASED, KEYED = 0, 1, 2, 3, 4
"""How a walk draws edges: all alike, by sums of their biases, by rejection, by an alias table, or by a reservoir.
A module is compiled for one of them, `gd_how`, so that Numba leaves out the others."""

_0, _1 = np.uint64(0), np.uint64(1)
_ONE, _EDGE = np.int64(1), np.int64(DRAW_EDGE)
"""As integers of the type that other callers hand over: Numba compiles a function again for every literal and type."""


@within
def _try_all(first, block, count, begins, sizes, step, edges, scratch, kept, near, unsure, a: FunctionWalks):
    """Draw an edge for each of some walkers by rejection, all of them at the same time; -1 after too many trials.

    A function that asks whether a vertex is near, which takes a search, is called with both answers first: that often
    is enough to know whether a number keeps the edge. Many searches are done at the same time.
    """
    of_trial = group_key(a.seed, DRAW_TRIAL, np.int64(0))
    live, asking, row, rest, wanted, tried = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    left = np.int64(0)
    for j in range(count):
        edges[j] = -1
        live[left] = j
        left += sizes[j] > 0
    trial = np.int64(0)
    while left and trial < a.trials:
        for k in range(left):
            j = live[k]
            drawn, kept[j] = philox(of_trial, np.uint64(first + block + j), np.uint64(step), np.uint64(trial))
            tried[j] = begins[j] + np.int64(multiply_high(drawn, np.uint64(sizes[j])))
        asked = np.int64(0)
        for k in range(left):
            j = live[k]
            i, edge, instance = block + j, tried[j], first + block + j
            v, t, start = np.int64(a.here[i]), np.int64(a.before[i]), np.int64(a.seeds[i])
            slot = np.int64(a.indices[edge])
            if ASKS_NEAR and t >= 0:
                unsure[0] = 0
                taken = other = False
                for answer in range(2):
                    bias = edge_bias_if(
                        edge, v, slot, v, slot, t, step, instance, start, answer > 0, unsure, a,
                    )  # fmt: skip
                    other, taken = taken, kept_or_failing(kept[j], bias, a.bound, unsure)
                if other != taken or unsure[0]:
                    asking[asked], row[asked], wanted[asked] = j, a.near_indptr[t], slot
                    rest[asked] = a.near_indptr[t + 1] - a.near_indptr[t]
                    asked += 1
                    taken = False
            else:
                bias = edge_bias(
                    edge, v, slot, v, slot, t, t, step, instance, start, a.failure, a,
                )  # fmt: skip
                taken = kept_or_failing(kept[j], bias, a.bound, a.failure)
            if taken:
                edges[j] = edge
        search_all(asked, a.near_indices, row, rest, wanted, near)
        for k in range(asked):
            j, slot = asking[k], wanted[k]
            i, edge, instance = block + j, tried[j], first + block + j
            v, t, start = np.int64(a.here[i]), np.int64(a.before[i]), np.int64(a.seeds[i])
            bias = edge_bias_if(
                edge, v, slot, v, slot, t, step, instance, start, near[k], a.failure, a,
            )  # fmt: skip
            if kept_or_failing(kept[j], bias, a.bound, a.failure):
                edges[j] = edge
        some, left = left, np.int64(0)
        for k in range(some):
            live[left] = live[k]
            left += edges[live[k]] < 0
        trial += 1


@twin
def functions_walk(n, first, begin, end, a: FunctionWalks):
    """Make steps `begin` to `end` - 1 of walks over the whole graph, whose places in their pools are 0."""
    of_edge, of_update = group_key(a.seed, DRAW_EDGE, np.int64(0)), group_key(a.seed, DRAW_UPDATE, np.int64(0))
    begins, sizes, edges = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    numbers, slots, which = np.empty(GROUP, np.uint64), np.empty(GROUP, np.int64), np.empty(1, np.int64)
    if gd_how == ALIASED:
        seconds = np.empty(GROUP, np.uint64)
    if gd_how == KEYED:
        of_key = group_key(group_key(a.seed, DRAW_KEY, np.int64(0)), DRAW_KEY, np.int64(0))
        drawn, biases = np.empty(KEYS_AT_ONCE, np.uint64), np.empty(KEYS_AT_ONCE, np.float64)
        keys = np.empty(1, np.float64)
    if gd_how == TRIED:
        units, bounds, one = np.empty(64, np.int64), np.zeros(2, np.int64), np.ones(1, np.int64)
        none, label = np.zeros(1, np.int64), np.empty(1, np.int64)
        scratch, near, unsure = np.empty((6, GROUP), np.int64), np.empty(GROUP, np.bool_), np.zeros(1, np.int32)
    for block in range(0, n, GROUP):
        count = min(GROUP, n - block)
        if begin == 0:
            for i in range(block, block + count):
                a.here[i], a.before[i], a.lengths[i] = a.seeds[i], -1, 0
        for step in range(begin, end):
            alive = 0
            for j in range(count):
                v = np.int64(a.here[block + j])
                alive += v >= 0
                row = max(v, 0)
                begins[j] = a.indptr[row]
                sizes[j] = a.indptr[row + 1] - begins[j] if v >= 0 else 0
            if alive == 0:
                break
            if gd_how == TRIED:
                _try_all(first, block, count, begins, sizes, step, edges, scratch, numbers, near, unsure, a)
            else:
                for j in range(count):
                    edges[j] = -1
                    numbers[j], second = philox(of_edge, np.uint64(first + block + j), np.uint64(step), _0)
                    if gd_how == ALIASED:
                        seconds[j] = second
            for j in range(count):
                if sizes[j] == 0 or edges[j] >= 0:
                    continue
                i, at, size = block + j, begins[j], sizes[j]
                v, previous, start, instance = (
                    np.int64(a.here[i]),
                    np.int64(a.before[i]),
                    np.int64(a.seeds[i]),
                    first + i,
                )
                if gd_how == UNIFORM:
                    bias = edge_bias(
                        at, v, v, v, v, previous, previous, step, instance, start, a.failure, a,
                    )  # fmt: skip
                    if checked(bias, a.failure) > 0:
                        edges[j] = at + np.int64(multiply_high(numbers[j], np.uint64(size)))
                    continue
                if gd_how == ALIASED:
                    if a.totals[v] != _0:
                        edge = at + np.int64(multiply_high(numbers[j], np.uint64(size)))
                        own = multiply_high(seconds[j], a.totals[v]) < np.uint64(a.sums[edge])
                        edges[j] = edge if own else at + a.other[edge]
                    continue
                if gd_how == SUMMED:
                    low, high = at, at + size - 1
                    digit = np.int64(multiply_high(numbers[j], np.uint64(a.sums[high])))
                    if a.sums[high] == 0:
                        continue
                    while low < high:
                        middle = (low + high) >> 1
                        if a.sums[middle] > digit:
                            high = middle
                        else:
                            low = middle + 1
                    edges[j] = low
                    continue
                if gd_how == KEYED:
                    kept = np.int64(0)
                    for chunk in range(0, size, KEYS_AT_ONCE):
                        many = min(np.int64(KEYS_AT_ONCE), size - chunk)
                        for k in range(many):
                            edge = at + chunk + k
                            slot = np.int64(a.indices[edge])
                            bias = edge_bias(
                                edge, v, slot, v, slot, previous, previous, step, instance, start, a.failure, a,
                            )  # fmt: skip
                            if not (bias >= 0 and bias < np.inf):
                                failing(a.failure, NO_BIAS)
                                bias = 0 * bias
                            biases[k] = bias
                        fill(of_key, np.uint64(instance), np.uint64(step), chunk, many, drawn)
                        kept = keep_smallest(drawn, biases, chunk, many, keys, which, 0, kept, 1)
                    if kept:
                        edges[j] = at + which[0]
                    continue
                if len(units) < size:
                    units = np.empty(2 * size, np.int64)
                for edge in range(at, at + size):
                    slot = np.int64(a.indices[edge])
                    bias = edge_bias(
                        edge, v, slot, v, slot, previous, previous, step, instance, start, a.failure, a,
                    )  # fmt: skip
                    keep_bias(units, edge - at, checked(bias, a.failure))
                bounds[1], one[0] = size, instance
                selection_pick(
                    _ONE, Selections(
                        labels=none, bounds=bounds, values=units, floating=a.floating, starts=none, counts=none + 1,
                        replace=_ONE, seed=a.seed, what=_EDGE, tags=none, instances=one, step=step, done=none,
                        chosen=which, owner=label, failure=a.failure,
                    ),
                )  # fmt: skip
                if label[0] >= 0:
                    edges[j] = at + which[0]
            for j in range(count):
                slots[j] = a.indices[edges[j]] if edges[j] >= 0 else -1
            for j in range(count):
                i, slot = block + j, slots[j]
                v = np.int64(a.here[i])
                if v < 0:
                    continue
                if slot < 0:
                    a.here[i] = -1
                    continue
                a.dst[i, step] = slot
                if HAS_UPDATE:
                    number, _ = philox(of_update, np.uint64(first + i), np.uint64(step), _0)
                    previous, start = np.int64(a.before[i]), np.int64(a.seeds[i])
                    following = update(
                        edges[j], v, slot, v, slot, previous, previous, step, first + i, start, fraction(number), a,
                    )  # fmt: skip
                    following = vertex_of(a.names, a.base, a.num_vertices, following)
                    if following < -1:
                        failing(a.failure_of_update, NO_VERTEX)
                        following = -1
                    a.put[i, step] = slot = following
                a.lengths[i] += 1
                a.reported[0] += _1
                a.before[i] = v
                a.here[i] = slot


@by_python
def functions_walk_keyed(n, first, begin, end, a: FunctionWalks):
    """`functions_walk` by a reservoir, of which the threads of a block draw each edge together."""
    functions_walk(n, first, begin, end, a)
