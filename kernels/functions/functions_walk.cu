// Walks whose edges are chosen by functions of the caller, a thread each, or by a reservoir a block each; functions.cu
// says how the functions come here. Twins: functions_walk.py; whether there is an update is known when they
// are compiled.
//
// Source: Pandey et al., c-saw, Section III, Figure 2; Yang et al., KnightKing (SOSP 2019), Section 4.
#include "common/common.cuh"
#include "choice/keys.cuh"
#include "choice/pick.cuh"
#include "choice/selection.cuh"
#include "functions/functions_default.cuh"
#include "functions/functions_biases.cuh"
#include "functions/column_types.cuh"
#include "functions/functions_walk_pack.py"
#include "functions/functions_walk.cuh"

// How the walks of this module draw edges, where that is known when it is compiled: what one way takes of registers need
// not weigh on another.
#ifndef gd_how
#define gd_how a.how
#endif

template <int HOW>
__device__ __forceinline__ void gd_walk_all(long long n, gd_i64 first, int begin, int end, const Walks &of) {
    const FunctionWalks &a = of.a;
    gd_u64 edges = 0;
    GD_FOR(i, n) {
        const index_t start = a.seeds[i], v = begin ? a.here[i] : start;
        if (v < 0) continue;
        Walker w = {first + i, start, begin ? a.before[i] : (index_t)-1, (index_t)-1, 0, 0, 0, 0};
        if (w.v >= 0) of.enter(w, w.v);
        of.enter(w, v);
        const int made = of.walk<HOW>(w, begin, end, a.dst + i * a.depth, a.put + i * a.depth);
        edges += (gd_u64)(made - begin);
        a.lengths[i] = made;
        a.here[i] = w.v;
        a.before[i] = w.previous;
    }
    const bool warps = blockDim.x >= 32;
    for (int by = 16; warps && by; by >>= 1) edges += __shfl_down_sync(0xffffffffu, edges, by);
    if (edges && (!warps || (threadIdx.x & 31) == 0)) atomicAdd(a.reported, edges);
}

extern "C" __global__ void functions_walk(long long n, gd_i64 first, gd_i64 begin, gd_i64 end, FunctionWalks a) {
    __shared__ int unsure[GD_MOST_THREADS];  // what functions say that are asked to try
    unsure[threadIdx.x] = 0;
    const Walks of(a, unsure + threadIdx.x);
    if (gd_how == GD_ALIKE) gd_walk_all<GD_ALIKE>(n, first, (int)begin, (int)end, of);
    else if (gd_how == GD_SUMMED) gd_walk_all<GD_SUMMED>(n, first, (int)begin, (int)end, of);
    else if (gd_how == GD_ALIASED) gd_walk_all<GD_ALIASED>(n, first, (int)begin, (int)end, of);
    else gd_walk_all<GD_TRIED>(n, first, (int)begin, (int)end, of);
}

// The same by a reservoir, a block for each walk.
extern "C" __global__ void __launch_bounds__(256, 2)
functions_walk_keyed(long long n, gd_i64 first, gd_i64 begin, gd_i64 end, FunctionWalks a) {
    __shared__ double keys[2 * GD_TOGETHER];
    __shared__ gd_u32 places[2 * GD_TOGETHER];
    __shared__ int unsure[1];  // nothing is tried
    const Walks of(a, unsure);
    const gd_u64 key = gd_group_key(gd_group_key(a.seed, GD_DRAW_KEY, 0), GD_DRAW_KEY, 0);
    Together team{keys, places, 0};
    for (gd_i64 i = team.first(); i < n; i += team.stride()) {
        const index_t start = a.seeds[i], v = begin ? a.here[i] : start;
        if (v < 0) continue;
        Walker w = {first + i, start, begin ? a.before[i] : (index_t)-1, (index_t)-1, 0, 0, 0, 0};
        if (w.v >= 0) of.enter(w, w.v);
        of.enter(w, v);
        const int made = of.walk_together(w, (int)begin, (int)end, key, team, a.dst + i * a.depth, a.put + i * a.depth);
        team.sync();  // all have read where it was
        if (!team.writes()) continue;
        a.lengths[i] = made;
        a.here[i] = w.v;
        a.before[i] = w.previous;
        if (made > begin) atomicAdd(a.reported, (gd_u64)(made - begin));
    }
}
