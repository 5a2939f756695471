"""Traversal sampling: twins of neighbors.cu.

An *item* of the frontier is a vertex that an instance expands. Items stand in the order of their instances.

The 64-bit numbers of an item are those of Philox with a key of (seed, vertex), a permutation of the vertex for every
seed, and the counter (instance, step, block): step 0 says which neighbours, step 1 how many, step 2 gives keys. A
vertex is expanded once in an instance, so no number is used twice.

Without replacement it is Floyd's algorithm, in the order of his steps. Where more neighbours are asked for than there
are, all of them come, in the order of the row.
"""

import numpy as np

from graphdask.kernels.common.hash import GOLDEN, hashed, inlined, key, multiply_high
from graphdask.kernels.common.philox import DRAW_NEIGHBOR, philox
from graphdask.kernels.common.tuning import FEW_DRAWN as FEW
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
AT_ONCE = 64
"""Items that a CPU draws for before it reads their neighbours."""
_ONE, _ZERO = np.uint64(1), np.uint64(0)


@inlined
def key_of(seed, vertex):
    return hashed(key(seed, DRAW_NEIGHBOR, 0), key(seed, DRAW_NEIGHBOR, 1), np.uint64(vertex))


@inlined
def word_of(pair, key, instance, step, number):
    """64-bit number `number` of an item; the numbers are taken in order, and `pair` keeps the second of two."""
    if number & 1:
        return pair[0]
    first, pair[0] = philox(key, instance, step, np.uint64(number >> 1))
    return first


@inlined
def entry(indices, place):
    """The neighbour at a place; without neighbours, the place."""
    return place if indices is None else indices[place]


@inlined
def _slot(vertex, begin, end):
    return begin + np.int64(multiply_high(np.uint64(vertex) * GOLDEN, np.uint64(end - begin)))


@twin
def neighbors_counts(n, rows, vertices, instances, indptr, fanout, replace, burn, seed, counts):
    """How many neighbours an item gets: `fanout`, all if it is -1, or as often as numbers are below `burn`."""
    pair = np.empty(1, np.uint64)
    for i in range(n):
        degree = indptr[rows[i] + 1] - indptr[rows[i]]
        count = degree
        if burn != _ZERO:
            of_item, count = key_of(seed, vertices[i]), np.int64(0)
            while count < degree and word_of(pair, of_item, np.uint64(instances[i]), _ONE, count) < burn:
                count += 1
        elif fanout >= 0:
            count = fanout if replace and degree else min(fanout, degree)
        counts[i] = count


@twin
def neighbors_uniform(n, a: ItemDraws):
    """Draw neighbours, all alike."""
    pair, table, places = np.empty(1, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64)
    begins, degrees = np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE, np.int64)
    key_0, key_1 = key(a.seed, DRAW_NEIGHBOR, 0), key(a.seed, DRAW_NEIGHBOR, 1)
    for block in range(0, n, AT_ONCE):
        stop = min(block + AT_ONCE, n)
        first, end = a.offsets[block], a.offsets[stop]
        if len(places) < end - first:
            places = np.empty(2 * (end - first), np.int64)
        # one kind of reads at a time: they do not wait for each other
        for i in range(block, stop):
            begins[i - block] = a.indptr[a.rows[i]]
            degrees[i - block] = a.indptr[a.rows[i] + 1] - a.indptr[a.rows[i]]
        for i in range(block, stop):
            out, vertex, mark = a.offsets[i], a.vertices[i], a.tags[i]
            count, begin, degree, at = a.offsets[i + 1] - out, begins[i - block], degrees[i - block], out - first
            for e in range(out, out + count):
                a.src[e] = vertex
                a.tag[e] = mark
            of_item, instance = hashed(key_0, key_1, np.uint64(vertex)), np.uint64(a.instances[i])
            if not a.replace and count == degree:
                for s in range(count):
                    places[at + s] = begin + s
            elif a.replace:
                for s in range(count):
                    place = multiply_high(word_of(pair, of_item, instance, _ZERO, s), np.uint64(degree))
                    places[at + s] = begin + np.int64(place)
            elif count <= FEW:
                for s in range(count):
                    last = degree - count + s
                    number = word_of(pair, of_item, instance, _ZERO, s)
                    place = begin + np.int64(multiply_high(number, np.uint64(last + 1)))
                    for before in range(at, at + s):
                        if places[before] == place:
                            place = begin + last
                            break
                    places[at + s] = place
            else:
                if len(table) < 2 * count:
                    table = np.empty(2 * count, np.int64)
                _floyd(count, begin, degree, pair, of_item, instance, table, places[at : at + count])
        for e in range(first, end):
            a.dst[e] = entry(a.indices, places[e - first])


