// Where functions of the caller are called: biases of vertices and edges, how many neighbours, and what goes into the
// pool. graphdask.kernels.inserted puts them before the defaults. The twins in functions.py say what the arguments are.
//
// Source: Pandey et al., c-saw, Section III, Figure 2; Yang et al., KnightKing (SOSP 2019), Section 4, for rejection
// with a bound.
#include "common/common.cuh"
#include "choice/keys.cuh"
#include "choice/pick.cuh"
#include "choice/selection.cuh"
#include "choice/smallest.cuh"
#include "functions/functions_default.cuh"
#include "functions/functions_biases.cuh"

extern "C" __global__ void functions_vertex_bias(long long n, const gd_i64 *__restrict__ names, gd_i64 base,
                                                 const index_t *__restrict__ vertices,
                                                 const gd_i64 *__restrict__ degrees,
                                                 const gd_i64 *__restrict__ instances,
                                                 const gd_i64 *__restrict__ places, gd_i64 depth,
                                                 bias_t *__restrict__ values, int *failure) {
    GD_FOR(i, n) {
        values[i] =
            gd_checked(vertex_bias(names, base, vertices[i], degrees[i], depth, instances[i], places[i], failure),
                       failure);
    }
}

extern "C" __global__ void functions_neighbor_size(long long n, const gd_i64 *__restrict__ names, gd_i64 base,
                                                   const index_t *__restrict__ vertices,
                                                   const gd_i64 *__restrict__ degrees,
                                                   const gd_i64 *__restrict__ instances,
                                                   const gd_i64 *__restrict__ places, gd_i64 depth, gd_i64 replace,
                                                   gd_i64 most, gd_u64 seed, gd_i64 *__restrict__ counts,
                                                   int *failure) {
    GD_FOR(i, n) {
        gd_u64 first, second;
        gd_philox(gd_group_key(seed, GD_DRAW_SIZE, places[i]), (gd_u64)instances[i], (gd_u32)depth, 0, first, second);
        const gd_i64 size =
            neighbor_size(names, base, vertices[i], degrees[i], depth, instances[i], places[i], gd_fraction(first),
                          failure);
        const bool wrong = size < (replace ? 0 : -1) || size > most;
        if (wrong) atomicCAS(failure, 0, GD_NO_SIZE);
        counts[i] = gd_wanted(degrees[i], wrong ? 0 : size, replace);
    }
}

extern "C" __global__ void functions_edge_bias(long long n, const index_t *__restrict__ rows,
                                               const index_t *__restrict__ vertices,
                                               const index_t *__restrict__ previous,
                                               const index_t *__restrict__ near,
                                               const gd_i64 *__restrict__ instances,
                                               const index_t *__restrict__ seeds, gd_i64 depth,
                                               const gd_i64 *__restrict__ indptr,
                                               const index_t *__restrict__ indices,
                                               const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                               const gd_i64 *__restrict__ degrees, gd_i64 mapped,
                                               const gd_i64 *__restrict__ names, gd_i64 base,
                                               const gd_i64 *__restrict__ near_indptr,
                                               const index_t *__restrict__ near_indices,
                                               const gd_i64 *__restrict__ at, bias_t *__restrict__ values,
                                               int *failure) {
    const gd_i64 lane = threadIdx.x & 31, warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const gd_i64 row = rows[i], source = vertices[i], before = previous[i], instance = instances[i];
        const gd_i64 begin = indptr[row], end = indptr[row + 1], seed = seeds[i];
        bias_t *const out = values + (at[i] - at[0]);
        for (gd_i64 edge = begin + lane; edge < end; edge += 32) {
            const gd_i64 slot = indices[edge], destination = mapped ? ids[slot] : slot;
            out[edge - begin] = gd_checked(edge_bias(indptr, indices, weights, degrees, mapped, names, base,
                                                     near_indptr, near_indices, edge, row,
                                                     slot, source,
                                                     destination, before, near[i], depth, instance, seed, failure),
                                                     failure);
        }
    }
}

