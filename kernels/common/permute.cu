// A keyed permutation of [0, size) and its inverse: a balanced Feistel network with cycle walking; and numbers dealt
// to ranks. See permute.py.
#include "common/common.cuh"

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

// The rank that the first number of a block is dealt to.
__device__ __forceinline__ long long gd_turn(long long block, long long ranks, long long size, u64 seed) {
    return (block + 1) * ranks > size ? 0 : (long long)(round_value((u64)block, seed, 0) % (u64)ranks);
}

extern "C" __global__ void permute_deal(long long n, const index_t *ids, index_t *out, long long size, long long ranks,
                                        unsigned long long seed) {
    const long long each = size / ranks, more = size % ranks;
    GD_FOR(i, n) {
        const long long block = (long long)ids[i] / ranks;
        const long long rank = ((long long)ids[i] - block * ranks + gd_turn(block, ranks, size, seed)) % ranks;
        out[i] = (index_t)(rank * each + min(rank, more) + block);
    }
}

extern "C" __global__ void permute_collect(long long n, const index_t *positions, index_t *out, long long size,
                                           long long ranks, unsigned long long seed) {
    const long long each = size / ranks, more = size % ranks;
    GD_FOR(i, n) {
        const long long position = (long long)positions[i], rest = position - more * (each + 1);
        const long long rank = rest < 0 ? position / (each + 1) : more + rest / each;
        const long long block = rest < 0 ? position % (each + 1) : rest % each;
        out[i] = (index_t)(block * ranks + (rank + ranks - gd_turn(block, ranks, size, seed)) % ranks);
    }
}
