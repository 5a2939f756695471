// What vertices send along all their edges alike, and the least and the greatest of these messages.
#pragma once

// The least and the greatest of the messages of a thread, as integers in the same order.
struct Extent {
    long long low = 0x7fffffffffffffffLL, high = -0x7fffffffffffffffLL - 1;

    __device__ __forceinline__ void add(long long key) {
        low = min(low, key);
        high = max(high, key);
    }
    // All threads of the block call it. `extent` has nothing in it when the first block begins.
    __device__ __forceinline__ void close(long long *extent) {
        __shared__ long long least, most;
        if (threadIdx.x == 0) {
            least = 0x7fffffffffffffffLL;
            most = -least - 1;
        }
        __syncthreads();
        for (int step = 16; step; step >>= 1) {
            low = min(low, __shfl_xor_sync(0xffffffffu, low, step));
            high = max(high, __shfl_xor_sync(0xffffffffu, high, step));
        }
        if (threadIdx.x % 32 == 0 && low <= high) {
            atomicMin(&least, low);
            atomicMax(&most, high);
        }
        __syncthreads();
        if (threadIdx.x == 0 && least <= most) {
            atomicMin(extent, least);
            atomicMax(extent + 1, most);
        }
    }
};

// Whether a vertex sends along any edge; what it sends stands there.
__device__ __forceinline__ bool gd_value(index_t v, const Program &a) {
    long long edges = a.row_ends[v + 1] - a.row_ends[v];
    if (a.other_ends) edges += a.other_ends[v + 1] - a.other_ends[v];
    return edges != 0 && value_of(v, a);
}

// All threads of the block call it.
__device__ __forceinline__ void gd_values(long long count, const Program &a) {
    Extent extent;
    GD_FOR(i, count) {
        const index_t v = a.listed ? a.listed[i] : (index_t)i;
        const bool sends = gd_value(v, a);
        if (a.x) a.x[a.place[v]] = (double)a.value0[v];
        if (!sends) continue;
        if (a.sends) gd_set_bit(a.sends, v);
        if (a.extent) extent.add(gd_ordered(a.value0[v]));
    }
    if (a.extent) extent.close(a.extent);
}
