// Entries of many items as one list, which warps take a tile at a time: whatever the lengths of items are, every warp has
// as much to do. ends[i] is the sum of the lengths of items 0 to i; an item may be empty. Twin: flat.py.
#pragma once

#define GD_FLAT_TILE 256
#define GD_FLAT_WORDS (GD_FLAT_TILE / 32)

// The item of an entry, which all lanes of a warp search for together: the first i with ends[i] > entry.
__device__ __forceinline__ long long gd_flat_item(const long long *ends, long long items, long long entry) {
    const int lane = threadIdx.x & 31;
    long long low = 0, high = items;
    while (low < high) {
        const long long step = (high - low + 31) >> 5, probe = low + lane * step;
        const int below = __popc(__ballot_sync(0xffffffffu, probe < high && ends[probe] <= entry));
        if (below == 0) return low;
        high = min(high, low + below * step);
        low += (below - 1) * step + 1;
    }
    return low;
}

// The item of an entry, which is `from` or one behind it, mostly near.
__device__ __forceinline__ long long gd_flat_item_from(const long long *ends, long long items, long long from,
                                                       long long entry) {
    long long low = from, step = 1;
    while (ends[min(low + step, items) - 1] <= entry) {
        low += step;
        step <<= 1;
    }
    long long high = min(low + step, items) - 1;
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (ends[middle] <= entry) low = middle + 1;
        else high = middle;
    }
    return low;
}