extern "C" __global__ void functions_row_bias(long long n, const index_t *__restrict__ rows,
                                              const index_t *__restrict__ vertices,
                                              const index_t *__restrict__ previous,
                                              const index_t *__restrict__ near,
                                              const gd_i64 *__restrict__ instances,
                                              const index_t *__restrict__ seeds, gd_i64 depth,
                                              const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                              const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                              const gd_i64 *__restrict__ degrees, gd_i64 mapped,
                                              const gd_i64 *__restrict__ names, gd_i64 base,
                                              const gd_i64 *__restrict__ near_indptr,
                                              const index_t *__restrict__ near_indices,
                                              gd_i64 *__restrict__ counts, int *failure) {
    GD_FOR(i, n) {
        const gd_i64 row = rows[i], source = vertices[i];
        if (indptr[row] == indptr[row + 1]) continue;
        const bias_t bias = gd_checked(edge_bias(indptr, indices, weights, degrees, mapped, names, base,
                                                 near_indptr, near_indices, indptr[row],
                                                 row, row, source, source, previous[i], near[i], depth, instances[i],
                                                 seeds[i],
                                                 failure), failure);
        if (!(bias > 0)) counts[i] = 0;
    }
}

// What functions_reservoir is given.
struct Reservoir {
    const index_t *rows, *vertices, *previous, *near;
    const gd_i64 *instances, *places;
    const index_t *seeds;
    gd_i64 depth;
    const gd_i64 *indptr;
    const index_t *indices;
    const weight_t *weights;
    const index_t *ids;
    const gd_i64 *degrees;
    gd_i64 mapped;
    const gd_i64 *names;
    gd_i64 base;
    const gd_i64 *near_indptr;
    const index_t *near_indices;
    gd_i64 replace;
    gd_u64 seed;
    const gd_i64 *starts, *counts;
    double *keys;
    gd_i64 *chosen, *owner;
    int *lacking, *failure;

    __device__ __forceinline__ bool is_long(gd_i64 i) const {
        return gd_is_long(row_length(indptr, rows[i]), replace ? counts[i] > 0 : counts[i]);
    }

    // Biases of the edges of an item, as the function says.
    struct OfItem {
        const Reservoir &of;
        gd_i64 row, source, before, near, instance, seed, begin;

        __device__ __forceinline__ double operator()(gd_i64 place) const {
            const gd_i64 slot = of.indices[begin + place], destination = of.mapped ? of.ids[slot] : slot;
            return (double)edge_bias(of.indptr, of.indices, of.weights, of.degrees, of.mapped, of.names, of.base,
                                     of.near_indptr, of.near_indices, begin + place, row, slot, source, destination,
                                     before, near, of.depth, instance, seed, of.failure);
        }
        friend __device__ __forceinline__ bool gd_unfit(const OfItem &, double one) {
            return !(one >= 0.0) | !(one < gd_infinity());
        }
        friend __device__ __forceinline__ void gd_refuse(const OfItem &item) {
            atomicCAS(item.of.failure, 0, GD_NO_BIAS);
        }
    };

    // Choose all edges of an item whose bias is above 0, in the order of the row; how many they are.
    template <int SIZE, int ROOM>
    __device__ __forceinline__ gd_i64 choose_all(const Smallest<SIZE, ROOM> &group, const OfItem &bias, gd_i64 size,
                                                 gd_i64 out) const {
        gd_i64 made = 0;
        for (gd_i64 from = 0; from < size; from += SIZE) {
            const gd_i64 place = from + group.rank();
            const double one = place < size ? bias(place) : 0.0;
            if (gd_unfit(bias, one)) gd_refuse(bias);
            int all;
            const int ahead = group.count_before(one > 0.0, all);
            if (one > 0.0) chosen[out + made + ahead] = place;
            made += all;
        }
        return made;
    }

    // Choose for an item, with a group of threads. Biases are made anew in every pass over the row.
    template <int SIZE, int ROOM>
    __device__ __forceinline__ void choose(const Smallest<SIZE, ROOM> &group, gd_i64 i) const {
        const gd_i64 row = rows[i], begin = indptr[row], size = indptr[row + 1] - begin, out = starts[i];
        const gd_i64 count = counts[i];
        if (count == 0) return;
        const OfItem bias = {*this, row, vertices[i], previous[i], near[i], instances[i], seeds[i], begin};
        gd_i64 made = 0, positive = count + 1;
        if (replace || size > count) {
            const double total = group.about(size, bias);
            const gd_u64 of_item = gd_group_key(seed, GD_DRAW_KEY, places[i]);
            const gd_i64 each = replace ? 1 : count;
            for (gd_i64 s = 0; s < count && (made == s || !replace); s += each) {
                made += group.give(gd_group_key(of_item, GD_DRAW_KEY, s), (gd_u64)bias.instance, (gd_u32)depth, size,
                                   each, total, bias, positive, [&](gd_i64 at, double one, gd_i64 place) {
                                       keys[out + s + at] = one;
                                       chosen[out + s + at] = place;
                                   });
            }
        }
        if (!replace && (size <= count || positive <= count)) {
            group.sync();
            made = choose_all(group, bias, size, out);
        }
        for (gd_i64 s = group.rank(); s < count; s += SIZE) owner[out + s] = s < made ? i : -1;
        if (made < count) *lacking = 1;
    }
};

