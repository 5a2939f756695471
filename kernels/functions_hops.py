"""Neighbour sampling of small instances by functions of the caller: twins of functions_hops.cu.

What is not told here is told in functions.py, and of first, seeds, bounds, fanouts, hops, together, places, slots,
most, src, dst, upto, starts and counts in hops.py. The shared memory of that is more by another `places` vertices for
each instance where functions ask from which vertex one was reached.

how        one of the constants below
sums, positives
           int64: of each row its biases' units (selection.py), added up to each edge and with it, and how many are
           above 0; or the shares of an alias table (biases.py), uint64, with its totals and others
floating   whether biases are floats
updates    whether there is an update
revisit    whether a vertex comes into the pool of an instance again and again
failure, failure_of_update
           int32, as in selection.py
gave_up    int32, shape (1,): 1 where trials were not enough in a row of more than LOOKED_AT edges; then what was drawn
           is of no use
"""

import numpy as np

from graphdask.kernels.aliases import aliases_draw
from graphdask.kernels.bias_types import checked, failing, keep_bias, kept_or_failing
from graphdask.kernels.functions_default import MACROS, edge_bias, update
from graphdask.kernels.hash import multiply_high
from graphdask.kernels.philox import DRAW_EDGE, DRAW_TRIAL, DRAW_UPDATE, philox
from graphdask.kernels.selection import (
    NO_VERTEX,
    fraction,
    group_key,
    selection_pick,
    selection_summed,
    selection_uniform,
    vertex_of,
)
from graphdask.kernels.twin import twin, within

__all__ = ["MACROS"]

# The functions of the caller stand here.

UNIFORM, SUMMED, TRIED, ALIASED = 0, 1, 2, 3
"""How edges are drawn: all alike, by sums of their biases, by rejection, or by an alias table."""
LOOKED_AT = 256
"""Edges of a row, at most, that one thread looks through."""


@within
def _tried(
    v, source, instance, place, start, hop, most, indptr, indices, weights, degrees, names, base, near_indptr,
    near_indices, floating, bound, trials, replace, seed, chosen, units, failure, gave_up,
):  # fmt: skip
    """Draw up to `most` places of a row by trials, and the rest in proportion to what is left."""
    begin, size = indptr[v], indptr[v + 1] - indptr[v]
    made, found, key = np.int64(0), replace != 0 or most < size, group_key(seed, DRAW_TRIAL, place)
    while found and made < most:
        found = False
        for trial in range(trials):
            which, kept = philox(key, np.uint64(instance), np.uint64(hop), np.uint64(made * trials + trial))
            tried = np.int64(multiply_high(which, np.uint64(size)))
            slot = np.int64(indices[begin + tried])
            bias = edge_bias(
                indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin + tried, v, slot,
                v, slot, source, source, hop, instance, start, failure,
            )  # fmt: skip
            found = kept_or_failing(kept, bias, bound, failure)
            for s in range(made):
                found = found and (replace != 0 or chosen[s] != tried)
            if found:
                chosen[made] = tried
                made += 1
                break
    if made == most:
        return made
    if size > LOOKED_AT:
        gave_up[0] = 1
        return made
    for k in range(size):
        slot = np.int64(indices[begin + k])
        bias = edge_bias(
            indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin + k, v, slot, v, slot,
            source, source, hop, instance, start, failure,
        )  # fmt: skip
        keep_bias(units, k, checked(bias, failure))
    none, bounds, owner = np.zeros(1, np.int64), np.zeros(2, np.int64), np.empty(most, np.int64)
    bounds[1] = size
    selection_pick(
        1, none, bounds, units, floating, none, none + most, replace, seed, DRAW_EDGE, none + place, none + instance,
        hop, none + made, chosen, owner, failure,
    )  # fmt: skip
    while made < most and owner[made] == 0:
        made += 1
    return made