@twin
def _floyd(count, begin, degree, pair, of_item, instance, table, places):
    """Floyd's algorithm with a table of what is taken."""
    capacity = 2 * count
    table[:capacity] = -1
    for s in range(count):
        last = degree - count + s
        place = np.int64(multiply_high(word_of(pair, of_item, instance, _ZERO, s), np.uint64(last + 1)))
        slot = _slot(place, np.int64(0), capacity)
        while table[slot] != -1 and table[slot] != place:
            slot = slot + 1 if slot + 1 < capacity else 0
        if table[slot] == place:
            place = last
            slot = _slot(place, np.int64(0), capacity)
            while table[slot] != -1:
                slot = slot + 1 if slot + 1 < capacity else 0
        table[slot] = place
        places[s] = begin + place


@twin
def neighbors_uniform_long(n, origin, drawn, table, a: ItemDraws):
    """The items of which more than FEW neighbours are drawn; `neighbors_uniform` has done it on a CPU."""


@twin
def neighbors_enter(n, vertices, instances, first, regions, visited, keys, earliest, fresh):
    """Put vertices in a table, in the part of their instance, which begins at twice `regions`.

    `visited`: they were expanded already; else they are candidates for it. On a CPU that knows at once which are fresh:
    not visited, and here for the first time.
    """
    for i in range(n):
        mine, vertex = instances[i] - first, vertices[i]
        begin, end = 2 * regions[mine], 2 * regions[mine + 1]
        slot = _slot(vertex, begin, end)
        while keys[slot] != -1 and keys[slot] != vertex:
            slot = slot + 1 if slot + 1 < end else begin
        if not visited:
            fresh[i] = keys[slot] == -1
        keys[slot] = vertex


@twin
def neighbors_fresh(n, vertices, instances, first, regions, keys, earliest, fresh):
    """Which candidates are fresh; `neighbors_enter` has said it on a CPU."""


@twin
def neighbors_keep(n, vertices, instances, before, sums, starts, count, kept, of_kept, before_kept, bounds):
    """Put fresh candidates together, of which `sums` counts those up to each, with the vertices before them where these
    are given; and where those of each instance begin, whose candidates begin at `starts`, int64 of shape (count,)."""
    at = 0
    for i in range(n):
        if sums[i] != at:
            kept[at], of_kept[at] = vertices[i], instances[i]
            if before is not None:
                before_kept[at] = before[i]
            at += 1
    for k in range(count):
        bounds[k] = sums[starts[k] - 1] if starts[k] else 0


@twin
def neighbors_place(n, hop, first, shifts, src, dst, instances, out_src, out_dst, out_hop, out_instance):
    """Put the edges of a hop where they belong among those of all hops; `shifts`: by how much, for each instance."""
    for i in range(n):
        place = i + shifts[instances[i] - first]
        out_src[place] = src[i]
        out_dst[place] = dst[i]
        out_hop[place] = hop
        out_instance[place] = instances[i]


@twin
def neighbors_walked(n, first, depth, offsets, starts, dst, put, out_src, out_dst, out_hop, out_instance):
    """The edges of walks, whose rows of `depth` are in `dst`, one walk after the other; their sources are `put`'s."""
    for i in range(n):
        begin, before = offsets[i], starts[i]
        for step in range(offsets[i + 1] - begin):
            out_src[begin + step] = before
            out_dst[begin + step] = dst[i, step]
            out_hop[begin + step] = step
            out_instance[begin + step] = first + i
            before = put[i, step]
