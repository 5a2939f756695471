// Trees over the rows of an undirected layered edge list in place, in page-locked host memory. First over the edges in
// the first 32 bytes of every row, after which most positions are in one tree; then over the other edges of the rows
// outside the largest tree: an edge that leaves that tree is visited from its other end. After Sutton, Ben-Nun, Barak,
// Optimizing parallel graph connectivity computation via subgraph sampling (2018). Twins and arguments:
// layered_hooks.py.
#include "stream/in_place.cuh"
#include "components/trees.cuh"
#include "stream/layered_hooks_pack.py"

__device__ __forceinline__ Rows rows_of(const TreesThere &a) {
    return {a.chunks, a.firsts, a.begins, a.bases, a.ends, a.asked};
}

extern "C" __global__ void layered_hook_first(long long n, TreesThere a) {
    const Rows rows = rows_of(a);
    number worked = 0, looked = 0;
    GD_FOR(row, n) {
        const long long length = rows.degree(row);
        const index_t *const at = length ? rows.where(row, &a.counters->missing) : nullptr;
        if (!at) continue;
        const int begin = place_in(at, SECTOR), end = (int)min(begin + length, (long long)SECTOR);
        Sector sector;
        sector.read(at, begin, end);
#pragma unroll
        for (int k = 0; k < SECTOR; k++)
            if (k >= begin && k < end) hook((index_t)row, sector[k], a.link);
        worked++;
        looked += (number)(end - begin);
    }
    gd_add(worked, &a.counters->worked);
    gd_add(looked, &a.counters->looked);
    gd_add(worked, &a.counters->sectors);
}

// A warp processes a row; n is 32 per row.
extern "C" __global__ void layered_hook_rest(long long n, TreesThere a) {
    const Rows rows = rows_of(a);
    const index_t largest = a.giant < 0 ? (index_t)-1 : find_root((index_t)a.giant, a.link);
    const int lane = threadIdx.x & 31;
    number worked = 0, looked = 0, sectors = 0;
    GD_FOR(t, n) {
        const long long row = t / 32, length = rows.degree(row);
        if (length <= 1) continue;  // its edge was visited
        // lanes may find different roots: others hook them meanwhile
        if (__shfl_sync(0xffffffffu, find_root((index_t)row, a.link), 0) == largest) continue;
        const index_t *const at = rows.where(row, &a.counters->missing);
        const long long begin = at ? SECTOR - place_in(at, SECTOR) : length;
        for (long long k = begin - (at ? place_in(at + begin, LINE) : 0) + lane; k - lane < length; k += LINE)
            if (k >= begin && k < length) hook((index_t)row, at[k], a.link);
        if (lane == 0 && begin < length) {
            worked++;
            looked += (number)(length - begin);
            sectors += sectors_of(at + begin, length - begin, false);
        }
    }
    gd_add(worked, &a.counters->worked);
    gd_add(looked, &a.counters->looked);
    gd_add(sectors, &a.counters->sectors);
}
