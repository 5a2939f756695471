// Traversal sampling: how many neighbours an item of the frontier gets, which, and what of that is new to its instance.
// The twins in neighbors.py say what the arguments are.
//
// A thread takes an item: items are many, and their reads are scattered. Rows of which more than GD_FEW neighbours are
// wanted get a block each (neighbors_uniform_long).
//
// Source: Pandey et al., c-saw, Section II-A.
#include "neighbors/neighbors.cuh"
#include "neighbors/neighbors_pack.py"

extern "C" __global__ void neighbors_counts(long long n, const index_t *__restrict__ rows,
                                            const index_t *__restrict__ vertices, const gd_i64 *__restrict__ instances,
                                            const gd_i64 *__restrict__ indptr, gd_i64 fanout, gd_i64 replace,
                                            gd_u64 burn, gd_u64 seed, gd_i64 *__restrict__ counts) {
    GD_FOR(i, n) {
        const gd_i64 degree = indptr[rows[i] + 1] - indptr[rows[i]];
        gd_i64 count = degree;
        if (burn) {
            Words words(gd_key_of(seed, (gd_u64)vertices[i]), (gd_u64)instances[i], 1);
            count = 0;
            while (count < degree && words.take() < burn) ++count;
        } else if (fanout >= 0) {
            count = replace && degree ? fanout : fanout < degree ? fanout : degree;
        }
        counts[i] = count;
    }
}

extern "C" __global__ void neighbors_uniform(long long n, ItemDraws a) {
    GD_FOR(i, n) {
        const gd_i64 out = a.offsets[i], count = a.offsets[i + 1] - out;
        if (count == 0 || (!a.replace && count > GD_FEW)) continue;
        const index_t row = a.rows[i], vertex = a.vertices[i];
        const gd_i64 begin = a.indptr[row], degree = a.indptr[row + 1] - begin, mark = a.tags[i];
        for (gd_i64 s = 0; s < count; ++s) {
            a.src[out + s] = vertex;
            a.tag[out + s] = mark;
        }
        gd_draw_alike(gd_key_of(a.seed, (gd_u64)vertex), (gd_u64)a.instances[i], 0, degree, count, a.replace,
                      [&](gd_i64 place) { return gd_entry(a.indices, begin + place); },
                      [&](gd_i64 s, index_t found) { a.dst[out + s] = found; });
    }
}

// Floyd's algorithm, all draws at once. Draw s of k, out of the first (degree - k + s + 1) places, counts for nothing
// and gives way to the last of these, if its place is taken: if an earlier draw was for the same place, or if the place
// is the last one of an earlier draw that gave way. The first is seen in a table with the earliest draw of each place,
// the second by going from draw to earlier draw.
extern "C" __global__ void neighbors_uniform_long(long long n, gd_i64 origin, gd_i64 *drawn, gd_i64 *table, ItemDraws a) {
    const gd_i64 t = threadIdx.x, threads = blockDim.x;
    for (gd_i64 i = blockIdx.x; i < n; i += gridDim.x) {
        const gd_i64 out = a.offsets[i], count = a.offsets[i + 1] - out;
        if (count <= GD_FEW) continue;
        const index_t row = a.rows[i], vertex = a.vertices[i];
        const gd_i64 begin = a.indptr[row], degree = a.indptr[row + 1] - begin, mark = a.tags[i];
        for (gd_i64 s = t; s < count; s += threads) {
            a.src[out + s] = vertex;
            a.tag[out + s] = mark;
        }
        if (count == degree) {
            for (gd_i64 s = t; s < count; s += threads) a.dst[out + s] = gd_entry(a.indices, begin + s);
            continue;
        }
        const gd_u64 key = gd_key_of(a.seed, (gd_u64)vertex), capacity = 2 * (gd_u64)count;
        const gd_i64 kept = degree - count;
        gd_i64 *mine = drawn + (out - origin), *entry = table + 2 * (out - origin);
        for (gd_i64 s = t; s < count; s += threads) {
            gd_u64 word = gd_word_at(key, (gd_u64)a.instances[i], (gd_u32)s);
            mine[s] = (gd_i64)gd_digit(word, (gd_u64)(kept + s) + 1);
        }
        for (gd_u64 slot = t; slot < capacity; slot += threads) entry[slot] = -1;
        __syncthreads();
        for (gd_i64 s = t; s < count; s += threads) {
            const gd_i64 place = mine[s];
            gd_u64 slot = __umul64hi(gd_spread(place), capacity);
            for (;;) {
                const gd_i64 held = gd_atomic_cas(&entry[slot], (gd_i64)-1, s);
                if (held == -1) break;
                if (mine[held] == place) {
                    gd_atomic_min(&entry[slot], s);
                    break;
                }
                slot = slot + 1 == capacity ? 0 : slot + 1;
            }
        }
        __syncthreads();
        for (gd_i64 s = t; s < count; s += threads) {
            bool taken = false;
            for (gd_i64 at = s;;) {
                const gd_i64 place = mine[at];
                gd_u64 slot = __umul64hi(gd_spread(place), capacity);
                while (mine[entry[slot]] != place) slot = slot + 1 == capacity ? 0 : slot + 1;
                taken = entry[slot] < at;
                if (taken || place < kept || place - kept >= at) break;
                at = place - kept;
            }
            a.dst[out + s] = gd_entry(a.indices, begin + (taken ? kept + s : mine[s]));
        }
        __syncthreads();
    }
}

