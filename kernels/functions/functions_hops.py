"""Steps by functions of the caller, many in one launch: twins of functions_hops.cu.

hops.py describes first, seeds, bounds, fanouts, hops, together, places, slots, most, src, dst, upto, starts and counts;
functions.py describes the other arguments that are not listed here. Shared memory is that of hops.py; if functions ask
from which vertex one was reached, it has another `places` vertices for each instance.

how        one of the constants below
sums, positives
           int64: of each row its biases' units (selection.py), added up to each edge and with it, and how many are
           above 0; or the shares of an alias table (biases.py), uint64, with its totals and others
floating   whether biases are floats
updates    whether there is an update
revisit    whether a vertex comes into the pool of an instance again and again
failure, failure_of_update
           int32, as in selection.py
begin, end, depth
           of pools: steps made, to have made, and in all
pools, before, sizes
           of the instances whose pools begin at `bounds`: their vertices, those from which they were reached, -1 at
           first, both in the index dtype, and how many there are, int64; their first seeds are `seeds`
weighs, fixed
           whether vertices of pools have biases, else they are all alike; and whether these depend on the vertex alone
failure_of_pool
           int32, as in selection.py
gave_up    int32, shape (1,): 1 where trials were not enough in a row of more than LOOKED_AT edges, or are of a row with
           places of more than 32 bits; then what was drawn is of no use
"""

import numpy as np

from graphdask.kernels.choice.aliases import aliases_draw
from graphdask.kernels.choice.aliases_pack import AliasDraws
from graphdask.kernels.choice.bias_types import checked, failing, keep_bias, kept_or_failing
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
from graphdask.kernels.functions.functions_default import MACROS, edge_bias, update, vertex_bias

__all__ = ["MACROS"]

# The functions of the caller stand here.

UNIFORM, SUMMED, TRIED, ALIASED = 0, 1, 2, 3
"""How edges are drawn: all alike, by sums of their biases, by rejection, or by an alias table."""
_0, _63 = np.uint64(0), np.uint64(63)


@within
def _tried(
    v, source, instance, place, start, hop, most, indptr, indices, weights, degrees, names, base, near_indptr,
    near_indices, floating, bound, trials, replace, seed, chosen, units, failure, gave_up,
):  # fmt: skip
    """Draw up to `most` places of a row by trials, and the rest in proportion to what is left."""
    begin, size = indptr[v], indptr[v + 1] - indptr[v]
    made, found, key = np.int64(0), replace != 0 or most < size, group_key(seed, DRAW_TRIAL, place)
    while found and made < most:
        found = False
        for trial in range(trials):
            which, kept = philox(key, np.uint64(instance), np.uint64(hop), np.uint64(made * trials + trial))
            tried = np.int64(multiply_high(which, np.uint64(size)))
            slot = np.int64(indices[begin + tried])
            bias = edge_bias(
                indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin + tried, v, slot,
                v, slot, source, source, hop, instance, start, failure,
            )  # fmt: skip
            found = kept_or_failing(kept, bias, bound, failure)
            for s in range(made):
                found = found and (replace != 0 or chosen[s] != tried)
            if found:
                chosen[made] = tried
                made += 1
                break
    if made == most:
        return made
    if size > LOOKED_AT:
        gave_up[0] = 1
        return made
    for k in range(size):
        slot = np.int64(indices[begin + k])
        bias = edge_bias(
            indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin + k, v, slot, v, slot,
            source, source, hop, instance, start, failure,
        )  # fmt: skip
        keep_bias(units, k, checked(bias, failure))
    none, bounds, owner = np.zeros(1, np.int64), np.zeros(2, np.int64), np.empty(most, np.int64)
    bounds[1] = size
    selection_pick(
        1, Selections(
            labels=none, bounds=bounds, values=units, floating=floating, starts=none, counts=none + most,
            replace=replace, seed=seed, what=DRAW_EDGE, tags=none + place, instances=none + instance, step=hop,
            done=none + made, chosen=chosen, owner=owner, failure=failure,
        ),
    )  # fmt: skip
    while made < most and owner[made] == 0:
        made += 1
    return made


