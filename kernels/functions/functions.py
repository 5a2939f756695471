"""Kernels that call functions of the caller: twins of functions.cu.

graphdask.kernels.functions.inserted puts the caller's functions after the import of the defaults, whose names they
take. n is the number of items, entries of a pool; for functions_update, of edges.
"""

import numpy as np

from graphdask.kernels.choice.bias_types import checked, failing, kept_or_failing
from graphdask.kernels.choice.keys import ascending, keep_smallest
from graphdask.kernels.choice.selection import NO_BIAS, NO_SIZE, NO_VERTEX, fraction, group_key, vertex_of, wanted
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_KEY, DRAW_SIZE, DRAW_TRIAL, DRAW_UPDATE, fill, philox
from graphdask.kernels.common.tuning import KEYS_AT_ONCE
from graphdask.kernels.common.twin import twin
from graphdask.kernels.functions.functions_default import MACROS, edge_bias, neighbor_size, update, vertex_bias
from graphdask.kernels.functions.functions_pack import FunctionItems, FunctionVertices

__all__ = ["MACROS"]

# The functions of the caller stand here.

_0 = np.uint64(0)


@twin
def functions_vertex_bias(n, a: FunctionVertices):
    for i in range(n):
        bias = vertex_bias(np.int64(a.vertices[i]), a.degrees[i], a.depth, a.instances[i], a.places[i], a.failure, a)
        a.values[i] = checked(bias, a.failure)


@twin
def functions_neighbor_size(n, a: FunctionVertices):
    """How many edges of each item are chosen at most."""
    for i in range(n):
        key = group_key(a.seed, DRAW_SIZE, a.places[i])
        first, _ = philox(key, np.uint64(a.instances[i]), np.uint64(a.depth), _0)
        size = neighbor_size(
            np.int64(a.vertices[i]), a.degrees[i], a.depth, a.instances[i], a.places[i], fraction(first), a.failure, a
        )
        if size < (0 if a.replace else -1) or size > a.most:
            failing(a.failure, NO_SIZE)
            size = np.int64(0)
        a.counts[i] = wanted(a.degrees[i], size, a.replace)


@twin
def functions_edge_bias(n, a: FunctionItems):
    for i in range(n):
        row, source, before = np.int64(a.rows[i]), np.int64(a.vertices[i]), np.int64(a.previous[i])
        instance, start, out = a.instances[i], np.int64(a.seeds[i]), a.at[i] - a.at[0] - a.indptr[row]
        for edge in range(a.indptr[row], a.indptr[row + 1]):
            slot = np.int64(a.indices[edge])
            destination = np.int64(a.ids[slot]) if a.mapped else slot
            bias = edge_bias(
                edge, row, slot, source, destination, before, np.int64(a.near[i]), a.depth, instance, start, a.failure,
                a,
            )  # fmt: skip
            a.values[out + edge] = checked(bias, a.failure)


@twin
def functions_row_bias(n, a: FunctionItems):
    """Of items whose edges have all the same bias: none is chosen where that is 0."""
    for i in range(n):
        row, source = np.int64(a.rows[i]), np.int64(a.vertices[i])
        if a.indptr[row] == a.indptr[row + 1]:
            continue
        bias = edge_bias(
            a.indptr[row], row, row, source, source, np.int64(a.previous[i]), np.int64(a.near[i]), a.depth,
            a.instances[i], np.int64(a.seeds[i]), a.failure, a,
        )  # fmt: skip
        if checked(bias, a.failure) == 0:
            a.counts[i] = 0


