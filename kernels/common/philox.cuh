// Counter-based random numbers of the samplers: Philox4x32-10 (J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). 128 random bits that depend on a key of (seed, what) and a counter of
// (instance, step, draw) alone, never on a thread, a worker or a partition.
// The twins in philox.py return the same bits.
#pragma once

#include "common/hash.cuh"

// What numbers are drawn for; every use has its own keys. hash.cuh has those below.
#define GD_DRAW_WALK 256
#define GD_DRAW_NEIGHBOR 257
#define GD_DRAW_FRONTIER 258
#define GD_DRAW_ONE_PASS 259
#define GD_DRAW_END 260
#define GD_DRAW_POOL 264
#define GD_DRAW_EDGE 265
#define GD_DRAW_TRIAL 266
#define GD_DRAW_SIZE 267
#define GD_DRAW_UPDATE 268
#define GD_DRAW_KEY 269

#define GD_PHILOX_M0 0xd2511f53u
#define GD_PHILOX_M1 0xcd9e8d57u
#define GD_PHILOX_W0 0x9e3779b9u
#define GD_PHILOX_W1 0xbb67ae85u

// The 128 bits of a counter (instance, step, draw), as two 64-bit numbers.
__device__ __forceinline__ void gd_philox(gd_u64 key, gd_u64 instance, gd_u32 step, gd_u32 draw, gd_u64 &first,
                                          gd_u64 &second) {
    gd_u32 k0 = (gd_u32)key, k1 = (gd_u32)(key >> 32);
    gd_u32 x0 = (gd_u32)instance, x1 = (gd_u32)(instance >> 32), x2 = step, x3 = draw;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const gd_u64 product_0 = gd_wide(GD_PHILOX_M0, x0, 0), product_1 = gd_wide(GD_PHILOX_M1, x2, 0);
        x0 = (gd_u32)(product_1 >> 32) ^ x1 ^ k0;
        x1 = (gd_u32)product_1;
        x2 = (gd_u32)(product_0 >> 32) ^ x3 ^ k1;
        x3 = (gd_u32)product_0;
        k0 += GD_PHILOX_W0;
        k1 += GD_PHILOX_W1;
    }
    first = ((gd_u64)x1 << 32) | x0;
    second = ((gd_u64)x3 << 32) | x2;
}
