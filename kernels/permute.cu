// A keyed permutation of [0, size) and its inverse: a balanced Feistel network with cycle walking; see permute.py.
#include "common.cuh"

typedef unsigned long long u64;

__device__ __forceinline__ u64 round_value(u64 value, u64 seed, int number) {
    u64 x = value ^ (seed + (u64)number * 0x9E3779B97F4A7C15ull);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

extern "C" __global__ void permute_forward(long long n, const index_t *ids, index_t *out, long long size,
                                           long long half, unsigned long long seed) {
    const u64 mask = (1ull << half) - 1;
    GD_FOR(i, n) {
        u64 x = (u64)ids[i];
        do {
            u64 left = x >> half, right = x & mask;
            for (int number = 0; number < 4; ++number) {
                const u64 next = left ^ (round_value(right, seed, number) & mask);
                left = right;
                right = next;
            }
            x = (left << half) | right;
        } while (x >= (u64)size);
        out[i] = (index_t)x;
    }
}

extern "C" __global__ void permute_backward(long long n, const index_t *ids, index_t *out, long long size,
                                            long long half, unsigned long long seed) {
    const u64 mask = (1ull << half) - 1;
    GD_FOR(i, n) {
        u64 x = (u64)ids[i];
        do {
            u64 left = x >> half, right = x & mask;
            for (int number = 3; number >= 0; --number) {
                const u64 before = right ^ (round_value(left, seed, number) & mask);
                right = left;
                left = before;
            }
            x = (left << half) | right;
        } while (x >= (u64)size);
        out[i] = (index_t)x;
    }
}
