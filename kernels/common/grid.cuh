// Barrier and reduction for all blocks of a kernel whose blocks run at the same time: a cooperative launch guarantees it.
// What a thread wrote to global memory before the barrier is seen by volatile reads of every thread after it.
#pragma once

typedef unsigned long long gd_count;

// Wait until every block has come here as often as this one; `arrived` is zero when the kernel starts and only grows.
__device__ __forceinline__ void gd_grid_barrier(gd_count *arrived) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const gd_count blocks = gridDim.x;
        const gd_count goal = (atomicAdd(arrived, (gd_count)1) / blocks + 1) * blocks;
        while (*(volatile gd_count *)arrived < goal) __nanosleep(32);
        __threadfence();
    }
    __syncthreads();
}

// The largest `mine` of all threads of all blocks; every thread calls it, and it is a barrier. `state` is four zeros
// when the kernel starts: the barrier's count, and three results of which this call takes number `round` modulo 3, where
// `round` counts the calls. The one for the next call is cleared before the barrier: its readers came here since, and
// its writers come after.
__device__ __forceinline__ gd_count gd_grid_max(gd_count mine, gd_count *state, gd_count round) {
    __shared__ gd_count of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    if (mine) atomicMax(&of_block, mine);
    __syncthreads();
    gd_count *const result = state + 1 + round % 3;
    if (threadIdx.x == 0) {
        if (of_block) atomicMax(result, of_block);
        if (blockIdx.x == 0) *(volatile gd_count *)(state + 1 + (round + 1) % 3) = 0;
    }
    gd_grid_barrier(state);
    return *(volatile gd_count *)result;
}
