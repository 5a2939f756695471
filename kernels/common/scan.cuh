// Prefix sums over the threads of a block, which has GD_SCANNED of them: 256, unless the file says another number first.
#pragma once
#include "common/common.cuh"

#ifndef GD_SCANNED
#define GD_SCANNED 256
#endif

typedef long long gd_word;

// Sum of the values of the threads before this one in the block, and of all; also a barrier. Blocks have GD_SCANNED threads.
template <class T> __device__ __forceinline__ T gd_block_scan(T mine, T *total) {
    __shared__ gd_word of_warp[GD_SCANNED / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    T sum = mine;
    for (int by = 1; by < 32; by <<= 1) {
        const T below = __shfl_up_sync(0xffffffffu, sum, by);
        if (lane >= by) sum += below;
    }
    __syncthreads();  // readers of the last call
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    T before = 0, all = 0;
    for (int w = 0; w < GD_SCANNED / 32; w++) {
        if (w < warp) before += (T)of_warp[w];
        all += (T)of_warp[w];
    }
    *total = all;
    return before + sum - mine;
}
