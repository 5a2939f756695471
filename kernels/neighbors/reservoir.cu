// Neighbours in one pass over the rows. The twins in reservoir.py say what the arguments are.
//
// A warp takes an item, whose threads go over its row together, two edges each at a time, which have the numbers of one
// block of Philox. Items with long rows, and those of which many edges are wanted by their keys, go to a list, from which
// blocks take them in a second launch.
#include "neighbors/neighbors.cuh"
#include "choice/smallest.cuh"
#include "neighbors/reservoir_pack.py"

#define GD_KEYS 2  // what a number is for that makes a key, in Philox's counters

// What every neighbour of an item is marked with, and those of a row that is taken whole.
template <int SIZE>
__device__ __forceinline__ void gd_mark_all(gd_i64 out, gd_i64 count, index_t vertex, gd_i64 mark, gd_i64 begin,
                                            bool whole, const index_t *indices, index_t *src, index_t *dst,
                                            gd_i64 *tag) {
    for (gd_i64 s = (int)threadIdx.x % SIZE; s < count; s += SIZE) {
        src[out + s] = vertex;
        tag[out + s] = mark;
        if (whole) dst[out + s] = gd_entry(indices, begin + s);
    }
}

// Algorithm R for an item. A place keeps the last edge that takes it, in whichever order they come; until all have, `tag`
// says which edge that is.
template <int SIZE>
__device__ __forceinline__ void gd_keep_alike(gd_i64 i, const index_t *rows, const index_t *vertices,
                                              const gd_i64 *instances, const gd_i64 *tags, const gd_i64 *indptr,
                                              const index_t *indices, const gd_i64 *offsets, gd_u64 seed, index_t *src,
                                              index_t *dst, gd_i64 *tag) {
    const gd_i64 out = offsets[i], count = offsets[i + 1] - out;
    if (count == 0) return;
    const int rank = (int)threadIdx.x % SIZE;
    const index_t vertex = vertices[i];
    const gd_i64 begin = indptr[rows[i]], degree = indptr[rows[i] + 1] - begin;
    const gd_u64 key = gd_key_of(seed, (gd_u64)vertex), instance = (gd_u64)instances[i];
    const Smallest<SIZE, SIZE> group = {};
    if (count < degree) {
        for (gd_i64 s = rank; s < count; s += SIZE) tag[out + s] = s;
        group.sync();
        for (gd_i64 two = count + 2 * rank; two < degree; two += 2 * SIZE) {
            gd_u64 number, second;
            gd_philox(key, instance, 0, (gd_u32)((two - count) >> 1), number, second);
            for (gd_i64 place = two; place < two + 2 && place < degree; ++place, number = second) {
                const gd_i64 s = (gd_i64)gd_digit(number, (gd_u64)place + 1);
                if (s < count) atomicMax(&tag[out + s], place);
            }
        }
        group.sync();
        for (gd_i64 s = rank; s < count; s += SIZE) dst[out + s] = gd_entry(indices, begin + tag[out + s]);
    }
    gd_mark_all<SIZE>(out, count, vertex, tags[i], begin, count == degree, indices, src, dst, tag);
}

// The smallest keys of an item by the sums of biases; `group` has room for them.
template <int SIZE, int CAPACITY>
__device__ __forceinline__ void gd_keep_by_bias(const Smallest<SIZE, CAPACITY> &group, gd_i64 i, const index_t *rows,
                                                const index_t *vertices, const gd_i64 *instances, const gd_i64 *tags,
                                                const gd_i64 *indptr, const index_t *indices, const gd_i64 *offsets,
                                                const gd_i64 *sums, gd_u64 seed, index_t *src, index_t *dst,
                                                gd_i64 *tag) {
    const gd_i64 out = offsets[i], count = offsets[i + 1] - out;
    if (count == 0) return;
    const index_t vertex = vertices[i];
    const gd_i64 begin = indptr[rows[i]], degree = indptr[rows[i] + 1] - begin;
    gd_mark_all<SIZE>(out, count, vertex, tags[i], begin, count == degree, indices, src, dst, tag);
    if (count == degree) return;
    const gd_i64 *const below = sums + begin;
    gd_i64 positive;
    group.give(
        gd_key_of(seed, (gd_u64)vertex), (gd_u64)instances[i], GD_KEYS, degree, count, (double)below[degree - 1],
        [&](gd_i64 place) { return (double)(below[place] - (place ? below[place - 1] : 0)); }, positive,
        [&](gd_i64 s, double, gd_i64 place) { dst[out + s] = gd_entry(indices, begin + place); });
}