@twin
def functions_reservoir(n, a: FunctionItems):
    """Choose the edges of the smallest exponential keys, in one pass; with replacement, again for each choice."""
    numbers, biases = np.empty(KEYS_AT_ONCE, np.uint64), np.empty(KEYS_AT_ONCE, np.float64)
    for i in range(n):
        row, source, before = np.int64(a.rows[i]), np.int64(a.vertices[i]), np.int64(a.previous[i])
        begin, out, count, start = a.indptr[row], a.starts[i], a.counts[i], np.int64(a.seeds[i])
        instance, of_previous = a.instances[i], np.int64(a.near[i])
        of_item, size = group_key(a.seed, DRAW_KEY, a.places[i]), a.indptr[row + 1] - begin
        made = positive = np.int64(0)
        if count == 0:
            continue
        draws, each = (count, np.int64(1)) if a.replace else (np.int64(1), count)
        for chunk in range(0, size, KEYS_AT_ONCE):
            many = min(np.int64(KEYS_AT_ONCE), size - chunk)
            first = made
            for k in range(many):
                edge = begin + chunk + k
                slot = np.int64(a.indices[edge])
                destination = np.int64(a.ids[slot]) if a.mapped else slot
                bias = edge_bias(
                    edge, row, slot, source, destination, before, of_previous, a.depth, instance, start, a.failure, a,
                )  # fmt: skip
                if not (bias >= 0 and bias < np.inf):
                    failing(a.failure, NO_BIAS)
                    bias = 0 * bias
                biases[k] = bias
                positive += bias > 0
            for s in range(draws):
                of_draw = group_key(of_item, DRAW_KEY, s)
                fill(of_draw, np.uint64(instance), np.uint64(a.depth), chunk, many, numbers)
                made = keep_smallest(numbers, biases, chunk, many, a.keys, a.chosen, out + s, first, each)
        if a.replace and positive:
            made = count
        if not a.replace and positive <= count:
            ascending(a.chosen, out, out + made)
        if made < count:
            a.lacking[0] = 1
        for s in range(count):
            a.owner[out + s] = i if s < made else -1


@twin
def functions_reservoir_long(n, a: FunctionItems):
    """The items of the list; `functions_reservoir` has done it on a CPU."""


@twin
def functions_trials(n, a: FunctionItems):
    """Draw edges all alike, and keep them with probability bias / bound."""
    for i in range(n):
        row, source, before = np.int64(a.rows[i]), np.int64(a.vertices[i]), np.int64(a.previous[i])
        begin, size, out, count = a.indptr[row], a.indptr[row + 1] - a.indptr[row], a.starts[i], a.counts[i]
        instance, start = a.instances[i], np.int64(a.seeds[i])
        key = group_key(a.seed, DRAW_TRIAL, a.places[i])
        made, found = np.int64(0), a.replace != 0 or count < size
        while found and made < count:
            found = False
            for trial in range(a.trials):
                which, kept = philox(key, np.uint64(instance), np.uint64(a.depth), np.uint64(made * a.trials + trial))
                place = np.int64(multiply_high(which, np.uint64(size)))
                slot = np.int64(a.indices[begin + place])
                destination = np.int64(a.ids[slot]) if a.mapped else slot
                bias = edge_bias(
                    begin + place, row, slot, source, destination, before, np.int64(a.near[i]), a.depth, instance,
                    start, a.failure, a,
                )  # fmt: skip
                found = kept_or_failing(kept, bias, a.bound, a.failure)
                if found and not a.replace:
                    for s in range(made):
                        if a.chosen[out + s] == place:
                            found = False
                            break
                if found:
                    a.chosen[out + made] = place
                    made += 1
                    break
        a.done[i] = made
        for s in range(count):
            a.owner[out + s] = a.label + i if s < made else -1


@twin
def functions_update(n, a: FunctionItems):
    for k in range(n):
        i, edge = a.of_items[k], a.edges[k]
        instance, slot = a.instances[i], np.int64(a.indices[edge])
        destination = np.int64(a.ids[slot]) if a.mapped else slot
        key = group_key(a.seed, DRAW_UPDATE, a.places[i])
        one, _ = philox(key, np.uint64(instance), np.uint64(a.depth), np.uint64(a.numbers[k]))
        following = update(
            edge, np.int64(a.rows[i]), slot, np.int64(a.vertices[i]), destination, np.int64(a.previous[i]),
            np.int64(a.near[i]), a.depth, instance, np.int64(a.seeds[i]), fraction(one), a,
        )  # fmt: skip
        following = vertex_of(a.names, a.base, a.num_vertices, following)
        if following < -1:
            failing(a.failure_of_update, NO_VERTEX)
            following = -1
        a.put[k] = following