@within
def _one_alike(
    v, source, instance, place, start, hop, indptr, indices, weights, degrees, names, base, near_indptr, near_indices,
    seed, chosen, failure,
):  # fmt: skip
    """Draw a place of a row whose edges are all alike; how many there are, 1 or 0."""
    begin, size = indptr[v], indptr[v + 1] - indptr[v]
    if size == 0:
        return np.int64(0)
    bias = edge_bias(
        indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin, v, v, v, v, source,
        source, hop, instance, start, failure,
    )  # fmt: skip
    if not checked(bias, failure) > 0:
        return np.int64(0)
    number, _ = philox(group_key(seed, DRAW_EDGE, place), np.uint64(instance), np.uint64(hop), _0)
    chosen[0] = np.int64(multiply_high(number, np.uint64(size)))
    return np.int64(1)


@within
def _drawn(
    v, source, instance, place, start, hop, wanted, indptr, indices, weights, degrees, names, base, near_indptr,
    near_indices, how, sums, positives, totals, other, floating, bound, trials, replace, seed, chosen, owner, units,
    failure, gave_up,
):  # fmt: skip
    """Draw up to `wanted` places of a row; how many there are."""
    begin, size, count = indptr[v], indptr[v + 1] - indptr[v], np.int64(0)
    if size == 0:
        return count
    if how == TRIED:
        return _tried(
            v, source, instance, place, start, hop, wanted, indptr, indices, weights, degrees, names, base,
            near_indptr, near_indices, floating, bound, trials, replace, seed, chosen, units, failure, gave_up,
        )  # fmt: skip
    if how == UNIFORM:
        bias = edge_bias(
            indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, begin, v, v, v, v, source,
            source, hop, instance, start, failure,
        )  # fmt: skip
        if not checked(bias, failure) > 0:
            return count
        if wanted == 1:
            number, _ = philox(group_key(seed, DRAW_EDGE, place), np.uint64(instance), np.uint64(hop), _0)
            chosen[0] = np.int64(multiply_high(number, np.uint64(size)))
            return wanted
        none = np.zeros(1, np.int64)
        selection_uniform(
            1, Selections(
                begins=none, sizes=none + size, starts=none, counts=none + wanted, replace=replace, seed=seed,
                what=DRAW_EDGE, tags=none + place, instances=none + instance, step=hop, table=none, chosen=chosen,
                owner=owner,
            ),
        )  # fmt: skip
        return wanted
    none = np.zeros(1, np.int64)
    if how == SUMMED:
        selection_summed(
            1, Selections(
                rows=none + v, bounds=indptr, sums=sums, positives=positives, starts=none, counts=none + wanted,
                replace=replace, seed=seed, what=DRAW_EDGE, tags=none + place, instances=none + instance, step=hop,
                chosen=chosen, owner=owner,
            ),
        )  # fmt: skip
    else:
        aliases_draw(
            1, AliasDraws(
                rows=none + v, indptr=indptr, totals=totals, share=sums.view(np.uint64), other=other, starts=none,
                counts=none + wanted, seed=seed, what=DRAW_EDGE, tags=none + place, instances=none + instance,
                step=hop, chosen=chosen, owner=owner,
            ),
        )  # fmt: skip
    while count < wanted and owner[count] == 0:
        count += 1
    return count


@within
def _put(
    edge, number, v, source, instance, place, start, hop, indptr, indices, weights, degrees, names, base, near_indptr,
    near_indices, num_vertices, seed, failure,
):  # fmt: skip
    """What an edge puts into the pool, the `number`th of its item."""
    slot = np.int64(indices[edge])
    drawn, _ = philox(group_key(seed, DRAW_UPDATE, place), np.uint64(instance), np.uint64(hop), np.uint64(number))
    following = update(
        indptr, indices, weights, degrees, 0, names, base, near_indptr, near_indices, edge, v, slot, v, slot, source,
        source, hop, instance, start, fraction(drawn), failure,
    )  # fmt: skip
    following = vertex_of(names, base, num_vertices, following)
    if following < -1:
        failing(failure, NO_VERTEX)
        return np.int64(-1)
    return np.int64(following)


