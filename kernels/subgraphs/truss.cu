// A round of peeling pairs of neighbours that are in too few triangles. A warp takes a pair that goes, and its threads
// share the arcs of the lower end. Triangles are taken off by atomics, and the one that leaves too few lists the pair; in
// the queue the pairs of a round stand in any order. Twin: truss.py.
#include "common/common.cuh"
#include "subgraphs/truss_pack.py"

// The arc of a vertex to the neighbour of this number, -1 if there is none.
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

__device__ __forceinline__ void take_off(long long place, long long third, long long end, const TrussArcs &a) {
    if (!a.lower[place]) place = place_of(third, end, a);
    const long long before = (long long)atomicAdd((unsigned long long *)a.support + place, ~0ULL);
    if (before == a.least) a.queue[gd_reserve(&a.counters->listed)] = place;
}

extern "C" __global__ void truss_mark(long long n, TrussArcs a) {
    GD_FOR(i, n) {
        const long long arc = a.queue[a.first + i];
        a.removed[arc] = a.now;
        a.removed[place_of(a.slot[arc], a.number[a.keys[arc] / a.n], a)] = a.now;
    }
}

extern "C" __global__ void truss_peel(long long n, TrussArcs a) {
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const long long arc = a.queue[a.first + i], high = a.keys[arc] / a.n, low = a.slot[arc];
        const index_t number_high = a.number[high], number_low = a.number[low];
        for (long long other = a.indptr[low] + threadIdx.x % 32; other < a.indptr[low + 1]; other += 32) {
            const long long went = a.removed[other];
            if (went && went != a.now) continue;
            const index_t third = a.slot[other], number = a.number[third];
            if (went && number_high > number) continue;
            const long long across = place_of(high, number, a);
            if (across < 0) continue;
            const long long gone = a.removed[across];
            if (gone && (gone != a.now || number_low > number)) continue;
            if (!gone) take_off(across, third, number_high, a);
            if (!went) take_off(other, third, number_low, a);
        }
    }
}
