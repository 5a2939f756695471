"""First-order random walks: twins of walk.cu.

n         walkers
first     instance of the first of them
begin     steps that are made already, from the rows of `walks`
end       the step to stop after
queue     int64: rows of `walks`, whose walkers go on; `lengths` are steps made so far
budget    steps that a walker may make in this call
method    METROPOLIS (to a neighbour drawn uniformly, or staying by the degrees), or one of pick.py, whose tables are
          values, greatest, totals, shifts, table, other; in walk_streamed CELLS stands for alias, with a table of
          cells: the share of an edge, and the neighbours along it and along the other one, together 64 bits where ids
          have 32, else 64 bits each. On a GPU RESERVOIR is for walk_reservoir and walk_part_reservoir alone, where a
          block takes a walker, of 32 to 256 threads
"""

import numpy as np

from graphdask.kernels.choice.pick import (
    ALIAS,
    INVERSE,
    REJECTION,
    UNIFORM,
    pick,
    pick_alias,
    pick_inverse,
    pick_rejection,
    pick_uniform,
    shift_of,
)
from graphdask.kernels.choice.pick_pack import Picks
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_WALK, philox
from graphdask.kernels.common.tuning import GROUP
from graphdask.kernels.common.tuning import ONE as PROBABILITY_ONE
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.walks.walk_pack import MovingRows, PartWalks, StreamedWalks, WholeWalks

MACROS = [{"index_t": "int", "bias_t": bias} for bias in ("int", "long long", "float", "double")]
MACROS += [{"index_t": "long long", "bias_t": bias} for bias in ("int", "double")]
MACROS += [{"index_t": "int", "bias_t": bias, "arc_t": "int"} for bias in ("int", "long long", "double")]
MACROS += [{"index_t": "int", "bias_t": "int", "arc_t": "long long"}]
MACROS += [{"index_t": "long long", "bias_t": "double", "arc_t": "long long"}]
METROPOLIS, CELLS = 4, 5
"""Besides the methods of pick.py."""
COIN = np.uint64(0x80000000)
ONE = np.uint64(PROBABILITY_ONE)
NEAR, FAR, WAITS = 0, 1, 2
"""How a partition is read: on the device, in place in the host's memory, not at all."""

_0, _1, _32, _LOW = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)


@within
def entry(indices, arcs, edge):
    """Where an edge leads, and its row in what the caller gave where that is known, else -1."""
    if arcs is None:
        return np.int64(indices[edge]), np.int64(-1)
    return np.int64(arcs[edge, 0]), np.int64(arcs[edge, 1])


@within
def following(key, begin, end, instance, step, v, row, start, first, second, a: MovingRows):
    """The next slot after v, whose edges are begin to end - 1 and whose row is `row`, or with True the id of a vertex;
    -1 where the walk ends. And the row of the edge in what the caller gave, -1 where it goes along none or nobody asks.
    `first` and `second` are block 0."""
    biased = a.method != UNIFORM and a.method != METROPOLIS
    ends = begin == end or (biased and a.totals[row] == _0)
    if a.leave:
        coin = second
        if biased:
            coin, _ = philox(key, instance, step, COIN)
        coin >>= _1
        if coin < (a.dead if ends else a.restart):
            return np.int64(start), True, np.int64(-1)
        if coin < (ONE if ends else a.leave):
            return np.int64(multiply_high(first, np.uint64(a.vertices))), True, np.int64(-1)
    if ends:
        return np.int64(-1), False, np.int64(-1)
    if a.method == CELLS:
        edge, digit = pick_uniform(begin, end, first), multiply_high(second, a.totals[row])
        if a.indices.itemsize == 4:
            share, both = a.table[2 * edge], a.table[2 * edge + 1]
            return np.int64(both & _LOW if digit < share else both >> _32), False, np.int64(-1)
        return np.int64(a.table[3 * edge + (1 if digit < a.table[3 * edge] else 2)]), False, np.int64(-1)
    if not biased:
        edge = pick_uniform(begin, end, first)
    else:
        edge, _ = pick(
            a.method, row, begin, end, key, instance, step, _0, Picks(
                values=a.values, greatest=a.greatest, totals=a.totals, shifts=a.shifts, table=a.table, other=a.other,
            ),
        )  # fmt: skip
    u, taken = entry(a.indices, a.arcs, edge)
    if a.method == METROPOLIS:
        others = a.degrees[u]
        if others > end - begin and np.int64(multiply_high(second, np.uint64(others))) >= end - begin:
            return np.int64(v), False, np.int64(-1)
    return u, False, taken


