// The random numbers of traversal samplers: those of an item, a vertex that an instance expands. They depend on the seed,
// the instance and the vertex alone (neighbors.py says how).
#pragma once
#include "common.cuh"
#include "philox.cuh"

#define GD_FEW 32  // neighbours that one thread draws and keeps

typedef long long gd_i64;

__device__ __forceinline__ gd_u64 gd_key_of(gd_u64 seed, gd_u64 vertex) {
    return gd_hash(gd_key(seed, GD_DRAW_NEIGHBOR, 0), gd_key(seed, GD_DRAW_NEIGHBOR, 1), vertex);
}

// The 64-bit numbers of one item, one after the other.
struct Words {
    gd_u64 key, instance, next;
    gd_u32 step, number;

    __device__ __forceinline__ Words(gd_u64 key, gd_u64 instance, gd_u32 step)
        : key(key), instance(instance), next(0), step(step), number(0) {}
    __device__ __forceinline__ gd_u64 take() {
        gd_u64 now = next;
        if (!(number & 1)) gd_philox(key, instance, step, number >> 1, now, next);
        ++number;
        return now;
    }
};

// The neighbour at a place; without neighbours, the place.
template <typename T>
__device__ __forceinline__ T gd_entry(const T *indices, gd_i64 place) {
    return indices ? indices[place] : (T)place;
}

// Number `number` of the 64-bit numbers of an item.
__device__ __forceinline__ gd_u64 gd_word_at(gd_u64 key, gd_u64 instance, gd_u32 number) {
    gd_u64 first, second;
    gd_philox(key, instance, 0, number >> 1, first, second);
    return number & 1 ? second : first;
}
