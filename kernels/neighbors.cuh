// What traversal samplers draw for an item, a vertex that an instance expands: its random numbers, which depend on the
// seed, the instance and the vertex alone (neighbors.py says how), and which neighbours.
//
// Source: J. Bentley, B. Floyd, "A sample of brilliance", CACM 30 (1987).
#pragma once
#include "common.cuh"
#include "philox.cuh"

#define GD_FEW 32  // neighbours that one thread draws and keeps
#define GD_HELD 16  // of them in registers

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

// Spreads numbers that follow each other over the upper bits, by which a table is entered.
__device__ __forceinline__ gd_u64 gd_spread(gd_u64 value) { return value * GD_GOLDEN; }

// Number `number` of the 64-bit numbers of an item.
__device__ __forceinline__ gd_u64 gd_word_at(gd_u64 key, gd_u64 instance, gd_u32 number) {
    gd_u64 first, second;
    gd_philox(key, instance, 0, number >> 1, first, second);
    return number & 1 ? second : first;
}

// Floyd's algorithm for `count` of `degree` places, with those chosen in registers; MOST is the most that there are.
template <int MOST, class Emit>
__device__ __forceinline__ void gd_floyd_held(gd_u64 key, gd_u64 instance, gd_u32 degree, int count, Emit emit) {
    gd_u32 chosen[MOST];
    gd_u64 words[2];
#pragma unroll
    for (int s = 0; s < MOST; ++s) {
        if (s < count) {
            const gd_u32 last = degree - (gd_u32)count + (gd_u32)s;
            if (!(s & 1)) gd_philox(key, instance, 0, (gd_u32)s >> 1, words[0], words[1]);
            gd_u64 word = words[s & 1];
            gd_u32 place = (gd_u32)gd_digit(word, (gd_u64)last + 1);
            bool taken = false;
#pragma unroll
            for (int before = 0; before < s; ++before) taken |= chosen[before] == place;
            chosen[s] = taken ? last : place;
        }
    }
#pragma unroll
    for (int s = 0; s < MOST; ++s)
        if (s < count) emit(s, (gd_i64)chosen[s]);
}

// Places of a row of `degree`, all alike, given to emit(s, place): all, or with replacement, or up to GD_FEW of them.
template <class Emit>
__device__ __forceinline__ void gd_draw_alike(gd_u64 key, gd_u64 instance, gd_i64 degree, gd_i64 count, bool replace,
                                              Emit emit) {
    if (!replace && count == degree) {
        for (gd_i64 s = 0; s < count; ++s) emit(s, s);
        return;
    }
    if (!replace && count <= GD_HELD && degree <= 0xffffffffLL) {
        gd_floyd_held<GD_HELD>(key, instance, (gd_u32)degree, (int)count, emit);
        return;
    }
    Words words(key, instance, 0);
    if (replace) {
        for (gd_i64 s = 0; s < count; ++s) {
            gd_u64 word = words.take();
            emit(s, (gd_i64)gd_digit(word, (gd_u64)degree));
        }
        return;
    }
    gd_i64 chosen[GD_FEW];
    for (int s = 0; s < (int)count; ++s) {
        const gd_i64 last = degree - count + s;
        gd_u64 word = words.take();
        gd_i64 place = (gd_i64)gd_digit(word, (gd_u64)last + 1);
        for (int before = 0; before < s; ++before) {
            if (chosen[before] == place) {
                place = last;
                break;
            }
        }
        chosen[s] = place;
    }
    for (int s = 0; s < (int)count; ++s) emit(s, chosen[s]);
}