extern "C" __global__ void functions_reservoir(
    long long n, const index_t *__restrict__ rows, const index_t *__restrict__ vertices,
    const index_t *__restrict__ previous, const index_t *__restrict__ near, const gd_i64 *__restrict__ instances,
    const gd_i64 *__restrict__ places, const index_t *__restrict__ seeds, gd_i64 depth,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const weight_t *__restrict__ weights,
    const index_t *__restrict__ ids, const gd_i64 *__restrict__ degrees, gd_i64 mapped,
    const gd_i64 *__restrict__ names, gd_i64 base, const gd_i64 *__restrict__ near_indptr,
    const index_t *__restrict__ near_indices, gd_i64 replace, gd_u64 seed, const gd_i64 *__restrict__ starts,
    const gd_i64 *__restrict__ counts, gd_i64 *longs, double *__restrict__ keys, gd_i64 *__restrict__ chosen,
    gd_i64 *__restrict__ owner, int *lacking, int *failure) {
    __shared__ double held_keys[GD_WARPS * GD_OF_WARP];
    __shared__ long long held_places[GD_WARPS * GD_OF_WARP];
    __shared__ int held[2 * GD_WARPS];
    const int warp = (int)threadIdx.x >> 5, at = warp * GD_OF_WARP;
    const Smallest<32, GD_OF_WARP> group = {held_keys + at, held_places + at, held + 2 * warp};
    const Reservoir of = {rows, vertices, previous, near, instances, places, seeds, depth, indptr, indices, weights, ids, degrees, mapped,
                     names, base, near_indptr, near_indices, replace, seed, starts, counts, keys, chosen, owner, lacking, failure};
    gd_by_warps(n, longs, [&](gd_i64 i) { return of.is_long(i); }, [&](gd_i64 i) { of.choose(group, i); });
}

extern "C" __global__ void functions_reservoir_long(
    long long n, const index_t *__restrict__ rows, const index_t *__restrict__ vertices,
    const index_t *__restrict__ previous, const index_t *__restrict__ near, const gd_i64 *__restrict__ instances,
    const gd_i64 *__restrict__ places, const index_t *__restrict__ seeds, gd_i64 depth,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const weight_t *__restrict__ weights,
    const index_t *__restrict__ ids, const gd_i64 *__restrict__ degrees, gd_i64 mapped,
    const gd_i64 *__restrict__ names, gd_i64 base, const gd_i64 *__restrict__ near_indptr,
    const index_t *__restrict__ near_indices, gd_i64 replace, gd_u64 seed, const gd_i64 *__restrict__ starts,
    const gd_i64 *__restrict__ counts, gd_i64 *longs, double *__restrict__ keys, gd_i64 *__restrict__ chosen,
    gd_i64 *__restrict__ owner, int *lacking, int *failure) {
    __shared__ double held_keys[GD_OF_BLOCK];
    __shared__ long long held_places[GD_OF_BLOCK];
    __shared__ int held[2];
    const Smallest<32 * GD_WARPS, GD_OF_BLOCK> group = {held_keys, held_places, held};
    const Reservoir of = {rows, vertices, previous, near, instances, places, seeds, depth, indptr, indices, weights, ids, degrees, mapped,
                     names, base, near_indptr, near_indices, replace, seed, starts, counts, keys, chosen, owner, lacking, failure};
    gd_by_blocks(longs, [&](gd_i64 i) { of.choose(group, i); });
}

