// Pairs of a source and a vertex that searches reach for the first time. Twins: reached.py.
//
// Entries of the rows of a frontier are one list, of which a warp takes a tile at a time. A pair that was found has a bit;
// who sets it adds the pair to a queue, whose order means nothing.
#include "common/bitmap.cuh"
#include "common/common.cuh"
#include "common/flat.cuh"
#include "subgraphs/reached_pack.py"

// Mark a pair, unless it is marked; return whether it was not.
__device__ __forceinline__ bool reached_first(const ReachedPairs &a, long long source, long long slot) {
    unsigned *const marks = a.marks + source * a.stride;
    return !gd_bit((const volatile unsigned *)marks, slot) && gd_choose_bit(marks, slot);
}

// All lanes of a warp call it together.
__device__ __forceinline__ void reached_put(const ReachedPairs &a, bool first, long long source, index_t slot) {
    const bool own = first && slot < a.owned, remote = first && slot >= a.owned;
    unsigned long long at = gd_reserve_all(own, &a.counters->own);
    if (own) a.own[at] = source * a.owned + slot;
    at = gd_reserve_all(remote, &a.counters->remote);
    if (remote) a.remote[at] = source * a.slots + slot;
}

extern "C" __global__ void reached_rows(long long n, ReachedPairs a) {
    GD_FOR(i, n) {
        const long long row = a.pairs[i] % a.owned, begin = a.indptr[row];
        a.begins[i] = begin;
        a.ends[i] = a.indptr[row + 1] - begin;
    }
}

extern "C" __global__ void reached_visit(long long n, ReachedPairs a) {
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5, total = a.ends[a.items - 1];
    for (long long t = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; t < n; t += warps) {
        const long long begin = t * GD_FLAT_TILE, end = min(begin + GD_FLAT_TILE, total);
        long long item = gd_flat_item(a.ends, a.items, begin), source = a.pairs[item] / a.owned;
        const bool alone = a.ends[item] >= end;
        for (int k = 0; begin + 32 * k < end; k++) {
            const long long entry = begin + 32 * k + lane;
            bool first = false;
            index_t slot = 0;
            if (entry < end) {
                if (!alone) {
                    item = gd_flat_item_from(a.ends, a.items, item, entry);
                    source = a.pairs[item] / a.owned;
                }
                slot = a.indices[a.begins[item] + entry - (item ? a.ends[item - 1] : 0)];
                first = reached_first(a, source, slot);
            }
            reached_put(a, first, source, slot);
        }
    }
}

extern "C" __global__ void reached_take(long long n, ReachedPairs a) {
    GD_FOR(i, n) {
        const long long pair = a.pairs[i], source = pair / a.owned;
        if (reached_first(a, source, pair - source * a.owned)) a.own[gd_reserve(&a.counters->own)] = pair;
    }
}