@twin
def functions_hops_draw(
    n, first, seeds, bounds, indptr, indices, weights, ids, degrees, mapped, names, base, near_indptr, near_indices,
    how, sums, positives, totals, other, floating, bound, trials, updates, num_vertices, fanouts, hops, replace,
    revisit, seed, together, places, slots, most, src, dst, upto, starts, counts, failure, failure_of_update, gave_up,
):  # fmt: skip
    """The edges of each instance, in the order of hop, the vertex's place in the frontier, as chosen."""
    listed, sources = np.empty((together, places), seeds.dtype), np.empty((together, places), seeds.dtype)
    marks, chosen, owner = np.empty((2, together), np.int64), np.empty(255, np.int64), np.empty(255, np.int64)
    begins, ends, units, none = marks[0], marks[1], np.empty(LOOKED_AT, np.int64), np.zeros(1, np.int64)
    two, one = np.zeros(2, np.int64), np.zeros(1, seeds.dtype)
    for group in range(0, n, together):
        those, made = min(together, n - group), 0
        for g in range(those):
            i = group + g
            a, b = (i, i + 1) if bounds is None else (bounds[i], bounds[i + 1])
            begins[g], ends[g], counts[i] = 0, b - a, 0
            for k in range(b - a):
                listed[g, k], sources[g, k] = seeds[a + k], -1
        for hop in range(hops):
            fanout = np.int64((fanouts >> np.uint64(8 * hop)) & np.uint64(255))
            for g in range(those):
                i, end = group + g, ends[g]
                instance, known, drawn = first + i, set(listed[g, :end]), made
                for k in range(begins[g], end):
                    v, source, start = np.int64(listed[g, k]), np.int64(sources[g, k]), np.int64(listed[g, 0])
                    begin, size, place = indptr[v], indptr[v + 1] - indptr[v], k - begins[g]
                    wanted, count = fanout if replace else min(fanout, size), np.int64(0)
                    two[1] = size
                    if size and how == TRIED:
                        count = _tried(
                            v, source, instance, place, start, hop, wanted, indptr, indices, weights, degrees, names,
                            base, near_indptr, near_indices, floating, bound, trials, replace, seed, chosen, units,
                            failure, gave_up,
                        )  # fmt: skip
                    elif size and how == UNIFORM:
                        bias = edge_bias(
                            indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin, v, v,
                            v, v, source, source, hop, instance, start, failure,
                        )  # fmt: skip
                        if checked(bias, failure) > 0:
                            selection_uniform(
                                1, none, two, none, none + wanted, replace, seed, DRAW_EDGE, none + place,
                                none + instance, hop, none, chosen, owner,
                            )  # fmt: skip
                            count = wanted
                    elif size:
                        one[0] = v
                        if how == SUMMED:
                            selection_summed(
                                1, none + v, indptr, sums, positives, none, none + wanted, replace, seed, DRAW_EDGE,
                                none + place, none + instance, hop, chosen, owner,
                            )  # fmt: skip
                        else:
                            aliases_draw(
                                1, one, indptr, totals, sums.view(np.uint64), other, none, none + wanted, seed,
                                DRAW_EDGE, none + place, none + instance, hop, chosen, owner,
                            )  # fmt: skip
                        while count < wanted and owner[count] == 0:
                            count += 1
                    for s in range(count):
                        edge = begin + chosen[s]
                        slot = np.int64(indices[edge])
                        src[group * most + made], dst[group * most + made] = v, slot
                        made += 1
                        following = slot
                        if updates:
                            number, _ = philox(
                                group_key(seed, DRAW_UPDATE, place), np.uint64(instance), np.uint64(hop), np.uint64(s)
                            )  # fmt: skip
                            following = update(
                                indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, edge, v,
                                slot, v, slot, source, source, hop, instance, start, fraction(number),
                                failure_of_update,
                            )  # fmt: skip
                            following = vertex_of(names, base, num_vertices, following)
                            if following < -1:
                                failing(failure_of_update, NO_VERTEX)
                        if hop + 1 == hops or following < 0 or (not revisit and following in known):
                            continue
                        known.add(seeds.dtype.type(following))
                        listed[g, ends[g]], sources[g, ends[g]] = following, v
                        ends[g] += 1
                counts[i] += made - drawn
                upto[i * hops + hop], starts[i * hops + hop] = counts[i], drawn
                begins[g] = end