extern "C" __global__ void functions_trials(long long n, const index_t *__restrict__ rows,
                                            const index_t *__restrict__ vertices,
                                            const index_t *__restrict__ previous,
                                            const index_t *__restrict__ near,
                                            const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ places,
                                            const index_t *__restrict__ seeds, gd_i64 depth,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                            const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                            const gd_i64 *__restrict__ degrees, gd_i64 mapped,
                                            const gd_i64 *__restrict__ names, gd_i64 base,
                                            const gd_i64 *__restrict__ near_indptr,
                                            const index_t *__restrict__ near_indices,
                                            bias_t bound,
                                            gd_i64 trials, gd_i64 replace, gd_u64 seed,
                                            const gd_i64 *__restrict__ starts, const gd_i64 *__restrict__ counts,
                                            gd_i64 *chosen, gd_i64 *__restrict__ owner, gd_i64 *__restrict__ done,
                                            gd_i64 label, int *failure) {
    GD_FOR(i, n) {
        const gd_i64 row = rows[i], source = vertices[i], before = previous[i], instance = instances[i];
        const gd_i64 begin = indptr[row], size = indptr[row + 1] - begin, out = starts[i], count = counts[i];
        const gd_u64 key = gd_group_key(seed, GD_DRAW_TRIAL, places[i]);
        gd_i64 made = 0;
        for (bool found = true; found && made < count && (replace || count < size);) {
            found = false;
            for (gd_i64 trial = 0; !found && trial < trials; ++trial) {
                gd_u64 which, kept;
                gd_philox(key, (gd_u64)instance, (gd_u32)depth, (gd_u32)(made * trials + trial), which, kept);
                const gd_i64 place = (gd_i64)gd_digit(which, (gd_u64)size);
                const gd_i64 slot = indices[begin + place], destination = mapped ? ids[slot] : slot;
                const bias_t bias = gd_checked(edge_bias(indptr, indices, weights, degrees, mapped, names, base,
                                                         near_indptr, near_indices,
                                                         begin + place, row,
                                                         slot, source, destination, before, near[i], depth, instance,
                                                         seeds[i],
                                                         failure), failure);
                if (bias > bound) atomicCAS(failure, 0, GD_ABOVE_BOUND);
                found = gd_kept(kept, bias, bound);
                for (gd_i64 s = 0; found && !replace && s < made; ++s) found = chosen[out + s] != place;
                if (found) chosen[out + made] = place;
            }
            made += found;
        }
        done[i] = made;
        for (gd_i64 s = 0; s < count; ++s) owner[out + s] = s < made ? label + i : -1;
    }
}

extern "C" __global__ void functions_update(long long n, const gd_i64 *__restrict__ items,
                                            const gd_i64 *__restrict__ edges, const gd_i64 *__restrict__ numbers,
                                            const index_t *__restrict__ rows, const index_t *__restrict__ vertices,
                                            const index_t *__restrict__ previous,
                                            const index_t *__restrict__ near,
                                            const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ places,
                                            const index_t *__restrict__ seeds, gd_i64 depth,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                            const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                            const gd_i64 *__restrict__ degrees, gd_i64 mapped,
                                            const gd_i64 *__restrict__ names, gd_i64 base,
                                            const gd_i64 *__restrict__ near_indptr,
                                            const index_t *__restrict__ near_indices,
                                            gd_u64 seed,
                                            gd_i64 num_vertices, index_t *__restrict__ put, int *failure) {
    GD_FOR(k, n) {
        const gd_i64 i = items[k], edge = edges[k], slot = indices[edge], instance = instances[i];
        const gd_i64 destination = mapped ? ids[slot] : slot;
        gd_u64 one, two;
        gd_philox(gd_group_key(seed, GD_DRAW_UPDATE, places[i]), (gd_u64)instance, (gd_u32)depth, (gd_u32)numbers[k],
                  one, two);
        const gd_i64 named = update(indptr, indices, weights, degrees, mapped, names, base,
                                    near_indptr, near_indices, edge, rows[i], slot,
                                    vertices[i],
                                   destination, previous[i], near[i], depth, instance, seeds[i], gd_fraction(one),
                                   failure);
        const gd_i64 next = vertex_of(names, base, num_vertices, named);
        const bool wrong = next < -1;
        if (wrong) atomicCAS(failure, 0, GD_NO_VERTEX);
        put[k] = wrong ? (index_t)-1 : (index_t)next;
    }
}
