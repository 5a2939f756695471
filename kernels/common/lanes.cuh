// The sum of a row in eight lanes, in an order of additions that depends on nothing but the row: edges in chunks, those
// of a chunk dealt to eight lanes, which are added as a tree, and the sums of the chunks likewise. Twin: lanes.py.
#pragma once

#include "common/common.cuh"

#define GD_LANES 8
#define GD_CHUNK 256
#define GD_AHEAD 4  // reads of a thread that are on their way at a time

// The tree of eight lanes that one thread holds, or that lie side by side.
__device__ __forceinline__ double gd_tree(const double *lane) {
    return __dadd_rn(__dadd_rn(__dadd_rn(lane[0], lane[4]), __dadd_rn(lane[2], lane[6])),
                     __dadd_rn(__dadd_rn(lane[1], lane[5]), __dadd_rn(lane[3], lane[7])));
}

// That of eight threads of a warp; all eight get it, since a sum of two has the same bits either way round.
__device__ __forceinline__ double gd_warp_tree(double value) {
    value = __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 4));
    value = __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 2));
    return __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 1));
}

// A thread's share of the sums of chunks `first` to last - 1: those that are dealt to its lane. One that is not there adds
// 0, which changes no bit of a sum that began with 0.
__device__ __forceinline__ double gd_lane_of_chunks(const double *partial, long long first, long long last, int lane) {
    double sum = 0.0;
    for (long long c = first + lane; c < last; c += GD_AHEAD * GD_LANES) {
        double value[GD_AHEAD];
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++) value[i] = c + i * GD_LANES < last ? partial[c + i * GD_LANES] : 0.0;
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++) sum = __dadd_rn(sum, value[i]);
    }
    return sum;
}

// The sums of rows of several chunks, eight threads each; n is a multiple of 32, as lists are filled up with rows of -1.
__device__ __forceinline__ void gd_sum_chunks(long long n, const index_t *rows, const long long *first_chunk,
                                              const double *partial, double *sums) {
    GD_FOR(t, n) {
        const index_t row = rows[t / GD_LANES];
        const int lane = threadIdx.x % GD_LANES;
        double sum = 0.0;
        if (row >= 0) {
            const long long last = first_chunk[t / GD_LANES + 1];
            sum = gd_lane_of_chunks(partial, first_chunk[t / GD_LANES], last, lane);
        }
        sum = gd_warp_tree(sum);
        if (lane == 0 && row >= 0) sums[row] = sum;
    }
}
