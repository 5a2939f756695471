"""Neighbours in one pass over the rows: twins of reservoir.cu.

longs   int64, of n + 1 words, the first one 0: on a GPU, a list of the items with long rows, which
        `reservoir_..._long` processes after the kernel without that suffix; on a CPU the latter draws for all
values  float64: a bias for each edge
starts, counts   int64: where the keys of an item begin in `keys`, and how many they are
keys, places     float64, int64: the smallest exponential keys, and where in the row their edges are

The other arguments and the numbers of an item are those of neighbors.py. Equal keys stand in the order of their edges.

Sources: J. S. Vitter, "Random sampling with a reservoir", ACM Transactions on Mathematical Software 11 (1985);
Efraimidis and Spirakis, Weighted random sampling with a reservoir, Information Processing Letters 97 (2006).
"""

import numpy as np

from graphdask.kernels.choice.keys import exponential_key, keep_smallest
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import fill
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors import entry, key_of
from graphdask.kernels.neighbors.reservoir_pack import Reservoirs

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
AT_ONCE = 256
"""Edges whose numbers a CPU makes before it reads them; even, as numbers are made in pairs."""
_ZERO, _TWO = np.uint64(0), np.uint64(2)


@twin
def reservoir_alike(n, a: Reservoirs):
    """Draw neighbours, all alike and without replacement, by Algorithm R: the first ones, of which each of the others
    in its turn takes the place of one, or of none."""
    numbers = np.empty(AT_ONCE, np.uint64)
    for i in range(n):
        out, vertex, mark, begin = a.offsets[i], a.vertices[i], a.tags[i], a.indptr[a.rows[i]]
        count, degree = a.offsets[i + 1] - out, a.indptr[a.rows[i] + 1] - begin
        if count == 0:
            continue
        of_item, instance = key_of(a.seed, vertex), np.uint64(a.instances[i])
        for s in range(count):
            a.src[out + s] = vertex
            a.tag[out + s] = mark
            a.dst[out + s] = entry(a.indices, begin + s)
        for base in range(count, degree, AT_ONCE):
            many = min(np.int64(AT_ONCE), degree - base)
            fill(of_item, instance, _ZERO, base - count, many, numbers)
            for place in range(base, base + many):
                s = np.int64(multiply_high(numbers[place - base], np.uint64(place + 1)))
                if s < count:
                    a.dst[out + s] = entry(a.indices, begin + place)


@twin
def reservoir_alike_long(n, a: Reservoirs):
    """The items of the list; `reservoir_alike` has done it on a CPU."""


@twin
def reservoir_by_bias(n, a: Reservoirs):
    """Draw neighbours in proportion to their biases among those that are left: those of the smallest keys, in their
    order, or all in the order of the row."""
    numbers, biases = np.empty(AT_ONCE, np.uint64), np.empty(AT_ONCE, np.float64)
    keys, places, zero = np.empty(0, np.float64), np.empty(0, np.int64), np.int64(0)
    for i in range(n):
        out, vertex, mark, begin = a.offsets[i], a.vertices[i], a.tags[i], a.indptr[a.rows[i]]
        count, degree = a.offsets[i + 1] - out, a.indptr[a.rows[i] + 1] - begin
        if count == 0:
            continue
        for s in range(count):
            a.src[out + s] = vertex
            a.tag[out + s] = mark
        if count == degree:
            for s in range(count):
                a.dst[out + s] = entry(a.indices, begin + s)
            continue
        if len(keys) < count:
            keys, places = np.empty(2 * count, np.float64), np.empty(2 * count, np.int64)
        of_item, instance = key_of(a.seed, vertex), np.uint64(a.instances[i])
        made = below = zero
        for base in range(0, degree, AT_ONCE):
            many = min(np.int64(AT_ONCE), degree - base)
            fill(of_item, instance, _TWO, base, many, numbers)
            some = a.sums[begin + base : begin + base + many]
            biases[0] = some[0] - below
            for k in range(1, many):
                biases[k] = some[k] - some[k - 1]
            below = some[many - 1]
            made = keep_smallest(numbers, biases, base, many, keys, places, zero, made, count)
        for s in range(count):
            a.dst[out + s] = entry(a.indices, begin + places[s])


@twin
def reservoir_by_bias_long(n, a: Reservoirs):
    """The items of the list; `reservoir_by_bias` has done it on a CPU."""


@twin
def reservoir_keys(n, a: Reservoirs):
    """Store the smallest exponential keys of each item's edges, of rate `values`, in ascending order, and their places.

    If all edges are asked for, they are in the order of the row. Edges of bias 0 have no key. Entries that stay empty
    have the place -1.
    """
    numbers = np.empty(AT_ONCE, np.uint64)
    for i in range(n):
        out, count, made = a.starts[i], a.counts[i], np.int64(0)
        begin, size = a.indptr[a.rows[i]], a.indptr[a.rows[i] + 1] - a.indptr[a.rows[i]]
        if count == 0:
            continue
        of_item, instance = key_of(a.seed, a.vertices[i]), np.uint64(a.instances[i])
        for base in range(0, size, AT_ONCE):
            many = min(np.int64(AT_ONCE), size - base)
            fill(of_item, instance, _TWO, base, many, numbers)
            if count < size:
                biases = a.values[begin + base : begin + base + many]
                made = keep_smallest(numbers, biases, base, many, a.keys, a.places, out, made, count)
                continue
            for place in range(base, base + many):
                a.places[out + place] = -1
                if a.values[begin + place] > 0:
                    a.keys[out + place] = exponential_key(numbers[place - base], a.values[begin + place])
                    a.places[out + place] = place
        if count < size:
            a.places[out + made : out + count] = -1


@twin
def reservoir_keys_long(n, a: Reservoirs):
    """The items of the list; `reservoir_keys` has done it on a CPU."""
