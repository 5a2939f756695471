// How many edges the vertices have that changed.
#pragma once

// All threads of a block add theirs.
__device__ __forceinline__ void gd_add_edges(long long mine, gd_count *sum) {
    __shared__ gd_count of_block;
    __syncthreads();
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    for (int step = 16; step; step >>= 1) mine += __shfl_xor_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(&of_block, (gd_count)mine);
    __syncthreads();
    if (threadIdx.x == 0 && of_block) atomicAdd(sum, of_block);
}
