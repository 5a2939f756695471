"""Where functions of the caller are called: twins of functions.cu.

graphdask.kernels.inserted puts the caller's functions after the import of the defaults, whose names they take.

n          items: entries of a pool; of functions_update, edges
rows, vertices, previous
           index dtype: the row of an item, its vertex, and that from which it was reached, -1 where there is none
instances, places, seeds
           int64, int64, index dtype: its instance, its place in the pool of that, and the instance's first vertex
depth      steps before this one
indptr, indices, weights
           the graph; where it has no weights, any array
mapped, ids, degrees
           whether this is a partition, in which the vertices and the lengths of the rows of all slots, int64, are told
           by ids and degrees; else slots are vertices. Of vertices, degrees (int64) are those of the items
values     bias_t: biases; of the edges of item i, `at[i] - at[0]` is the place of the first
least, most
           what neighbor_size may return at least, and at most
sizes      int64: what it returned
bound      what no bias exceeds
trials     how often a draw is tried
starts, counts, chosen, owner, replace, seed
           as in selection.py; the labels are `base` and those that follow
done       int64: how many draws of an item were kept within their trials
items, edges, numbers
           int64: of each edge its item, its place in `indices`, and its number among those chosen together
num_vertices
           of the graph
put        index dtype: what update returned
failure    int32, as in selection.py
"""

import numpy as np
from numba import types
from numba.extending import overload

from graphdask.kernels.functions_default import edge_bias, neighbor_size, update, vertex_bias
from graphdask.kernels.hash import inlined, multiply_high
from graphdask.kernels.philox import DRAW_SIZE, DRAW_TRIAL, DRAW_UPDATE, philox
from graphdask.kernels.selection import (
    ABOVE_BOUND,
    NO_BIAS,
    NO_SIZE,
    NO_VERTEX,
    fraction,
    group_key,
)
from graphdask.kernels.twin import twin

# The functions of the caller stand here.

MACROS = [
    {"index_t": index, "weight_t": weight, "bias_t": bias}
    for index, weight, bias in (
        ("int", "int", "long long"),
        ("int", "float", "double"),
        ("int", "double", "double"),
        ("long long", "long long", "long long"),
        ("long long", "double", "double"),
    )
]

_0 = np.uint64(0)


@inlined
def failing(failure, reason):
    if failure[0] == 0:
        failure[0] = reason


def is_kept(number, bias, bound):
    """Whether a number keeps a candidate: with probability bias / bound, of floats to within 2^-53."""
    raise NotImplementedError  # for compiled code


@overload(is_kept, jit_options={"nogil": True, "error_model": "numpy"}, inline="never")
def _is_kept(number, bias, bound):
    if isinstance(bound, types.Float):
        return lambda number, bias, bound: fraction(number) * bound < bias
    return lambda number, bias, bound: np.int64(multiply_high(number, np.uint64(bound))) < bias


@twin
def functions_vertex_bias(n, vertices, degrees, instances, places, depth, values, failure):
    for i in range(n):
        bias = vertex_bias(np.int64(vertices[i]), degrees[i], depth, instances[i], places[i], failure)
        if bias >= 0 and bias < np.inf:
            values[i] = bias if bias > 0 else 0
        else:
            failing(failure, NO_BIAS)
            values[i] = 0


@twin
def functions_neighbor_size(n, vertices, degrees, instances, places, depth, least, most, seed, sizes, failure):
    for i in range(n):
        first, _ = philox(
            group_key(seed, DRAW_SIZE, places[i]), np.uint64(instances[i]), np.uint64(depth), _0
        )  # fmt: skip
        size = neighbor_size(
            np.int64(vertices[i]), degrees[i], depth, instances[i], places[i], fraction(first), failure
        )  # fmt: skip
        if size < least or size > most:
            failing(failure, NO_SIZE)
            size = 0
        sizes[i] = size


@twin
def functions_edge_bias(
    n, rows, vertices, previous, instances, seeds, depth, indptr, indices, weights, ids, degrees, mapped, at, values,
    failure,
):  # fmt: skip
    for i in range(n):
        row, source, before, instance = np.int64(rows[i]), np.int64(vertices[i]), np.int64(previous[i]), instances[i]
        seed, out = np.int64(seeds[i]), at[i] - at[0] - indptr[row]
        for edge in range(indptr[row], indptr[row + 1]):
            slot = np.int64(indices[edge])
            destination = np.int64(ids[slot]) if mapped else slot
            bias = edge_bias(
                indptr, indices, weights, degrees, mapped, edge, row, slot, source, destination, before, depth,
                instance, seed, failure,
            )  # fmt: skip
            if bias >= 0 and bias < np.inf:
                values[out + edge] = bias if bias > 0 else 0
            else:
                failing(failure, NO_BIAS)
                values[out + edge] = 0


@twin
def functions_trials(
    n, rows, vertices, previous, instances, places, seeds, depth, indptr, indices, weights, ids, degrees, mapped, bound,
    trials, replace, seed, starts, counts, chosen, owner, done, base, failure,
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
                    indptr, indices, weights, degrees, mapped, begin + place, row, slot, source, destination, before,
                    depth, instance, start, failure,
                )  # fmt: skip
                if not (bias >= 0 and bias < np.inf):
                    failing(failure, NO_BIAS)
                    continue
                if bias > bound:
                    failing(failure, ABOVE_BOUND)
                found = is_kept(kept, bias, bound)
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
            owner[out + s] = base + i if s < made else -1


@twin
def functions_update(
    n, items, edges, numbers, rows, vertices, previous, instances, places, seeds, depth, indptr, indices, weights, ids,
    degrees, mapped, seed, num_vertices, put, failure,
):  # fmt: skip
    for k in range(n):
        i, edge = items[k], edges[k]
        instance, slot = instances[i], np.int64(indices[edge])
        destination = np.int64(ids[slot]) if mapped else slot
        one, _ = philox(
            group_key(seed, DRAW_UPDATE, places[i]), np.uint64(instance), np.uint64(depth), np.uint64(numbers[k])
        )  # fmt: skip
        following = update(
            indptr, indices, weights, degrees, mapped, edge, np.int64(rows[i]), slot, np.int64(vertices[i]),
            destination, np.int64(previous[i]), depth, instance, np.int64(seeds[i]), fraction(one), failure,
        )  # fmt: skip
        if following < -1 or following >= num_vertices:
            failing(failure, NO_VERTEX)
            following = -1
        put[k] = following
