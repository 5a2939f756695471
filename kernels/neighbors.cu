// Traversal sampling: how many neighbours an item of the frontier gets, which, and what of that is new to its instance.
// The twins in neighbors.py say what the arguments are.
//
// A thread takes an item: items are many, and their reads are scattered. Rows of which more than GD_FEW neighbours are
// wanted get a block each (neighbors_uniform_long).
//
// Sources: Pandey et al., c-saw, Sections II-A, IV; J. Bentley, B. Floyd, "A sample of brilliance", CACM 30 (1987).
#include "common.cuh"
#include "philox.cuh"

#define GD_FEW 32
#define GD_REDRAWS 8
#define GD_MOST_REDRAWS (1 << 16)
#define GD_REPEATED 1
#define GD_UPDATED 2
#define GD_BIPARTITE 3

typedef long long gd_i64;

__device__ __forceinline__ gd_u64 gd_key_of(gd_u64 seed, gd_u64 vertex) {
    return gd_hash(gd_key(seed, GD_DRAW_NEIGHBOR, 0), gd_key(seed, GD_DRAW_NEIGHBOR, 1), vertex);
}

__device__ __forceinline__ gd_u64 gd_one_pass_key(gd_u64 seed, gd_u64 vertex) {
    return gd_hash(gd_key(seed, GD_DRAW_ONE_PASS, 0), gd_key(seed, GD_DRAW_ONE_PASS, 1), vertex);
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
__device__ __forceinline__ index_t gd_entry(const index_t *indices, gd_i64 place) {
    return indices ? indices[place] : (index_t)place;
}

// Number `number` of the 64-bit numbers of an item.
__device__ __forceinline__ gd_u64 gd_word_at(gd_u64 key, gd_u64 instance, gd_u32 number) {
    gd_u64 first, second;
    gd_philox(key, instance, 0, number >> 1, first, second);
    return number & 1 ? second : first;
}

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

extern "C" __global__ void neighbors_uniform(long long n, const index_t *__restrict__ rows,
                                             const index_t *__restrict__ vertices,
                                             const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ tags,
                                             const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                             const gd_i64 *__restrict__ offsets, gd_i64 replace, gd_u64 seed,
                                             index_t *__restrict__ src, index_t *__restrict__ dst,
                                             gd_i64 *__restrict__ tag) {
    GD_FOR(i, n) {
        const gd_i64 out = offsets[i], count = offsets[i + 1] - out;
        if (count == 0 || (!replace && count > GD_FEW)) continue;
        const index_t row = rows[i], vertex = vertices[i];
        const gd_i64 begin = indptr[row], degree = indptr[row + 1] - begin, mark = tags[i];
        for (gd_i64 s = 0; s < count; ++s) {
            src[out + s] = vertex;
            tag[out + s] = mark;
        }
        if (!replace && count == degree) {
            for (gd_i64 s = 0; s < count; ++s) dst[out + s] = gd_entry(indices, begin + s);
            continue;
        }
        Words words(gd_key_of(seed, (gd_u64)vertex), (gd_u64)instances[i], 0);
        if (replace) {
            for (gd_i64 s = 0; s < count; ++s) {
                gd_u64 word = words.take();
                dst[out + s] = gd_entry(indices, begin + (gd_i64)gd_digit(word, (gd_u64)degree));
            }
            continue;
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
        for (int s = 0; s < (int)count; ++s) dst[out + s] = gd_entry(indices, begin + chosen[s]);
    }
}

__device__ __forceinline__ gd_u64 gd_spread(gd_u64 value) { return value * GD_GOLDEN; }

// Floyd's algorithm, all draws at once. Draw s of k, out of the first (degree - k + s + 1) places, counts for nothing
// and gives way to the last of these, if its place is taken: if an earlier draw was for the same place, or if the place
// is the last one of an earlier draw that gave way. The first is seen in a table with the earliest draw of each place,
// the second by going from draw to earlier draw.
extern "C" __global__ void neighbors_uniform_long(long long n, const index_t *__restrict__ rows,
                                                  const index_t *__restrict__ vertices,
                                                  const gd_i64 *__restrict__ instances,
                                                  const gd_i64 *__restrict__ tags, const gd_i64 *__restrict__ indptr,
                                                  const index_t *__restrict__ indices,
                                                  const gd_i64 *__restrict__ offsets, gd_u64 seed, gd_i64 origin,
                                                  gd_i64 *drawn, gd_i64 *table, index_t *__restrict__ src,
                                                  index_t *__restrict__ dst, gd_i64 *__restrict__ tag) {
    const gd_i64 t = threadIdx.x, threads = blockDim.x;
    for (gd_i64 i = blockIdx.x; i < n; i += gridDim.x) {
        const gd_i64 out = offsets[i], count = offsets[i + 1] - out;
        if (count <= GD_FEW) continue;
        const index_t row = rows[i], vertex = vertices[i];
        const gd_i64 begin = indptr[row], degree = indptr[row + 1] - begin, mark = tags[i];
        for (gd_i64 s = t; s < count; s += threads) {
            src[out + s] = vertex;
            tag[out + s] = mark;
        }
        if (count == degree) {
            for (gd_i64 s = t; s < count; s += threads) dst[out + s] = gd_entry(indices, begin + s);
            continue;
        }
        const gd_u64 key = gd_key_of(seed, (gd_u64)vertex), room = 2 * (gd_u64)count;
        const gd_i64 kept = degree - count;
        gd_i64 *mine = drawn + (out - origin), *entry = table + 2 * (out - origin);
        for (gd_i64 s = t; s < count; s += threads) {
            gd_u64 word = gd_word_at(key, (gd_u64)instances[i], (gd_u32)s);
            mine[s] = (gd_i64)gd_digit(word, (gd_u64)(kept + s) + 1);
        }
        for (gd_u64 slot = t; slot < room; slot += threads) entry[slot] = -1;
        __syncthreads();
        for (gd_i64 s = t; s < count; s += threads) {
            const gd_i64 place = mine[s];
            gd_u64 slot = __umul64hi(gd_spread(place), room);
            for (;;) {
                const gd_i64 held = gd_atomic_cas(&entry[slot], (gd_i64)-1, s);
                if (held == -1) break;
                if (mine[held] == place) {
                    gd_atomic_min(&entry[slot], s);
                    break;
                }
                slot = slot + 1 == room ? 0 : slot + 1;
            }
        }
        __syncthreads();
        for (gd_i64 s = t; s < count; s += threads) {
            bool taken = false;
            for (gd_i64 at = s;;) {
                const gd_i64 place = mine[at];
                gd_u64 slot = __umul64hi(gd_spread(place), room);
                while (mine[entry[slot]] != place) slot = slot + 1 == room ? 0 : slot + 1;
                taken = entry[slot] < at;
                if (taken || place < kept || place - kept >= at) break;
                at = place - kept;
            }
            dst[out + s] = gd_entry(indices, begin + (taken ? kept + s : mine[s]));
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

// What a row's greatest bias is divided by, so that the sum of the row stays below 2^62: `shift` binary places; of
// floating numbers, the exponent that the lowest place stands for.
__device__ __forceinline__ int gd_bits(gd_u64 value) { return value ? 64 - __clzll((gd_i64)value) : 0; }

__device__ __forceinline__ gd_u64 gd_scaled(gd_i64 bits, gd_i64 floating, int shift) {
    if (bits == 0) return 0;
    gd_u64 value = (gd_u64)bits;
    int by = -shift;
    if (floating) {
        const int exponent = (int)(bits >> 52) & 2047;
        value = (gd_u64)bits & ((1ULL << 52) - 1);
        if (exponent) value |= 1ULL << 52;
        by += exponent ? exponent : 1;
    }
    if (by >= 0) return value << by;
    const gd_u64 scaled = by <= -64 ? 0 : value >> -by;
    return scaled ? scaled : 1;
}

__device__ __forceinline__ int gd_shift_of(gd_i64 greatest, gd_i64 floating, gd_i64 degree) {
    const int room = 62 - gd_bits((gd_u64)degree);
    if (!floating) {
        const int over = gd_bits((gd_u64)greatest) - room;
        return over > 0 ? over : 0;
    }
    const int exponent = (int)(greatest >> 52) & 2047;
    return (exponent ? exponent : 1) + 53 - room;
}

// A warp takes a row: its greatest bias, then its sums, in place. Positive doubles compare as their bits do.
extern "C" __global__ void neighbors_sums(long long n, const gd_i64 *__restrict__ indptr, gd_i64 floating,
                                          gd_i64 *sums) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 row = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < n; row += warps) {
        const gd_i64 begin = indptr[row], end = indptr[row + 1];
        gd_i64 greatest = 0;
        for (gd_i64 e = begin + lane; e < end; e += 32) greatest = sums[e] > greatest ? sums[e] : greatest;
        for (int by = 16; by; by >>= 1) {
            const gd_i64 other = __shfl_xor_sync(0xffffffffu, greatest, by);
            greatest = other > greatest ? other : greatest;
        }
        const int shift = gd_shift_of(greatest, floating, end - begin);
        gd_u64 before = 0;
        for (gd_i64 base = begin; base < end; base += 32) {
            const gd_i64 e = base + lane;
            gd_u64 sum = e < end ? gd_scaled(sums[e], floating, shift) : 0;
            for (int by = 1; by < 32; by <<= 1) {
                const gd_u64 below = __shfl_up_sync(0xffffffffu, sum, by);
                if (lane >= by) sum += below;
            }
            if (e < end) sums[e] = (gd_i64)(before + sum);
            before += __shfl_sync(0xffffffffu, sum, 31);
        }
    }
}

// The biases of a row by their sums; without sums, all are 1.
struct Row {
    const gd_i64 *sums;
    gd_i64 degree;

    __device__ __forceinline__ gd_u64 below(gd_i64 place) const {
        return sums ? (place ? (gd_u64)sums[place - 1] : 0) : (gd_u64)place;
    }
    __device__ __forceinline__ gd_u64 total() const { return below(degree); }
    // The place whose bias takes in a number: below(place) <= number < below(place + 1).
    __device__ __forceinline__ gd_i64 find(gd_u64 number) const {
        if (!sums) return (gd_i64)number;
        gd_i64 low = 0, high = degree - 1;
        while (low < high) {
            const gd_i64 middle = (low + high) >> 1;
            if ((gd_u64)sums[middle] <= number) low = middle + 1;
            else high = middle;
        }
        return low;
    }
};

__device__ __forceinline__ bool gd_among(const gd_i64 *chosen, int count, gd_i64 place) {
    for (int i = 0; i < count; ++i)
        if (chosen[i] == place) return true;
    return false;
}

// The place of a number among the biases that are left: those chosen are skipped in the order of the row.
__device__ __forceinline__ gd_i64 gd_find_left(const Row &row, const gd_i64 *chosen, int count, gd_u64 number) {
    gd_i64 after = -1;  // the number grows by the biases of chosen places that begin at or below it
    for (;;) {
        gd_i64 next = row.degree;
        for (int i = 0; i < count; ++i)
            if (chosen[i] > after && chosen[i] < next) next = chosen[i];
        if (next == row.degree || number < row.below(next)) return row.find(number);
        number += row.below(next + 1) - row.below(next);
        after = next;
    }
}

__device__ __forceinline__ gd_i64 gd_choose(const Row &row, const gd_i64 *chosen, int count, gd_u64 left,
                                            gd_i64 method, Words &words) {
    const int redraws = method == GD_UPDATED || (!method && row.degree <= GD_FEW) ? 0
                        : method                                                  ? GD_MOST_REDRAWS
                                                                                  : GD_REDRAWS;
    const gd_u64 total = row.total();
    for (int i = 0; i < redraws; ++i) {
        gd_u64 word = words.take();
        gd_i64 place = row.find(gd_digit(word, total));
        if (!gd_among(chosen, count, place)) return place;
        if (method != GD_BIPARTITE) continue;
        const gd_u64 low = row.below(place), width = row.below(place + 1) - low;
        word = words.take();
        gd_u64 number = gd_digit(word, total - width);
        if (number >= low) number += width;
        place = row.find(number);
        if (!gd_among(chosen, count, place)) return place;
    }
    gd_u64 word = words.take();
    return gd_find_left(row, chosen, count, gd_digit(word, left));
}

extern "C" __global__ void neighbors_biased(long long n, const index_t *__restrict__ rows,
                                            const index_t *__restrict__ vertices,
                                            const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ tags,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                            const gd_i64 *__restrict__ offsets, const gd_i64 *__restrict__ sums,
                                            gd_i64 replace, gd_i64 method, gd_u64 seed,
                                            const gd_i64 *__restrict__ rooms, gd_i64 *trees,
                                            index_t *__restrict__ src, index_t *__restrict__ dst,
                                            gd_i64 *__restrict__ tag) {
    GD_FOR(i, n) {
        const gd_i64 out = offsets[i], count = offsets[i + 1] - out;
        if (count == 0) continue;
        const index_t vertex = vertices[i];
        const gd_i64 begin = indptr[rows[i]], degree = indptr[rows[i] + 1] - begin, mark = tags[i];
        const Row row = {sums ? sums + begin : nullptr, degree};
        for (gd_i64 s = 0; s < count; ++s) {
            src[out + s] = vertex;
            tag[out + s] = mark;
        }
        if (!replace && count == degree) {
            for (gd_i64 s = 0; s < count; ++s) dst[out + s] = indices[begin + s];
            continue;
        }
        Words words(gd_key_of(seed, (gd_u64)vertex), (gd_u64)instances[i], 0);
        const gd_u64 total = row.total();
        if (replace) {
            for (gd_i64 s = 0; s < count; ++s) {
                gd_u64 word = words.take();
                dst[out + s] = indices[begin + row.find(gd_digit(word, total))];
            }
            continue;
        }
        gd_u64 left = total;
        if (count <= GD_FEW) {
            gd_i64 chosen[GD_FEW];
            for (int s = 0; s < (int)count; ++s) {
                chosen[s] = gd_choose(row, chosen, s, left, method, words);
                left -= row.below(chosen[s] + 1) - row.below(chosen[s]);
            }
            for (int s = 0; s < (int)count; ++s) dst[out + s] = indices[begin + chosen[s]];
            continue;
        }
        // sums of what is left in a tree (P. Fenwick, "A new data structure for cumulative frequency tables", 1994)
        gd_i64 *tree = trees + rooms[i] - 1;
        for (gd_i64 p = 1; p <= degree; ++p) tree[p] = (gd_i64)(row.below(p) - row.below(p - (p & -p)));
        for (gd_i64 s = 0; s < count; ++s) {
            gd_u64 word = words.take();
            gd_u64 number = gd_digit(word, left);
            gd_i64 place = 0;
            for (gd_i64 step = 1LL << (gd_bits((gd_u64)degree) - 1); step; step >>= 1) {
                if (place + step <= degree && (gd_u64)tree[place + step] <= number) {
                    place += step;
                    number -= (gd_u64)tree[place];
                }
            }
            const gd_u64 width = row.below(place + 1) - row.below(place);
            for (gd_i64 p = place + 1; p <= degree; p += p & -p) tree[p] -= (gd_i64)width;
            left -= width;
            dst[out + s] = indices[begin + place];
        }
    }
}

// A warp takes a row: how many of its edges have a key below `least`, of those that lead to no smaller number if `once`.
extern "C" __global__ void neighbors_below(long long n, const index_t *__restrict__ vertices,
                                           const gd_i64 *__restrict__ indptr, const index_t *__restrict__ ends,
                                           gd_i64 once, gd_u64 seed, gd_u64 least, gd_i64 *__restrict__ counts) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 row = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < n; row += warps) {
        const gd_u64 key = gd_one_pass_key(seed, (gd_u64)vertices[row]);
        const gd_i64 begin = indptr[row], end = indptr[row + 1];
        gd_i64 count = 0;
        for (gd_i64 e = begin + lane; e < end; e += 32)
            count += gd_word_at(key, (gd_u64)(e - begin), 0) <= least && (!once || vertices[row] <= ends[e]);
        for (int by = 16; by; by >>= 1) count += __shfl_xor_sync(0xffffffffu, count, by);
        if (lane == 0) counts[row] = count;
    }
}

// The same edges and their keys, in the order of the rows.
extern "C" __global__ void neighbors_listed(long long n, const index_t *__restrict__ vertices,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ ends,
                                            gd_i64 once, gd_u64 seed, gd_u64 least,
                                            const gd_i64 *__restrict__ offsets, index_t *__restrict__ src,
                                            gd_i64 *__restrict__ edges, gd_u64 *__restrict__ keys) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 row = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < n; row += warps) {
        const gd_u64 key = gd_one_pass_key(seed, (gd_u64)vertices[row]);
        const gd_i64 begin = indptr[row], end = indptr[row + 1];
        gd_i64 out = offsets[row];
        if (out == offsets[row + 1]) continue;
        for (gd_i64 base = begin; base < end; base += 32) {
            const gd_i64 e = base + lane;
            const gd_u64 word = e < end ? gd_word_at(key, (gd_u64)(e - begin), 0) : 0;
            const bool mine = e < end && word <= least && (!once || vertices[row] <= ends[e]);
            const unsigned all = __ballot_sync(0xffffffffu, mine);
            if (mine) {
                const gd_i64 place = out + __popc(all & ((1u << lane) - 1));
                src[place] = vertices[row];
                edges[place] = e;
                keys[place] = word;
            }
            out += __popc(all);
        }
    }
}
