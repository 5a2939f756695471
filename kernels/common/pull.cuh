// Advance by pulling: vertices search their rows for the first neighbour in a bitmap, the frontier. One thread scans
// the first GD_PULL_FEW edges of a row; a row that goes on goes to a list of deferred rows, which a warp each scans in
// a second pass. Rows are in the order of ids, so that the neighbour is that of the smallest id.
#pragma once
#include "common/bitmap.cuh"
#include "common/rows.cuh"

// Edges of a row that one thread scans before a warp takes the rest (common/tuning.py).
#define GD_PULL_FEW 64

// found(v, edge) for each vertex of a list whose row leads to a set bit, none(v) if it ends without; flush(all) where
// the threads of a block are together. All threads of the block call it.
template <class Index, class Found, class None, class Flush>
__device__ __forceinline__ void gd_search_rows(long long n, const Index *list, const long long *indptr,
                                               const Index *indices, const unsigned int *bits, Index *hubs,
                                               unsigned long long *hub_count, unsigned long long *edge_count,
                                               const Found &found, const None &none, const Flush &flush) {
    unsigned long long edges = 0;
    gd_for_list(n, [&](long long i) {
        const Index v = list[i];
        const long long first = indptr[v], last = indptr[v + 1], few = min(first + GD_PULL_FEW, last);
        const long long e = gd_first_set(indices, bits, first, few);
        edges += (unsigned long long)(min(e + 1, few) - first);
        if (e < few) found(v, e);
        else if (few < last) hubs[gd_reserve(hub_count)] = v;
        else none(v);
    }, flush);
    gd_add(edges, edge_count);
}

// The same for the deferred rows from their edge GD_PULL_FEW on. One thread of a warp calls `found` or `none`.
template <class Index, class Found, class None>
__device__ __forceinline__ void gd_search_hubs(long long n, const Index *hubs, const long long *indptr,
                                               const Index *indices, const unsigned int *bits,
                                               unsigned long long *edge_count, const Found &found, const None &none) {
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    unsigned long long edges = 0;
    for (long long h = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; h < n; h += warps) {
        const Index v = hubs[h];
        const long long first = indptr[v] + GD_PULL_FEW, last = indptr[v + 1];
        bool ends = false;
        for (long long base = first; base < last && !ends; base += 32) {
            const long long e = base + lane;
            const unsigned hits = __ballot_sync(0xffffffffu, e < last && gd_bit(bits, indices[e]));
            ends = hits != 0;
            if (ends && lane == __ffs(hits) - 1) found(v, e);
            if (lane == 0) edges += ends ? __ffs(hits) : min(32LL, last - base);
        }
        if (!ends && lane == 0) none(v);
    }
    gd_add(edges, edge_count);
}
