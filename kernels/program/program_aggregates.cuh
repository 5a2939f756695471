// Aggregates of a superstep: exact sums and extremes of a rank.
#pragma once

// What a block adds to the aggregates goes to its own words first. All threads of the block call these.
#if GD_AGGREGATES
__device__ __forceinline__ long long *gd_open_sums() {
    __shared__ long long sums[GD_AGGREGATES * GD_BINS];
    for (int i = threadIdx.x; i < GD_AGGREGATES * GD_BINS; i += blockDim.x)
        sums[i] = i % GD_BINS == 0 && takes_least(i / GD_BINS) ? 0x7fffffffffffffffLL : 0;
    __syncthreads();
    return sums;
}
__device__ __forceinline__ void gd_close_sums(const long long *of_block, long long *sums) {
    __syncthreads();
    for (int i = threadIdx.x; i < GD_AGGREGATES * GD_BINS; i += blockDim.x) {
        if (!takes_least(i / GD_BINS)) gd_add_word(sums + i, of_block[i]);
        else if (i % GD_BINS == 0) gd_take_least(sums, i / GD_BINS, of_block[i]);
    }
}
#else
__device__ __forceinline__ long long *gd_open_sums() { return nullptr; }
__device__ __forceinline__ void gd_close_sums(const long long *, long long *) {}
#endif
