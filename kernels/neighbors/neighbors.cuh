// What traversal samplers draw for an item, a vertex that an instance expands: its random numbers, which depend on the
// seed, the instance and the vertex alone (neighbors.py says how), and which neighbours.
//
// Source: J. Bentley, B. Floyd, "A sample of brilliance", CACM 30 (1987).
#pragma once
#include "common/common.cuh"
#include "common/philox.cuh"

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
    // Leave out one that is the second of two.
    __device__ __forceinline__ void skip() { ++number; }
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

// Places are turned into neighbours by read(place) and given to emit(s, neighbour). A thread that stores a neighbour
// waits for it, so reads come well before: of several at a time, or while the next place is drawn.

// Those of places place(0) to place(count - 1).
template <class Place, class Read, class Emit>
__device__ __forceinline__ void gd_give(gd_i64 count, Place place, Read read, Emit emit) {
    gd_i64 s = 0;
    for (; s + 4 <= count; s += 4) {
        const auto a = read(place(s)), b = read(place(s + 1)), c = read(place(s + 2)), d = read(place(s + 3));
        emit(s, a);
        emit(s + 1, b);
        emit(s + 2, c);
        emit(s + 3, d);
    }
    for (; s < count; ++s) emit(s, read(place(s)));
}

// The same where each place is drawn, in this order.
template <class Place, class Read, class Emit>
__device__ __forceinline__ void gd_give_drawn(gd_i64 count, Place place, Read read, Emit emit) {
    if (!count) return;
    auto last = read(place(0));
    for (gd_i64 s = 1; s < count; ++s) {
        const auto next = read(place(s));
        emit(s - 1, last);
        last = next;
    }
    emit(count - 1, last);
}

// Floyd's algorithm for `count` of `degree` places, with those chosen in registers; MOST is the most that there are. A row
// that is taken whole goes along, for its reads then come with those of other lanes.
template <int MOST, class Read, class Emit>
__device__ __forceinline__ void gd_floyd_held(gd_u64 key, gd_u64 instance, gd_u32 step, gd_u32 degree, int count,
                                              Read read, Emit emit) {
    gd_u32 chosen[MOST];
    gd_u64 words[2];
    const bool whole = (gd_u32)count == degree;
#pragma unroll
    for (int s = 0; s < MOST; ++s) {
        if (s < count) {
            const gd_u32 last = degree - (gd_u32)count + (gd_u32)s;
            if (!(s & 1)) gd_philox(key, instance, step, (gd_u32)s >> 1, words[0], words[1]);
            gd_u64 word = words[s & 1];
            gd_u32 place = (gd_u32)gd_digit(word, (gd_u64)last + 1);
            bool taken = false;
#pragma unroll
            for (int before = 0; before < s; ++before) taken |= chosen[before] == place;
            chosen[s] = whole ? (gd_u32)s : taken ? last : place;
        }
    }
    decltype(read(0)) found[MOST];
#pragma unroll
    for (int s = 0; s < MOST; ++s)
        if (s < count) found[s] = read((gd_i64)chosen[s]);
#pragma unroll
    for (int s = 0; s < MOST; ++s)
        if (s < count) emit(s, found[s]);
}

// Of a row of `degree`, all neighbours alike: all of them, or `count` with replacement, or up to GD_FEW without.
template <class Read, class Emit>
__device__ __forceinline__ void gd_draw_alike(gd_u64 key, gd_u64 instance, gd_u32 step, gd_i64 degree, gd_i64 count,
                                              bool replace, Read read, Emit emit) {
    if (!replace && count <= GD_HELD && degree <= 0xffffffffLL) {
        gd_floyd_held<GD_HELD>(key, instance, step, (gd_u32)degree, (int)count, read, emit);
        return;
    }
    if (!replace && count == degree) {
        gd_give(count, [](gd_i64 s) { return s; }, read, emit);
        return;
    }
    Words words(key, instance, step);
    if (replace) {
        const auto place = [&](gd_i64) {
            gd_u64 word = words.take();
            return (gd_i64)gd_digit(word, (gd_u64)degree);
        };
        gd_give_drawn(count, place, read, emit);
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
    gd_give(count, [&](gd_i64 s) { return chosen[s]; }, read, emit);
}