@twin
def functions_hops_draw(
    n, first, seeds, bounds, indptr, indices, weights, ids, degrees, mapped, names, base, near_indptr, near_indices,
    how, sums, positives, totals, other, floating, bound, trials, updates, num_vertices, fanouts, hops, replace,
    revisit, seed, together, places, slots, most, src, dst, upto, starts, counts, failure, failure_of_update, gave_up,
):  # fmt: skip
    """The edges of each instance, in the order of hop, the vertex's place in the frontier, as chosen."""
    listed, sources = np.empty((together, places), seeds.dtype), np.empty((together, places), seeds.dtype)
    marks, chosen, owner = np.empty((2, together), np.int64), np.empty(255, np.int64), np.empty(255, np.int64)
    begins, ends, units = marks[0], marks[1], np.empty(LOOKED_AT, np.int64)
    for group in range(0, n, together):
        those, made = min(together, n - group), 0
        for g in range(those):
            i = group + g
            a, b = (i, i + 1) if bounds is None else (bounds[i], bounds[i + 1])
            begins[g], ends[g], counts[i] = 0, b - a, 0
            for k in range(b - a):
                listed[g, k], sources[g, k] = seeds[a + k], -1
        for hop in range(hops):
            fanout = np.int64((fanouts >> np.uint64(8 * hop)) & np.uint64(255))
            for g in range(those):
                i, end = group + g, ends[g]
                instance, known, drawn = first + i, set(listed[g, :end]), made
                for k in range(begins[g], end):
                    v, source, start = np.int64(listed[g, k]), np.int64(sources[g, k]), np.int64(listed[g, 0])
                    place, begin = k - begins[g], indptr[v]
                    wanted = fanout if replace else min(fanout, indptr[v + 1] - begin)
                    count = _drawn(
                        v, source, instance, place, start, hop, wanted, indptr, indices, weights, degrees, names, base,
                        near_indptr, near_indices, how, sums, positives, totals, other, floating, bound, trials,
                        replace, seed, chosen, owner, units, failure, gave_up,
                    )  # fmt: skip
                    for s in range(count):
                        edge = begin + chosen[s]
                        src[group * most + made], dst[group * most + made] = v, indices[edge]
                        made += 1
                        following = np.int64(indices[edge])
                        if updates:
                            following = _put(
                                edge, s, v, source, instance, place, start, hop, indptr, indices, weights, degrees,
                                names, base, near_indptr, near_indices, num_vertices, seed, failure_of_update,
                            )  # fmt: skip
                        if hop + 1 == hops or following < 0 or (not revisit and following in known):
                            continue
                        known.add(seeds.dtype.type(following))
                        listed[g, ends[g]], sources[g, ends[g]] = following, v
                        ends[g] += 1
                counts[i] += made - drawn
                upto[i * hops + hop], starts[i * hops + hop] = counts[i], drawn
                begins[g] = end


@twin
def _one_of_floats(biases, size, copied, instance, step, seed, chosen, owner, failure):
    """A place of a pool in proportion to biases that are floats."""
    none, bounds = np.zeros(1, np.int64), np.zeros(2, np.int64)
    copied[:size], bounds[1] = biases[:size], size
    selection_pick(
        1, Selections(
            labels=none, bounds=bounds, values=copied, floating=True, starts=none, counts=none + 1, replace=0,
            seed=seed, what=DRAW_POOL, tags=none, instances=none + instance, step=step, done=none, chosen=chosen,
            owner=owner, failure=failure,
        ),
    )  # fmt: skip


