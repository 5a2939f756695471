"""Second-order random walks (node2vec): twins of second_order.cu.

Arguments are those of walk.py, with second_order_reservoir and second_order_part_reservoir for RESERVOIR.
"""

import numpy as np

from graphdask.kernels.choice.pick import UNIFORM, pick, pick_uniform
from graphdask.kernels.choice.pick_pack import Picks
from graphdask.kernels.common.hash import inlined
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.philox import DRAW_WALK, philox
from graphdask.kernels.common.tuning import GROUP
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.walks.second_order_pack import FactorRows, PartSecondWalks, WholeSecondWalks
from graphdask.kernels.walks.walk import COIN, entry

MACROS = [{"index_t": "int", "bias_t": bias} for bias in ("int", "long long", "float", "double")]
MACROS += [{"index_t": "long long", "bias_t": bias} for bias in ("int", "double")]
MACROS += [{"index_t": "int", "bias_t": bias, "arc_t": "int"} for bias in ("int", "long long", "double")]
MACROS += [{"index_t": "int", "bias_t": "int", "arc_t": "long long"}]
MACROS += [{"index_t": "long long", "bias_t": "double", "arc_t": "long long"}]

_0, _1 = np.uint64(0), np.uint64(1)


@inlined
def coin_of(method, key, instance, step, draw):
    """The 63 bits that did not choose an edge; `draw` is the one after it."""
    if method == UNIFORM:
        _, coin = philox(key, instance, step, draw - _1)
    else:
        coin, _ = philox(key, instance, step, COIN | draw)
    return coin >> _1


@within
def candidate_of(v, begin, end, key, instance, step, draw, a: FactorRows):
    """An edge of a row that is not dead, its coin, and the next draw."""
    if a.method == UNIFORM:
        first, coin = philox(key, instance, step, draw)
        return pick_uniform(begin, end, first), coin >> _1, draw + _1
    edge, draw = pick(
        a.method, v, begin, end, key, instance, step, draw, Picks(
            values=a.values, greatest=a.greatest, totals=a.totals, shifts=a.shifts, table=a.table, other=a.other,
        ),
    )  # fmt: skip
    return edge, coin_of(a.method, key, instance, step, draw), draw


@within
def has_neighbor(indices, ids, begin, end, wanted):
    """Whether a row, in ascending order of ids, has a vertex; without `ids`, slots are ids."""
    while begin < end:
        middle = (begin + end) >> 1
        found = np.int64(indices[middle])
        if len(ids):
            found = np.int64(ids[found])
        if found == wanted:
            return True
        if found < wanted:
            begin = middle + 1
        else:
            end = middle
    return False


@within
def search_all(count, indices, begin, length, wanted, near):
    """Set near[k] to whether row k has the vertex wanted[k], by one comparison in each row in turn; slots are ids."""
    longest = 0
    for k in range(count):
        near[k] = False
        longest = max(longest, length[k])
    while longest > 0:
        longest >>= 1
        for k in range(count):
            half = length[k] >> 1
            if length[k] > 0:
                found = indices[begin[k] + half]
                near[k] |= found == wanted[k]
                below = np.int64(found < wanted[k])
                begin[k] += below * (half + 1)
                length[k] = half - below * (1 - (length[k] & 1))


@twin
def second_order(n, first, begin, end, a: WholeSecondWalks):
    """Fill columns begin + 1 to end of the walks, and column 0 where begin is 0; instances are first, first + 1, ...

    Of a group, each walker draws a candidate and then decides on it, so that none waits for the memory of another.
    """
    key = keyed(a.seed, DRAW_WALK, 0)
    low, high = min(a.common, a.distant), max(a.common, a.distant)
    live, steps, draws = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.uint64)
    here, before, edge = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    coin, near = np.empty(GROUP, np.uint64), np.empty(GROUP, np.bool_)
    asking, row = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    rest, wanted = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    taken = np.empty(GROUP, np.int64)
    for base in range(0, n, GROUP):
        count = 0
        for j in range(min(GROUP, n - base)):
            i = base + j
            if begin == 0:
                a.walks[i, 0] = a.starts[i]
                a.lengths[i] = a.length
            steps[j], draws[j], here[j] = begin + 1, _0, a.walks[i, begin]
            before[j] = a.walks[i, begin - 1] if begin else -1
            live[count] = j
            count += begin < end
        while count:
            for k in range(count):
                j = live[k]
                edge[j] = -1
                if here[j] < 0:
                    continue
                first_edge, last_edge = a.indptr[here[j]], a.indptr[here[j] + 1]
                if first_edge < last_edge and (a.method == UNIFORM or a.totals[here[j]] != _0):
                    edge[j], coin[j], draws[j] = candidate_of(
                        here[j],
                        first_edge,
                        last_edge,
                        key,
                        np.uint64(first + base + j),
                        np.uint64(steps[j]),
                        draws[j],
                        a,
                    )
                    if last_edge - first_edge == 1:
                        coin[j] = _0
                elif steps[j] - 1 < a.lengths[base + j]:
                    a.lengths[base + j] = steps[j] - 1
            asked = left = np.int64(0)
            for k in range(count):
                j = live[k]
                if edge[j] < 0:
                    a.walks[base + j, steps[j] : end + 1] = -1
                    if a.edges is not None:
                        a.edges[base + j, steps[j] - 1 : end] = -1
                    continue
                live[left] = j
                left += 1
                u, number = entry(a.indices, a.arcs, edge[j])
                t = before[j]
                if a.edges is not None:
                    taken[j] = number
                if t < 0 or coin[j] < (a.back if u == t else low):
                    edge[j] = u
                elif u == t or coin[j] >= high:
                    edge[j] = -1
                else:
                    edge[j] = u
                    asking[asked], row[asked], rest[asked], wanted[asked] = (
                        j,
                        a.indptr[t],
                        a.indptr[t + 1] - a.indptr[t],
                        u,
                    )
                    if a.undirected and a.indptr[u + 1] - a.indptr[u] < rest[asked]:
                        row[asked], rest[asked], wanted[asked] = a.indptr[u], a.indptr[u + 1] - a.indptr[u], t
                    asked += 1
            search_all(asked, a.indices, row, rest, wanted, near)
            for k in range(asked):
                if coin[asking[k]] >= (a.common if near[k] else a.distant):
                    edge[asking[k]] = -1
            count = 0
            for k in range(left):
                j = live[k]
                if edge[j] >= 0:
                    a.walks[base + j, steps[j]] = edge[j]
                    if a.edges is not None:
                        a.edges[base + j, steps[j] - 1] = taken[j]
                    before[j], here[j], draws[j] = here[j], edge[j], _0
                    steps[j] += 1
                live[count] = j
                count += steps[j] <= end


