// Values of aggregates that are computed from the words of all ranks, without the host.
#pragma once

#ifndef GD_UNTIL
#define GD_UNTIL 0  // whether there is a function `until` that says where the run ends
#endif

#if GD_AGGREGATES
// Begin the words of this rank anew; one block does this.
__device__ __forceinline__ void gd_clear_sums(const Program &a) {
    for (int i = threadIdx.x; i < GD_AGGREGATES * GD_BINS; i += blockDim.x)
        a.sums[i] = i % GD_BINS == 0 && takes_least(i / GD_BINS) ? 0x7fffffffffffffffLL : 0;
}
// Write the values of the aggregates where functions read them, from the words of all ranks, one rank behind the other;
// one block does this. Returns whether the host has to check a value.
__device__ __forceinline__ bool gd_know(const long long *words, int ranks, const Program &a) {
    constexpr int count = GD_AGGREGATES * GD_BINS;
    __shared__ long long sums[count];
    __shared__ int looks;
    if (threadIdx.x == 0) looks = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        long long all = *(const volatile long long *)(words + i);
        for (int q = 1; q < ranks; q++) {
            const long long word = *(const volatile long long *)(words + q * count + i);
            all = takes_least(i / GD_BINS) ? min(all, word) : all + word;
        }
        sums[i] = all;
    }
    __syncthreads();
    if (threadIdx.x < GD_AGGREGATES && know((int)threadIdx.x, sums + threadIdx.x * GD_BINS, a)) atomicOr(&looks, 1);
    __syncthreads();
    return looks;
}
#else
__device__ __forceinline__ void gd_clear_sums(const Program &) {}
__device__ __forceinline__ bool gd_know(const long long *, int, const Program &) { return false; }
#endif

// Whether a function of the caller failed.
__device__ __forceinline__ bool gd_fails(const Program &a) {
    bool fails = *(volatile int *)a.failure_to_send || *(volatile int *)a.failure_to_apply;
#if GD_AGGREGATES > 0
    fails = fails || *(volatile int *)a.failure0;
#endif
#if GD_AGGREGATES > 1
    fails = fails || *(volatile int *)a.failure1;
#endif
#if GD_AGGREGATES > 2
    fails = fails || *(volatile int *)a.failure2;
#endif
#if GD_AGGREGATES > 3
    fails = fails || *(volatile int *)a.failure3;
#endif
    return fails;
}
