"""Kernels that call functions of the caller: twins of functions.cu.

graphdask.kernels.functions.inserted puts the caller's functions after the import of the defaults, whose names they
take.

n          items: entries of a pool; of functions_update, edges
rows, vertices, previous, near
           index dtype: the row of an item, its vertex, that from which it was reached, -1 where there is none, and the
           row of that in near_indptr and near_indices
instances, places, seeds
           int64, int64, index dtype: its instance, its place in the pool of that, and the instance's first vertex
depth      steps before this one
indptr, indices, weights
           the graph; where it has no weights, any array
names, base
           the caller's names of vertices: an id for each, int64; if base is 0 or more, base plus their numbers instead
mapped, ids, degrees
           whether this is a partition; then ids and degrees, int64, hold the vertices and the lengths of the rows of
           all slots. Else slots are vertices. In functions of vertices, degrees (int64) are those of the items
near_indptr, near_indices
           rows of vertices that items were reached from, which hold vertices; of a whole graph that itself
values     bias_t: biases; of the edges of item i, `at[i] - at[0]` is the place of the first
keys       float64: a workspace for as many keys as edges are chosen
longs      int64: a workspace for items with long rows (reservoir.py)
least, most
           what neighbor_size may return at least, and at most
sizes      int64: what it returned
bound      what no bias exceeds
trials     how often a draw is tried
starts, counts, chosen, owner, replace, seed
           as in selection.py; the labels are `label` and those that follow
done       int64: how many draws of an item were kept within their trials
items, edges, numbers
           int64: of each edge its item, its place in `indices`, and its number among those chosen together
num_vertices
           of the graph
put        index dtype: what update returned
failure    int32, as in selection.py
"""

import numpy as np

from graphdask.kernels.choice.bias_types import checked, failing, kept_or_failing
from graphdask.kernels.choice.keys import keep_smallest
from graphdask.kernels.choice.selection import NO_BIAS, NO_SIZE, NO_VERTEX, fraction, group_key, vertex_of, wanted
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_KEY, DRAW_SIZE, DRAW_TRIAL, DRAW_UPDATE, fill, philox
from graphdask.kernels.common.tuning import KEYS_AT_ONCE
from graphdask.kernels.common.twin import twin
from graphdask.kernels.functions.functions_default import (
    MACROS,
    edge_bias,
    neighbor_size,
    update,
    vertex_bias,
)

__all__ = ["MACROS"]

# The functions of the caller stand here.

_0 = np.uint64(0)


@twin
def functions_vertex_bias(n, names, base, vertices, degrees, instances, places, depth, values, failure):
    for i in range(n):
        bias = vertex_bias(names, base, np.int64(vertices[i]), degrees[i], depth, instances[i], places[i], failure)
        values[i] = checked(bias, failure)


@twin
def functions_neighbor_size(
    n, names, base, vertices, degrees, instances, places, depth, replace, most, seed, counts, failure
):
    """How many edges of each item are chosen at most."""
    for i in range(n):
        first, _ = philox(
            group_key(seed, DRAW_SIZE, places[i]), np.uint64(instances[i]), np.uint64(depth), _0
        )  # fmt: skip
        size = neighbor_size(
            names, base, np.int64(vertices[i]), degrees[i], depth, instances[i], places[i], fraction(first), failure
        )
        if size < (0 if replace else -1) or size > most:
            failing(failure, NO_SIZE)
            size = np.int64(0)
        counts[i] = wanted(degrees[i], size, replace)


@twin
def functions_edge_bias(
    n, rows, vertices, previous, near, instances, seeds, depth, indptr, indices, weights, ids, degrees, mapped, names,
    base, near_indptr, near_indices, at, values, failure,
):  # fmt: skip
    for i in range(n):
        row, source, before, instance = np.int64(rows[i]), np.int64(vertices[i]), np.int64(previous[i]), instances[i]
        seed, out = np.int64(seeds[i]), at[i] - at[0] - indptr[row]
        for edge in range(indptr[row], indptr[row + 1]):
            slot = np.int64(indices[edge])
            destination = np.int64(ids[slot]) if mapped else slot
            bias = edge_bias(
                indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, edge, row, slot,
                source, destination, before, np.int64(near[i]), depth, instance, seed, failure,
            )  # fmt: skip
            values[out + edge] = checked(bias, failure)


@twin
def functions_row_bias(
    n, rows, vertices, previous, near, instances, seeds, depth, indptr, indices, weights, ids, degrees, mapped, names,
    base, near_indptr, near_indices, counts, failure,
):  # fmt: skip
    """Of items whose edges have all the same bias: none is chosen where that is 0."""
    for i in range(n):
        row, source = np.int64(rows[i]), np.int64(vertices[i])
        if indptr[row] == indptr[row + 1]:
            continue
        bias = edge_bias(
            indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, indptr[row], row, row,
            source, source, np.int64(previous[i]), np.int64(near[i]), depth, instances[i], np.int64(seeds[i]), failure,
        )  # fmt: skip
        if checked(bias, failure) == 0:
            counts[i] = 0