@twin
def walk(n, first, begin, end, a: WholeWalks):
    """Fill columns begin + 1 to end of the walks, and column 0 where begin is 0; instances are first, first + 1, ..."""
    key = keyed(a.seed, DRAW_WALK, 0)
    plain = a.method == UNIFORM and a.leave == _0
    biased = a.leave == _0 and a.method in (REJECTION, INVERSE, ALIAS)
    here, row, degree = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    one, two = np.empty(GROUP, np.uint64), np.empty(GROUP, np.uint64)
    for base in range(0, n, GROUP):
        count = min(GROUP, n - base)
        alive = 0
        for j in range(count):
            if begin == 0:
                a.walks[base + j, 0] = a.starts[base + j]
                a.lengths[base + j] = a.length
            here[j] = a.walks[base + j, begin]
            alive += here[j] >= 0
        for step in range(begin + 1, end + 1):
            if alive == 0:
                for j in range(count):
                    a.walks[base + j, step : end + 1] = -1
                    if a.edges is not None:
                        a.edges[base + j, step - 1 : end] = -1
                break
            number = np.uint64(step)
            for j in range(count):
                one[j], two[j] = philox(key, np.uint64(first + base + j), number, _0)
            if plain:  # in two rounds, each of which waits for nothing of itself
                for j in range(count):
                    v = max(here[j], 0)
                    row[j] = a.indptr[v]
                    degree[j] = a.indptr[v + 1] - row[j]
                for j in range(count):
                    v = taken = np.int64(-1)
                    if here[j] >= 0:
                        if degree[j]:
                            v, taken = entry(a.indices, a.arcs, pick_uniform(row[j], row[j] + degree[j], one[j]))
                        else:
                            a.lengths[base + j] = step - 1
                            alive -= 1
                    here[j] = a.walks[base + j, step] = v
                    if a.edges is not None:
                        a.edges[base + j, step - 1] = taken
                continue
            if biased:  # in three
                for j in range(count):
                    v = max(here[j], 0)
                    row[j] = a.indptr[v]
                    degree[j] = a.indptr[v + 1] - row[j] if here[j] >= 0 and a.totals[v] else 0
                for j in range(count):
                    if degree[j] == 0:
                        continue
                    begins, ends = row[j], row[j] + degree[j]
                    if a.method == ALIAS:
                        row[j] = pick_alias(a.table, a.other, a.totals[here[j]], begins, ends, one[j], two[j])
                    elif a.method == INVERSE:
                        row[j] = pick_inverse(a.table, begins, ends, one[j])
                    else:
                        v = here[j]
                        row[j], _ = pick_rejection(
                            a.values, a.greatest[v], shift_of(a.shifts, v), a.totals[v], a.table, begins, ends, key,
                            np.uint64(first + base + j), number, _0,
                        )  # fmt: skip
                for j in range(count):
                    v = taken = np.int64(-1)
                    if degree[j]:
                        v, taken = entry(a.indices, a.arcs, row[j])
                    elif here[j] >= 0:
                        a.lengths[base + j] = step - 1
                        alive -= 1
                    here[j] = a.walks[base + j, step] = v
                    if a.edges is not None:
                        a.edges[base + j, step - 1] = taken
                continue
            for j in range(count):
                v, taken = here[j], np.int64(-1)
                if v >= 0:
                    v, _, taken = following(
                        key,
                        a.indptr[v],
                        a.indptr[v + 1],
                        np.uint64(first + base + j),
                        number,
                        v,
                        v,
                        a.starts[base + j],
                        one[j],
                        two[j],
                        a,
                    )
                    if v < 0:
                        a.lengths[base + j] = step - 1
                        alive -= 1
                    here[j] = v
                a.walks[base + j, step] = v
                if a.edges is not None:
                    a.edges[base + j, step - 1] = taken


