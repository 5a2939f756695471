// Edges in slices, as slices.py explains them: where each one of a list of chunks or rows stands.
#pragma once

#define GD_SPAN 512

// out[...] = value(edge) for every edge of the items, and value(-1) where a slice has none.
template <typename Value, typename Out>
__device__ __forceinline__ void gd_slice(long long n, const long long *items, int lanes, long long count,
                                         const long long *first, const Value &value, Out *out) {
    GD_FOR(t, n) {
        const long long slice = t / 32, number = t / lanes, begin = first[slice], end = first[slice + 1];
        const long long item = number < count ? items[number] : 0;
        const int length = (int)(item % GD_SPAN);
        int k = (int)(t % lanes);
        for (long long to = begin + t % 32; to < end; to += 32, k += lanes)
            out[to] = value(k < length ? item / GD_SPAN + k : -1);
    }
}
