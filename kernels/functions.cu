// Where functions of the caller are called: biases of vertices and edges, how many neighbours, and what goes into the
// pool. graphdask.kernels.inserted puts them before the defaults. The twins in functions.py say what the arguments are.
//
// Source: Pandey et al., c-saw, Section III, Figure 2; Yang et al., KnightKing (SOSP 2019), Section 4, for rejection
// with a bound.
#include "common.cuh"
#include "selection.cuh"
#include "user.cuh"
#include "functions_default.cuh"

// A bias as it is stored; 0 and a failure where it is none.
__device__ __forceinline__ bias_t gd_checked(double bias, int *failure) {
    if (bias >= 0.0 && bias < gd_infinity()) return bias > 0.0 ? (bias_t)bias : (bias_t)0;
    atomicCAS(failure, 0, GD_NO_BIAS);
    return 0;
}
__device__ __forceinline__ bias_t gd_checked(gd_i64 bias, int *failure) {
    if (bias >= 0) return (bias_t)bias;
    atomicCAS(failure, 0, GD_NO_BIAS);
    return 0;
}
// Whether a number keeps a candidate: with probability bias / bound, of floats to within 2^-53.
__device__ __forceinline__ bool gd_kept(gd_u64 number, gd_i64 bias, gd_i64 bound) {
    return (gd_i64)gd_digit(number, (gd_u64)bound) < bias;
}
__device__ __forceinline__ bool gd_kept(gd_u64 number, double bias, double bound) {
    return __dmul_rn(gd_fraction(number), bound) < bias;
}

extern "C" __global__ void functions_vertex_bias(long long n, const index_t *__restrict__ vertices,
                                                 const gd_i64 *__restrict__ degrees,
                                                 const gd_i64 *__restrict__ instances,
                                                 const gd_i64 *__restrict__ places, gd_i64 depth,
                                                 bias_t *__restrict__ values, int *failure) {
    GD_FOR(i, n) {
        values[i] =
            gd_checked(vertex_bias(vertices[i], degrees[i], depth, instances[i], places[i], failure), failure);
    }
}

extern "C" __global__ void functions_neighbor_size(long long n, const index_t *__restrict__ vertices,
                                                   const gd_i64 *__restrict__ degrees,
                                                   const gd_i64 *__restrict__ instances,
                                                   const gd_i64 *__restrict__ places, gd_i64 depth, gd_i64 least,
                                                   gd_i64 most, gd_u64 seed, gd_i64 *__restrict__ sizes,
                                                   int *failure) {
    GD_FOR(i, n) {
        gd_u64 first, second;
        gd_philox(gd_group_key(seed, GD_DRAW_SIZE, places[i]), (gd_u64)instances[i], (gd_u32)depth, 0, first, second);
        const gd_i64 size =
            neighbor_size(vertices[i], degrees[i], depth, instances[i], places[i], gd_fraction(first), failure);
        const bool wrong = size < least || size > most;
        if (wrong) atomicCAS(failure, 0, GD_NO_SIZE);
        sizes[i] = wrong ? 0 : size;
    }
}

extern "C" __global__ void functions_edge_bias(long long n, const index_t *__restrict__ rows,
                                               const index_t *__restrict__ vertices,
                                               const index_t *__restrict__ previous,
                                               const gd_i64 *__restrict__ instances,
                                               const index_t *__restrict__ seeds, gd_i64 depth,
                                               const gd_i64 *__restrict__ indptr,
                                               const index_t *__restrict__ indices,
                                               const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                               const gd_i64 *__restrict__ degrees, gd_i64 mapped,
                                               const gd_i64 *__restrict__ at, bias_t *__restrict__ values,
                                               int *failure) {
    const gd_i64 lane = threadIdx.x & 31, warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const gd_i64 row = rows[i], source = vertices[i], before = previous[i], instance = instances[i];
        const gd_i64 begin = indptr[row], end = indptr[row + 1], seed = seeds[i];
        bias_t *const out = values + (at[i] - at[0]);
        for (gd_i64 edge = begin + lane; edge < end; edge += 32) {
            const gd_i64 slot = indices[edge], destination = mapped ? ids[slot] : slot;
            out[edge - begin] = gd_checked(edge_bias(indptr, indices, weights, degrees, mapped, edge, row, slot, source,
                                                     destination, before, depth, instance, seed, failure), failure);
        }
    }
}

extern "C" __global__ void functions_trials(long long n, const index_t *__restrict__ rows,
                                            const index_t *__restrict__ vertices,
                                            const index_t *__restrict__ previous,
                                            const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ places,
                                            const index_t *__restrict__ seeds, gd_i64 depth,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                            const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                            const gd_i64 *__restrict__ degrees, gd_i64 mapped, bias_t bound,
                                            gd_i64 trials, gd_i64 replace, gd_u64 seed,
                                            const gd_i64 *__restrict__ starts, const gd_i64 *__restrict__ counts,
                                            gd_i64 *chosen, gd_i64 *__restrict__ owner, gd_i64 *__restrict__ done,
                                            gd_i64 base, int *failure) {
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
                const bias_t bias = gd_checked(edge_bias(indptr, indices, weights, degrees, mapped, begin + place, row,
                                                         slot, source, destination, before, depth, instance, seeds[i],
                                                         failure), failure);
                if (bias > bound) atomicCAS(failure, 0, GD_ABOVE_BOUND);
                found = gd_kept(kept, bias, bound);
                for (gd_i64 s = 0; found && !replace && s < made; ++s) found = chosen[out + s] != place;
                if (found) chosen[out + made] = place;
            }
            made += found;
        }
        done[i] = made;
        for (gd_i64 s = 0; s < count; ++s) owner[out + s] = s < made ? base + i : -1;
    }
}

extern "C" __global__ void functions_update(long long n, const gd_i64 *__restrict__ items,
                                            const gd_i64 *__restrict__ edges, const gd_i64 *__restrict__ numbers,
                                            const index_t *__restrict__ rows, const index_t *__restrict__ vertices,
                                            const index_t *__restrict__ previous,
                                            const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ places,
                                            const index_t *__restrict__ seeds, gd_i64 depth,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                            const weight_t *__restrict__ weights, const index_t *__restrict__ ids,
                                            const gd_i64 *__restrict__ degrees, gd_i64 mapped, gd_u64 seed,
                                            gd_i64 num_vertices, index_t *__restrict__ put, int *failure) {
    GD_FOR(k, n) {
        const gd_i64 i = items[k], edge = edges[k], slot = indices[edge], instance = instances[i];
        const gd_i64 destination = mapped ? ids[slot] : slot;
        gd_u64 one, two;
        gd_philox(gd_group_key(seed, GD_DRAW_UPDATE, places[i]), (gd_u64)instance, (gd_u32)depth, (gd_u32)numbers[k],
                  one, two);
        const gd_i64 next = update(indptr, indices, weights, degrees, mapped, edge, rows[i], slot, vertices[i],
                                   destination, previous[i], depth, instance, seeds[i], gd_fraction(one), failure);
        const bool wrong = next < -1 || next >= num_vertices;
        if (wrong) atomicCAS(failure, 0, GD_NO_VERTEX);
        put[k] = wrong ? (index_t)-1 : (index_t)next;
    }
}
