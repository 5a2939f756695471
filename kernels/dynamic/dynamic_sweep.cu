// Lists of the rows of a dynamic graph for sums over all of them: a thread looks at a row, and a block reserves places for
// its rows at once. Twins and arguments: dynamic_sweep.py.
#include "common/common.cuh"
#include "common/lanes.cuh"

#define GD_FEW 8
#define GD_SPAN 512
#define GD_KINDS 10
#define GD_LONG 9
#define GD_ROW_BIT 36

// Of a chunk by its length, the longest first: 1 to 8.
__device__ __forceinline__ int gd_kind(long long size) { return 8 - (int)((size - 1) / 32); }

extern "C" __global__ void dynamic_sweep_count(long long n, const long long *length, unsigned long long *counts) {
    __shared__ unsigned long long block[GD_KINDS + 1];
    if (threadIdx.x <= GD_KINDS) block[threadIdx.x] = 0;
    __syncthreads();
    unsigned long long mine[GD_KINDS + 1] = {};
    GD_FOR(v, n) {
        const long long size = length[v], full = size > GD_CHUNK ? size / GD_CHUNK : 0;
        const long long rest = size - full * GD_CHUNK;
        const int kind = rest ? full || rest > GD_FEW ? gd_kind(rest) : 0 : -1;
#pragma unroll
        for (int k = 0; k < GD_LONG; k++) mine[k] += k == kind;
        if (full) {
            mine[1] += (unsigned long long)full;
            mine[GD_LONG]++;
            mine[GD_KINDS] += (unsigned long long)(full + (rest > 0));
        }
    }
#pragma unroll
    for (int k = 0; k <= GD_KINDS; k++) {
        for (int step = 16; step; step >>= 1) mine[k] += __shfl_xor_sync(0xffffffffu, mine[k], step);
        if ((threadIdx.x & 31) == 0 && mine[k]) atomicAdd(block + k, mine[k]);
    }
    __syncthreads();
    if (threadIdx.x <= GD_KINDS && block[threadIdx.x]) atomicAdd(counts + threadIdx.x, block[threadIdx.x]);
}

// A place for one of a kind, -1 for none; one atomic for all of a warp that are of it. All threads of the warp call it.
__device__ __forceinline__ unsigned long long gd_place_of(int kind, unsigned long long *taken) {
    const int lane = threadIdx.x & 31;
    unsigned long long place = 0;
    for (unsigned left = __ballot_sync(0xffffffffu, kind >= 0); left;) {
        const int leader = __ffs(left) - 1, of = __shfl_sync(0xffffffffu, kind, leader);
        const unsigned same = __ballot_sync(0xffffffffu, kind == of);
        unsigned long long first = 0;
        if (lane == leader) first = atomicAdd(taken + of, (unsigned long long)__popc(same));
        first = __shfl_sync(0xffffffffu, first, leader);
        if (kind == of) place = first + __popc(same & ((1u << lane) - 1));
        left &= ~same;
    }
    return place;
}

extern "C" __global__ void dynamic_sweep_list(long long n, const long long *begin, const long long *length,
                                              const unsigned long long *counts, unsigned long long *next, index_t *few,
                                              long long *chunks, index_t *targets, index_t *many,
                                              long long *first_chunk) {
    __shared__ unsigned long long base[GD_KINDS], taken[GD_KINDS], start[GD_KINDS];
    const unsigned long long partials = (1ull << GD_ROW_BIT) - 1;
    const int lane = threadIdx.x & 31;
    if (threadIdx.x == 0) {
        base[0] = base[1] = base[GD_LONG] = 0;
        for (int k = 2; k < GD_LONG; k++) base[k] = base[k - 1] + counts[k - 1];
        if (blockIdx.x == 0) {
            first_chunk[counts[GD_LONG]] = (long long)counts[GD_KINDS];
            for (unsigned long long k = base[GD_LONG - 1] + counts[GD_LONG - 1]; k % 4; k++) chunks[k] = targets[k] = 0;
            for (unsigned long long k = counts[GD_LONG]; k % 4; k++) many[k] = -1;
        }
    }
    for (long long tile = (long long)blockIdx.x * blockDim.x; tile < n; tile += (long long)gridDim.x * blockDim.x) {
        if (threadIdx.x < GD_KINDS) taken[threadIdx.x] = 0;
        __syncthreads();
        const long long v = tile + threadIdx.x, size = v < n ? length[v] : 0, first = v < n ? begin[v] : 0;
        const long long full = size / GD_CHUNK, rest = size % GD_CHUNK;
        const bool cut = size > GD_CHUNK;
        const int kind = size <= GD_FEW ? 0 : gd_kind(cut ? rest ? rest : GD_CHUNK : size);
        unsigned long long whole = 0, row = 0;
        const unsigned long long at = gd_place_of(cut ? rest ? kind : -1 : size ? kind : -1, taken);
        if (cut) {
            whole = atomicAdd(taken + 1, (unsigned long long)full);
            row = atomicAdd(taken + GD_LONG, (1ull << GD_ROW_BIT) + (unsigned long long)(full + (rest > 0)));
        }
        __syncthreads();
        if (threadIdx.x < GD_KINDS && taken[threadIdx.x])
            start[threadIdx.x] = base[threadIdx.x] + atomicAdd(next + threadIdx.x, taken[threadIdx.x]);
        __syncthreads();
        if (size && !kind) few[start[0] + at] = (index_t)v;
        if (size && kind && !cut) {
            chunks[start[kind] + at] = first * GD_SPAN + size;
            targets[start[kind] + at] = (index_t)v;
        }
        if (cut) {
            row += start[GD_LONG];
            many[row >> GD_ROW_BIT] = (index_t)v;
            first_chunk[row >> GD_ROW_BIT] = (long long)(row & partials);
            if (rest) {
                chunks[start[kind] + at] = (first + full * GD_CHUNK) * GD_SPAN + rest;
                targets[start[kind] + at] = (index_t)(-1 - (long long)(row & partials) - full);
            }
            whole += start[1];
        }
        for (unsigned left = __ballot_sync(0xffffffffu, cut); left; left &= left - 1) {  // a warp writes a row's chunks
            const int from = __ffs(left) - 1;
            const long long number = __shfl_sync(0xffffffffu, full, from), where = __shfl_sync(0xffffffffu, first, from);
            const unsigned long long to = __shfl_sync(0xffffffffu, whole, from);
            const long long partial = (long long)(__shfl_sync(0xffffffffu, row, from) & partials);
            for (long long k = lane; k < number; k += 32) {
                chunks[to + k] = (where + k * GD_CHUNK) * GD_SPAN + GD_CHUNK;
                targets[to + k] = (index_t)(-1 - partial - k);
            }
        }
        __syncthreads();
    }
}
