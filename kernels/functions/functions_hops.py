"""Steps by functions of the caller, many in one launch: twins of functions_hops.cu.

Shared memory is that of hops.py; if functions ask from which vertex one was reached, it has another `places` vertices
for each instance. Of pools, steps `begin` are made, and `end` are to have been made.
"""

import numpy as np

from graphdask.kernels.choice.aliases import aliases_draw
from graphdask.kernels.choice.aliases_pack import AliasDraws
from graphdask.kernels.choice.bias_types import checked, failing, keep_bias, kept_or_failing
from graphdask.kernels.choice.pick_of_floats import pick_of_floats
from graphdask.kernels.choice.selection import (
    LARGE_SUM,
    NO_VERTEX,
    fraction,
    group_key,
    selection_pick,
    selection_summed,
    selection_uniform,
    vertex_of,
)
from graphdask.kernels.choice.selection_pack import Selections
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_EDGE, DRAW_POOL, DRAW_TRIAL, DRAW_UPDATE, philox
from graphdask.kernels.common.tuning import LOOKED_AT
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.functions.functions_default import (
    HAS_UPDATE,
    HAS_VERTEX_BIAS,
    MACROS,
    edge_bias,
    gd_how,
    update,
    vertex_bias,
)
from graphdask.kernels.functions.functions_hops_pack import AskedRows, FunctionHops, FunctionPools

__all__ = ["MACROS"]

# The functions of the caller stand here.

UNIFORM, SUMMED, TRIED, ALIASED = 0, 1, 2, 3
"""How edges are drawn: all alike, by sums of their biases, by rejection, or by an alias table. A module is compiled for
one of them, `gd_how`, so that Numba leaves out the others."""
_0, _63 = np.uint64(0), np.uint64(63)
_ONE, _EDGE = np.int64(1), np.int64(DRAW_EDGE)
"""As integers of the type that other callers hand over: Numba compiles a function again for every literal and type."""


@within
def _tried(v, source, instance, place, start, hop, most, chosen, units, a: AskedRows):
    """Draw up to `most` places of a row by trials, and the rest in proportion to what is left."""
    begin, size = a.indptr[v], a.indptr[v + 1] - a.indptr[v]
    made, found, key = np.int64(0), a.replace != 0 or most < size, group_key(a.seed, DRAW_TRIAL, place)
    while found and made < most:
        found = False
        for trial in range(a.trials):
            which, kept = philox(key, np.uint64(instance), np.uint64(hop), np.uint64(made * a.trials + trial))
            tried = np.int64(multiply_high(which, np.uint64(size)))
            slot = np.int64(a.indices[begin + tried])
            bias = edge_bias(
                begin + tried, v, slot, v, slot, source, source, hop, instance, start, a.failure, a,
            )  # fmt: skip
            found = kept_or_failing(kept, bias, a.bound, a.failure)
            for s in range(made):
                found = found and (a.replace != 0 or chosen[s] != tried)
            if found:
                chosen[made] = tried
                made += 1
                break
    if made == most:
        return made
    if size > LOOKED_AT:
        a.gave_up[0] = 1
        return made
    for k in range(size):
        slot = np.int64(a.indices[begin + k])
        bias = edge_bias(
            begin + k, v, slot, v, slot, source, source, hop, instance, start, a.failure, a,
        )  # fmt: skip
        keep_bias(units, k, checked(bias, a.failure))
    none, bounds, owner = np.zeros(1, np.int64), np.zeros(2, np.int64), np.empty(most, np.int64)
    bounds[1] = size
    selection_pick(
        _ONE, Selections(
            labels=none, bounds=bounds, values=units, floating=a.floating, starts=none, counts=none + most,
            replace=a.replace, seed=a.seed, what=_EDGE, tags=none + place, instances=none + instance, step=hop,
            done=none + made, chosen=chosen, owner=owner, failure=a.failure,
        ),
    )  # fmt: skip
    while made < most and owner[made] == 0:
        made += 1
    return made


@within
def _one_alike(v, source, instance, place, start, hop, chosen, a: AskedRows):
    """Draw a place of a row whose edges are all alike; how many there are, 1 or 0."""
    begin, size = a.indptr[v], a.indptr[v + 1] - a.indptr[v]
    if size == 0:
        return np.int64(0)
    bias = edge_bias(begin, v, v, v, v, source, source, hop, instance, start, a.failure, a)
    if not checked(bias, a.failure) > 0:
        return np.int64(0)
    number, _ = philox(group_key(a.seed, DRAW_EDGE, place), np.uint64(instance), np.uint64(hop), _0)
    chosen[0] = np.int64(multiply_high(number, np.uint64(size)))
    return np.int64(1)


