// Walks whose edges are chosen by functions of the caller, a thread each, or by a reservoir a block each; functions.cu
// says how the functions come here. Twins and what the arguments are: functions_walk.py; whether there is an update,
// which these ask `updates`, is known here when the kernels are compiled.
//
// Source: Pandey et al., c-saw, Section III, Figure 2; Yang et al., KnightKing (SOSP 2019), Section 4.
#include "common/common.cuh"
#include "choice/keys.cuh"
#include "choice/pick.cuh"
#include "choice/selection.cuh"
#include "functions/functions_default.cuh"
#include "functions/functions_biases.cuh"
#include "functions/functions_walk.cuh"

// How the walks of this module draw edges, where that is known when it is compiled: what one way takes of registers need
// not weigh on another.
#ifndef gd_how
#define gd_how how
#endif

template <int HOW>
__device__ __forceinline__ void gd_walk_all(long long n, gd_i64 first, int begin, int end, gd_i64 depth,
                                            const Walks &of, const index_t *seeds, index_t *here, index_t *before,
                                            index_t *dst, index_t *put, int *lengths, gd_u64 *told) {
    gd_u64 edges = 0;
    GD_FOR(i, n) {
        const index_t start = seeds[i], v = begin ? here[i] : start;
        if (v < 0) continue;
        Walker w = {first + i, start, begin ? before[i] : (index_t)-1, (index_t)-1, 0, 0, 0, 0};
        if (w.v >= 0) of.enter(w, w.v);
        of.enter(w, v);
        const int made = of.walk<HOW>(w, begin, end, dst + i * depth, put + i * depth);
        edges += (gd_u64)(made - begin);
        lengths[i] = made;
        here[i] = w.v;
        before[i] = w.previous;
    }
    const bool warps = blockDim.x >= 32;
    for (int by = 16; warps && by; by >>= 1) edges += __shfl_down_sync(0xffffffffu, edges, by);
    if (edges && (!warps || (threadIdx.x & 31) == 0)) atomicAdd(told, edges);
}

extern "C" __global__ void functions_walk(long long n, gd_i64 first, gd_i64 begin, gd_i64 end, gd_i64 depth,
                                          const index_t *__restrict__ seeds, const gd_i64 *__restrict__ indptr,
                                          const index_t *__restrict__ indices, const weight_t *__restrict__ weights,
                                          const index_t *__restrict__ ids, const gd_i64 *__restrict__ degrees,
                                          gd_i64 mapped, const gd_i64 *__restrict__ names, gd_i64 base,
                                          const gd_i64 *__restrict__ near_indptr,
                                          const index_t *__restrict__ near_indices, gd_i64 undirected, gd_i64 how,
                                          const gd_i64 *__restrict__ sums, const gd_u64 *__restrict__ totals,
                                          const int *__restrict__ other, gd_i64 floating, bias_t bound,
                                          gd_i64 trials, gd_u64 seed, gd_i64 updates, gd_i64 num_vertices,
                                          index_t *__restrict__ here, index_t *__restrict__ before,
                                          index_t *__restrict__ dst, index_t *__restrict__ put,
                                          int *__restrict__ lengths, gd_u64 *told, int *failure,
                                          int *failure_of_update) {
    __shared__ int unsure[GD_MOST_THREADS];  // what functions say that are asked to try
    unsure[threadIdx.x] = 0;
    const Walks of = {indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices,
                      undirected != 0, sums, totals, other, floating != 0, bound, (int)trials,
                      gd_group_key(seed, GD_DRAW_EDGE, 0), gd_group_key(seed, GD_DRAW_TRIAL, 0),
                      gd_group_key(seed, GD_DRAW_UPDATE, 0), num_vertices, failure, failure_of_update,
                      unsure + threadIdx.x};
    if (gd_how == GD_ALIKE) gd_walk_all<GD_ALIKE>(n, first, (int)begin, (int)end, depth, of, seeds, here, before, dst, put, lengths, told);
    else if (gd_how == GD_SUMMED) gd_walk_all<GD_SUMMED>(n, first, (int)begin, (int)end, depth, of, seeds, here, before, dst, put, lengths, told);
    else if (gd_how == GD_ALIASED) gd_walk_all<GD_ALIASED>(n, first, (int)begin, (int)end, depth, of, seeds, here, before, dst, put, lengths, told);
    else gd_walk_all<GD_TRIED>(n, first, (int)begin, (int)end, depth, of, seeds, here, before, dst, put, lengths, told);
}

// The same by a reservoir, a block for each walk.
extern "C" __global__ void __launch_bounds__(256, 2)
functions_walk_keyed(long long n, gd_i64 first, gd_i64 begin, gd_i64 end, gd_i64 depth,
                     const index_t *__restrict__ seeds, const gd_i64 *__restrict__ indptr,
                     const index_t *__restrict__ indices, const weight_t *__restrict__ weights,
                     const index_t *__restrict__ ids, const gd_i64 *__restrict__ degrees,
                     gd_i64 mapped, const gd_i64 *__restrict__ names, gd_i64 base,
                     const gd_i64 *__restrict__ near_indptr,
                     const index_t *__restrict__ near_indices, gd_i64 undirected, gd_i64 how,
                     const gd_i64 *__restrict__ sums, const gd_u64 *__restrict__ totals,
                     const int *__restrict__ other, gd_i64 floating, bias_t bound,
                     gd_i64 trials, gd_u64 seed, gd_i64 updates, gd_i64 num_vertices,
                     index_t *__restrict__ here, index_t *__restrict__ before,
                     index_t *__restrict__ dst, index_t *__restrict__ put,
                     int *__restrict__ lengths, gd_u64 *told, int *failure,
                     int *failure_of_update) {
    __shared__ double keys[2 * GD_TOGETHER];
    __shared__ gd_u32 places[2 * GD_TOGETHER];
    __shared__ int unsure[1];  // nothing is tried
    const Walks of = {indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices,
                      undirected != 0, sums, totals, other, floating != 0, bound, (int)trials,
                      gd_group_key(seed, GD_DRAW_EDGE, 0), gd_group_key(seed, GD_DRAW_TRIAL, 0),
                      gd_group_key(seed, GD_DRAW_UPDATE, 0), num_vertices, failure, failure_of_update,
                      unsure};
    const gd_u64 key = gd_group_key(gd_group_key(seed, GD_DRAW_KEY, 0), GD_DRAW_KEY, 0);
    Together team{keys, places, 0};
    for (gd_i64 i = team.first(); i < n; i += team.stride()) {
        const index_t start = seeds[i], v = begin ? here[i] : start;
        if (v < 0) continue;
        Walker w = {first + i, start, begin ? before[i] : (index_t)-1, (index_t)-1, 0, 0, 0, 0};
        if (w.v >= 0) of.enter(w, w.v);
        of.enter(w, v);
        const int made = of.walk_together(w, (int)begin, (int)end, key, team, dst + i * depth, put + i * depth);
        team.sync();  // all have read where it was
        if (!team.writes()) continue;
        lengths[i] = made;
        here[i] = w.v;
        before[i] = w.previous;
        if (made > begin) atomicAdd(told, (gd_u64)(made - begin));
    }
}
