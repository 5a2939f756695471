"""Where functions of the caller are called: twins of functions.cu.

graphdask.kernels.inserted puts the caller's functions after the import of the defaults, whose names they take.

n          items: entries of a pool; of functions_update, edges
vertices, previous
           index dtype: the vertex of an item, and that from which it was reached, -1 where there is none
instances, places
           int64: its instance, and its place in the pool of that
seeds      index dtype: the first vertex of each instance, from instance `first` on
depth      steps before this one
indptr, indices, weights
           the graph; where it has no weights, any array
values     bias_t: biases; of the edges of item i, `at[i] - at[0]` is the place of the first
least      what neighbor_size may return at least
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
def functions_vertex_bias(n, vertices, instances, places, depth, indptr, values, failure):
    for i in range(n):
        bias = vertex_bias(indptr, np.int64(vertices[i]), depth, instances[i], places[i], failure)
        if bias >= 0 and bias < np.inf:
            values[i] = bias if bias > 0 else 0
        else:
            failing(failure, NO_BIAS)
            values[i] = 0


@twin
def functions_neighbor_size(n, vertices, instances, places, depth, indptr, least, seed, sizes, failure):
    for i in range(n):
        first, _ = philox(
            group_key(seed, DRAW_SIZE, places[i]), np.uint64(instances[i]), np.uint64(depth), _0
        )  # fmt: skip
        size = neighbor_size(
            indptr, np.int64(vertices[i]), depth, instances[i], places[i], fraction(first), failure
        )  # fmt: skip
        if size < least:
            failing(failure, NO_SIZE)
            size = 0
        sizes[i] = size


@twin
def functions_edge_bias(
    n, vertices, previous, instances, seeds, first, depth, indptr, indices, weights, at, values, failure
):
    for i in range(n):
        source, before, instance = np.int64(vertices[i]), np.int64(previous[i]), instances[i]
        begin, end, seed = indptr[source], indptr[source + 1], np.int64(seeds[instance - first])
        out = at[i] - at[0] - begin
        for edge in range(begin, end):
            bias = edge_bias(
                indptr, indices, weights, edge, source, np.int64(indices[edge]), before, depth, instance, seed, failure
            )
            if bias >= 0 and bias < np.inf:
                values[out + edge] = bias if bias > 0 else 0
            else:
                failing(failure, NO_BIAS)
                values[out + edge] = 0


@twin
def functions_trials(
    n, vertices, previous, instances, places, seeds, first, depth, indptr, indices, weights, bound, trials, replace,
    seed, starts, counts, chosen, owner, done, base, failure,
):  # fmt: skip
    """Draw edges all alike, and keep them with probability bias / bound."""
    for i in range(n):
        source, before, instance = np.int64(vertices[i]), np.int64(previous[i]), instances[i]
        begin, size, out, count = indptr[source], indptr[source + 1] - indptr[source], starts[i], counts[i]
        start = np.int64(seeds[instance - first])
        key = group_key(seed, DRAW_TRIAL, places[i])
        made, found = np.int64(0), replace != 0 or count < size
        while found and made < count:
            found = False
            for trial in range(trials):
                which, kept = philox(key, np.uint64(instance), np.uint64(depth), np.uint64(made * trials + trial))
                place = np.int64(multiply_high(which, np.uint64(size)))
                bias = edge_bias(
                    indptr, indices, weights, begin + place, source, np.int64(indices[begin + place]), before, depth,
                    instance, start, failure,
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
    n, items, edges, numbers, vertices, previous, instances, places, seeds, first, depth, indptr, indices, weights,
    seed, num_vertices, put, failure,
):  # fmt: skip
    for k in range(n):
        i, edge = items[k], edges[k]
        source, instance = np.int64(vertices[i]), instances[i]
        one, _ = philox(
            group_key(seed, DRAW_UPDATE, places[i]), np.uint64(instance), np.uint64(depth), np.uint64(numbers[k])
        )  # fmt: skip
        following = update(
            indptr, indices, weights, edge, source, np.int64(indices[edge]), np.int64(previous[i]), depth, instance,
            np.int64(seeds[instance - first]), fraction(one), failure,
        )  # fmt: skip
        if following < -1 or following >= num_vertices:
            failing(failure, NO_VERTEX)
            following = -1
        put[k] = following