@twin
def functions_hops_pools(
    n, first, begin, end, depth, bounds, seeds, indptr, indices, weights, ids, degrees, mapped, names, base,
    near_indptr, near_indices, how, sums, positives, totals, other, floating, bound, trials, updates, num_vertices,
    replace, seed, weighs, fixed, kept, sizes, pools, before, src, dst, hops, instances, lacking, failure,
    failure_of_update, gave_up, failure_of_pool,
):  # fmt: skip
    """Of each pool in steps `begin` to `end` - 1 the vertex that is chosen, and its edge; `lacking`: whether there was
    none in some step. A GPU keeps biases that are `fixed` in `kept`."""
    chosen, owner = np.empty(1, np.int64), np.empty(1, np.int64)
    largest = max(LOOKED_AT, sizes.max()) if n else 0
    units, biases, copied = np.empty(LOOKED_AT, np.int64), np.empty(largest, np.int64), np.empty(largest, np.int64)
    floats, key = False, group_key(seed, DRAW_POOL, np.int64(0))
    for i in range(n):
        instance, size, pool, sources = first + i, sizes[i], pools[bounds[i] :], before[bounds[i] :]
        start, stale, last, total = np.int64(seeds[i]), np.int64(0), size, _0  # biases of which places are to be made
        for step in range(begin, end):
            src[i * depth + step] = dst[i * depth + step] = owner[0] = -1
            hops[i * depth + step], instances[i * depth + step] = step, instance
            if size == 0:
                lacking[0] = 1
                continue
            number, _ = philox(key, np.uint64(instance), np.uint64(step), _0)
            if weighs:
                for p in range(stale, last):
                    v = np.int64(pool[p])
                    degree = indptr[v + 1] - indptr[v]
                    bias = vertex_bias(names, base, v, degree, step, instance, np.int64(p), failure_of_pool)
                    floats = keep_bias(biases, p, checked(bias, failure_of_pool))
                    total += np.uint64(biases[p])
                    if not floats and total >> _63:  # before it is so large that it begins at 0 again
                        failing(failure_of_pool, LARGE_SUM)
            if weighs and floats:
                _one_of_floats(biases, size, copied, instance, step, seed, chosen, owner, failure_of_pool)
            elif not weighs:
                chosen[0], owner[0] = np.int64(multiply_high(number, np.uint64(size))), 0
            elif total and not total >> _63:
                digit, place = np.int64(multiply_high(number, total)), np.int64(0)
                while digit >= biases[place]:
                    digit -= biases[place]
                    place += 1
                chosen[0], owner[0] = place, 0
            stale, last = np.int64(0), np.int64(0)
            if not fixed:
                last, total = size, _0
            if owner[0] < 0:
                lacking[0] = 1
                continue
            place = chosen[0]
            v, source = np.int64(pool[place]), np.int64(sources[place])
            row, following = indptr[v], np.int64(-1)
            if how == UNIFORM:
                count = _one_alike(
                    v, source, instance, place, start, step, indptr, indices, weights, degrees, names, base,
                    near_indptr, near_indices, seed, chosen, failure,
                )  # fmt: skip
            else:
                count = _drawn(
                    v, source, instance, place, start, step, min(np.int64(1), indptr[v + 1] - row), indptr, indices,
                    weights, degrees, names, base, near_indptr, near_indices, how, sums, positives, totals, other,
                    floating, bound, trials, replace, seed, chosen, owner, units, failure, gave_up,
                )  # fmt: skip
            src[i * depth + step] = v
            if count:
                edge = row + chosen[0]
                dst[i * depth + step] = indices[edge]
                following = np.int64(indices[edge])
                if updates:
                    following = _put(
                        edge, 0, v, source, instance, place, start, step, indptr, indices, weights, degrees, names,
                        base, near_indptr, near_indices, num_vertices, seed, failure_of_update,
                    )  # fmt: skip
            else:
                lacking[0] = 1
            if weighs and fixed:
                total -= np.uint64(biases[place])
                stale, last = place, place + (following >= 0)
            if following >= 0:
                pool[place], sources[place] = following, v
                continue
            size -= 1
            for k in range(place, size):
                pool[k], sources[k], biases[k] = pool[k + 1], sources[k + 1], biases[k + 1]
            if not fixed:
                last = size
        sizes[i] = size
