// What vertices send along all their edges alike, and the least and the greatest of these messages.
#pragma once

// All threads of the block call it. `extent` has nothing in it when the first block begins.
__device__ __forceinline__ void gd_values(long long count, const Program &a) {
    __shared__ long long least, most;
    if (threadIdx.x == 0) {
        least = 0x7fffffffffffffffLL;
        most = -least - 1;
    }
    __syncthreads();
    long long low = 0x7fffffffffffffffLL, high = -low - 1;
    GD_FOR(i, count) {
        const index_t v = a.listed ? a.listed[i] : (index_t)i;
        long long edges = a.row_ends[v + 1] - a.row_ends[v];
        if (a.other_ends) edges += a.other_ends[v + 1] - a.other_ends[v];
        const bool sends = edges != 0 && value_of(v, a);
        if (a.x) a.x[a.place[v]] = (double)a.value0[v];
        if (!sends) continue;
        if (a.sends) gd_set_bit(a.sends, v);
        if (!a.extent) continue;
        const long long key = gd_ordered(a.value0[v]);
        low = min(low, key);
        high = max(high, key);
    }
    if (!a.extent) return;
    if (low <= high) {
        atomicMin(&least, low);
        atomicMax(&most, high);
    }
    __syncthreads();
    if (threadIdx.x == 0 && least <= most) {
        atomicMin(a.extent, least);
        atomicMax(a.extent + 1, most);
    }
}
