// Which chunk of a layered edge list a position is in.
#pragma once

// The last chunk that does not begin behind the position.
__device__ __forceinline__ long long chunk_of(long long position, const long long *firsts, long long chunks) {
    long long low = 0, high = chunks - 1;
    while (low < high) {
        const long long middle = (low + high + 1) >> 1;
        if (firsts[middle] <= position) low = middle;
        else high = middle - 1;
    }
    return low;
}