// The smallest keys of an item themselves, with their places; of all edges, in the order of the row.
template <int SIZE, int CAPACITY>
__device__ __forceinline__ void gd_keep_keys(const Smallest<SIZE, CAPACITY> &group, gd_i64 i, const index_t *rows,
                                             const index_t *vertices, const gd_i64 *instances, const gd_i64 *indptr,
                                             const double *values, const gd_i64 *starts, const gd_i64 *counts,
                                             gd_u64 seed, double *keys, gd_i64 *places) {
    const gd_i64 out = starts[i], count = counts[i];
    if (count == 0) return;
    const gd_i64 begin = indptr[rows[i]], size = indptr[rows[i] + 1] - begin;
    const gd_u64 key = gd_key_of(seed, (gd_u64)vertices[i]), instance = (gd_u64)instances[i];
    const double *const rates = values + begin;
    if (count == size) {
        for (gd_i64 two = 2 * group.rank(); two < size; two += 2 * SIZE) {
            gd_u64 number, second;
            gd_philox(key, instance, GD_KEYS, (gd_u32)(two >> 1), number, second);
            for (gd_i64 place = two; place < two + 2 && place < size; ++place, number = second) {
                const bool has = rates[place] > 0.0;
                if (has) keys[out + place] = gd_exponential_key(number, rates[place]);
                places[out + place] = has ? place : -1;
            }
        }
        return;
    }
    const auto rate = [&](gd_i64 place) { return rates[place]; };
    gd_i64 positive;
    const gd_i64 made = group.give(
        key, instance, GD_KEYS, size, count, group.about(size, rate), rate, positive,
        [&](gd_i64 s, double one, gd_i64 place) {
            keys[out + s] = one;
            places[out + s] = place;
        });
    for (gd_i64 s = made + group.rank(); s < count; s += SIZE) places[out + s] = -1;
}

extern "C" __global__ void reservoir_alike(long long n, Reservoirs a) {
    gd_by_warps(n, a.longs, [&](gd_i64 i) {
        return a.offsets[i + 1] > a.offsets[i] && a.indptr[a.rows[i] + 1] - a.indptr[a.rows[i]] > GD_LONG;
    }, [&](gd_i64 i) {
        gd_keep_alike<32>(i, a.rows, a.vertices, a.instances, a.tags, a.indptr, a.indices, a.offsets, a.seed, a.src, a.dst, a.tag);
    });
}

extern "C" __global__ void reservoir_alike_long(long long n, Reservoirs a) {
    gd_by_blocks(a.longs, [&](gd_i64 i) {
        gd_keep_alike<32 * GD_WARPS>(i, a.rows, a.vertices, a.instances, a.tags, a.indptr, a.indices, a.offsets, a.seed, a.src, a.dst, a.tag);
    });
}

extern "C" __global__ void reservoir_by_bias(long long n, Reservoirs a) {
    __shared__ double keys[GD_WARPS * GD_OF_WARP];
    __shared__ long long places[GD_WARPS * GD_OF_WARP];
    __shared__ int held[2 * GD_WARPS];
    const int warp = (int)threadIdx.x >> 5;
    const Smallest<32, GD_OF_WARP> group = {keys + warp * GD_OF_WARP, places + warp * GD_OF_WARP, held + 2 * warp};
    gd_by_warps(n, a.longs, [&](gd_i64 i) {
        return gd_is_long(a.indptr[a.rows[i] + 1] - a.indptr[a.rows[i]], a.offsets[i + 1] - a.offsets[i]);
    }, [&](gd_i64 i) {
        gd_keep_by_bias(group, i, a.rows, a.vertices, a.instances, a.tags, a.indptr, a.indices, a.offsets, a.sums, a.seed, a.src, a.dst, a.tag);
    });
}

extern "C" __global__ void reservoir_by_bias_long(long long n, Reservoirs a) {
    __shared__ double keys[GD_OF_BLOCK];
    __shared__ long long places[GD_OF_BLOCK];
    __shared__ int held[2];
    const Smallest<32 * GD_WARPS, GD_OF_BLOCK> group = {keys, places, held};
    gd_by_blocks(a.longs, [&](gd_i64 i) {
        gd_keep_by_bias(group, i, a.rows, a.vertices, a.instances, a.tags, a.indptr, a.indices, a.offsets, a.sums, a.seed, a.src, a.dst, a.tag);
    });
}

extern "C" __global__ void reservoir_keys(long long n, Reservoirs a) {
    __shared__ double held_keys[GD_WARPS * GD_OF_WARP];
    __shared__ long long held_places[GD_WARPS * GD_OF_WARP];
    __shared__ int held[2 * GD_WARPS];
    const int warp = (int)threadIdx.x >> 5, at = warp * GD_OF_WARP;
    const Smallest<32, GD_OF_WARP> group = {held_keys + at, held_places + at, held + 2 * warp};
    gd_by_warps(n, a.longs, [&](gd_i64 i) {
        return gd_is_long(a.indptr[a.rows[i] + 1] - a.indptr[a.rows[i]], a.counts[i]);
    }, [&](gd_i64 i) {
        gd_keep_keys(group, i, a.rows, a.vertices, a.instances, a.indptr, a.values, a.starts, a.counts, a.seed, a.keys, a.places);
    });
}

extern "C" __global__ void reservoir_keys_long(long long n, Reservoirs a) {
    __shared__ double held_keys[GD_OF_BLOCK];
    __shared__ long long held_places[GD_OF_BLOCK];
    __shared__ int held[2];
    const Smallest<32 * GD_WARPS, GD_OF_BLOCK> group = {held_keys, held_places, held};
    gd_by_blocks(a.longs, [&](gd_i64 i) {
        gd_keep_keys(group, i, a.rows, a.vertices, a.instances, a.indptr, a.values, a.starts, a.counts, a.seed, a.keys, a.places);
    });
}
