// Rows of a layered edge list that a kernel reads in place, in page-locked host memory: reads begin at multiples of 128
// bytes, so that no line travels twice, and a thread by itself reads 16 bytes at a time. After Min et al., EMOGI:
// efficient memory-access for out-of-memory graph-traversal in GPUs, PVLDB 14 (2020).
#pragma once
#include "common/chunks.cuh"
#include "common/common.cuh"

#define LINE 32   // edges of 128 bytes
#define SECTOR 8  // of 32, the least that travels
#define HALF (SECTOR / 2)

typedef unsigned long long number;

// What a thread reads at a time: what is not kept in a cache of the GPU travels for every read.
struct alignas(16) Half {
    index_t ends[HALF];
};

struct Rows {
    long long chunks;
    const long long *firsts, *begins;
    const number *bases;
    const unsigned int *ends;
    number *asked;

    __device__ __forceinline__ unsigned int degree(long long row) const { return ends[row + 1] - ends[row]; }
    // Where the edges of a row are; null if its chunk is not in memory yet, which `missing` reports to the host.
    __device__ __forceinline__ const index_t *where(long long row, number *missing) const {
        const long long chunk = chunk_of(row, firsts, chunks);
        if (!*(volatile number *)(asked + chunk)) atomicExch(asked + chunk, 1ULL);
        if (!bases[chunk]) {
            *(volatile number *)missing = 1;  // whoever else writes, writes the same
            return nullptr;
        }
        return (const index_t *)bases[chunk] + (ends[row] - (unsigned int)begins[chunk]);
    }
};

__device__ __forceinline__ int place_in(const index_t *address, int unit) {
    return (int)((number)address / sizeof(index_t) % unit);
}
// Sectors that the edges from `begin` on touch, except the first one if it has been touched already.
__device__ __forceinline__ number sectors_of(const index_t *begin, long long length, bool had) {
    const int lead = place_in(begin, SECTOR);
    return (number)((lead + length + SECTOR - 1) / SECTOR - (had && lead));
}

// The edges of a sector from the one at `begin`, its place in it, up to the one before `end`; others are noise.
struct Sector {
    Half halves[2];

    __device__ __forceinline__ void read(const index_t *first, int begin, int end) {
        const Half *const sector = (const Half *)(first - begin);
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (begin < (k + 1) * HALF && end > k * HALF) halves[k] = sector[k];
    }
    __device__ __forceinline__ index_t operator[](int k) const { return halves[k / HALF].ends[k % HALF]; }
};
