// A round of peeling pairs of neighbours that are in too few triangles. A warp takes a pair that goes, and its threads
// share the row of the lower end. Triangles are taken off by atomics, and the one that leaves too few lists the pair; in
// the queue the pairs of a round stand in any order. Twin: truss.py.
#include "common/common.cuh"
#include "subgraphs/truss_pack.py"

// The arc of an own vertex to the neighbour of this number, -1 if there is none.
__device__ __forceinline__ long long place_of(long long v, long long number, const TrussArcs &a) {
    const long long key = v * a.n + number, end = a.indptr[v + 1];
    long long low = a.indptr[v], high = end;
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (a.keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < end && a.keys[low] == key ? low : -1;
}

__device__ __forceinline__ void take_off(long long place, const TrussArcs &a) {
    const long long before = (long long)atomicAdd((unsigned long long *)a.support + place, ~0ULL);
    if (before == a.least) a.queue[gd_reserve(&a.counters->listed)] = place;
}

// Of the pair of these ends, at the owner of the higher one.
__device__ __forceinline__ void take_off_at(long long higher, index_t number, index_t lower, const TrussArcs &a) {
    if (higher < a.owned) {
        take_off(place_of(higher, lower, a), a);
        return;
    }
    const long long at = gd_reserve(&a.counters->sent);
    a.holder[at] = number;
    a.other[at] = lower;
}

extern "C" __global__ void truss_mark(long long n, TrussArcs a) {
    GD_FOR(i, n) {
        const long long arc = a.queue[a.first + i], low = a.slot[arc];
        a.removed[arc] = a.removed[place_of(low, a.number[a.keys[arc] / a.n], a)] = a.now;
        a.row[i] = low;
    }
}

extern "C" __global__ void truss_peel(long long n, TrussArcs a) {
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const long long arc = a.queue[a.first + i], high = a.keys[arc] / a.n, low = a.slot[arc];
        const index_t number_high = a.number[high], number_low = a.number[low];
        for (long long at = a.ptr[a.row[i]] + threadIdx.x % 32; at < a.ptr[a.row[i] + 1]; at += 32) {
            const long long went = a.went[at];
            const index_t number = a.third[at];
            if (went && (went != a.now || number_high > number)) continue;
            const long long across = place_of(high, number, a);
            if (across < 0) continue;
            const long long gone = a.removed[across];
            if (gone && (gone != a.now || number_low > number)) continue;
            const long long third = a.slot[across];
            if (!gone && a.lower[across]) take_off(across, a);
            if (!gone && !a.lower[across]) take_off_at(third, number, number_high, a);
            if (!went && a.below[at] && a.whole) take_off(at, a);
            if (!went && a.below[at] && !a.whole) take_off_at(low, number_low, number, a);
            if (!went && !a.below[at]) take_off_at(third, number, number_low, a);
        }
    }
}

extern "C" __global__ void truss_lose(long long n, TrussArcs a) {
    GD_FOR(i, n) take_off(a.lost[i], a);
}