@twin
def walk_reservoir(n, first, begin, end, a: WholeWalks):
    """`walk` by a reservoir, of which the threads of a block draw each edge together."""
    walk(n, first, begin, end, a)


@twin
def walk_part(n, a: PartWalks):
    """Let each walker go until it leaves the partition, ends, or has made `budget` steps."""
    key = keyed(a.seed, DRAW_WALK, 0)
    for i in range(n):
        walker, start = a.instance[i], a.starts[a.instance[i] - a.first_instance]
        v, known, s, count = np.int64(a.at[i]), np.int64(-1), np.int64(a.step[i]), 0
        while count < a.budget and s < a.length:
            first, second = philox(key, np.uint64(walker), np.uint64(s + 1), _0)
            v, far, taken = following(
                key, a.indptr[v], a.indptr[v + 1], np.uint64(walker), np.uint64(s + 1), v, v, start, first, second, a
            )
            known = v if v < 0 or far else np.int64(a.ids[v])
            if v < 0:
                break
            a.path[i, count] = known
            if a.edges is not None:
                a.edges[i, count] = taken
            count += 1
            s += 1
            if far or v >= a.owned:
                break
        a.at[i] = known if s < a.length else -1
        a.step[i] = s
        a.made[i] = count


@twin
def walk_part_reservoir(n, a: PartWalks):
    """`walk_part` by a reservoir, of which the threads of a block draw each edge together."""
    walk_part(n, a)


@within
def partition_of(v, cuts, parts):
    """The partition where a vertex is."""
    place, high = 0, parts - 1
    while place < high:
        middle = (place + high) >> 1
        if cuts[middle + 1] > v:
            high = middle
        else:
            place = middle + 1
    return place


@twin
def walk_streamed(n, queue, first, budget, a: StreamedWalks):
    """Let each walker go until it comes to a partition that is not read, ends, or has made `budget` steps."""
    key = keyed(a.seed, DRAW_WALK, 0)
    for i in range(n):
        r = queue[i]
        s, walker = np.int64(a.lengths[r]), np.uint64(first + r)
        v, end = np.int64(a.walks[r, s]), min(a.length, s + budget)
        place = partition_of(v, a.cuts, a.parts)
        while s < end and a.ways[2 * a.parts + place] != WAITS:
            row = v if a.whole else v + a.ways[place]
            begin, after = a.indptr[row] + a.ways[a.parts + place], a.indptr[row + 1] + a.ways[a.parts + place]
            one, two = philox(key, walker, np.uint64(s + 1), _0)
            if a.ways[2 * a.parts + place] == NEAR:
                v, _, taken = following(key, begin, after, walker, np.uint64(s + 1), v, row, a.starts[r], one, two, a)
            else:
                a.reported[0] += np.uint64(1)
                v, _, taken = following(
                    key, begin, after, walker, np.uint64(s + 1), v, row, a.starts[r], one, two, MovingRows(
                        restart=a.restart, leave=a.leave, dead=a.dead, vertices=a.vertices, indices=a.far_indices,
                        method=a.method, values=a.far_values, greatest=a.greatest, totals=a.totals, shifts=a.shifts,
                        table=a.far_table, other=a.far_other, degrees=a.degrees, arcs=a.far_arcs,
                    ),
                )  # fmt: skip
            if v < 0:
                break
            if a.edges is not None:
                a.edges[r, s] = taken
            s += 1
            a.walks[r, s] = v
            place = partition_of(v, a.cuts, a.parts)
        a.lengths[r] = s
        a.places[r] = place if v >= 0 and s < a.length else a.parts
