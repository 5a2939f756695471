// Where an id belongs in a row of ids in ascending order.
#pragma once

// How many of the `end` entries from indices[first] on are less than `wanted`.
__device__ __forceinline__ long long gd_place(const index_t *indices, long long first, long long end, index_t wanted) {
    long long low = 0, high = end;
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (indices[first + middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}
