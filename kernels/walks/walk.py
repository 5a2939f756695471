"""First-order random walks: twins of walk.cu.

n         walkers
first     instance of the first of them (walk)
instance  of each (walk_part), int64
begin     steps that are made already, from the rows of `walks` (walk)
step      steps that a walker has made, int32, in and out (walk_part)
end       the step to stop after
length    steps of a walk; `walks` has rows of length + 1
method    METROPOLIS (to a neighbour drawn uniformly, or staying by the degrees), or one of pick.py, whose tables are
          values, greatest, totals, shifts, table, other; in walk_streamed CELLS stands for alias, with a table of
          cells: the share of an edge, and the neighbours along it and along the other one, together 64 bits where ids
          have 32, else 64 bits each. On a GPU RESERVOIR is for walk_reservoir and walk_part_reservoir alone, where a
          block takes a walker, of 32 to 256 threads
seed      uint64, of the random numbers
restart, leave, dead, vertices
          see Moves in walk.cu
starts    index dtype: where walkers start; ids (walk_part: of all instances from first_instance on)
degrees   int64 per slot; for METROPOLIS
walks     index dtype, (n, length + 1): the vertices visited, -1 after the last
lengths   int32: steps that were made
at        index dtype: in, the slot where a walker stands; out, the id of the vertex it goes on from, -1 where it ended
budget    steps that a walker may make in this call; `path`, index dtype, (n, budget), takes the ids of the vertices
          that it comes to, `made`, int32, their number
ids       index dtype per slot
owned     slots of own vertices: a walker that comes to another one stops
arcs      None, or of each edge its entry of `indices` and its row in what the caller gave, (edges, 2); then `indices`
          is not read. On a GPU they are read where the macro arc_t says their type
edges     None where `arcs` is, else int64, (n, length), in walk_part (n, budget): the row of the edge of each step, -1
          of a step that goes along no edge and in walk behind the last step; in walk_part only of steps that were made

Over partitions of the vertices, some of which are on the device (walk_streamed); neighbours are vertices, not slots:

queue     int64: rows of `walks`, whose walkers go on; `lengths` are steps made so far
cuts      int64, shape (parts + 1,): the first vertex of each partition
ways      int64, shape (3 * parts,), of each partition: what is added to a vertex where its row is looked up; what is
          added to what `indptr` says of its edges; and how these are read: NEAR, FAR or not at all (WAITS)
whole     whether rows are those of all vertices, and nothing is to be added to look them up
indptr, greatest, totals, shifts
          rows
indices, values, table, other, arcs
          edges of partitions that are near
far_indices, far_values, far_table, far_other, far_arcs
          of all: those that are far are read here
edges     filled with -1 before
places    int32 per row of `walks`: the partition where its walker stands; `parts` where it has ended
told      uint64, shape (1,): steps from vertices that are far are added
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
def following(
    key, restart, leave, dead, vertices, begin, end, indices, method, values, greatest, totals, shifts, table, other,
    degrees, instance, step, v, row, start, first, second, arcs,
):  # fmt: skip
    """The next slot after v, whose edges are begin to end - 1 and whose row is `row`, or with True the id of a vertex;
    -1 where the walk ends. And the row of the edge in what the caller gave, -1 where it goes along none or nobody asks.
    `first` and `second` are block 0."""
    biased = method != UNIFORM and method != METROPOLIS
    ends = begin == end or (biased and totals[row] == _0)
    if leave:
        coin = second
        if biased:
            coin, _ = philox(key, instance, step, COIN)
        coin >>= _1
        if coin < (dead if ends else restart):
            return np.int64(start), True, np.int64(-1)
        if coin < (ONE if ends else leave):
            return np.int64(multiply_high(first, np.uint64(vertices))), True, np.int64(-1)
    if ends:
        return np.int64(-1), False, np.int64(-1)
    if method == CELLS:
        edge, digit = pick_uniform(begin, end, first), multiply_high(second, totals[row])
        if indices.itemsize == 4:
            share, both = table[2 * edge], table[2 * edge + 1]
            return np.int64(both & _LOW if digit < share else both >> _32), False, np.int64(-1)
        return np.int64(table[3 * edge + (1 if digit < table[3 * edge] else 2)]), False, np.int64(-1)
    if not biased:
        edge = pick_uniform(begin, end, first)
    else:
        edge, _ = pick(
            method, row, begin, end, key, instance, step, _0, Picks(
                values=values, greatest=greatest, totals=totals, shifts=shifts, table=table, other=other,
            ),
        )  # fmt: skip
    u, taken = entry(indices, arcs, edge)
    if method == METROPOLIS:
        others = degrees[u]
        if others > end - begin and np.int64(multiply_high(second, np.uint64(others))) >= end - begin:
            return np.int64(v), False, np.int64(-1)
    return u, False, taken


@twin
def walk(
    n, first, begin, end, length, seed, restart, leave, dead, vertices, starts, indptr, indices, method, values,
    greatest, totals, shifts, table, other, degrees, walks, lengths, arcs, edges,
):  # fmt: skip
    """Fill columns begin + 1 to end of the walks, and column 0 where begin is 0; instances are first, first + 1, ..."""
    key = keyed(seed, DRAW_WALK, 0)
    plain = method == UNIFORM and leave == _0
    biased = leave == _0 and method in (REJECTION, INVERSE, ALIAS)
    here, row, degree = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    one, two = np.empty(GROUP, np.uint64), np.empty(GROUP, np.uint64)
    for base in range(0, n, GROUP):
        count = min(GROUP, n - base)
        alive = 0
        for j in range(count):
            if begin == 0:
                walks[base + j, 0] = starts[base + j]
                lengths[base + j] = length
            here[j] = walks[base + j, begin]
            alive += here[j] >= 0
        for step in range(begin + 1, end + 1):
            if alive == 0:
                for j in range(count):
                    walks[base + j, step : end + 1] = -1
                    if edges is not None:
                        edges[base + j, step - 1 : end] = -1
                break
            number = np.uint64(step)
            for j in range(count):
                one[j], two[j] = philox(key, np.uint64(first + base + j), number, _0)
            if plain:  # in two rounds, each of which waits for nothing of itself
                for j in range(count):
                    v = max(here[j], 0)
                    row[j] = indptr[v]
                    degree[j] = indptr[v + 1] - row[j]
                for j in range(count):
                    v = taken = np.int64(-1)
                    if here[j] >= 0:
                        if degree[j]:
                            v, taken = entry(indices, arcs, pick_uniform(row[j], row[j] + degree[j], one[j]))
                        else:
                            lengths[base + j] = step - 1
                            alive -= 1
                    here[j] = walks[base + j, step] = v
                    if edges is not None:
                        edges[base + j, step - 1] = taken
                continue
            if biased:  # in three
                for j in range(count):
                    v = max(here[j], 0)
                    row[j] = indptr[v]
                    degree[j] = indptr[v + 1] - row[j] if here[j] >= 0 and totals[v] else 0
                for j in range(count):
                    if degree[j] == 0:
                        continue
                    begins, ends = row[j], row[j] + degree[j]
                    if method == ALIAS:
                        row[j] = pick_alias(table, other, totals[here[j]], begins, ends, one[j], two[j])
                    elif method == INVERSE:
                        row[j] = pick_inverse(table, begins, ends, one[j])
                    else:
                        v = here[j]
                        row[j], _ = pick_rejection(
                            values, greatest[v], shift_of(shifts, v), totals[v], table, begins, ends, key,
                            np.uint64(first + base + j), number, _0,
                        )  # fmt: skip
                for j in range(count):
                    v = taken = np.int64(-1)
                    if degree[j]:
                        v, taken = entry(indices, arcs, row[j])
                    elif here[j] >= 0:
                        lengths[base + j] = step - 1
                        alive -= 1
                    here[j] = walks[base + j, step] = v
                    if edges is not None:
                        edges[base + j, step - 1] = taken
                continue
            for j in range(count):
                v, taken = here[j], np.int64(-1)
                if v >= 0:
                    v, _, taken = following(
                        key, restart, leave, dead, vertices, indptr[v], indptr[v + 1], indices, method, values,
                        greatest, totals, shifts, table, other, degrees, np.uint64(first + base + j), number, v, v,
                        starts[base + j], one[j], two[j], arcs,
                    )  # fmt: skip
                    if v < 0:
                        lengths[base + j] = step - 1
                        alive -= 1
                    here[j] = v
                walks[base + j, step] = v
                if edges is not None:
                    edges[base + j, step - 1] = taken


@twin
def walk_reservoir(
    n, first, begin, end, length, seed, restart, leave, dead, vertices, starts, indptr, indices, method, values,
    greatest, totals, shifts, table, other, degrees, walks, lengths, arcs, edges,
):  # fmt: skip
    """`walk` by a reservoir, of which the threads of a block draw each edge together."""
    walk(
        n, first, begin, end, length, seed, restart, leave, dead, vertices, starts, indptr, indices, method, values,
        greatest, totals, shifts, table, other, degrees, walks, lengths, arcs, edges,
    )  # fmt: skip


@twin
def walk_part(
    n, first_instance, instance, step, at, budget, length, seed, restart, leave, dead, vertices, starts, indptr,
    indices, method, values, greatest, totals, shifts, table, other, degrees, ids, owned, path, made, arcs, edges,
):  # fmt: skip
    """Let each walker go until it leaves the partition, ends, or has made `budget` steps."""
    key = keyed(seed, DRAW_WALK, 0)
    for i in range(n):
        walker, start = instance[i], starts[instance[i] - first_instance]
        v, known, s, count = np.int64(at[i]), np.int64(-1), np.int64(step[i]), 0
        while count < budget and s < length:
            first, second = philox(key, np.uint64(walker), np.uint64(s + 1), _0)
            v, far, taken = following(
                key, restart, leave, dead, vertices, indptr[v], indptr[v + 1], indices, method, values, greatest,
                totals, shifts, table, other, degrees, np.uint64(walker), np.uint64(s + 1), v, v, start, first, second,
                arcs,
            )  # fmt: skip
            known = v if v < 0 or far else np.int64(ids[v])
            if v < 0:
                break
            path[i, count] = known
            if edges is not None:
                edges[i, count] = taken
            count += 1
            s += 1
            if far or v >= owned:
                break
        at[i] = known if s < length else -1
        step[i] = s
        made[i] = count


@twin
def walk_part_reservoir(
    n, first_instance, instance, step, at, budget, length, seed, restart, leave, dead, vertices, starts, indptr,
    indices, method, values, greatest, totals, shifts, table, other, degrees, ids, owned, path, made, arcs, edges,
):  # fmt: skip
    """`walk_part` by a reservoir, of which the threads of a block draw each edge together."""
    walk_part(
        n, first_instance, instance, step, at, budget, length, seed, restart, leave, dead, vertices, starts, indptr,
        indices, method, values, greatest, totals, shifts, table, other, degrees, ids, owned, path, made, arcs, edges,
    )  # fmt: skip


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
def walk_streamed(
    n, queue, first, budget, length, seed, restart, leave, dead, vertices, starts, indptr, greatest, totals, shifts,
    indices, method, values, table, other, far_indices, far_values, far_table, far_other, degrees, cuts, ways, parts,
    whole, walks, lengths, places, told, arcs, far_arcs, edges,
):  # fmt: skip
    """Let each walker go until it comes to a partition that is not read, ends, or has made `budget` steps."""
    key = keyed(seed, DRAW_WALK, 0)
    for i in range(n):
        r = queue[i]
        s, walker = np.int64(lengths[r]), np.uint64(first + r)
        v, end = np.int64(walks[r, s]), min(length, s + budget)
        place = partition_of(v, cuts, parts)
        while s < end and ways[2 * parts + place] != WAITS:
            row = v if whole else v + ways[place]
            begin, after = indptr[row] + ways[parts + place], indptr[row + 1] + ways[parts + place]
            one, two = philox(key, walker, np.uint64(s + 1), _0)
            if ways[2 * parts + place] == NEAR:
                v, _, taken = following(
                    key, restart, leave, dead, vertices, begin, after, indices, method, values, greatest, totals,
                    shifts, table, other, degrees, walker, np.uint64(s + 1), v, row, starts[r], one, two, arcs,
                )  # fmt: skip
            else:
                told[0] += np.uint64(1)
                v, _, taken = following(
                    key, restart, leave, dead, vertices, begin, after, far_indices, method, far_values, greatest,
                    totals, shifts, far_table, far_other, degrees, walker, np.uint64(s + 1), v, row, starts[r], one,
                    two, far_arcs,
                )  # fmt: skip
            if v < 0:
                break
            if edges is not None:
                edges[r, s] = taken
            s += 1
            walks[r, s] = v
            place = partition_of(v, cuts, parts)
        lengths[r] = s
        places[r] = place if v >= 0 and s < length else parts
