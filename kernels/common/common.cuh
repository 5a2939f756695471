// What every kernel family shares: a grid-stride loop, atomics for 64-bit minima, and the status word through which
// a kernel reports why it failed. graphdask.backend reads the status after the run and names kernel and reason.
#pragma once

#define GD_FOR(i, n)                                                                                  \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                     \
         i += (long long)gridDim.x * blockDim.x)

// 0: fine. Codes are listed in graphdask.backend.STATUS.
__device__ int gd_status = 0;

__device__ __forceinline__ void gd_fail(int code) { atomicCAS(&gd_status, 0, code); }

__device__ __forceinline__ int gd_atomic_min(int *address, int value) { return atomicMin(address, value); }
__device__ __forceinline__ long long gd_atomic_min(long long *address, long long value) {
    return atomicMin(address, value);
}
__device__ __forceinline__ int gd_atomic_cas(int *address, int expected, int value) {
    return atomicCAS(address, expected, value);
}
__device__ __forceinline__ long long gd_atomic_cas(long long *address, long long expected, long long value) {
    return (long long)atomicCAS((unsigned long long *)address, (unsigned long long)expected,
                                (unsigned long long)value);
}

// The sum over the lanes of a warp, added to *out.
__device__ __forceinline__ void gd_add(unsigned long long mine, unsigned long long *out) {
    for (int step = 16; step; step >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if ((threadIdx.x & 31) == 0 && mine) atomicAdd(out, mine);
}

// The place in a queue of a lane that has an entry for it; one atomic for a warp, all lanes of which call it together.
__device__ __forceinline__ unsigned long long gd_reserve_all(bool has, unsigned long long *tail) {
    const unsigned mask = __ballot_sync(0xffffffffu, has);
    if (!mask) return 0;
    const int lane = threadIdx.x & 31;
    unsigned long long base = 0;
    if (lane == 0) base = atomicAdd(tail, (unsigned long long)__popc(mask));
    return __shfl_sync(0xffffffffu, base, 0) + __popc(mask & ((1u << lane) - 1));
}

// Reserve one place in a queue; one atomic for all lanes of a warp that are here together.
__device__ __forceinline__ long long gd_reserve(unsigned long long *tail) {
    const unsigned mask = __activemask();
    const int lane = threadIdx.x & 31, leader = __ffs(mask) - 1;
    unsigned long long base = 0;
    if (lane == leader) base = atomicAdd(tail, (unsigned long long)__popc(mask));
    base = __shfl_sync(mask, base, leader);
    return (long long)(base + __popc(mask & ((1u << lane) - 1)));
}
