// Sums of rows of a layered edge list, by a thread, eight of them or a warp: the order of additions is that of lanes.py.
#pragma once
#include "common/lanes.cuh"

#define GD_AT_ONCE 8  // edges of a thread
#define GD_FEW 8      // of a row that a thread takes
#define GD_SOME 64    // of one that eight take
#define GD_SPAN 512   // above the edges of a part

struct Edges {
    const index_t *targets;
    const weight_t *weights;
    const real_t *x;
};

// Products are of the type of the ranks' weights in memory, which are as narrow as ranks.
__device__ __forceinline__ double widened(weight_t weight) {
    return sizeof(real_t) == 4 ? (double)(float)weight : (double)weight;
}

// What the edges k, k + apart, ... below end gather, all on their way at the same time; what is not there adds 0.
template <bool weighted>
__device__ __forceinline__ void gather(const Edges &e, long long k, long long end, int apart, double *value) {
    index_t at[GD_AT_ONCE];
    weight_t weight[GD_AT_ONCE];
#pragma unroll
    for (int i = 0; i < GD_AT_ONCE; i++) {
        const bool there = k + i * apart < end;
        at[i] = there ? __ldcs(e.targets + k + i * apart) : (index_t)-1;
        if (weighted) weight[i] = there ? __ldcs(e.weights + k + i * apart) : (weight_t)0;
    }
#pragma unroll
    for (int i = 0; i < GD_AT_ONCE; i++) value[i] = at[i] < 0 ? 0.0 : (double)__ldg(e.x + at[i]);
#pragma unroll
    for (int i = 0; i < GD_AT_ONCE; i++)
        if (weighted) value[i] = __dmul_rn(widened(weight[i]), value[i]);
}

// A lane's sum, and what the threads of a warp hold for it of numbers that lie side by side.
__device__ __forceinline__ double add_of_warp(double sum, const double *value) {
    const int lane = threadIdx.x % GD_LANES;
#pragma unroll
    for (int i = 0; i < GD_AT_ONCE; i++)
#pragma unroll
        for (int other = 0; other < 32; other += GD_LANES)
            sum = __dadd_rn(sum, __shfl_sync(0xffffffffu, value[i], other + lane));
    return sum;
}

// The sum of a row's parts, by a warp; its first eight lanes get it.
__device__ __forceinline__ double sum_of_parts(const double *partial, long long parts, int lane) {
    double sum = 0.0;
    for (long long part = lane; part - lane < parts; part += 32 * GD_AT_ONCE) {
        double value[GD_AT_ONCE];
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++) value[i] = part + 32 * i < parts ? partial[part + 32 * i] : 0.0;
        sum = add_of_warp(sum, value);
    }
    return gd_warp_tree(sum);
}