@within
def _drawn(v, source, instance, place, start, hop, wanted, chosen, owner, units, a: AskedRows):
    """Draw up to `wanted` places of a row; how many there are."""
    begin, size, count = a.indptr[v], a.indptr[v + 1] - a.indptr[v], np.int64(0)
    if size == 0:
        return count
    if gd_how == TRIED:
        return _tried(v, source, instance, place, start, hop, wanted, chosen, units, a)
    if gd_how == UNIFORM:
        bias = edge_bias(begin, v, v, v, v, source, source, hop, instance, start, a.failure, a)
        if not checked(bias, a.failure) > 0:
            return count
        if wanted == 1:
            number, _ = philox(group_key(a.seed, DRAW_EDGE, place), np.uint64(instance), np.uint64(hop), _0)
            chosen[0] = np.int64(multiply_high(number, np.uint64(size)))
            return wanted
        none = np.zeros(1, np.int64)
        selection_uniform(
            _ONE, Selections(
                begins=none, sizes=none + size, starts=none, counts=none + wanted, replace=a.replace, seed=a.seed,
                what=_EDGE, tags=none + place, instances=none + instance, step=hop, table=none, chosen=chosen,
                owner=owner,
            ),
        )  # fmt: skip
        return wanted
    none = np.zeros(1, np.int64)
    if gd_how == SUMMED:
        selection_summed(
            _ONE, Selections(
                rows=none + v, bounds=a.indptr, sums=a.sums, positives=a.positives, starts=none, counts=none + wanted,
                replace=a.replace, seed=a.seed, what=_EDGE, tags=none + place, instances=none + instance, step=hop,
                chosen=chosen, owner=owner,
            ),
        )  # fmt: skip
    else:
        aliases_draw(
            _ONE, AliasDraws(
                rows=none + v, indptr=a.indptr, totals=a.totals, share=a.sums.view(np.uint64), other=a.other,
                starts=none, counts=none + wanted, seed=a.seed, what=_EDGE, tags=none + place,
                instances=none + instance, step=hop, chosen=chosen, owner=owner,
            ),
        )  # fmt: skip
    while count < wanted and owner[count] == 0:
        count += 1
    return count


@within
def _put(edge, number, v, source, instance, place, start, hop, a: AskedRows):
    """What an edge puts into the pool, the `number`th of its item."""
    slot = np.int64(a.indices[edge])
    drawn, _ = philox(group_key(a.seed, DRAW_UPDATE, place), np.uint64(instance), np.uint64(hop), np.uint64(number))
    following = update(
        edge, v, slot, v, slot, source, source, hop, instance, start, fraction(drawn), a,
    )  # fmt: skip
    following = vertex_of(a.names, a.base, a.num_vertices, following)
    if following < -1:
        failing(a.failure_of_update, NO_VERTEX)
        return np.int64(-1)
    return np.int64(following)


@twin
def functions_hops_draw(n, first, a: FunctionHops):
    """The edges of each instance, in the order of hop, the vertex's place in the frontier, as chosen."""
    listed, sources = np.empty((a.together, a.places), a.seeds.dtype), np.empty((a.together, a.places), a.seeds.dtype)
    marks, chosen, owner = np.empty((2, a.together), np.int64), np.empty(255, np.int64), np.empty(255, np.int64)
    begins, ends, units = marks[0], marks[1], np.empty(LOOKED_AT, np.int64)
    for group in range(0, n, a.together):
        those, made = min(a.together, n - group), 0
        for g in range(those):
            i = group + g
            begin, end = (i, i + 1) if a.bounds is None else (a.bounds[i], a.bounds[i + 1])
            begins[g], ends[g], a.counts[i] = 0, end - begin, 0
            for k in range(end - begin):
                listed[g, k], sources[g, k] = a.seeds[begin + k], -1
        for hop in range(a.hops):
            fanout = np.int64((a.fanouts >> np.uint64(8 * hop)) & np.uint64(255))
            for g in range(those):
                i, end = group + g, ends[g]
                instance, known, drawn = first + i, set(listed[g, :end]), made
                for k in range(begins[g], end):
                    v, source, start = np.int64(listed[g, k]), np.int64(sources[g, k]), np.int64(listed[g, 0])
                    place, row = k - begins[g], a.indptr[v]
                    wanted = fanout if a.replace else min(fanout, a.indptr[v + 1] - row)
                    count = _drawn(v, source, instance, place, start, hop, wanted, chosen, owner, units, a)
                    for s in range(count):
                        edge = row + chosen[s]
                        a.src[group * a.most + made], a.dst[group * a.most + made] = v, a.indices[edge]
                        made += 1
                        following = np.int64(a.indices[edge])
                        if HAS_UPDATE:
                            following = _put(edge, s, v, source, instance, place, start, hop, a)
                        if hop + 1 == a.hops or following < 0 or (not a.revisit and following in known):
                            continue
                        known.add(a.seeds.dtype.type(following))
                        listed[g, ends[g]], sources[g, ends[g]] = following, v
                        ends[g] += 1
                a.counts[i] += made - drawn
                a.upto[i * a.hops + hop], a.starts[i * a.hops + hop] = a.counts[i], drawn
                begins[g] = end