@twin
def second_order_reservoir(n, first, begin, end, a: WholeSecondWalks):
    """`second_order` by a reservoir, of which the threads of a block draw each edge together."""
    second_order(n, first, begin, end, a)


@twin
def second_order_part(n, a: PartSecondWalks):
    """Let each walker go until it leaves the partition, asks, ends, or has made `budget` steps."""
    key = keyed(a.seed, DRAW_WALK, 0)
    low, high = min(a.common, a.distant), max(a.common, a.distant)
    for i in range(n):
        walker, trial = np.uint64(a.instance[i]), np.uint64(a.draw[i])
        v, before, slot_before = np.int64(a.at[i]), np.int64(a.previous[i]), np.int64(a.previous_slot[i])
        asked, goal, s, count, stays = np.int64(a.candidate[i]), np.int64(-1), np.int64(a.step[i]), 0, True
        identity = np.int64(a.here[i]) if asked >= 0 else np.int64(a.ids[v])
        if asked >= 0:
            near = has_neighbor(a.indices, a.ids, a.indptr[v], a.indptr[v + 1], before if a.undirected else asked)
            if coin_of(a.method, key, walker, np.uint64(s + 1), trial) < (a.common if near else a.distant):
                a.path[i, count] = asked
                if a.edges is not None:
                    a.edges[i, count] = a.taken[i]
                count += 1
                s += 1
                before, slot_before, identity, trial = identity, np.int64(-1), asked, _0
                stays = a.undirected != 0
            else:
                stays = False
            goal, asked = identity, np.int64(-1)
        while stays and count < a.budget and s < a.length:
            row, row_end = a.indptr[v], a.indptr[v + 1]
            goal = np.int64(-1)
            if row == row_end or (a.method != UNIFORM and a.totals[v] == _0):
                break
            while True:
                edge, coin, trial = candidate_of(v, row, row_end, key, walker, np.uint64(s + 1), trial, a)
                u, number = entry(a.indices, a.arcs, edge)
                to = np.int64(a.ids[u])
                if before < 0 or row_end - row == 1:
                    break
                if to == before:
                    if coin < a.back:
                        break
                    continue
                if coin < low:
                    break
                if coin >= high:
                    continue
                if slot_before >= 0:
                    near = has_neighbor(a.indices, a.ids, a.indptr[slot_before], a.indptr[slot_before + 1], to)
                elif a.undirected and u < a.owned:
                    near = has_neighbor(a.indices, a.ids, a.indptr[u], a.indptr[u + 1], before)
                else:
                    asked = to
                    break
                if coin < (a.common if near else a.distant):
                    break
            if asked >= 0:
                goal = asked if a.undirected else before
                if a.edges is not None:
                    a.taken[i] = number
                break
            a.path[i, count] = to
            if a.edges is not None:
                a.edges[i, count] = number
            count += 1
            s += 1
            before, slot_before, v, identity, goal, trial = identity, v, u, to, to, _0
            stays = u < a.owned
        a.step[i], a.draw[i], a.previous[i], a.here[i], a.candidate[i] = s, trial, before, identity, asked
        a.made[i] = count
        a.target[i] = goal if s < a.length else -1


@twin
def second_order_part_reservoir(n, a: PartSecondWalks):
    """`second_order_part` by a reservoir, of which the threads of a block draw each edge together."""
    second_order_part(n, a)
