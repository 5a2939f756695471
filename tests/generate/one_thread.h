// Runs a CUDA kernel on the CPU in blocks of one thread, which need no barrier: for kernels that loop over threadIdx.x,
// blockDim.x and the grid, and whose threads only share what each block prepares for itself.
#pragma once

struct one_index {
    unsigned x = 0;
};
static one_index threadIdx, blockIdx, blockDim, gridDim;

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static void __syncthreads() {}

// What common.cuh mentions and these kernels do not call.
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static unsigned __activemask() { return 1; }
template <typename T> static T __shfl_sync(unsigned, T value, int) { return value; }
template <typename T> static T atomicMin(T *address, T value) { return *address < value ? *address : *address = value; }
template <typename T> static T atomicCAS(T *address, T expected, T value) {
    return *address == expected ? *address = value, expected : *address;
}
template <typename T> static T atomicAdd(T *address, T value) { return (*address += value) - value; }

template <typename body> static void run_blocks(unsigned blocks, body kernel) {
    gridDim.x = blocks;
    blockDim.x = 1;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) kernel();
}
