// One step of a walk of the copy model by hashing (cuPPA-Hash): what pa_walk.py defines, for CUDA.
//
// A walk is at edge k of vertex v. Both are 32 bits wide where the ids fit, and a step is then 18 instructions: 11 of the
// hash, 4 for u, 1 for k and the coin together, 2 to compare.
#pragma once
#include "common/hash.cuh"

#define PA_FAR 2147483648
#define PA_PLAIN_DEGREE 256
#define PA_PLAIN_SHARE 140737488355328

template <class T> struct pa_unsigned { typedef gd_u64 type; };
template <> struct pa_unsigned<int> { typedef gd_u32 type; };
typedef pa_unsigned<index_t>::type pa_vertex;

struct pa_model {
    gd_u64 key, far_0, far_1, fraction_0, fraction_1;
    gd_u64 threshold;
    // A walk ends at a vertex below `stop`: below the degree, or anywhere where every edge is direct.
    pa_vertex stop;
    gd_u32 degree;
    // The coin of 32 bits means a direct edge below this.
    gd_u32 limit;

    __device__ __forceinline__ pa_model(gd_u64 degree, gd_u64 threshold, gd_u64 seed)
        : key(gd_key(seed, GD_DRAW_TARGET, 0)), far_0(gd_key(seed, GD_DRAW_TARGET, 0)),
          far_1(gd_key(seed, GD_DRAW_TARGET, 1)), fraction_0(gd_key(seed, GD_DRAW_FRACTION, 0)),
          fraction_1(gd_key(seed, GD_DRAW_FRACTION, 1)), threshold(threshold),
          stop(threshold >> 63 ? (pa_vertex)-1 : (pa_vertex)degree), degree((gd_u32)degree),
          limit((gd_u32)((threshold + (1ULL << 30)) >> 31)) {}

    // Whether k and the coin always take a second hash: where 32 bits are too few for them.
    __device__ __forceinline__ bool careful() const {
        const gd_u64 rest = (1ULL << 63) - threshold, least = (gd_u64)degree * PA_PLAIN_SHARE;
        return degree > PA_PLAIN_DEGREE || (threshold && threshold < least) || (rest && rest < least);
    }

    // k and the coin from 64 bits of their own.
    __device__ __forceinline__ bool coin(gd_u64 fraction, gd_u32 &k) const {
        k = (gd_u32)gd_digit(fraction, (gd_u64)degree);
        return fraction >> 1 < threshold;
    }

    // Set v to the vertex u that was drawn and k to the drawn edge of u; return whether the walk ends at u.
    template <bool CAREFUL> __device__ __forceinline__ bool step(pa_vertex &v, gd_u32 &k) const {
        if (sizeof(index_t) > 4 && v >= PA_FAR) {
            const gd_u64 slot = (gd_u64)v * degree + k;
            v = (pa_vertex)__umul64hi(gd_hash(far_0, far_1, slot), v);
            const bool direct = coin(gd_hash(fraction_0, fraction_1, slot), k);
            return v < stop || direct;
        }
        const gd_u64 fraction = gd_hash_pair(key, (gd_u32)v, k);
        const gd_u64 low = gd_wide((gd_u32)fraction, (gd_u32)v, 0);
        const gd_u64 high = gd_wide((gd_u32)(fraction >> 32), (gd_u32)v, low >> 32);
        const gd_u64 slot = CAREFUL ? gd_wide((gd_u32)v, degree, k) : 0;
        v = (gd_u32)(high >> 32);
        if (CAREFUL) {
            const bool direct = coin(gd_hash(fraction_0, fraction_1, slot), k);
            return v < stop || direct;
        }
        const gd_u64 rest = gd_wide((gd_u32)high, degree, 0);
        k = (gd_u32)(rest >> 32);
        return v < stop || (gd_u32)rest < limit;
    }

    // The end of the walk that begins at edge k of v.
    __device__ __forceinline__ pa_vertex follow(pa_vertex v, gd_u32 k) const {
        const bool slow = careful();
        while (!(slow ? step<true>(v, k) : step<false>(v, k))) {
        }
        return v;
    }
};