// Where a vertex is looked for first in its instance's part of the table.
__device__ __forceinline__ gd_i64 gd_first_slot(index_t vertex, gd_i64 begin, gd_i64 end) {
    return begin + (gd_i64)__umul64hi(gd_spread((gd_u64)vertex), (gd_u64)(end - begin));
}

extern "C" __global__ void neighbors_enter(long long n, const index_t *__restrict__ vertices,
                                           const gd_i64 *__restrict__ instances, gd_i64 first,
                                           const gd_i64 *__restrict__ regions, gd_i64 visited, index_t *keys,
                                           gd_i64 *earliest, unsigned char *__restrict__ fresh) {
    GD_FOR(i, n) {
        const gd_i64 mine = instances[i] - first;
        const gd_i64 begin = 2 * regions[mine], end = 2 * regions[mine + 1];
        gd_i64 slot = gd_first_slot(vertices[i], begin, end);
        for (;;) {
            const index_t held = gd_atomic_cas(&keys[slot], (index_t)-1, vertices[i]);
            if (held == (index_t)-1 || held == vertices[i]) break;
            slot = slot + 1 == end ? begin : slot + 1;
        }
        gd_atomic_min(&earliest[slot], visited ? (gd_i64)-1 : i);
    }
}

extern "C" __global__ void neighbors_fresh(long long n, const index_t *__restrict__ vertices,
                                           const gd_i64 *__restrict__ instances, gd_i64 first,
                                           const gd_i64 *__restrict__ regions, const index_t *__restrict__ keys,
                                           const gd_i64 *__restrict__ earliest, unsigned char *__restrict__ fresh) {
    GD_FOR(i, n) {
        const gd_i64 mine = instances[i] - first;
        const gd_i64 begin = 2 * regions[mine], end = 2 * regions[mine + 1];
        gd_i64 slot = gd_first_slot(vertices[i], begin, end);
        while (keys[slot] != vertices[i]) slot = slot + 1 == end ? begin : slot + 1;
        fresh[i] = earliest[slot] == i;
    }
}

extern "C" __global__ void neighbors_keep(long long n, const index_t *__restrict__ vertices,
                                          const gd_i64 *__restrict__ instances, const index_t *__restrict__ before,
                                          const gd_i64 *__restrict__ sums, const gd_i64 *__restrict__ starts,
                                          gd_i64 count, index_t *__restrict__ kept, gd_i64 *__restrict__ of_kept,
                                          index_t *__restrict__ before_kept, gd_i64 *__restrict__ bounds) {
    GD_FOR(i, n) {
        const gd_i64 at = i ? sums[i - 1] : 0;
        if (sums[i] != at) {
            kept[at] = vertices[i];
            of_kept[at] = instances[i];
            if (before) before_kept[at] = before[i];
        }
    }
    GD_FOR(k, count) bounds[k] = starts[k] ? sums[starts[k] - 1] : 0;
}

extern "C" __global__ void neighbors_place(long long n, gd_i64 hop, gd_i64 first, const gd_i64 *__restrict__ shifts,
                                           const index_t *__restrict__ src, const index_t *__restrict__ dst,
                                           const gd_i64 *__restrict__ instances, index_t *__restrict__ out_src,
                                           index_t *__restrict__ out_dst, int *__restrict__ out_hop,
                                           gd_i64 *__restrict__ out_instance) {
    GD_FOR(i, n) {
        const gd_i64 instance = instances[i], place = i + shifts[instance - first];
        out_src[place] = src[i];
        out_dst[place] = dst[i];
        out_hop[place] = (int)hop;
        out_instance[place] = instance;
    }
}

extern "C" __global__ void neighbors_walked(long long n, long long first, long long depth,
                                            const long long *__restrict__ offsets, const index_t *__restrict__ starts,
                                            const index_t *__restrict__ dst, const index_t *__restrict__ put,
                                            index_t *__restrict__ out_src, index_t *__restrict__ out_dst,
                                            int *__restrict__ out_hop, long long *__restrict__ out_instance) {
    const long long lane = threadIdx.x & 31, warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const long long begin = offsets[i], length = offsets[i + 1] - begin;
        for (long long step = lane; step < length; step += 32) {
            out_src[begin + step] = step ? put[i * depth + step - 1] : starts[i];
            out_dst[begin + step] = dst[i * depth + step];
            out_hop[begin + step] = (int)step;
            out_instance[begin + step] = first + i;
        }
    }
}
