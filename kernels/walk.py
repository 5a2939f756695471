"""First-order random walks: twins of walk.cu.

n         walkers
first     instance of the first of them (walk)
instance  of each (walk_part), int64
begin     steps that are made already, from the rows of `walks` (walk)
step      steps that a walker has made, int32, in and out (walk_part)
end       the step to stop after
length    steps of a walk; `walks` has rows of length + 1
method    METROPOLIS (to a neighbour drawn uniformly, or staying by the degrees), or one of pick.py, whose tables are
          values, greatest, totals, shifts, table, other
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
queue     walk_streamed: int64, rows of `walks` whose walkers stand in the partition; `lengths` are steps made so far
base, count
          walk_streamed: vertices of the rows are base to base + count - 1; neighbours are vertices, not slots
cuts, parts
          walk_streamed: the first vertex of each of the partitions, int64 of shape (parts + 1,)
places    walk_streamed: int32 per row of `walks`: the partition where its walker stands; `parts` where it has ended
"""

import numpy as np

from graphdask.kernels.hash import key as keyed
from graphdask.kernels.hash import multiply_high
from graphdask.kernels.philox import DRAW_WALK, philox
from graphdask.kernels.pick import UNIFORM, pick, pick_uniform
from graphdask.kernels.twin import twin, within

MACROS = [{"index_t": "int", "bias_t": bias} for bias in ("int", "long long", "float", "double")]
MACROS += [{"index_t": "long long", "bias_t": bias} for bias in ("int", "double")]
METROPOLIS = 4
"""Besides the methods of pick.py."""
COIN = np.uint64(0x80000000)
ONE = np.uint64(1 << 63)
GROUP = 64
"""Walkers that a CPU moves on in turn, so that it waits for the memory of many at the same time."""

_0, _1 = np.uint64(0), np.uint64(1)


@within
def following(
    key, restart, leave, dead, vertices, indptr, indices, method, values, greatest, totals, shifts, table, other,
    degrees, base, instance, step, v, start, first, second,
):  # fmt: skip
    """The next slot, or with True the id of a vertex; -1 where the walk ends. `first` and `second` are block 0."""
    begin, end = indptr[v], indptr[v + 1]
    biased = method != UNIFORM and method != METROPOLIS
    ends = begin == end or (biased and totals[v] == _0)
    if leave:
        coin = second
        if biased:
            coin, _ = philox(key, instance, step, COIN)
        coin >>= _1
        if coin < (dead if ends else restart):
            return np.int64(start), True
        if coin < (ONE if ends else leave):
            return np.int64(multiply_high(first, np.uint64(vertices))), True
    if ends:
        return np.int64(-1), False
    if not biased:
        edge = pick_uniform(begin, end, first)
    else:
        edge, _ = pick(method, values, greatest, totals, shifts, table, other, v, begin, end, key, instance, step, _0)
    u = np.int64(indices[edge])
    if method == METROPOLIS:
        others = degrees[u]
        if others > end - begin and np.int64(multiply_high(second, np.uint64(others))) >= end - begin:
            return np.int64(v) + base, False
    return u, False


@twin
def walk(
    n, first, begin, end, length, seed, restart, leave, dead, vertices, starts, indptr, indices, method, values,
    greatest, totals, shifts, table, other, degrees, walks, lengths,
):  # fmt: skip
    """Fill columns begin + 1 to end of the walks, and column 0 where begin is 0; instances are first, first + 1, ..."""
    key = keyed(seed, DRAW_WALK, 0)
    plain = method == UNIFORM and leave == _0
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
                    v = np.int64(-1)
                    if here[j] >= 0:
                        if degree[j]:
                            v = np.int64(indices[pick_uniform(row[j], row[j] + degree[j], one[j])])
                        else:
                            lengths[base + j] = step - 1
                            alive -= 1
                    here[j] = walks[base + j, step] = v
                continue
            for j in range(count):
                v = here[j]
                if v >= 0:
                    v, _ = following(
                        key, restart, leave, dead, vertices, indptr, indices, method, values, greatest, totals,
                        shifts, table, other, degrees, np.int64(0), np.uint64(first + base + j), number, v,
                        starts[base + j], one[j], two[j],
                    )  # fmt: skip
                    if v < 0:
                        lengths[base + j] = step - 1
                        alive -= 1
                    here[j] = v
                walks[base + j, step] = v


@twin
def walk_part(
    n, first_instance, instance, step, at, budget, length, seed, restart, leave, dead, vertices, starts, indptr,
    indices, method, values, greatest, totals, shifts, table, other, degrees, ids, owned, path, made,
):  # fmt: skip
    """Let each walker go until it leaves the partition, ends, or has made `budget` steps."""
    key = keyed(seed, DRAW_WALK, 0)
    for i in range(n):
        walker, start = instance[i], starts[instance[i] - first_instance]
        v, known, s, count = np.int64(at[i]), np.int64(-1), np.int64(step[i]), 0
        while count < budget and s < length:
            first, second = philox(key, np.uint64(walker), np.uint64(s + 1), _0)
            v, far = following(
                key, restart, leave, dead, vertices, indptr, indices, method, values, greatest, totals, shifts,
                table, other, degrees, np.int64(0), np.uint64(walker), np.uint64(s + 1), v, start, first, second,
            )  # fmt: skip
            known = v if v < 0 or far else np.int64(ids[v])
            if v < 0:
                break
            path[i, count] = known
            count += 1
            s += 1
            if far or v >= owned:
                break
        at[i] = known if s < length else -1
        step[i] = s
        made[i] = count


@twin
def walk_streamed(
    n, queue, first, budget, length, seed, restart, leave, dead, vertices, starts, indptr, indices, method, values,
    greatest, totals, shifts, table, other, degrees, base, count, cuts, parts, walks, lengths, places,
):  # fmt: skip
    """Let each walker go until it leaves the partition, ends, or has made `budget` steps."""
    key = keyed(seed, DRAW_WALK, 0)
    for i in range(n):
        row = queue[i]
        s, walker = np.int64(lengths[row]), np.uint64(first + row)
        v, end = np.int64(walks[row, s]), min(length, s + budget)
        while s < end and base <= v < base + count:
            one, two = philox(key, walker, np.uint64(s + 1), _0)
            v, _ = following(
                key, restart, leave, dead, vertices, indptr, indices, method, values, greatest, totals, shifts,
                table, other, degrees, base, walker, np.uint64(s + 1), v - base, starts[row], one, two,
            )  # fmt: skip
            if v < 0:
                break
            s += 1
            walks[row, s] = v
        place = parts
        if v >= 0 and s < length:
            place, high = 0, parts - 1
            while place < high:
                middle = (place + high) >> 1
                if cuts[middle + 1] > v:
                    high = middle
                else:
                    place = middle + 1
        lengths[row] = s
        places[row] = place