@twin
def functions_hops_pools(n, first, begin, end, a: FunctionPools):
    """Of each pool in steps `begin` to `end` - 1 the vertex that is chosen, and its edge; `lacking`: whether there was
    none in some step. A GPU keeps biases that are `fixed` in `kept`."""
    chosen, owner = np.empty(1, np.int64), np.empty(1, np.int64)
    largest = max(LOOKED_AT, a.sizes.max()) if n else 0
    units, biases, copied = np.empty(LOOKED_AT, np.int64), np.empty(largest, np.int64), np.empty(largest, np.int64)
    floats, key = False, group_key(a.seed, DRAW_POOL, np.int64(0))
    for i in range(n):
        instance, size, pool, sources = first + i, a.sizes[i], a.pools[a.bounds[i] :], a.before[a.bounds[i] :]
        start, stale, last, total = np.int64(a.seeds[i]), np.int64(0), size, _0  # biases of which places are to be made
        for step in range(begin, end):
            a.src[i * a.depth + step] = a.dst[i * a.depth + step] = owner[0] = -1
            a.hops[i * a.depth + step], a.instances[i * a.depth + step] = step, instance
            if size == 0:
                a.lacking[0] = 1
                continue
            number, _ = philox(key, np.uint64(instance), np.uint64(step), _0)
            if HAS_VERTEX_BIAS:
                for p in range(stale, last):
                    v = np.int64(pool[p])
                    degree = a.indptr[v + 1] - a.indptr[v]
                    bias = vertex_bias(v, degree, step, instance, np.int64(p), a.failure_of_pool, a)
                    floats = keep_bias(biases, p, checked(bias, a.failure_of_pool))
                    total += np.uint64(biases[p])
                    if not floats and total >> _63:  # before it is so large that it begins at 0 again
                        failing(a.failure_of_pool, LARGE_SUM)
            if HAS_VERTEX_BIAS and floats:
                pick_of_floats(biases, size, copied, instance, step, a.seed, chosen, owner, a.failure_of_pool)
            elif not HAS_VERTEX_BIAS:
                chosen[0], owner[0] = np.int64(multiply_high(number, np.uint64(size))), 0
            elif total and not total >> _63:
                digit, place = np.int64(multiply_high(number, total)), np.int64(0)
                while digit >= biases[place]:
                    digit -= biases[place]
                    place += 1
                chosen[0], owner[0] = place, 0
            stale, last = np.int64(0), np.int64(0)
            if not a.fixed:
                last, total = size, _0
            if owner[0] < 0:
                a.lacking[0] = 1
                continue
            place = chosen[0]
            v, source = np.int64(pool[place]), np.int64(sources[place])
            row, following = a.indptr[v], np.int64(-1)
            if gd_how == UNIFORM:
                count = _one_alike(v, source, instance, place, start, step, chosen, a)
            else:
                wanted = min(np.int64(1), a.indptr[v + 1] - row)
                count = _drawn(v, source, instance, place, start, step, wanted, chosen, owner, units, a)
            a.src[i * a.depth + step] = v
            if count:
                edge = row + chosen[0]
                a.dst[i * a.depth + step] = a.indices[edge]
                following = np.int64(a.indices[edge])
                if HAS_UPDATE:
                    following = _put(edge, 0, v, source, instance, place, start, step, a)
            else:
                a.lacking[0] = 1
            if HAS_VERTEX_BIAS and a.fixed:
                total -= np.uint64(biases[place])
                stale, last = place, place + (following >= 0)
            if following >= 0:
                pool[place], sources[place] = following, v
                continue
            size -= 1
            for k in range(place, size):
                pool[k], sources[k], biases[k] = pool[k + 1], sources[k + 1], biases[k + 1]
            if not a.fixed:
                last = size
        a.sizes[i] = size