@twin
def functions_reservoir(
    n, rows, vertices, previous, near, instances, places, seeds, depth, indptr, indices, weights, ids, degrees, mapped,
    names, base, near_indptr, near_indices, replace, seed, starts, counts, longs, keys, chosen, owner, lacking,
    failure,
):  # fmt: skip
    """Choose the edges of the smallest exponential keys, in one pass; with replacement, again for each choice.
    `lacking`: whether some item had fewer than are chosen of it."""
    numbers, biases = np.empty(KEYS_AT_ONCE, np.uint64), np.empty(KEYS_AT_ONCE, np.float64)
    for i in range(n):
        row, source, before, instance = np.int64(rows[i]), np.int64(vertices[i]), np.int64(previous[i]), instances[i]
        begin, out, count, start = indptr[row], starts[i], counts[i], np.int64(seeds[i])
        of_previous = np.int64(near[i])
        of_item, size = group_key(seed, DRAW_KEY, places[i]), indptr[row + 1] - begin
        made = positive = np.int64(0)
        if count == 0:
            continue
        draws, each = (count, np.int64(1)) if replace else (np.int64(1), count)
        for chunk in range(0, size, KEYS_AT_ONCE):
            many = min(np.int64(KEYS_AT_ONCE), size - chunk)
            first = made
            for k in range(many):
                edge = begin + chunk + k
                slot = np.int64(indices[edge])
                destination = np.int64(ids[slot]) if mapped else slot
                bias = edge_bias(
                    indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, edge, row,
                    slot, source, destination, before, of_previous, depth, instance, start, failure,
                )  # fmt: skip
                if not (bias >= 0 and bias < np.inf):
                    failing(failure, NO_BIAS)
                    bias = 0 * bias
                biases[k] = bias
                positive += bias > 0
            for s in range(draws):
                of_draw = group_key(of_item, DRAW_KEY, s)
                fill(of_draw, np.uint64(instance), np.uint64(depth), chunk, many, numbers)
                made = keep_smallest(numbers, biases, chunk, many, keys, chosen, out + s, first, each)
        if replace and positive:
            made = count
        if not replace and positive <= count:
            chosen[out : out + made].sort()
        if made < count:
            lacking[0] = 1
        for s in range(count):
            owner[out + s] = i if s < made else -1


@twin
def functions_reservoir_long(
    n, rows, vertices, previous, near, instances, places, seeds, depth, indptr, indices, weights, ids, degrees, mapped,
    names, base, near_indptr, near_indices, replace, seed, starts, counts, longs, keys, chosen, owner, lacking,
    failure,
):  # fmt: skip
    """The items of the list; `functions_reservoir` has done it on a CPU."""


@twin
def functions_trials(
    n, rows, vertices, previous, near, instances, places, seeds, depth, indptr, indices, weights, ids, degrees, mapped,
    names, base, near_indptr, near_indices, bound, trials, replace, seed, starts, counts, chosen, owner, done, label,
    failure,
):  # fmt: skip
    """Draw edges all alike, and keep them with probability bias / bound."""
    for i in range(n):
        row, source, before, instance = np.int64(rows[i]), np.int64(vertices[i]), np.int64(previous[i]), instances[i]
        begin, size, out, count = indptr[row], indptr[row + 1] - indptr[row], starts[i], counts[i]
        start = np.int64(seeds[i])
        key = group_key(seed, DRAW_TRIAL, places[i])
        made, found = np.int64(0), replace != 0 or count < size
        while found and made < count:
            found = False
            for trial in range(trials):
                which, kept = philox(key, np.uint64(instance), np.uint64(depth), np.uint64(made * trials + trial))
                place = np.int64(multiply_high(which, np.uint64(size)))
                slot = np.int64(indices[begin + place])
                destination = np.int64(ids[slot]) if mapped else slot
                bias = edge_bias(
                    indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, begin + place,
                    row, slot, source, destination, before, np.int64(near[i]), depth, instance, start, failure,
                )  # fmt: skip
                found = kept_or_failing(kept, bias, bound, failure)
                if found and not replace:
                    for s in range(made):
                        if chosen[out + s] == place:
                            found = False
                            break
                if found:
                    chosen[out + made] = place
                    made += 1
                    break
        done[i] = made
        for s in range(count):
            owner[out + s] = label + i if s < made else -1


@twin
def functions_update(
    n, items, edges, numbers, rows, vertices, previous, near, instances, places, seeds, depth, indptr, indices, weights,
    ids, degrees, mapped, names, base, near_indptr, near_indices, seed, num_vertices, put, failure,
):  # fmt: skip
    for k in range(n):
        i, edge = items[k], edges[k]
        instance, slot = instances[i], np.int64(indices[edge])
        destination = np.int64(ids[slot]) if mapped else slot
        one, _ = philox(
            group_key(seed, DRAW_UPDATE, places[i]), np.uint64(instance), np.uint64(depth), np.uint64(numbers[k])
        )  # fmt: skip
        following = update(
            indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, edge, np.int64(rows[i]),
            slot, np.int64(vertices[i]), destination, np.int64(previous[i]), np.int64(near[i]), depth, instance,
            np.int64(seeds[i]), fraction(one), failure,
        )  # fmt: skip
        following = vertex_of(names, base, num_vertices, following)
        if following < -1:
            failing(failure, NO_VERTEX)
            following = -1
        put[k] = following
