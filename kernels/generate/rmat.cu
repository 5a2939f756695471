// Edges of an R-MAT graph: draws from an alias table of paths, permutation of the ids, all in registers; see rmat.py.
//
// The table is copied to shared memory, at most 16 KiB. 32-bit ids take 32-bit arithmetic: every operation on an id is
// one modulo a power of two, so the low bits are the same. `rmat_most` is 2 or 6: the hashes of an edge, at most.
#include "common/common.cuh"
#include "common/hash.cuh"

#define RMAT_MOST_ENTRIES 4096
#define RMAT_MOST_ROUNDS 8

template <typename id> struct rmat_word { typedef gd_u64 type; };
template <> struct rmat_word<int> { typedef gd_u32 type; };
typedef rmat_word<index_t>::type rmat_id;

// Take the path of one draw from the table and append its bits to the ids.
__device__ __forceinline__ void rmat_draw(gd_u32 draw, const gd_u32 *table, gd_u32 cell, int levels, rmat_id &row,
                                          rmat_id &column) {
    const gd_u32 entry = table[draw & cell];
    const gd_u32 path = ((draw | cell) < entry ? draw : entry) & cell;
    row = (row << levels) | (path >> levels);
    column = (column << levels) | (path & ((1u << levels) - 1));
}

template <int hashes>
__device__ __forceinline__ void rmat_fill(long long n, long long first, int scale, int levels, int rounds, gd_u64 seed,
                                          const gd_u32 *table, const rmat_id *factor, const rmat_id *offset,
                                          index_t *src, index_t *dst) {
    const rmat_id mask = (rmat_id)((1ULL << scale) - 1);
    const int half = (scale + 1) / 2;
    const gd_u32 cell = (1u << 2 * levels) - 1;
    gd_u64 key_0[hashes], key_1[hashes];
#pragma unroll
    for (int number = 0; number < hashes; number++) {
        key_0[number] = gd_key(seed, GD_DRAW_QUADRANTS + number, 0);
        key_1[number] = gd_key(seed, GD_DRAW_QUADRANTS + number, 1);
    }
    GD_FOR(i, n) {
        rmat_id row = 0, column = 0;
#pragma unroll
        for (int number = 0; number < hashes; number++) {
            const gd_u64 draws = gd_hash_counter(key_0[number], key_1[number], (gd_u64)(first + i));
            rmat_draw((gd_u32)(draws >> 32), table, cell, levels, row, column);
            rmat_draw((gd_u32)draws, table, cell, levels, row, column);
        }
        row &= mask;
        column &= mask;
        for (int round = 0; round < rounds; round++) {
            row = (row * factor[round] + offset[round]) & mask;
            column = (column * factor[round] + offset[round]) & mask;
            row ^= row >> half;
            column ^= column >> half;
        }
        src[i] = (index_t)row;
        dst[i] = (index_t)column;
    }
}

extern "C" __global__ void __launch_bounds__(256)
rmat_edges(long long n, long long first, long long scale, long long levels, long long hashes, long long rounds,
           gd_u64 seed, const gd_u32 *__restrict__ table, index_t *__restrict__ src, index_t *__restrict__ dst) {
    __shared__ gd_u32 staged[RMAT_MOST_ENTRIES];
    for (int i = threadIdx.x; i < 1 << 2 * levels; i += blockDim.x) staged[i] = table[i];
    __shared__ rmat_id factor[RMAT_MOST_ROUNDS], offset[RMAT_MOST_ROUNDS];
    for (int i = threadIdx.x; i < rounds; i += blockDim.x) {
        factor[i] = (rmat_id)gd_key(seed, GD_DRAW_LABEL + i, 0) | 1;
        offset[i] = (rmat_id)gd_key(seed, GD_DRAW_LABEL + i, 1);
    }
    __syncthreads();
#define RMAT_FILL(count) \
    rmat_fill<count>(n, first, (int)scale, (int)levels, (int)rounds, seed, staged, factor, offset, src, dst)
    switch (hashes) {
        case 1: RMAT_FILL(1); break;
#if rmat_most == 2
        default: RMAT_FILL(2);
#else
        case 2: RMAT_FILL(2); break;
        case 3: RMAT_FILL(3); break;
        case 4: RMAT_FILL(4); break;
        case 5: RMAT_FILL(5); break;
        default: RMAT_FILL(6);
#endif
    }
}
